#include "report/annotate/listing_rows.h"

#include <algorithm>
#include <optional>

namespace pctally {
namespace {

constexpr size_t kAround = 3;  ///< instructions shown before and behind a hot one
constexpr uint64_t kManyTicks = 100;
constexpr size_t kShortGap = 4;  ///< fewer instructions than this are shown rather than left out

std::vector<bool> shown_instructions(const Annotation& annotation, bool all, double min_share) {
  const size_t count = annotation.instructions.size();
  std::vector<bool> shown(count, all);
  const double one = annotation.ticks.ticks < kManyTicks ? 1 : 2;  // of many, a single one says nothing
  const double least = std::max(one, min_share * static_cast<double>(annotation.ticks.ticks));
  for (size_t i = 0; i < count; ++i) {
    if (static_cast<double>(annotation.instructions[i].ticks.ticks) < least) continue;
    for (size_t near = i - std::min(i, kAround); near < std::min(count, i + kAround + 1); ++near)
      shown[near] = true;
  }
  return shown;
}

/// Shows what is shorter than the row that would stand for it.
void close_short_gaps(std::vector<bool>* shown) {
  for (size_t i = 0; i < shown->size();) {
    size_t end = i;
    while (end < shown->size() && !(*shown)[end]) ++end;
    if (end - i < kShortGap)
      std::fill(shown->begin() + static_cast<ptrdiff_t>(i), shown->begin() + static_cast<ptrdiff_t>(end),
                true);
    i = std::max(end, i + 1);
  }
}

bool same_frame(const Frame& a, const Frame& b) {
  return a.function == b.function && a.file == b.file && a.line == b.line;
}

/// Adds the headings that an instruction needs after the one before it. Line 0 is one once a line was named:
/// what has no line does not stand below the source of another instruction.
class Headings {
 public:
  void add(const std::vector<Frame>& frames, std::vector<ListingRow>* rows) {
    Frame own = frames.empty() ? Frame{} : frames.back();
    if (own.line == 0) own.file.clear();
    const bool new_line = own.line != line_ || own.file != file_;
    if (new_line && (own.line != 0 || named_))
      rows->push_back({.kind = ListingRow::Kind::kLine, .file = own.file, .line = own.line});
    named_ = named_ || own.line != 0;
    std::vector<Frame> inner;
    if (!frames.empty()) inner.assign(frames.rbegin() + 1, frames.rend());
    const bool same =
        inner.size() == inner_.size() && std::equal(inner.begin(), inner.end(), inner_.begin(), same_frame);
    if (!inner.empty() && (new_line || !same))
      rows->push_back({.kind = ListingRow::Kind::kInlined,
                       .file = inner.back().file,
                       .line = inner.back().line,
                       .inlined = inner});
    file_ = own.file;
    line_ = own.line;
    inner_ = std::move(inner);
  }
  /// What follows a gap names its line again.
  void forget() {
    line_.reset();
    inner_.clear();
  }

 private:
  bool named_ = false;
  std::string file_;
  std::optional<uint32_t> line_;
  std::vector<Frame> inner_;
};

ListingRow left_out(const Annotation& annotation, size_t first, size_t end) {
  ListingRow row{.kind = ListingRow::Kind::kLeftOut, .first = first, .last = end - 1};
  for (size_t i = first; i < end; ++i) row.ticks += annotation.instructions[i].ticks.ticks;
  return row;
}

}  // namespace

std::vector<ListingRow> listing_rows(Annotator& annotator, bool all, double min_share) {
  const Annotation& annotation = annotator.annotation();
  std::vector<bool> shown = shown_instructions(annotation, all, min_share);
  close_short_gaps(&shown);
  std::vector<size_t> indices;
  for (size_t i = 0; i < shown.size(); ++i)
    if (shown[i]) indices.push_back(i);
  const std::vector<std::vector<Frame>> frames = annotator.frames(indices);
  std::vector<ListingRow> rows;
  Headings headings;
  size_t next = 0;  // the instruction that would follow without a gap
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != next) {
      rows.push_back(left_out(annotation, next, indices[i]));
      headings.forget();
    }
    headings.add(frames[i], &rows);
    rows.push_back({.kind = ListingRow::Kind::kInstruction, .first = indices[i]});
    next = indices[i] + 1;
  }
  if (next != shown.size()) rows.push_back(left_out(annotation, next, shown.size()));
  return rows;
}

size_t hottest(const Annotation& annotation) {
  auto most = std::max_element(annotation.instructions.begin(), annotation.instructions.end(),
                               [](const AnnotatedInstruction& a, const AnnotatedInstruction& b) {
                                 return a.ticks.ticks < b.ticks.ticks;
                               });
  return static_cast<size_t>(most - annotation.instructions.begin());
}

}  // namespace pctally
