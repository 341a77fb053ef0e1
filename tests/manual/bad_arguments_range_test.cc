// Generated calls of the pages with one range: SVR4, BSD, Tru64 and AIX in their classic forms, HP-UX,
// IRIX and glibc profil().
#include "pctally/aix.h"
#include "pctally/bsd.h"
#include "pctally/glibc.h"
#include "pctally/hpux.h"
#include "pctally/irix.h"
#include "pctally/svr4.h"
#include "pctally/tru64.h"
#include "tests/manual/bad_arguments.h"

namespace pctally::manual {
namespace {

/// The arguments of all profil()s.
struct Range {
  Place buffer;
  uint64_t size, offset;
  uint32_t scale;
  bool was_on;
};

class bad_arguments : public BadArguments {
 protected:
  /// Every buffer with every size, offset and scale.
  template <class Judge>
  void all_ranges(std::initializer_list<uint64_t> sizes, Judge judge_one) {
    for (const Place& buffer : grounds_.buffers())
      for (uint64_t size : sizes)
        for (uint64_t offset : {uint64_t{0}, uint64_t{kText}, uint64_t{kText + 1}, UINT64_MAX - 7})
          for (uint32_t scale :
               {0u, 1u, 2u, 3u, 0x7fffu, 0xffffu, 0x10000u, 0x10001u, 0x10002u, 0x20000u, ~0u})
            for (bool was_on : {false, true}) judge_one(Range{buffer, size, offset, scale, was_on});
  }

  void judge_range(const Range& range, Verdict verdict, const std::function<int()>& call) {
    // One tick at least is at the offset itself, whose counter is the first at any scale.
    if (verdict.after == Verdict::kOn && range.size >= 2 && range.buffer.holds(range.size))
      verdict.raised = range.buffer.base;
    std::string what = std::string(range.buffer.name) + named("size", range.size) +
                       named("offset", range.offset) + named("scale", range.scale);
    judge(what, verdict, range.was_on, call, {}, {{range.buffer.base, range.size / 2 * 2}},
          around(range.offset, range.size));
  }

  uint16_t* before() { return reinterpret_cast<uint16_t*>(before_); }
};

uint16_t* shorts(const Range& range) { return reinterpret_cast<uint16_t*>(range.buffer.base); }

// "Profiling is turned off by giving a scale value of 0 or 1, and is rendered ineffective by giving a bufsiz
// value of 0." No error is named, and no value is: 0.
Verdict svr4_page(const Range& range) { return {{}, range.scale < 2 ? Verdict::kOff : Verdict::kOn}; }

TEST_F(bad_arguments, svr4_profil) {
  family([&] { pctally_svr4_profil(before(), 2, kBefore, 0x10000); },
         [] { pctally_svr4_profil(nullptr, 0, 0, 0); });
  all_ranges({0, 1, 2, 3, 63, 64, 65, 4096, 0x7fffffff, 0xffffffff}, [&](const Range& range) {
    judge_range(range, svr4_page(range), [&] {
      return error_of(
          pctally_svr4_profil(shorts(range), static_cast<unsigned>(range.size), range.offset, range.scale));
    });
  });
  enough("SVR4");
}

// "A scale value of 0 disables profiling." "The scale parameter ranges from 1 to 65536." "If the scale value
// is nonzero and the buffer samples contains an illegal address, profil() returns -1, profiling is terminated
// and errno is set [EFAULT]. Otherwise profil() returns 0."
Verdict bsd_page(const Range& range) {
  if (range.scale == 0) return {{}, Verdict::kOff};
  if (!range.buffer.holds(range.size)) return {{EFAULT}, Verdict::kOff};
  if (range.scale > 65536) return {{EINVAL}, Verdict::kAsBefore};
  return {{}, Verdict::kOn};
}

TEST_F(bad_arguments, bsd_profil) {
  family([&] { pctally_bsd_profil(reinterpret_cast<char*>(before_), 2, kBefore, 65536); },
         [] { pctally_bsd_profil(nullptr, 0, 0, 0); });
  all_ranges(
      {0, 1, 2, 3, 63, 64, 65, 4096, 4097, 0x7fffffff, UINT64_MAX / 2, UINT64_MAX}, [&](const Range& range) {
        judge_range(range, bsd_page(range), [&] {
          return error_of(pctally_bsd_profil(range.buffer.base, range.size, range.offset, range.scale));
        });
      });
  enough("BSD");
}

// "Profiling is turned off by giving a scale parameter of either zero (0) or 1." No error is named.
Verdict tru64_page(const Range& range) { return {{}, range.scale < 2 ? Verdict::kOff : Verdict::kOn}; }

TEST_F(bad_arguments, tru64_profil_classic) {
  family([&] { pctally_tru64_profil(before_, 2, static_cast<long>(kBefore), 0x10000); },
         [] { pctally_tru64_profil(nullptr, 0, 0, 0); });
  all_ranges({0, 1, 2, 3, 63, 64, 65, 4096, 0x7fffffff, 0xffffffff}, [&](const Range& range) {
    judge_range(range, tru64_page(range), [&] {
      pctally_tru64_profil(range.buffer.base, static_cast<long>(range.size), static_cast<long>(range.offset),
                           range.scale);
      return errno;
    });
  });
  enough("Tru64, classic form");
}

// "The most significant 16 bits of the Scale parameter are ignored"; 1 and 0 turn off. "If the value of
// BufferSize is 0, profiling by the first syntax is rendered ineffective." "A call is ineffective if it is
// attempting to turn on profiling when profiling is already turned on, or off when it is off." "EFAULT: the
// address specified by ShortBuffer is not valid."
Verdict aix_page(const Range& range) {
  bool off = (range.scale & 0xffff) < 2;
  if (off) return {{}, Verdict::kOff};
  if (range.size == 0 || range.was_on) return {{}, Verdict::kAsBefore};
  if (!range.buffer.holds(range.size)) return {{EFAULT}, Verdict::kAsBefore};
  return {{}, Verdict::kOn};
}

TEST_F(bad_arguments, aix_profil_one_range) {
  family([&] { pctally_aix_profil(before_, 2, kBefore, 0xffff); },
         [] { pctally_aix_profil(nullptr, 2, 0, 0); });
  all_ranges({0, 1, 2, 3, 63, 64, 65, 4096, 4097, 0x7fffffff, 0xfffffffe}, [&](const Range& range) {
    judge_range(range, aix_page(range), [&] {
      return error_of(pctally_aix_profil(range.buffer.base, static_cast<unsigned>(range.size), range.offset,
                                         range.scale));
    });
  });
  enough("AIX, one range");
}

// profil(2) of HP-UX has no result; 0 and 1 turn it off.
Verdict hpux_page(const Range& range) { return {{}, range.scale < 2 ? Verdict::kOff : Verdict::kOn}; }

TEST_F(bad_arguments, hpux_profil) {
  family([&] { pctally_hpux_profil(before(), 2, kBefore, 0x10000); },
         [] { pctally_hpux_profil(nullptr, 0, 0, 0); });
  all_ranges({0, 1, 2, 3, 63, 64, 65, 4096, 0x7fffffff, UINT64_MAX}, [&](const Range& range) {
    judge_range(range, hpux_page(range), [&] {
      pctally_hpux_profil(shorts(range), range.size, range.offset, range.scale);
      return errno;
    });
  });
  enough("HP-UX profil");
}

// profil(2) of IRIX: 0 and 1 turn it off; no argument is refused.
Verdict irix_page(const Range& range) { return {{}, range.scale < 2 ? Verdict::kOff : Verdict::kOn}; }

TEST_F(bad_arguments, irix_profil) {
  family([&] { pctally_irix_profil(before(), 2, kBefore, 0x10000); },
         [] { pctally_irix_profil(nullptr, 0, 0, 0); });
  all_ranges({0, 1, 2, 3, 63, 64, 65, 4096, 0x7fffffff, 0xffffffff}, [&](const Range& range) {
    judge_range(range, irix_page(range), [&] {
      return error_of(
          pctally_irix_profil(shorts(range), static_cast<unsigned>(range.size), range.offset, range.scale));
    });
  });
  enough("IRIX profil");
}

// A null buffer ends it; every scale counts.
Verdict glibc_page(const Range& range) {
  return {{}, range.buffer.base == nullptr ? Verdict::kOff : Verdict::kOn};
}

TEST_F(bad_arguments, glibc_profil) {
  family([&] { pctally_glibc_profil(before(), 2, kBefore, 0x10000); },
         [] { pctally_glibc_profil(nullptr, 0, 0, 0); });
  all_ranges({0, 1, 2, 3, 63, 64, 65, 4096, 0x7fffffff, UINT64_MAX}, [&](const Range& range) {
    judge_range(range, glibc_page(range), [&] {
      return error_of(pctally_glibc_profil(shorts(range), range.size, range.offset, range.scale));
    });
  });
  enough("glibc profil");
}

}  // namespace
}  // namespace pctally::manual
