// All edges of a profile beside what callers_of() says of each function.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "report/paths/call_edges.h"
#include "report/paths/callers.h"

namespace pctally {

using TickRanges = std::multiset<std::pair<uint64_t, uint64_t>>;

inline TickRanges ranges_of(const std::vector<CallerRow>& rows) {
  TickRanges ranges;
  for (const CallerRow& row : rows) ranges.emplace(row.ticks, row.high);
  return ranges;
}

/// Callers by line, callees added up.
inline void expect_edges_of_callers(const Profile& profile, const NamedPaths& named) {
  std::vector<StackFrame> functions = find_functions(named, "");
  const CallEdges all = call_edges(named, [&](const StackFrame& frame) {
    for (size_t i = 0; i < functions.size(); ++i)
      if (function_of(functions[i]) == function_of(frame)) return static_cast<int64_t>(i);
    functions.push_back(frame);
    return static_cast<int64_t>(functions.size() - 1);
  });
  for (size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(functions[i].function);
    const auto number = static_cast<int64_t>(i);
    const Callers callers = callers_of(profile, named, functions[i]);
    EXPECT_EQ(all.on_stack.at(number).low, callers.ticks);
    EXPECT_EQ(all.on_stack.at(number).high, callers.ticks + callers.folded + callers.unplaced);
    TickRanges in, out;
    std::map<int64_t, CallEdge> callees;  // a sum comes before its lines
    for (const CallEdge& edge : all.edges) {
      if (edge.callee == number && !edge.is_sum) in.emplace(edge.ticks, edge.high);
      if (edge.caller == number) callees.try_emplace(edge.callee, edge);
    }
    // Below a cut, callees of which nothing is known are in the row of folded paths.
    for (const auto& [callee, edge] : callees)
      if (edge.ticks != 0 || !functions[i].object.empty()) out.emplace(edge.ticks, edge.high);
    if (callers.entries.empty()) {  // else the page has the entry as their caller
      EXPECT_EQ(in, ranges_of(callers.callers));
    }
    EXPECT_EQ(out, ranges_of(callers.callees));
  }
}

}  // namespace pctally
