// Maps addresses of an executable to the line numbers that compilers use in profiles. Opens only regular
// files, and only the one that ran.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "object/elf/compiler_frame.h"

namespace pctally {

class CompilerPlaces {
 public:
  /// `build_id` may be empty: then nothing proves that it is the file. Fails without line information.
  static Result<std::unique_ptr<CompilerPlaces>> open(const std::string& path,
                                                      const std::vector<uint8_t>& build_id);
  virtual ~CompilerPlaces() = default;

  /// Per ObjectAddress, innermost inlined function first; empty where debug information has no function.
  virtual std::vector<std::vector<CompilerFrame>> frames(std::span<const uint64_t> addresses) = 0;
};

}  // namespace pctally
