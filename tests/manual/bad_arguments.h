// Generated calls: any values of any argument, and what the manual page says must become of each call.
//
// The memory the arguments point to lies between pages that nobody may touch and holds a pattern: whatever a
// call or a tick changes besides the counters shows. The verdicts are written from the pages and share no
// code with the dialects.
#pragma once
#include <errno.h>
#include <string.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <string>

#include "tests/manual/page_test.h"

namespace pctally::manual {

/// A value for an argument that points to memory: `room` bytes from `base` on may be written.
struct Place {
  const char* name;
  char* base;
  size_t room;
  [[nodiscard]] bool holds(uint64_t bytes) const { return bytes <= room; }
};

/// nobody | a page to write | nobody | a page to read | nobody
class Grounds {
 public:
  static inline const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  Grounds() : start_(far_from_all_else()), untouched_(kPage) {
    for (size_t i = 0; i < kPage; ++i) untouched_[i] = pattern(i);
    mprotect(write_page(), kPage, PROT_READ | PROT_WRITE);
    mprotect(read_page(), kPage, PROT_READ | PROT_WRITE);
    restore();
    memcpy(read_page(), untouched_.data(), kPage);
    mprotect(read_page(), kPage, PROT_READ);
  }
  ~Grounds() { munmap(start_, 5 * kPage); }
  Grounds(const Grounds&) = delete;
  Grounds& operator=(const Grounds&) = delete;

  [[nodiscard]] char* write_page() const { return start_ + kPage; }
  [[nodiscard]] char* write_end() const { return start_ + 2 * kPage; }
  [[nodiscard]] char* read_page() const { return start_ + 3 * kPage; }
  [[nodiscard]] char* nowhere() const { return start_; }

  /// Bytes of the pattern are small, so that no counter made of them is near a limit.
  void restore() const { memcpy(write_page(), untouched_.data(), kPage); }
  /// In any byte of a counter of 16 or 32 bits: which one depends on the machine's order.
  [[nodiscard]] bool changed(const char* counter) const {
    for (const char* byte = counter; byte != write_end() && byte != counter + 4; ++byte)
      if (*byte != pattern(static_cast<size_t>(byte - write_page()))) return true;
    return false;
  }
  static char pattern(size_t i) { return static_cast<char>(i * 7 % 61 + 1); }

  /// The first byte that differs from the pattern and lies in none of `spans`; -1 if there is none.
  struct Span {
    const void* base;
    uint64_t bytes;
    [[nodiscard]] bool holds(const char* byte) const {
      return byte >= base && static_cast<uint64_t>(byte - static_cast<const char*>(base)) < bytes;
    }
  };
  [[nodiscard]] long changed_outside(const std::vector<Span>& spans) const {
    if (memcmp(write_page(), untouched_.data(), kPage) == 0 &&
        memcmp(read_page(), untouched_.data(), kPage) == 0)
      return -1;
    for (size_t i = 0; i < kPage; ++i) {
      const char* byte = write_page() + i;
      if (*byte != pattern(i) &&
          std::none_of(spans.begin(), spans.end(), [&](Span s) { return s.holds(byte); }))
        return static_cast<long>(i);
      if (read_page()[i] != pattern(i)) return static_cast<long>(i + kPage);
    }
    return -1;
  }

  /// For a buffer of counters.
  [[nodiscard]] std::vector<Place> buffers() const {
    return {{"null", nullptr, 0},
            {"unmapped", nowhere() + 64, 0},
            {"read-only", read_page() + 64, 0},
            {"the kernel's", reinterpret_cast<char*>(0xffff880000000000), 0},
            {"the last bytes there are", reinterpret_cast<char*>(UINTPTR_MAX - 7), 0},
            {"a page's start", write_page(), kPage},
            {"odd", write_page() + 1025, kPage - 1025},
            {"64 bytes before the end", write_end() - 64, 64},
            {"3 bytes before the end", write_end() - 3, 3}};
  }

 private:
  /// A buffer may claim gigabytes: what such a counter hits must be nobody's.
  static char* far_from_all_else() {
    static uintptr_t hint = 0x200000000000;
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* memory = mmap(reinterpret_cast<void*>(hint), 5 * kPage, PROT_NONE, kFlags, -1, 0);
    hint += uintptr_t{1} << 36;
    return static_cast<char*>(memory);
  }

  char* start_;
  std::vector<char> untouched_;  ///< a page with the pattern
};

/// How an argument can point to a list.
enum class Pointing { kRight, kFlush, kOdd, kReadOnly, kNull, kUnmapped, kCutShort };
constexpr Pointing kAllPointings[] = {Pointing::kRight,    Pointing::kFlush, Pointing::kOdd,
                                      Pointing::kReadOnly, Pointing::kNull,  Pointing::kUnmapped,
                                      Pointing::kCutShort};

/// The list itself, copied to where the pointer points.
class ListGrounds {
 public:
  template <class Entry>
  Entry* put(const std::vector<Entry>& list, Pointing pointing) {
    size_t bytes = list.size() * sizeof(Entry);
    char* to = grounds_.write_end() - bytes;
    switch (pointing) {
      case Pointing::kNull:
        return nullptr;
      case Pointing::kUnmapped:
        return reinterpret_cast<Entry*>(grounds_.nowhere());
      case Pointing::kReadOnly:
        to = grounds_.read_page();
        mprotect(to, Grounds::kPage, PROT_READ | PROT_WRITE);
        break;
      case Pointing::kRight:
        to = grounds_.write_page();
        break;
      case Pointing::kOdd:
        to = grounds_.write_page() + 1;
        break;
      case Pointing::kCutShort:
        to += 4;
        bytes -= 4;
        break;
      default:
        break;
    }
    memcpy(static_cast<void*>(to), list.data(), bytes);
    if (pointing == Pointing::kReadOnly) mprotect(to, Grounds::kPage, PROT_READ);
    return reinterpret_cast<Entry*>(to);
  }

  /// Whether a list of at least one entry can be read there.
  static bool readable(Pointing pointing) {
    return pointing != Pointing::kNull && pointing != Pointing::kUnmapped && pointing != Pointing::kCutShort;
  }

 private:
  Grounds grounds_;
};

/// What a page says of a call.
struct Verdict {
  std::vector<int> errors;  ///< one of these is reported; none: the call succeeds
  enum After { kOff, kAsBefore, kOn } after = kOn;
  /// A counter in the grounds that the ticks raise, if they can: at an odd address none can be counted
  /// atomically but on x86-64 (docs/machines.md).
  const char* raised = nullptr;
};

/// A page's generated calls. Each is made with nothing on, and with a profile of the same dialect on.
class BadArguments : public Page {
 protected:
  static constexpr uintptr_t kBefore = 0x700000;  ///< text of the profile that was on before the call

  /// turn_on counts one 16-bit or 32-bit counter at kBefore, in `before_`.
  void family(std::function<void()> turn_on, std::function<void()> turn_off) {
    turn_on_ = std::move(turn_on), turn_off_ = std::move(turn_off);
    turn_off_();
  }

  using Spans = std::vector<Grounds::Span>;

  /// `call` returns the error reported, 0 for none; it may change `of_call`. Ticks may change `of_ticks` too.
  void judge(const std::string& what, const Verdict& verdict, bool was_on, const std::function<int()>& call,
             const Spans& of_call, const Spans& of_ticks, const std::vector<uintptr_t>& pcs) {
    if (HasFailure()) return;  // the first says enough
    ++combinations_;
    SCOPED_TRACE(what + (was_on ? " while on" : " while off"));
    grounds_.restore();
    if (was_on) turn_on_();
    errno = 0;
    int error = call();
    EXPECT_EQ(grounds_.changed_outside(of_call), -1) << "changed by the call";
    if (verdict.errors.empty())
      EXPECT_EQ(error, 0);
    else
      EXPECT_NE(std::find(verdict.errors.begin(), verdict.errors.end(), error), verdict.errors.end())
          << error;
    judge_state(verdict.after, was_on);
    for (uintptr_t pc : pcs) tick_at(pc);
    Spans allowed = of_call;
    allowed.insert(allowed.end(), of_ticks.begin(), of_ticks.end());
    EXPECT_EQ(grounds_.changed_outside(allowed), -1) << "changed by a tick";
    if (verdict.raised != nullptr && can_be_raised(verdict.raised)) {
      EXPECT_TRUE(grounds_.changed(verdict.raised)) << "no tick was counted";
    }
    turn_off_();
    EXPECT_EQ(pctally_count(nullptr, 1), -1) << "not to be turned off";
  }

  static bool can_be_raised(const char* counter) {
#ifdef __x86_64__
    return counter != nullptr;
#else
    return reinterpret_cast<uintptr_t>(counter) % 2 == 0;
#endif
  }

  void judge_state(Verdict::After after, bool was_on) {
    if (after == Verdict::kOff) {
      EXPECT_EQ(pctally_count(nullptr, 1), -1) << "still on";
    }
    memset(before_, 0, sizeof before_);
    tick_at(kBefore);
    EXPECT_EQ(before_[0] != 0, after == Verdict::kAsBefore && was_on) << "the profile before";
  }

  /// At least 400 of each family.
  void enough(const char* page) {
    std::cout << page << ": " << combinations_ << " combinations\n";
    RecordProperty(page, static_cast<int>(combinations_));
    EXPECT_GE(combinations_, 400u);
  }

  static int error_of(int result) {
    EXPECT_TRUE(result == 0 || result == -1) << result;
    return result == 0 ? 0 : errno;
  }

  Grounds grounds_;
  ListGrounds list_;
  uint32_t before_[2] = {};
  unsigned combinations_ = 0;

 private:
  std::function<void()> turn_on_, turn_off_;
};

/// Where pcs are interesting for text of some bytes.
inline std::vector<uintptr_t> around(uintptr_t offset, uint64_t bytes) {
  return {offset - 1,         offset,         offset + 1,         offset + 2, offset + bytes / 2,
          offset + bytes - 1, offset + bytes, offset + 2 * bytes, 0,          offset + bytes * 4,
          UINTPTR_MAX};
}

inline std::string named(const char* what, uint64_t value) {
  char text[64];
  snprintf(text, sizeof text, " %s=%#llx", what, static_cast<unsigned long long>(value));
  return text;
}

}  // namespace pctally::manual
