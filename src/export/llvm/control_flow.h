// Finds the instructions of a function that ran equally often, from the shape of its code. Ticks measure
// time; pooled over such a class, they estimate how often its instructions ran.
#pragma once
#include <cstdint>
#include <vector>

#include "report/annotate/disassembler.h"

namespace pctally {

/// A class for each instruction, from 0 on; that of the first instruction is 0. Two basic blocks are in one
/// class if the one dominates the other, which post-dominates it, in the same innermost loop. Where a jump's
/// target is not in the code (a table of a switch), or the function is larger than any that people write,
/// each block is a class of its own. A call is taken to return.
std::vector<uint32_t> equally_often(const std::vector<Instruction>& instructions);

}  // namespace pctally
