#include "dialect/region_builder.h"

#include <errno.h>

#include <algorithm>

#include "dialect/call.h"

namespace pctally {

int RegionBuilder::add(const Entry& entry) noexcept {
  ++added_;
  if (!in_order(entry)) return EINVAL;
  before_ = entry;
  if (meaning_of(policy_, entry.scale) == ScaleMeaning::kOff) return 0;
  if (is_overflow(entry)) return add_overflow(entry);
  switch (policy_.list) {
    case ListRule::kExact:
      return add_exact(entry);
    case ListRule::kByEnd:
    case ListRule::kDescending:
      return add_bounded(entry);
    default:
      return entry.bytes >> cell_shift(kind_) == 0 ? 0 : add_region(region(entry));
  }
}

/// The rules for entries that are switched off, too. Those of kExact are about regions: see add_exact().
bool RegionBuilder::in_order(const Entry& entry) const noexcept {
  if (policy_.list == ListRule::kByEnd) return entry.high > before_.high;
  if (policy_.list != ListRule::kDescending) return true;
  return entry.high > entry.low && (added_ == 1 || entry.high <= before_.low);
}

bool RegionBuilder::is_overflow(const Entry& entry) const noexcept {
  bool possible = policy_.list == ListRule::kExact || policy_.list == ListRule::kAnyOrder ||
                  policy_.list == ListRule::kLastIsRest;
  return possible && entry.offset == 0 && entry.scale == 2;
}

int RegionBuilder::add_overflow(const Entry& entry) noexcept {
  uint64_t element = uint64_t{1} << cell_shift(kind_);
  if (policy_.list != ListRule::kAnyOrder && added_ != count_) return EINVAL;
  if (policy_.list == ListRule::kExact && entry.bytes != element) return EINVAL;
  if (entry.bytes < element) return 0;
  overflow_ = overflow_of(entry.base, kind_, policy_.overflow_when_full);
  has_overflow_ = true;
  return 0;
}

/// HP-UX: whole counters, ascending, no two of them overlapping.
int RegionBuilder::add_exact(const Entry& entry) noexcept {
  uint64_t element = uint64_t{1} << cell_shift(kind_);
  if (entry.bytes == 0 || entry.bytes % element != 0) return EINVAL;
  if (entry.bytes > uint64_t{entry.scale} << 30) return EINVAL;  // (2^46 * pr_scale) / 65536
  size_t size = regions_.size();
  if (size > 0 && entry.offset <= regions_[size - 1].last) return EINVAL;
  return add_region(region(entry));
}

/// AIX and Tru64: the entry says itself where its code ends. One that can count nothing makes no region.
int RegionBuilder::add_bounded(const Entry& entry) noexcept {
  if (entry.low >= entry.high || entry.bytes == 0) return 0;
  Region made = region(entry);
  made.low = entry.low;
  if (made.last >= entry.high) made.last = entry.high - 1;
  if (entry.bytes != Entry::kAsNeeded) return add_region(made);
  uint64_t index = 0;
  if (!pctally_bin_index(&made.rule, entry.high - 1, &index)) return 0;
  made.rule.cells = index + 1;
  return add_region(made);
}

Region RegionBuilder::region(const Entry& entry) const noexcept {
  return region_of(policy_, {entry.base, entry.bytes, kind_}, entry.offset, entry.scale);
}

/// `reach` is the session's to set: until then it holds the region's place in the call.
int RegionBuilder::add_region(Region region) noexcept {
  region.reach = added_;
  return regions_.push_back(region) ? 0 : ENOMEM;
}

int RegionBuilder::start(Session* session, uint64_t period_ns) noexcept {
  // The search takes the last of two with the same low; that has to be the call's first.
  std::sort(regions_.begin(), regions_.end(), [](const Region& a, const Region& b) {
    return a.low != b.low ? a.low < b.low : a.reach > b.reach;
  });
  SessionPlan plan{{regions_.data(), regions_.size()}, has_overflow_ ? &overflow_ : nullptr, period_ns};
  return session->start(plan).error();
}

int profil_one(Session* session, const DialectPolicy& policy, const Entry& entry) noexcept {
  if (meaning_of(policy, entry.scale) == ScaleMeaning::kOff) {
    session->stop();
    return 0;
  }
  Region region = region_of(policy, {entry.base, entry.bytes}, entry.offset, entry.scale);
  return session->start({{&region, 1}, nullptr, policy.period_ns}).error();
}

}  // namespace pctally
