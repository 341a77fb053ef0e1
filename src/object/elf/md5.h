// MD5 (RFC 1321), by which DWARF 5 says which text a source file had. It proves nothing against somebody who
// wants to deceive.
#pragma once
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace pctally {

using Md5 = std::array<uint8_t, 16>;

Md5 md5_of(std::span<const unsigned char> bytes);

/// MD5s of source files by the paths that frames have. A path has several where units were compiled
/// from different texts.
using SourceDigests = std::set<std::pair<std::string, Md5>>;

}  // namespace pctally
