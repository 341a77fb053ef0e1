// Pairs functions that one side names without arguments, as perf script does and C is compiled, and the other
// with them.
#pragma once
#include <vector>

#include "report/diff/measured_run.h"

namespace pctally {

/// Where a side has one "f" in an object, and the other side one "f(int)" there and no "f", the old runs'
/// rows get the new side's name. A template is the same only with the same arguments; of two overloads nobody
/// knows which is meant. REQUIRES: rows are functions.
void join_functions(std::vector<MeasuredRun>* before, const std::vector<MeasuredRun>& after);

}  // namespace pctally
