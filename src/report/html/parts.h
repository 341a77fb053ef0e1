// The parts of a page's data: web/src/data.ts has their types.
#pragma once

#include "report/diff/diff.h"
#include "report/diff/limit.h"
#include "report/html/function_list.h"
#include "report/html/texts.h"
#include "report/paths/call_tree.h"
#include "report/print/json_value.h"
#include "report/rollup.h"

namespace pctally {

using HtmlJson = Json;

HtmlJson html_run(const Profile& profile, const Account& account, const Texts& texts);
HtmlJson html_warnings(const Report& report, const Texts& texts);
HtmlJson html_path_account(const PathAccount& account);

/// Whether positions in it are places in code: those of profiles of other tools are numbers for frames.
inline bool has_real_places(const HotFunction& function) {
  return !function.is_whole_object() && function.range.address != 0;
}

/// Where in its code each function's ticks lie: "number of the function": [ticks of each bin].
HtmlJson html_bins(const std::vector<HotFunction>& functions, const FunctionList& list);

/// Gives the functions with ticks the places of their source.
void find_places(const std::vector<HotFunction>& functions, ObjectNames& names, FunctionList* list);

/// Frames with fewer ticks are thinner than a pixel.
uint64_t least_drawn(uint64_t all_ticks);
/// "nodes": parent, function, ticks, ticks whose path ends there, of each; parents first. Those with fewer
/// than `least` are left out; "left_out" is their number. "estimates": which of them are inexact.
HtmlJson html_call_tree(const CallTreeNode& tree, uint64_t least, FunctionList* list);
inline constexpr size_t kMostCalls = 50000;
/// The `most_calls` calls with most ticks, and each function's own code. "edges": caller, callee, file
/// (-1: the sum of several lines, before these), line, ticks and at most how many of each; "edges_left_out":
/// how many smaller "calls" are not there, and the most "ticks" that one of them may have; "on_stack": with
/// each function on the stack the ticks, and at most how many.
void add_call_edges(const NamedPaths& paths, double samples_per_tick, size_t most_calls, FunctionList* list,
                    Texts* texts, HtmlJson* data);

/// `list`: all functions of the page. A row names those that it compares as one.
HtmlJson html_diff(const Diff& diff, const std::vector<LimitResult>& limits, const FunctionList& list,
                   const Texts& texts);

/// The rows as a table, for readers without scripts. Markup.
std::string html_table(const Report& report, NameStyle names, const Texts& texts);

}  // namespace pctally
