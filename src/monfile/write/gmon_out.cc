#include "monfile/write/gmon_out.h"

#include <string.h>

#include "monfile/gmon_layout.h"

namespace pctally {
namespace {

constexpr uint64_t kLongestRun = 1024;  ///< counters of one record
constexpr uint64_t kFinestWidth = GmonLayout::kFinestWidth;

/// Bytes of text per cell if every cell has as many and a record can say so; else 0.
uint64_t uniform_width(const Region& region) noexcept {
  const BinRule& rule = region.rule;
  uint64_t spread = uint64_t{65536} << rule.cell_shift;
  if (rule.flags != 0 || rule.scale == 0 || region.low % kFinestWidth != 0) return 0;
  bool exact = rule.family == PCTALLY_BIN_FLOOR ? spread % rule.scale == 0
                                                : rule.family == PCTALLY_BIN_MAN && 65536 % rule.scale == 0;
  uint64_t width = spread / rule.scale;
  return exact && width % kFinestWidth == 0 ? width : 0;
}

/// Where the text of a region ends in whole widths.
uint64_t end_in_widths(const Region& region, uint64_t width) noexcept {
  return region.low + ((region.last - region.low) / width + 1) * width;
}

/// The width of all regions, or the finest there is: then a cell's ticks are spread evenly over its text.
uint64_t common_width(std::span<const Region> regions) noexcept {
  uint64_t width = regions.empty() ? 0 : uniform_width(regions[0]);
  for (size_t i = 0; i < regions.size() && width != 0; ++i) {
    bool touches_next = i + 1 < regions.size() && end_in_widths(regions[i], width) > regions[i + 1].low;
    if (uniform_width(regions[i]) != width || touches_next) width = 0;
  }
  return width == 0 ? kFinestWidth : width;
}

uint64_t cell(const Region& region, uint64_t index) noexcept {
  switch (region.kind) {
    case CellKind::kU16:
      return static_cast<const uint16_t*>(region.cells)[index];
    case CellKind::kU32:
      return static_cast<const uint32_t*>(region.cells)[index];
    default:
      return static_cast<const uint64_t*>(region.cells)[index];
  }
}

/// The first pc that the rule puts into `index` or behind it; last + 1 if there is none in the region.
uint64_t first_pc(const Region& region, uint64_t index) noexcept {
  uint64_t low = region.low, high = region.last + 1, at = 0;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (pctally_bin_index(&region.rule, middle, &at) != 0 && at < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Takes counts by ascending address and writes them as few records.
class Records {
 public:
  Records(MonFile* file, uint64_t width, uint32_t hertz) noexcept
      : file_(file), width_(width), hertz_(static_cast<int32_t>(hertz)) {}

  /// Adds to the counter for [address, address + width).
  void add(uint64_t address, uint64_t count) noexcept {
    if (pending_count_ != 0 && address <= pending_) {
      pending_count_ += count;
      return;
    }
    flush_pending();
    pending_ = address;
    pending_count_ = count;
  }

  /// A record for text that has no ticks, so that readers know it was profiled.
  void add_empty(uint64_t address) noexcept {
    finish();
    run_low_ = address;
    run_[run_length_++] = 0;
    write_run();
  }

  void finish() noexcept {
    flush_pending();
    write_run();
  }
  [[nodiscard]] uint64_t cut() const noexcept { return cut_; }

 private:
  void flush_pending() noexcept {
    if (pending_count_ > GmonLayout::kMostInCounter)
      repeat();
    else if (pending_count_ > 0)
      append(static_cast<uint16_t>(pending_count_));
    pending_count_ = 0;
  }

  void append(uint16_t count) noexcept {
    uint64_t at = run_length_ == 0 ? 0 : (pending_ - run_low_) / width_;
    if (at >= kLongestRun || at > run_length_ + GmonLayout::kLongestGap) write_run();
    if (run_length_ == 0) at = 0, run_low_ = pending_;
    while (run_length_ < at) run_[run_length_++] = 0;
    run_[run_length_++] = count;
  }

  void repeat() noexcept {
    write_run();
    uint64_t left = pending_count_ < GmonLayout::kMostInGprof ? pending_count_ : GmonLayout::kMostInGprof;
    cut_ += pending_count_ - left;
    for (; left > 0; left -= run_[0]) {
      run_[0] = static_cast<uint16_t>(left < GmonLayout::kMostInCounter ? left : GmonLayout::kMostInCounter);
      write_record(pending_, 1);
    }
  }

  void write_run() noexcept {
    if (run_length_ > 0) write_record(run_low_, run_length_);
    run_length_ = 0;
  }

  void write_record(uint64_t low, uint64_t length) noexcept {
    uintptr_t range[2] = {static_cast<uintptr_t>(low), static_cast<uintptr_t>(low + length * width_)};
    int32_t numbers[2] = {static_cast<int32_t>(length), hertz_};
    file_->append(&GmonLayout::kHistogram, 1);
    file_->append(range, sizeof range);
    file_->append(numbers, sizeof numbers);
    file_->append(GmonLayout::kDimension, sizeof GmonLayout::kDimension);
    file_->append(run_, length * sizeof *run_);
  }

  MonFile* file_;
  uint64_t width_;
  int32_t hertz_;
  uint64_t pending_ = 0;
  uint64_t pending_count_ = 0;
  uint64_t run_low_ = 0;
  uint64_t run_length_ = 0;
  uint64_t cut_ = 0;
  uint16_t run_[kLongestRun];
};

/// One cell's ticks over the widths of text it stands for: the remainder, too, at even distances.
void spread(Records* records, uint64_t start, uint64_t first, uint64_t end, uint64_t width,
            uint64_t count) noexcept {
  uint64_t from = first < start ? 0 : (first - start) / width, to = end < start ? 0 : (end - start) / width;
  uint64_t widths = to > from ? to - from : 1;
  uint64_t each = count / widths, rest = count % widths, part = widths / 2;  // of a tick, in 1/widths
  for (uint64_t i = 0; i < widths && count > 0; ++i) {
    if (each == 0) {  // straight to the next one that gets a tick
      uint64_t none = (widths - 1 - part) / rest;
      i += none, part += none * rest;
    }
    part += rest;
    uint64_t share = each + (part >= widths ? 1 : 0);
    if (part >= widths) part -= widths;
    records->add(start + (from + i) * width, share);
    count -= share;
  }
}

/// `free_from`: where the region before has left off; returns where this one does.
uint64_t add_region(Records* records, const Region& region, uint64_t free_from, uint64_t base,
                    uint64_t width) noexcept {
  uint64_t start = region.low / kFinestWidth * kFinestWidth - base, last_index = 0;
  bool any = false;
  if (start < free_from) start = free_from;
  if (region.rule.cells == 0 || pctally_bin_index(&region.rule, region.last, &last_index) == 0)
    return free_from;
  for (uint64_t i = 0; i <= last_index; ++i) {
    uint64_t count = cell(region, i);
    if (count == 0) continue;
    spread(records, start, first_pc(region, i) - base, first_pc(region, i + 1) - base, width, count);
    any = true;
  }
  if (!any) records->add_empty(start);
  records->finish();
  return start + (region.last - base - start + width) / width * width;
}

}  // namespace

uint64_t write_gmon_out(MonFile* file, std::span<const Region> regions, uint64_t base,
                        uint32_t hertz) noexcept {
  constexpr char kSpare[GmonLayout::kSpareBytes] = {};
  file->append(GmonLayout::kMagic, sizeof GmonLayout::kMagic);
  file->append(&GmonLayout::kVersion, sizeof GmonLayout::kVersion);
  file->append(kSpare, sizeof kSpare);
  uint64_t width = common_width(regions);
  Records records(file, width, hertz);
  uint64_t free_from = 0;
  for (const Region& region : regions) free_from = add_region(&records, region, free_from, base, width);
  return records.cut();
}

}  // namespace pctally
