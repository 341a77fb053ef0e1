// Turns the entries of a call into the regions of its session, by the system's row of policy.
//
//   a page's file    checks the call (count, flags, memory) and copies its entries, one Entry each
//   RegionBuilder    checks each entry and makes its region, or says which errno the page names
//   Session          counts by the regions
#pragma once
#include "base/file/mapped_array.h"
#include "dialect/policy.h"
#include "dialect/session.h"

namespace pctally {

/// One range of code and its counters, as a call names them.
struct Entry {
  static constexpr uint64_t kAsNeeded = UINT64_MAX;

  void* base = nullptr;  ///< counters; may lie at any address
  uint64_t bytes = 0;    ///< of counters; kAsNeeded: as many as `high` needs
  uint64_t offset = 0;   ///< the pc at which the first counter begins
  uint32_t scale = 0;
  uint64_t low = 0;   ///< kByEnd, kDescending: the first pc that counts
  uint64_t high = 0;  ///< kByEnd, kDescending: the first pc that does not
};

/// Lives for one call, under g_sessions_mutex. After an error it is of no use.
class RegionBuilder {
 public:
  /// `count`: how many entries will be added; only the rules whose overflow counter comes last ask.
  RegionBuilder(const DialectPolicy& policy, CellKind kind, size_t count) noexcept
      : policy_(policy), kind_(kind), count_(count) {}

  /// Adds the next entry, in the call's order. Returns 0, EINVAL or ENOMEM. An entry whose scale means "off"
  /// makes no region and is no error.
  [[nodiscard]] int add(const Entry& entry) noexcept;

  /// Starts the session with the entries added, or replaces what is on. Returns 0 or an
  /// errno of Session::start().
  [[nodiscard]] int start(Session* session, uint64_t period_ns) noexcept REQUIRES(g_sessions_mutex);

 private:
  [[nodiscard]] bool in_order(const Entry& entry) const noexcept;
  [[nodiscard]] bool is_overflow(const Entry& entry) const noexcept;
  [[nodiscard]] int add_overflow(const Entry& entry) noexcept;
  [[nodiscard]] int add_exact(const Entry& entry) noexcept;
  [[nodiscard]] int add_bounded(const Entry& entry) noexcept;
  [[nodiscard]] int add_region(Region region) noexcept;
  [[nodiscard]] Region region(const Entry& entry) const noexcept;

  const DialectPolicy& policy_;
  CellKind kind_;
  size_t count_;
  size_t added_ = 0;
  Entry before_{};  ///< the entry added before
  MappedArray<Region> regions_;
  Region overflow_{};
  bool has_overflow_ = false;
};

/// The call that all the profil(2)s share: one range, 16-bit counters. A scale that means "off" stops the
/// session; no room for a counter means that it is on and counts nothing. Returns 0 or an errno.
/// REQUIRES: a scale that is not kInvalid.
[[nodiscard]] int profil_one(Session* session, const DialectPolicy& policy, const Entry& entry) noexcept
    REQUIRES(g_sessions_mutex);

}  // namespace pctally
