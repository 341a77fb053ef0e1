#include "report/account/path_account.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/path_cut.h"
#include "report/account/tree_ticks.h"
#include "report/print/figures.h"

namespace pctally {

uint64_t unread_ticks(const PathTree& context) {
  uint64_t ticks = 0;
  for (const PathTreeNode& node : context)
    if (node.kind == PathNodeKind::kCut && node.position == static_cast<uint64_t>(PathEnd::kInterrupted))
      ticks += node.self + node.folded;
  return ticks;
}

TicksWithoutPath::TicksWithoutPath(const CallPaths& paths)
    : ticks_(unread_ticks(paths.context) + paths.no_room) {
  for (const PathTreeNode& node : paths.context) folded_ += node.folded;
}

PathAccount path_account(const CallPaths& paths) {
  PathAccount account;
  const std::vector<uint64_t> below = ticks_below(paths.context);
  uint64_t cuts[kPathEnds] = {}, cut = 0;
  for (size_t i = 0; i < paths.context.size(); ++i) {
    const PathTreeNode& node = paths.context[i];
    account.folded += node.folded;
    account.ticks += node.self + node.folded;
    if (node.kind != PathNodeKind::kCut || node.position >= kPathEnds) continue;
    cuts[node.position] += below[i];
    cut += below[i];
  }
  account.complete = account.ticks - cut;
  account.ends_known = paths.ends_known;
  account.first_come = paths.first_come;
  account.no_room = paths.no_room;
  account.no_total = ticks_without_entry(paths.plane);
  account.ticks += paths.no_room;
  for (unsigned i = 0; i < kPathEnds; ++i) {
    const auto end = static_cast<PathEnd>(i);
    const CutReason& reason = cut_reason(paths, end);
    std::string text = reason.text;
    if (end == PathEnd::kShortDump && paths.stack_bytes != 0)
      text =
          fmt::format("cut where the stack is deeper than the {} KiB copied of it", paths.stack_bytes / 1024);
    if (cuts[i] != 0) account.cuts.push_back({text, reason.id, end, cuts[i]});
  }
  std::stable_sort(account.cuts.begin(), account.cuts.end(),
                   [](const auto& a, const auto& b) { return a.ticks > b.ticks; });
  return account;
}

std::string path_account_text(const PathAccount& account, const std::string& noun) {
  if (account.ends_known && account.complete == account.ticks && account.folded == 0) return "all complete";
  std::string text =
      account.ends_known
          ? fmt::format("{} of {} complete", grouped(account.complete), counted(account.ticks, noun))
          : fmt::format("not known which of {} are complete", counted(account.ticks, noun));
  for (const PathAccount::Cut& cut : account.cuts)
    text += fmt::format("; {} {}", grouped(cut.ticks), cut.reason);
  if (account.no_room != 0) text += fmt::format("; {} without room", grouped(account.no_room));
  if (account.folded != 0) text += fmt::format("; {} folded into their callers", grouped(account.folded));
  if (account.folded != 0 && account.first_come) text += ", for they came when the tree was full";
  if (account.no_total != 0)
    text += fmt::format("; {} of calls without room: their totals are ranges (record --paths-memory)",
                        grouped(account.no_total));
  return text;
}

}  // namespace pctally
