// A call tree as a picture that needs no script: for a README, a pull request, a slide. What is to be
// searched and zoomed is the HTML page.
#pragma once
#include <string>

#include "report/paths/call_tree.h"

namespace pctally {

struct FlameSvgOptions {
  NameStyle names = NameStyle::kShort;
  bool bottom_up = false;
  std::string title;  ///< escaped here
};

/// Roots at the top; a frame is as wide as its share, and says its ticks and its interval when pointed at.
/// Frames narrower than a pixel are left out, and those below 400 rows; the last line says how many ticks
/// they have together. Light or dark, as the reader's screen is.
std::string flame_svg(const Profile& profile, const CallTreeNode& tree, const FlameSvgOptions& options);

}  // namespace pctally
