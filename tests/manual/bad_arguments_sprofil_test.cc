// Generated calls of sprofil(): HP-UX, whose page names every error; IRIX and glibc, whose pages name few.

#include "pctally/glibc.h"
#include "pctally/hpux.h"
#include "pctally/irix.h"
#include "tests/manual/bad_arguments.h"
#include "tests/oracle/wide.h"

namespace pctally::manual {
namespace {

using naive::Wide;
using HpuxList = std::vector<pctally_hpux_prof>;

/// The arguments of one sprofil().
template <class Prof>
struct SprofilCall {
  std::vector<Prof> list;
  int profcnt;
  Pointing pointing = Pointing::kRight;
  Place tvp = {"null", nullptr, 0};
  unsigned flags = 1;
  bool was_on = false;
};
using HpuxCall = SprofilCall<pctally_hpux_prof>;

unsigned element_of(unsigned flags) {
  return flags == PCTALLY_HPUX_USHORT   ? 2
         : flags == PCTALLY_HPUX_UINT   ? 4
         : flags == PCTALLY_HPUX_UINT64 ? 8
                                        : 0;
}

bool is_overflow(const pctally_hpux_prof& entry) { return entry.pr_offset == nullptr && entry.pr_scale == 2; }

// "If a pr_scale field is set to 0 or 1, the corresponding prof array entry is ignored."
bool is_ignored(const pctally_hpux_prof& entry) { return entry.pr_scale < 2; }

/// The first address behind the region: the smallest D with D * scale / 65536 >= size.
Wide end_of(const pctally_hpux_prof& entry) {
  Wide bytes = (Wide(entry.pr_size) * 65536u + Wide(entry.pr_scale - 1)) / entry.pr_scale;
  return Wide(reinterpret_cast<uintptr_t>(entry.pr_offset)) + bytes;
}

// "[EINVAL] ... a pr_size field is zero or greater than (2^46 * pr_scale) / 65536 or is not a multiple of the
// element size or the overflow descriptor is not last in the list of specified regions or is more than one
// element long or the regions are not sorted in ascending order by pr_offset or the regions overlap."
bool list_is_invalid(const HpuxList& list, unsigned element) {
  const pctally_hpux_prof* before = nullptr;
  for (const pctally_hpux_prof& entry : list) {
    if (is_ignored(entry)) continue;
    if (entry.pr_size == 0 || entry.pr_size % element != 0) return true;
    if (Wide(uint64_t{1} << 46) * entry.pr_scale / 65536u < Wide(entry.pr_size)) return true;
    if (is_overflow(entry)) {
      if (&entry != &list.back() || entry.pr_size != element) return true;
      continue;
    }
    if (before != nullptr && Wide(reinterpret_cast<uintptr_t>(entry.pr_offset)) < end_of(*before))
      return true;
    before = &entry;
  }
  return false;
}

// "[E2BIG] profcnt was less than or equal to 0 [0 disables: docs/dialects.md], or greater than
// sysconf(_SC_PROFIL_MAX)." "[EFAULT] Either profp or tvp points to an illegal address." "[EINVAL] The flags
// parameter is not valid or ..." A call that fails changes nothing.
Verdict hpux_page(const HpuxCall& call) {
  Verdict verdict;
  if (call.profcnt < 0 || call.profcnt > PCTALLY_HPUX_PROFIL_MAX) verdict.errors.push_back(E2BIG);
  if (call.profcnt != 0 && !ListGrounds::readable(call.pointing)) verdict.errors.push_back(EFAULT);
  if (call.tvp.base != nullptr && !call.tvp.holds(sizeof(timeval))) verdict.errors.push_back(EFAULT);
  unsigned element = element_of(call.flags);
  if (call.profcnt != 0 && (element == 0 || list_is_invalid(call.list, element)))
    verdict.errors.push_back(EINVAL);
  verdict.after = !verdict.errors.empty() ? Verdict::kAsBefore
                  : call.profcnt == 0     ? Verdict::kOff
                                          : Verdict::kOn;
  return verdict;
}

std::string words_of(const HpuxCall& call) {
  std::string words = named("profcnt", static_cast<uint64_t>(call.profcnt)) + named("flags", call.flags) +
                      named("pointing", static_cast<uint64_t>(call.pointing)) + " tvp " + call.tvp.name;
  for (const pctally_hpux_prof& entry : call.list)
    words += " {" + named("base", reinterpret_cast<uintptr_t>(entry.pr_base)) + named("size", entry.pr_size) +
             named("offset", reinterpret_cast<uintptr_t>(entry.pr_offset)) + named("scale", entry.pr_scale) +
             "}";
  return words;
}

class bad_arguments_lists : public BadArguments {
 protected:
  void judge_hpux(const HpuxCall& call) {
    Spans counters;
    std::vector<uintptr_t> pcs;
    for (const pctally_hpux_prof& entry : call.list) {
      if (!is_ignored(entry)) counters.push_back({entry.pr_base, entry.pr_size});
      for (uintptr_t pc : around(reinterpret_cast<uintptr_t>(entry.pr_offset), entry.pr_size))
        pcs.push_back(pc);
    }
    pctally_hpux_prof* profp = list_.put(call.list, call.pointing);
    auto* tvp = reinterpret_cast<timeval*>(call.tvp.base);
    judge(
        words_of(call), hpux_page(call), call.was_on,
        [&] { return error_of(pctally_hpux_sprofil(profp, call.profcnt, tvp, call.flags)); },
        {{call.tvp.base, call.tvp.base == nullptr ? 0 : sizeof(timeval)}}, counters, pcs);
  }

  void hpux_family() {
    family(
        [&] {
          pctally_hpux_prof entry{before_, 4, reinterpret_cast<void*>(kBefore), 0x10000};
          pctally_hpux_sprofil(&entry, 1, nullptr, PCTALLY_HPUX_UINT);
        },
        [] { pctally_hpux_sprofil(nullptr, 0, nullptr, 0); });
  }

  [[nodiscard]] std::vector<Place> places_for_tvp() const {
    return {{"null", nullptr, 0},
            {"unmapped", grounds_.nowhere(), 0},
            {"read-only", grounds_.read_page(), 0},
            {"half of it", grounds_.write_end() - 8, 8},
            {"right", grounds_.write_page() + 512, 512},
            {"odd", grounds_.write_page() + 513, 512}};
  }
};

TEST_F(bad_arguments_lists, hpux_sprofil_one_entry) {
  hpux_family();
  for (const Place& buffer : grounds_.buffers())
    for (unsigned size :
         {0u, 1u, 2u, 3u, 4u, 8u, 64u, 66u, 4096u, 0x7ffffff8u, 0x80000000u, 0x80000008u, 0xfffffff8u})
      for (uintptr_t offset : {uintptr_t{0}, kText, kText + 1, UINTPTR_MAX - 7})
        for (unsigned scale : {0u, 1u, 2u, 3u, 0x8000u, 0xffffu, 0x10000u, 0x20000u, 0x40000u, 0x80000u, ~0u})
          for (unsigned flags : {1u, 2u, 4u})
            judge_hpux({{{buffer.base, size, reinterpret_cast<void*>(offset), scale}},
                        1,
                        Pointing::kRight,
                        {"null", nullptr, 0},
                        flags,
                        (size + scale) % 2 == 0});
  enough("HP-UX sprofil, one entry");
}

TEST_F(bad_arguments_lists, hpux_sprofil_pointers_counts_and_flags) {
  hpux_family();
  pctally_hpux_prof good{grounds_.write_page(), 64, text(), 0x10000}, bad = good;
  bad.pr_size = 0;
  for (const pctally_hpux_prof& entry : {good, bad})
    for (Pointing pointing : kAllPointings)
      for (int profcnt : {0, 1, -1, INT32_MIN, PCTALLY_HPUX_PROFIL_MAX + 1, INT32_MAX})
        for (const Place& tvp : places_for_tvp())
          for (unsigned flags : {0u, 1u, 2u, 3u, 4u, 5u, 8u, 0x80000001u})
            for (bool was_on : {false, true}) judge_hpux({{entry}, profcnt, pointing, tvp, flags, was_on});
  enough("HP-UX sprofil, pointers, counts, flags");
}

/// Entries that agree and disagree with each other: sorted or not, touching, overlapping, twice the same.
std::vector<pctally_hpux_prof> neighbours(const Grounds& grounds) {
  char* page = grounds.write_page();
  return {{page, 64, text(), 0x10000},
          {page + 128, 64, text(64), 0x10000},
          {page + 256, 64, text(63), 0x10000},
          {page + 384, 64, text(64), 0xffff},
          {page + 512, 64, text(129), 0x10000},
          {page + 640, 64, text(0x1000), 2},
          {page + 768, 64, text(32), 1},
          {page + 896, 2, nullptr, 2},
          {page + 1024, 4, nullptr, 2},
          {page + 1152, 64, nullptr, 0x10000},
          {page + 1281, 64, text(0x300000), 0x20000},
          {nullptr, 64, reinterpret_cast<void*>(UINTPTR_MAX - 15), 0x10000}};
}

TEST_F(bad_arguments_lists, hpux_sprofil_lists) {
  hpux_family();
  const HpuxList some = neighbours(grounds_);
  for (const auto& first : some)
    for (const auto& second : some) {
      for (unsigned flags : {1u, 2u})
        judge_hpux({{first, second}, 2, Pointing::kFlush, {"null", nullptr, 0}, flags});
      for (const auto& third : some)
        judge_hpux({{first, second, third}, 3, Pointing::kOdd, {"null", nullptr, 0}, 1, first.pr_scale == 2});
    }
  enough("HP-UX sprofil, lists");
}

// Counts, pointers and flags are refused; any sizes, order and overlaps are taken.
template <class Prof>
Verdict irix_or_glibc_page(const SprofilCall<Prof>& call, int most, int too_many, bool flags_are_valid) {
  Verdict verdict;
  if (call.profcnt < 0 || call.profcnt > most) verdict.errors.push_back(too_many);
  if (call.profcnt != 0 && !ListGrounds::readable(call.pointing)) verdict.errors.push_back(EFAULT);
  if (call.tvp.base != nullptr && !call.tvp.holds(sizeof(timeval))) verdict.errors.push_back(EFAULT);
  if (!flags_are_valid) verdict.errors.push_back(EINVAL);
  verdict.after = !verdict.errors.empty() ? Verdict::kAsBefore
                  : call.profcnt == 0     ? Verdict::kOff
                                          : Verdict::kOn;
  return verdict;
}

/// The calls of both: any two entries, any pointers, any flags.
template <class Prof, class Judge>
void all_calls(const Grounds& grounds, const std::vector<Place>& tvps, Judge judge_one) {
  using Offset = decltype(Prof::pr_off);
  std::vector<Prof> some;
  for (const Place& buffer : grounds.buffers())
    for (unsigned size : {0u, 1u, 3u, 64u, 0xffffffffu})
      for (unsigned scale : {0u, 2u, 0xffffu, 0x20000u, ~0u})
        some.push_back(
            {buffer.base, size, (size + scale) % 2 == 0 ? Offset{0} : Offset{kText + size}, scale});
  for (size_t i = 0; i < some.size(); ++i)
    for (unsigned flags = 0; flags < 9; ++flags)
      judge_one({{some[i], some[(i * 31 + 7) % some.size()]}, 2, Pointing::kOdd, tvps[0], flags, i % 2 == 0});
  for (Pointing pointing : kAllPointings)
    for (int profcnt : {0, 1, -1, INT32_MIN, INT32_MAX})
      for (const Place& tvp : tvps)
        for (unsigned flags : {0u, 1u, 2u, 7u})
          judge_one({{some[73]}, profcnt, pointing, tvp, flags, flags == 1});
}

template <class Prof>
std::vector<Grounds::Span> spans_of(const std::vector<Prof>& list) {
  std::vector<Grounds::Span> spans;
  for (const Prof& entry : list) spans.push_back({entry.pr_base, entry.pr_size});
  return spans;
}

template <class Prof>
std::vector<uintptr_t> pcs_of(const std::vector<Prof>& list) {
  std::vector<uintptr_t> pcs;
  for (const Prof& entry : list)
    for (uintptr_t pc : around(entry.pr_off, entry.pr_size)) pcs.push_back(pc);
  return pcs;
}

std::string words_of(int profcnt, unsigned flags, Pointing pointing, const char* tvp) {
  return named("profcnt", static_cast<uint64_t>(profcnt)) + named("flags", flags) +
         named("pointing", static_cast<uint64_t>(pointing)) + " tvp " + tvp;
}

TEST_F(bad_arguments_lists, irix_sprofil) {
  family(
      [&] {
        pctally_irix_prof entry{before_, 4, kBefore, 0x10000};
        pctally_irix_sprofil(&entry, 1, nullptr, PCTALLY_IRIX_UINT);
      },
      [] { pctally_irix_sprofil(nullptr, 0, nullptr, 0); });
  all_calls<pctally_irix_prof>(grounds_, places_for_tvp(), [&](const SprofilCall<pctally_irix_prof>& call) {
    const pctally_irix_prof& first = call.list[0];
    bool overflow_is_last = call.profcnt != 2 || first.pr_off != 0 || first.pr_scale != 2;
    bool valid = call.profcnt == 0 || (call.flags < 8 && overflow_is_last);
    pctally_irix_prof* profp = list_.put(call.list, call.pointing);
    auto* tvp = reinterpret_cast<timeval*>(call.tvp.base);
    judge(
        words_of(call.profcnt, call.flags, call.pointing, call.tvp.name),
        irix_or_glibc_page(call, PCTALLY_IRIX_PROFIL_MAX, E2BIG, valid), call.was_on,
        [&] { return error_of(pctally_irix_sprofil(profp, call.profcnt, tvp, call.flags)); },
        {{call.tvp.base, call.tvp.base == nullptr ? 0 : sizeof(timeval)}}, spans_of(call.list),
        pcs_of(call.list));
  });
  enough("IRIX sprofil");
}

TEST_F(bad_arguments_lists, glibc_sprofil) {
  family(
      [&] {
        pctally_glibc_prof entry{before_, 4, kBefore, 0x10000};
        pctally_glibc_sprofil(&entry, 1, nullptr, PCTALLY_GLIBC_UINT);
      },
      [] { pctally_glibc_sprofil(nullptr, 0, nullptr, 0); });
  all_calls<pctally_glibc_prof>(grounds_, places_for_tvp(), [&](const SprofilCall<pctally_glibc_prof>& call) {
    pctally_glibc_prof* profp = list_.put(call.list, call.pointing);
    auto* tvp = reinterpret_cast<timeval*>(call.tvp.base);
    judge(
        words_of(call.profcnt, call.flags, call.pointing, call.tvp.name),
        irix_or_glibc_page(call, 65536, EINVAL, call.flags < 4), call.was_on,
        [&] { return error_of(pctally_glibc_sprofil(profp, call.profcnt, tvp, call.flags)); },
        {{call.tvp.base, call.tvp.base == nullptr ? 0 : sizeof(timeval)}}, spans_of(call.list),
        pcs_of(call.list));
  });
  enough("glibc sprofil");
}

}  // namespace
}  // namespace pctally::manual
