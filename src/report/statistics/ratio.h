// How many times as large an amount has become, and how sure that is. docs/statistics.md explains it in
// words.
#pragma once
#include "report/statistics/change.h"

namespace pctally {

/// The 95 % interval of after / before, not below 0; `high` is infinite where the old amount may be 0. It
/// holds the ratios that the test of the change does not reject: of one sampled run on each side its exact
/// test, else Fieller's. It holds 1 unless p is at most 5 %. From nothing it has no upper end: `low` is the
/// least ratio that is kept.
Interval ratio_interval(const Change& change);

/// Half of the 95 % interval of after - ratio * before. E. C. Fieller, "Some problems in interval
/// estimation", J. R. Statist. Soc. B 16 (1954) 175-185.
double half_width_at(const Change& change, double ratio);

}  // namespace pctally
