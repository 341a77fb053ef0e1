// Chooses the rows of a listing: instructions with ticks and their neighbours in the order of
// addresses, headings where the source line or the chain of inlined functions changes, and a row for
// each stretch left out.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "report/annotate/annotation.h"

namespace pctally {

struct ListingRow {
  enum class Kind { kInstruction, kLine, kInlined, kLeftOut };
  Kind kind = Kind::kInstruction;
  size_t first = 0;    ///< the instruction; kLeftOut: the first
  size_t last = 0;     ///< kLeftOut: the last
  uint64_t ticks = 0;  ///< kLeftOut: their sum
  std::string file{};  ///< kLine, kInlined: of the line
  uint32_t line = 0;
  std::vector<Frame> inlined{};  ///< kInlined: outermost first
};

/// `all`: nothing is left out. Instructions with a smaller part of the function's ticks than `min_share`
/// are not hot.
std::vector<ListingRow> listing_rows(Annotator& annotator, bool all, double min_share);

/// The instruction with most ticks; of equal ones the first.
size_t hottest(const Annotation& annotation);

}  // namespace pctally
