// A Report as a table for people. Every name passes through escaped().
#pragma once
#include <cstddef>
#include <string>

#include "report/names/shown_names.h"
#include "report/rollup.h"

namespace pctally {

struct TextOptions {
  bool color = false;
  NameStyle names = NameStyle::kShort;
  size_t width = 0;          ///< of the terminal: names are elided to fit; 0: nothing is cut
  std::string hot_source{};  ///< the text of the hot line, if it is known
};

std::string text_report(const Profile& profile, const Report& report, const TextOptions& options);

}  // namespace pctally
