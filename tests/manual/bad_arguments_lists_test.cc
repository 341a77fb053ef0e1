// Generated calls with lists of ranges: Tru64's extended form, AIX's second form, and osProfileInit.
#include "pctally/aix.h"
#include "pctally/tru64.h"
#include "tests/manual/bad_arguments.h"
#include "tests/manual/n64_page.h"

namespace pctally::manual {
namespace {

using bad_arguments_ranges = BadArguments;

uintptr_t number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

struct Tru64Call {
  std::vector<pctally_tru64_profil_args> list;
  int buffer_size;
  Pointing pointing = Pointing::kRight;
  unsigned long flags = 0;
  bool was_on = false;
};

// "The address ranges must be non-overlapping, and be ordered by decreasing lowpc value."
bool out_of_order(const std::vector<pctally_tru64_profil_args>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (number(list[i].lowpc) >= number(list[i].highpc)) return true;  // not both ends of a range
    for (size_t later = i + 1; later < list.size(); ++later) {
      if (number(list[later].lowpc) >= number(list[i].lowpc)) return true;
      if (number(list[later].highpc) > number(list[i].lowpc)) return true;
    }
  }
  return false;
}

// "An array of up to 64 struct profil_args structures." "flags ... should be 0." There is no result: errno
// tells, and the call is ignored.
Verdict tru64_page(const Tru64Call& call) {
  Verdict verdict;
  if (call.buffer_size < 1 || call.buffer_size > 64 || call.flags != 0) verdict.errors.push_back(EINVAL);
  if (!ListGrounds::readable(call.pointing)) verdict.errors.push_back(EFAULT);
  if (out_of_order(call.list)) verdict.errors.push_back(EINVAL);
  verdict.after = verdict.errors.empty() ? Verdict::kOn : Verdict::kAsBefore;
  return verdict;
}

/// The caller's buffer: as many counters as the bytes of its range need.
uint64_t bytes_for(const pctally_tru64_profil_args& entry) {
  if (number(entry.highpc) <= number(entry.offset)) return 0;
  unsigned __int128 text = number(entry.highpc) - number(entry.offset);
  unsigned __int128 bytes = (text * entry.scale / 65536 / 4 + 1) * 4;
  return bytes > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(bytes);
}

TEST_F(bad_arguments_ranges, tru64_profil_extended) {
  family([&] { pctally_tru64_profil(before_, 2, static_cast<long>(kBefore), 0x10000); },
         [] { pctally_tru64_profil(nullptr, 0, 0, 0); });
  auto judge_tru64 = [&](const Tru64Call& call) {
    Spans counters;
    std::vector<uintptr_t> pcs;
    std::string words = named("size", static_cast<uint64_t>(call.buffer_size)) + named("flags", call.flags) +
                        named("pointing", static_cast<uint64_t>(call.pointing));
    for (const auto& entry : call.list) {
      counters.push_back({entry.buffer, entry.scale == 2 ? 4 : bytes_for(entry)});
      for (uintptr_t pc : around(number(entry.lowpc), number(entry.highpc) - number(entry.lowpc)))
        pcs.push_back(pc);
      words += " {" + named("buffer", number(entry.buffer)) + named("low", number(entry.lowpc)) +
               named("high", number(entry.highpc)) + named("offset", number(entry.offset)) +
               named("scale", entry.scale) + "}";
    }
    auto* args = list_.put(call.list, call.pointing);
    judge(
        words, tru64_page(call), call.was_on,
        [&] { return pctally_tru64_profil(args, call.buffer_size, -1, call.flags), errno; }, {}, counters,
        pcs);
  };
  std::vector<pctally_tru64_profil_args> some;
  for (const Place& buffer : grounds_.buffers())
    for (unsigned scale : {0u, 1u, 2u, 0xffffu, 0x10000u, 0x30000u})
      for (uintptr_t offset : {kText, kText + 63, uintptr_t{0}, UINTPTR_MAX})
        for (unsigned bytes : {0u, 16u})
          some.push_back({reinterpret_cast<unsigned*>(buffer.base), text(bytes), text(),
                          reinterpret_cast<void*>(offset), scale});
  some.push_back({nullptr, reinterpret_cast<void*>(UINTPTR_MAX), nullptr, nullptr, ~0u});
  for (const auto& entry : some)
    for (bool was_on : {false, true}) judge_tru64({{entry}, 1, Pointing::kFlush, 0, was_on});
  const auto good = some[5 * 48 + 32];
  for (Pointing pointing : kAllPointings)
    for (int count : {INT32_MIN, -1, 0, 1, 65, INT32_MAX})
      for (unsigned long flags : {0ul, 1ul, ~0ul})
        for (bool was_on : {false, true}) judge_tru64({{good}, count, pointing, flags, was_on});
  auto* cells = reinterpret_cast<unsigned*>(grounds_.write_page());
  const std::vector<pctally_tru64_profil_args> neighbours = {
      {cells, text(64), text(), text(), 0x10000},        {cells + 32, text(128), text(64), text(64), 0x10000},
      {cells + 64, text(65), text(1), text(1), 0x10000}, {cells + 96, text(256), text(127), text(127), 2},
      {cells + 128, text(300), text(128), text(128), 0}, {cells + 160, text(), text(8), text(), 0x10000}};
  for (const auto& first : neighbours)
    for (const auto& second : neighbours)
      for (const auto& third : neighbours) judge_tru64({{first, second, third}, 3, Pointing::kOdd, 0, false});
  std::vector<pctally_tru64_profil_args> many;
  for (unsigned i = 0; i < 65; ++i)
    many.push_back({cells + i, text(4 * (65 - i)), text(4 * (64 - i)), text(4 * (64 - i)), 0x10000});
  judge_tru64({many, 65, Pointing::kFlush, 0, true});
  many.pop_back();
  judge_tru64({many, 64, Pointing::kFlush, 0, true});
  enough("Tru64, extended form");
}

using AixList = std::vector<pctally_aix_prof>;

struct AixCall {
  AixList list;  ///< with the entry that ends it
  Pointing pointing = Pointing::kRight;
  bool was_on = false;
};

bool ends(const pctally_aix_prof& entry) { return entry.p_high == nullptr; }

/// "The buffer pointers must point into a single contiguous buffer space": all of it can be written.
bool buffers_are_valid(const AixList& list, const std::vector<Place>& places) {
  const char *low = nullptr, *high = nullptr;
  for (const auto& entry : list) {
    if (ends(entry)) break;
    if (entry.p_bufsize <= 0) continue;
    const auto* base = reinterpret_cast<const char*>(entry.p_buff);
    auto place = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.base == base; });
    if (place == places.end() || !place->holds(static_cast<uint64_t>(entry.p_bufsize))) return false;
    low = low == nullptr || base < low ? base : low;
    high = base + entry.p_bufsize > high ? base + entry.p_bufsize : high;
  }
  return true;  // the places that can be written lie in one page
}

// "EFAULT: the address specified by ProfBuffer, or by the p_buff field, is not valid." "EINVAL: the p_high
// fields are not in ascending order." Turning on while on, and off while off, are ineffective. "Profiling by
// the second syntax is turned off by a first p_high of 0."
Verdict aix_page(const AixCall& call, const std::vector<Place>& places) {
  bool unreadable = call.pointing == Pointing::kNull || call.pointing == Pointing::kUnmapped;
  size_t entries = 0;
  while (!ends(call.list[entries])) ++entries;
  bool cut = call.pointing == Pointing::kCutShort && entries + 1 == call.list.size();
  if (unreadable || (cut && entries == 0)) return {{EFAULT}, Verdict::kAsBefore};
  if (entries == 0) return {{}, Verdict::kOff};
  if (call.was_on) return {{}, Verdict::kAsBefore};
  Verdict verdict;
  for (size_t i = 1; i < entries; ++i)
    if (call.list[i].p_high <= call.list[i - 1].p_high) verdict.errors = {EINVAL};
  if (cut || !buffers_are_valid(call.list, places)) verdict.errors.push_back(EFAULT);
  verdict.after = verdict.errors.empty() ? Verdict::kOn : Verdict::kAsBefore;
  return verdict;
}

TEST_F(bad_arguments_ranges, aix_profil_list) {
  pctally_aix_prof before[2] = {{reinterpret_cast<char*>(kBefore), reinterpret_cast<char*>(kBefore + 8),
                                 reinterpret_cast<uint16_t*>(before_), 8, 0xffff},
                                {}};
  pctally_aix_prof end{};
  family([&] { pctally_aix_profil(before, ~0u, 0, 0); }, [&] { pctally_aix_profil(&end, ~0u, 0, 0); });
  const std::vector<Place> places = grounds_.buffers();
  auto judge_aix = [&](const AixCall& call) {
    Spans counters;
    std::vector<uintptr_t> pcs;
    std::string words = named("pointing", static_cast<uint64_t>(call.pointing));
    for (const auto& entry : call.list) {
      if (ends(entry)) break;
      counters.push_back(
          {entry.p_buff, entry.p_bufsize > 0 ? static_cast<uint64_t>(entry.p_bufsize) / 2 * 2 : 0});
      for (uintptr_t pc : around(number(entry.p_low), number(entry.p_high) - number(entry.p_low)))
        pcs.push_back(pc);
      words += " {" + named("low", number(entry.p_low)) + named("high", number(entry.p_high)) +
               named("buff", number(entry.p_buff)) + named("size", static_cast<uint64_t>(entry.p_bufsize)) +
               named("scale", entry.p_scale) + "}";
    }
    auto* list = list_.put(call.list, call.pointing);
    judge(
        words, aix_page(call, places), call.was_on,
        [&] { return error_of(pctally_aix_profil(list, ~0u, 1, ~0u)); }, {}, counters, pcs);
  };
  auto pc = [](uintptr_t distance) { return reinterpret_cast<char*>(kText + distance); };
  AixList some;
  for (const Place& buffer : places)
    for (int size : {INT32_MIN, -1, 0, 1, 3, 64, 4096, INT32_MAX})
      for (unsigned scale : {0u, 1u, 2u, 0xffffu, 0x10000u, ~0u})
        for (uintptr_t bytes : {0u, 1u, 64u})
          some.push_back({pc(0), pc(bytes), reinterpret_cast<uint16_t*>(buffer.base), size, scale});
  some.push_back(
      {pc(0), reinterpret_cast<char*>(UINTPTR_MAX), reinterpret_cast<uint16_t*>(places[5].base), 64, ~0u});
  some.push_back({pc(64), pc(0), reinterpret_cast<uint16_t*>(places[5].base), 64, ~0u});
  for (const auto& entry : some)
    for (bool was_on : {false, true}) judge_aix({{entry, end}, Pointing::kFlush, was_on});
  AixList few = {end, some[5 * 144 + 5 * 18 + 11], some[6 * 144 + 5 * 18 + 11], some[1 * 144 + 5 * 18 + 11]};
  for (uintptr_t high : {32u, 128u}) few.push_back({pc(0), pc(high), few[1].p_buff, 64, 0xffff});
  few.push_back({pc(128), pc(256), few[2].p_buff, 65, ~0u});
  for (Pointing pointing : kAllPointings)
    for (const auto& first : few)
      for (const auto& second : few)
        for (bool was_on : {false, true}) {
          judge_aix({{first, second, end}, pointing, was_on});
          if (ends(first)) judge_aix({{first}, pointing, was_on});
        }
  enough("AIX, list");
}

class bad_arguments_n64 : public N64Page {
 protected:
  using List = std::vector<OSProf>;

  // "Profcnt is an illegal value", "Histo_base pointer must be 32-bit aligned", "Text_start >= text_end",
  // "Histo_size is an illegal size" (0, below a quarter of the words, more than can be written), and "Profile
  // counter is running, call osProfileStop before init".
  std::vector<int> n64_page(const List& list, u32 profcnt, Pointing pointing, bool running,
                            const std::vector<Place>& places) {
    std::vector<int> errors;
    if (running) errors.push_back(ERR_OSPROFILEINIT_STR);
    if (profcnt != list.size() || !ListGrounds::readable(pointing)) errors.push_back(ERR_OSPROFILEINIT_CNT);
    for (const OSProf& entry : list) {
      uint64_t words = (number(entry.text_end) - number(entry.text_start)) / 4;
      auto* base = reinterpret_cast<char*>(entry.histo_base);
      auto place = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.base == base; });
      if (number(base) % 4 != 0) errors.push_back(ERR_OSPROFILEINIT_ALN);
      if (entry.text_start >= entry.text_end)
        errors.push_back(ERR_OSPROFILEINIT_ORD);
      else if (entry.histo_size == 0 || entry.histo_size < words / 4 ||
               !place->holds(uint64_t{entry.histo_size} * 2))
        errors.push_back(ERR_OSPROFILEINIT_SIZ);
    }
    return errors;
  }

  void judge(const List& list, u32 profcnt, Pointing pointing, bool running) {
    if (HasFailure()) return;
    ++combinations_;
    std::string words = named("profcnt", profcnt) + named("pointing", static_cast<uint64_t>(pointing));
    for (const OSProf& entry : list)
      words += " {" + named("base", number(entry.histo_base)) + named("size", entry.histo_size) +
               named("start", number(entry.text_start)) + named("end", number(entry.text_end)) + "}";
    SCOPED_TRACE(words + (running ? " running" : ""));
    auto errors = n64_page(list, profcnt, pointing, running, grounds_.buffers());
    init();
    if (running) osProfileStart(10000);
    grounds_.restore();
    g_errors.clear();
    osProfileInit(list_.put(list, pointing), profcnt);
    judge_init(list, errors);
    g_errors.clear();
    if (!running) osProfileStart(10000);
    memset(bins, 0, sizeof bins);
    std::vector<Grounds::Span> counters;
    for (const OSProf& entry : list) {
      if (errors.empty()) counters.push_back({entry.histo_base, uint64_t{entry.histo_size} * 2});
      for (uintptr_t pc : around(number(entry.text_start), number(entry.text_end) - number(entry.text_start)))
        tick_at(pc);
    }
    EXPECT_EQ(grounds_.changed_outside(counters), -1) << "changed by a tick";
    tick_at(kStart);
    EXPECT_EQ(bins[0] != 0, !errors.empty()) << "the profile before";
    osProfileStop();
  }

  void judge_init(const List& list, const std::vector<int>& errors) {
    std::vector<Grounds::Span> cleared;
    if (errors.empty()) {
      EXPECT_EQ(last_error(), 0);
      for (const OSProf& entry : list) cleared.push_back({entry.histo_base, uint64_t{entry.histo_size} * 2});
    } else {
      EXPECT_NE(std::find(errors.begin(), errors.end(), last_error()), errors.end()) << last_error();
      EXPECT_EQ(g_errors.size(), 1u);
    }
    EXPECT_EQ(grounds_.changed_outside(cleared), -1) << "changed by osProfileInit";
    for (const auto& span : cleared)
      for (uint64_t i = 0; i < span.bytes; ++i)
        ASSERT_EQ(static_cast<const char*>(span.base)[i], 0) << "not cleared";
  }

  Grounds grounds_;
  ListGrounds list_;
  unsigned combinations_ = 0;
};

TEST_F(bad_arguments_n64, osprofileinit) {
  List some;
  for (const Place& buffer : grounds_.buffers())
    for (u32 size : {0u, 1u, 3u, 4u, 16u, 17u, 2048u, 2049u, 0x80000000u, 0xffffffffu})
      for (uintptr_t bytes : {0u, 1u, 3u, 4u, 64u, 255u, 256u})
        some.push_back({reinterpret_cast<u16*>(buffer.base), size, code(kText), code(kText + bytes)});
  some.push_back({reinterpret_cast<u16*>(grounds_.write_page()), 16, code(kText + 4), code(kText)});
  some.push_back({reinterpret_cast<u16*>(grounds_.write_page()), 16, code(0), code(UINTPTR_MAX)});
  for (const OSProf& entry : some)
    for (bool running : {false, true}) judge({entry}, 1, Pointing::kFlush, running);
  const OSProf good = some[5 * 70 + 4 * 7 + 4];
  for (Pointing pointing : kAllPointings)
    for (u32 profcnt : {0u, 1u, 4097u, 0x80000000u, 0xffffffffu})
      for (bool running : {false, true}) judge({good}, profcnt, pointing, running);
  for (size_t i = 0; i < some.size(); i += 7)
    for (size_t other : {size_t{5 * 70 + 4 * 7 + 4}, i * 3 % some.size()})
      judge({some[i], some[other]}, 2, Pointing::kOdd, false);
  std::cout << "Nintendo 64, osProfileInit: " << combinations_ << " combinations\n";
  EXPECT_GE(combinations_, 400u);
}

// "Microseconds is < PROF_MIN_INTERVAL", "Profiling has already been started", "Profiling has already been
// stopped": any calls in any order, against what the page says of the state.
TEST_F(bad_arguments_n64, osprofilestart_and_stop_in_any_order) {
  use_clock();
  init();
  bool on = false;
  uint64_t random = 1;
  unsigned calls = 0;
  for (; calls < 1000; ++calls) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const u32 periods[] = {0, 1, 49, 50, 51, 10000, 0x7fffffff, 0x80000000, 0xffffffff};
    u32 us = periods[(random >> 33) % 9];
    std::vector<int> errors;
    g_errors.clear();
    if ((random >> 60) % 3 == 0) {
      osProfileStop();
      if (!on) errors.push_back(ERR_OSPROFILESTOP_FLAG);
      on = false;
    } else {
      osProfileStart(us);
      if (us < PROF_MIN_INTERVAL) errors.push_back(ERR_OSPROFILESTART_TIME);
      if (on) errors.push_back(ERR_OSPROFILESTART_FLAG);
      on = on || errors.empty();
    }
    ASSERT_EQ(errors.empty(), g_errors.empty()) << calls << " " << us;
    if (!errors.empty()) {
      ASSERT_NE(std::find(errors.begin(), errors.end(), last_error()), errors.end());
    }
  }
  if (on) osProfileStop();
  std::cout << "Nintendo 64, osProfileStart and osProfileStop: " << calls << " calls\n";
}

}  // namespace
}  // namespace pctally::manual
