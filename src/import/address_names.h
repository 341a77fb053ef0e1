// The names of addresses that `google-pprof --raw` puts in front of a profile of gperftools, for machines
// without the executables.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/elf/frame.h"

namespace pctally {

struct AddressNames {
  std::string program;                            ///< empty: not named
  std::map<uint64_t, std::vector<Frame>> frames;  ///< innermost inlined first
};

/// Where the profile behind the names begins; nothing if it is no such file.
std::optional<size_t> end_of_address_names(std::string_view file);

/// `text`: up to there. Fails where there are more than kMostImportedRows.
Result<AddressNames> parse_address_names(std::string_view text);

}  // namespace pctally
