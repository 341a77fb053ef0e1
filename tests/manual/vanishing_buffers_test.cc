// A buffer goes away, or becomes read-only, while the clock ticks into it: the program lives, its region is
// off for good, the neighbour counts on.
#include <errno.h>

#include <atomic>

#include "pctally/aix.h"
#include "pctally/bsd.h"
#include "pctally/compat/n64/ultra64.h"
#include "pctally/glibc.h"
#include "pctally/hpux.h"
#include "pctally/irix.h"
#include "pctally/svr4.h"
#include "pctally/tru64.h"
#include "tests/manual/hot.h"
#include "tests/manual/page_test.h"

namespace pctally::manual {
namespace {

/// A call with two regions, of 32-bit counters where the dialect has them.
struct TwoRegions {
  const char* system;
  void (*start)(void* cells_a, void* cells_b, unsigned bytes);
  void (*stop)();
};

constexpr unsigned kBytes = 4096;  ///< of counters for each function, and of text at one to one

template <class Entry>
int sprofil_both(int (*sprofil)(Entry*, int, timeval*, unsigned), unsigned flags, void* a, void* b,
                 unsigned bytes) {
  Entry entries[2] = {};
  bool a_first = text_of_hot_a().start < text_of_hot_b().start;
  unsigned size = std::min<unsigned>(bytes, (static_cast<unsigned>(text_of_hot_a().bytes()) + 7) & ~7u);
  entries[a_first ? 0 : 1] = {a, size, {}, 0x10000};
  entries[a_first ? 1 : 0] = {b, size, {}, 0x10000};
  auto place = [](auto* member, uintptr_t start) {
    memcpy(static_cast<void*>(member), &start, sizeof start);
  };
  if constexpr (requires { entries[0].pr_offset; }) {
    place(&entries[a_first ? 0 : 1].pr_offset, text_of_hot_a().start);
    place(&entries[a_first ? 1 : 0].pr_offset, text_of_hot_b().start);
  } else {
    place(&entries[a_first ? 0 : 1].pr_off, text_of_hot_a().start);
    place(&entries[a_first ? 1 : 0].pr_off, text_of_hot_b().start);
  }
  return sprofil(entries, 2, nullptr, flags);
}

char* pc(uintptr_t address) { return reinterpret_cast<char*>(address); }

constexpr TwoRegions kTwoRegions[] = {
    {"hpux",
     [](void* a, void* b, unsigned bytes) {
       EXPECT_EQ(sprofil_both(pctally_hpux_sprofil, 2, a, b, bytes), 0);
     },
     [] { pctally_hpux_sprofil(nullptr, 0, nullptr, 0); }},
    {"irix",
     [](void* a, void* b, unsigned bytes) {
       EXPECT_EQ(sprofil_both(pctally_irix_sprofil, 2, a, b, bytes), 0);
     },
     [] { pctally_irix_sprofil(nullptr, 0, nullptr, 0); }},
    {"glibc",
     [](void* a, void* b, unsigned bytes) {
       EXPECT_EQ(sprofil_both(pctally_glibc_sprofil, 1, a, b, bytes), 0);
     },
     [] { pctally_glibc_sprofil(nullptr, 0, nullptr, 0); }},
    {"tru64",
     [](void* a, void* b, unsigned) {
       Text ta = text_of_hot_a(), tb = text_of_hot_b();
       pctally_tru64_profil_args args[] = {
           {static_cast<unsigned*>(a), pc(ta.end), pc(ta.start), pc(ta.start), 0x10000},
           {static_cast<unsigned*>(b), pc(tb.end), pc(tb.start), pc(tb.start), 0x10000}};
       if (ta.start < tb.start) std::swap(args[0], args[1]);
       errno = 0;
       pctally_tru64_profil(args, 2, -1, 0);
       EXPECT_EQ(errno, 0);
     },
     [] { pctally_tru64_profil(nullptr, 0, 0, 0); }},
    {"n64",
     [](void* a, void* b, unsigned bytes) {
       Text ta = text_of_hot_a(), tb = text_of_hot_b();
       auto word = [](uintptr_t address) { return reinterpret_cast<u32*>(address); };
       OSProf list[] = {{static_cast<u16*>(a), bytes / 2, word(ta.start), word(ta.end)},
                        {static_cast<u16*>(b), bytes / 2, word(tb.start), word(tb.end)}};
       osProfileInit(list, 2);
       osProfileStart(10000);
     },
     [] { osProfileStop(); }}};

enum class Fate { kUnmapped, kReadOnly };

class vanishing_buffers : public Page {
 protected:
  /// Waits by working: until a byte of the cells changes; false after two CPU seconds.
  static bool ticks_into(const unsigned char* cells, void (*hot)(uint64_t)) {
    std::vector<unsigned char> before(cells, cells + kBytes);
    for (int i = 0; i < 200; ++i) {
      run_hot(hot, 10'000'000);
      if (memcmp(cells, before.data(), kBytes) != 0) return true;
    }
    return false;
  }

  static uint64_t lost(const char* system) {
    pctally_tick_ledger ledger{};
    EXPECT_EQ(pctally_profil_ledger(system, &ledger), 0);
    EXPECT_EQ(ledger.ticks, ledger.counted + ledger.outside + ledger.full + ledger.lost);
    return ledger.lost;
  }

  static void run_until_lost(const char* system) {
    for (int i = 0; i < 200 && lost(system) == 0; ++i) run_hot(hot_a, 10'000'000);
    EXPECT_GT(lost(system), 0u) << system;
  }

  static void take_away(const Fenced& cells, Fate fate) {
    if (fate == Fate::kUnmapped)
      cells.unmap();
    else
      cells.protect(PROT_READ);
  }

  /// The same address again, writable.
  static void give_back(const Fenced& cells, Fate fate) {
    if (fate == Fate::kReadOnly) return cells.protect(PROT_READ | PROT_WRITE);
    auto start = reinterpret_cast<uintptr_t>(cells.as<void>());  // its end is a page's, its start need not be
    uintptr_t page = start & ~(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
    void* again = mmap(reinterpret_cast<void*>(page), start - page + kBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ASSERT_EQ(again, reinterpret_cast<void*>(page));
  }
};

TEST_F(vanishing_buffers, one_of_two_regions) {
  use_clock();
  for (const TwoRegions& dialect : kTwoRegions)
    for (Fate fate : {Fate::kUnmapped, Fate::kReadOnly}) {
      SCOPED_TRACE(testing::Message()
                   << dialect.system << (fate == Fate::kUnmapped ? " unmapped" : " read-only"));
      Fenced a(kBytes), b(kBytes);
      dialect.start(a.as<void>(), b.as<void>(), kBytes);
      ASSERT_TRUE(ticks_into(a.as<unsigned char>(), hot_a));
      ASSERT_TRUE(ticks_into(b.as<unsigned char>(), hot_b));
      EXPECT_EQ(lost(dialect.system), 0u);
      take_away(a, fate);
      run_until_lost(dialect.system);
      ASSERT_TRUE(ticks_into(b.as<unsigned char>(), hot_b)) << "the neighbour counts on";
      give_back(a, fate);
      std::vector<unsigned char> before(a.as<unsigned char>(), a.as<unsigned char>() + kBytes);
      run_hot(hot_a, 60'000'000);
      EXPECT_EQ(memcmp(a.as<void>(), before.data(), kBytes), 0) << "off for good";
      dialect.stop();
    }
}

/// A call with one region.
struct OneRegion {
  const char* system;
  void (*start)(void* cells, unsigned bytes, uintptr_t offset);
  void (*stop)();
};
constexpr OneRegion kOneRegion[] = {
    {"svr4",
     [](void* cells, unsigned bytes, uintptr_t offset) {
       pctally_svr4_profil(static_cast<uint16_t*>(cells), bytes, offset, 0x10000);
     },
     [] { pctally_svr4_profil(nullptr, 0, 0, 0); }},
    {"bsd",
     [](void* cells, unsigned bytes, uintptr_t offset) {
       EXPECT_EQ(pctally_bsd_profil(static_cast<char*>(cells), bytes, offset, 0x10000), 0);
     },
     [] { pctally_bsd_profil(nullptr, 0, 0, 0); }},
    {"tru64",
     [](void* cells, unsigned bytes, uintptr_t offset) {
       pctally_tru64_profil(cells, bytes, static_cast<long>(offset), 0x10000);
     },
     [] { pctally_tru64_profil(nullptr, 0, 0, 0); }},
    {"aix",
     [](void* cells, unsigned bytes, uintptr_t offset) {
       EXPECT_EQ(pctally_aix_profil(cells, bytes, offset, 0xffff), 0);
     },
     [] { pctally_aix_profil(nullptr, 2, 0, 0); }},
    {"hpux",
     [](void* cells, unsigned bytes, uintptr_t offset) {
       pctally_hpux_profil(static_cast<uint16_t*>(cells), bytes, offset, 0x10000);
     },
     [] { pctally_hpux_profil(nullptr, 0, 0, 0); }},
    {"glibc",
     [](void* cells, unsigned bytes, uintptr_t offset) {
       EXPECT_EQ(pctally_glibc_profil(static_cast<uint16_t*>(cells), bytes, offset, 0x10000), 0);
     },
     [] { pctally_glibc_profil(nullptr, 0, 0, 0); }}};

TEST_F(vanishing_buffers, the_only_region) {
  use_clock();
  for (const OneRegion& dialect : kOneRegion)
    for (Fate fate : {Fate::kUnmapped, Fate::kReadOnly}) {
      SCOPED_TRACE(testing::Message()
                   << dialect.system << (fate == Fate::kUnmapped ? " unmapped" : " read-only"));
      Fenced a(kBytes);
      dialect.start(a.as<void>(), kBytes, text_of_hot_a().start);
      ASSERT_TRUE(ticks_into(a.as<unsigned char>(), hot_a));
      take_away(a, fate);
      run_until_lost(dialect.system);
      give_back(a, fate);
      std::vector<unsigned char> before(a.as<unsigned char>(), a.as<unsigned char>() + kBytes);
      run_hot(hot_a, 60'000'000);
      EXPECT_EQ(memcmp(a.as<void>(), before.data(), kBytes), 0) << "off for good";
      dialect.stop();
      EXPECT_EQ(pctally_count(nullptr, 1), -1) << "and its clock can be turned off";
      dialect.start(a.as<void>(), kBytes, text_of_hot_a().start);
      ASSERT_TRUE(ticks_into(a.as<unsigned char>(), hot_a)) << "until it is turned on again";
      dialect.stop();
    }
}

// Four threads take ticks while a fifth maps, unmaps and protects their buffers, with a neighbour that stays.
TEST_F(vanishing_buffers, under_the_ticks_of_four_threads) {
  use_clock();
  std::atomic<bool> stop = false;
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i)
    workers.emplace_back([&] {
      while (!stop) run_hot(hot_a, 2'000'000), run_hot(hot_b, 2'000'000);
    });
  for (int round = 0; round < 10; ++round) {
    Fenced a(kBytes), b(kBytes);
    kTwoRegions[round % 4].start(a.as<void>(), b.as<void>(), kBytes);
    take_away(a, round % 2 == 0 ? Fate::kUnmapped : Fate::kReadOnly);
    EXPECT_TRUE(ticks_into(b.as<unsigned char>(), hot_b));
    kTwoRegions[round % 4].stop();
  }
  stop = true;
  for (std::thread& worker : workers) worker.join();
}

}  // namespace
}  // namespace pctally::manual
