#include "profile/path_cut.h"

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
    {"no-user-code", "of threads without user code"},
    {"unknown", "cut for an unknown reason"},
    {"interrupted", "not read by the recorder"},
    {"by-hand", "counted by hand, without a stack"},
    {"memory-gone", "cut where a process ended or executed another program: its memory was gone"},
};

/// Other tools have samples without a stack, and no recorder of ours that could have read it.
constexpr CutReason kNoStack = {"no-stack", "without a stack"};
constexpr char kNoStackName[] = "[no stack]";

std::string name_of(const CutReason& reason) {
  return &reason == &kNoStack ? kNoStackName : "[path " + std::string(reason.text) + "]";
}

}  // namespace

const CutReason& cut_reason(PathEnd end, bool ends_known) {
  return end == PathEnd::kInterrupted && !ends_known ? kNoStack : kReasons[static_cast<unsigned>(end)];
}

std::string cut_name(const CallPaths& paths, PathEnd end) {
  if (static_cast<unsigned>(end) >= kPathEnds) return "[path cut]";
  return name_of(cut_reason(end, paths.ends_known));
}

std::optional<PathEnd> cut_named(std::string_view name) {
  if (!name.starts_with('[')) return std::nullopt;
  if (name == kNoStackName) return PathEnd::kInterrupted;
  for (unsigned end = 1; end < kPathEnds; ++end)
    if (name == name_of(kReasons[end])) return static_cast<PathEnd>(end);
  return std::nullopt;
}

}  // namespace pctally
