// A call tree as a flame graph: one HTML file that needs nothing else, and reaches for nothing.
#pragma once
#include "report/paths/call_tree.h"

namespace pctally {

struct FlameGraphOptions {
  NameStyle names = NameStyle::kShort;
  std::string title;  ///< what was profiled
};

/// `tree` is top-down. Functions below a ten-thousandth of all ticks are left out: they are thinner than a
/// pixel.
std::string flame_graph(const Profile& profile, const CallTreeNode& tree, const FlameGraphOptions& options);

}  // namespace pctally
