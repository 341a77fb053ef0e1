#include "report/diff/family.h"

#include <algorithm>

namespace pctally {

double Family::part_of(Judged judged) const {
  if (judged == Judged::kWhole) return rows + totals == 0 ? 1 : 0.5;
  const size_t alike = std::max<size_t>(judged == Judged::kRow ? rows : totals, 1);
  const bool both = judged == Judged::kRow ? totals != 0 : rows != 0;
  return (both ? 0.25 : 0.5) / static_cast<double>(alike);
}

}  // namespace pctally
