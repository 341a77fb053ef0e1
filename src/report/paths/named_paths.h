// The context tree with the source frames of every place: inlined functions are frames of their own.
#pragma once
#include <string>
#include <vector>

#include "report/names/shown_names.h"
#include "report/object_names.h"
#include "report/path_totals.h"

namespace pctally {

/// A function as it is on a stack: a real one, or one that was inlined.
struct StackFrame {
  std::string function;  ///< full name
  std::string linkage;
  std::string object;
  std::string file;  ///< of the call, or, of the innermost frame, empty
  uint32_t line = 0;
  bool inlined = false;
};

/// What tells one frame's function from another's.
inline auto function_of(const StackFrame& frame) { return std::tie(frame.object, frame.function); }

/// The frame's name by itself: functions that look alike keep the same short name.
std::string shown_name(NameStyle style, const StackFrame& frame);

class NamedPaths {
 public:
  /// `lines`: with files, lines and inlined functions, which takes reading the debug information.
  NamedPaths(const Profile& profile, ObjectNames& names, bool lines);

  [[nodiscard]] const PathTree& tree() const { return tree_; }
  /// Outermost first; empty for scopes. A cut has one frame, in brackets.
  [[nodiscard]] const std::vector<StackFrame>& frames(uint32_t node) const { return places_[place_[node]]; }
  [[nodiscard]] const std::vector<uint64_t>& below() const { return below_; }

 private:
  void add_places(const Profile& profile, ObjectNames& names, bool lines);
  void add_executable(uint32_t executable, const std::vector<uint64_t>& positions, bool lines,
                      ObjectNames& names);

  const PathTree& tree_;
  std::vector<std::vector<StackFrame>> places_;  ///< by number; 0: nothing
  std::vector<uint32_t> place_;                  ///< of each node
  std::vector<uint64_t> below_;
};

}  // namespace pctally
