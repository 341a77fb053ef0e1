#include "profile/path_cut.h"

#include <array>

namespace pctally {
namespace {

/// By PathEnd.
constexpr CutReason kReasons[kPathEnds] = {
    {"complete", ""},
    {"no-unwind-table", "cut at code without unwind table"},
    {"unsupported-rule", "cut at an unwind rule that is not supported"},
    {"stack-unreadable", "cut where the stack could not be read"},
    {"stack-too-deep", "cut where the stack is deeper than its copy"},
    {"too-many-frames", "cut at the most frames that are kept"},
    {"unknown-mapping", "cut at code in no known mapping"},
    {"no-room", "without room for the stack"},
    {"doubtful", "cut at a doubtful return address"},
    {"no-user-code", "of threads without user code, or of a 32-bit program"},
    {"unknown", "cut for an unknown reason"},
    {"interrupted", "not read by the recorder"},
    {"by-hand", "counted by hand, without a stack"},
    {"memory-gone", "cut where a process ended or executed another program: its memory was gone"},
    {"file-unread", "cut at code whose file could not be read"},
};

/// Other tools have samples without a stack, and no recorder of ours that could have read it.
constexpr CutReason kNoStack = {"no-stack", "without a stack"};

/// By PathEnd.
const std::array<std::string, kPathEnds>& names() {
  static const auto all = [] {
    std::array<std::string, kPathEnds> names;
    for (unsigned end = 0; end < kPathEnds; ++end)
      names[end] = "[path " + std::string(kReasons[end].text) + "]";
    return names;
  }();
  return all;
}

}  // namespace

const CutReason& cut_reason(const CallPaths& paths, PathEnd end) {
  return end == PathEnd::kInterrupted && paths.stackless ? kNoStack : kReasons[static_cast<unsigned>(end)];
}

std::string cut_name(const CallPaths& paths, PathEnd end) {
  if (static_cast<unsigned>(end) >= kPathEnds) return "[path cut]";
  return &cut_reason(paths, end) == &kNoStack ? "[no stack]" : names()[static_cast<unsigned>(end)];
}

std::optional<PathEnd> cut_named(std::string_view name) {
  if (!name.starts_with("[path ")) return std::nullopt;
  for (unsigned end = 1; end < kPathEnds; ++end)
    if (name == names()[end]) return static_cast<PathEnd>(end);
  return std::nullopt;
}

}  // namespace pctally
