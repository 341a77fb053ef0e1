// Where a row by line is, in words.
#pragma once
#include <string>

#include "report/rollup.h"

namespace pctally {

/// "table.cc:28 < stl_map.h:527"; "table.cc:28 < stl_map.h:527 (62 %, 3 more)" of a line whose chains are no
/// rows: with how much of its ticks the hottest one has, unless it has all. "?" of code without lines; empty
/// of what is no code. `by_base_name`: the file's last element alone.
std::string line_place(const Row& row, bool by_base_name);

}  // namespace pctally
