// Finds the file that declares each function; a line that ran may be in a header, or in a grammar. Formats
// that name a file with each function would otherwise show one function several times.
#pragma once
#include <map>
#include <string>
#include <utility>

#include "export/samples.h"

namespace pctally {

class FunctionFiles {
 public:
  explicit FunctionFiles(const Samples& samples);

  /// The file of one of the location's frames; empty: unknown. Where its line does not say where it is
  /// declared, the other places of an executable's function of that name do, or else the file that most of
  /// them are in.
  [[nodiscard]] const std::string& of(const Location& location, const Frame& frame) const;

 private:
  std::map<std::pair<uint32_t, std::string>, std::string> files_;  ///< by executable and function
};

}  // namespace pctally
