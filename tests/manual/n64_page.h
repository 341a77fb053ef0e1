// What the tests of osProfile(3P) share: the segment of table T8 and an error handler that takes notes.
#pragma once
#include <stdarg.h>

#include <filesystem>

#include "pctally/compat/n64/ultra64.h"
#include "tests/manual/n64_host.h"

namespace pctally::manual {

constexpr uintptr_t kStart = 0x80200050, kEnd = 0x80200124;

struct Error {
  int code = 0;
  int count = 0;
  uintptr_t arguments[2] = {};
};
inline std::vector<Error> g_errors;

inline void note_error(s16 code, s16 count, ...) {
  Error error{code, count, {}};
  va_list list;
  va_start(list, count);
  for (int i = 0; i < count && i < 2; ++i)
    error.arguments[i] = code == 63 || code == 64 ? reinterpret_cast<uintptr_t>(va_arg(list, void*))
                                                  : static_cast<uintptr_t>(va_arg(list, int));
  va_end(list);
  g_errors.push_back(error);
}

inline int last_error() { return g_errors.empty() ? 0 : g_errors.back().code; }

inline u32* code(uintptr_t address) { return reinterpret_cast<u32*>(address); }

/// A directory for the sockets of this program alone. It is there before all tests: the first
/// osProfileInit(), in whichever test, starts the thread that listens there.
class RuntimeDirectory : public testing::Environment {
 public:
  void SetUp() override {
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

 private:
  std::string path_ = "/tmp/pctally-n64-XXXXXX";
};
inline testing::Environment* const kRuntimeDirectory =
    testing::AddGlobalTestEnvironment(new RuntimeDirectory);

class N64Page : public Page {
 protected:
  void SetUp() override {
    Page::SetUp();
    osSetErrorHandler(note_error);
    osProfileStop();
    g_errors.clear();
  }
  void TearDown() override {
    osProfileStop();
    osSetErrorHandler(nullptr);
  }
  void init() { osProfileInit(&segment, 1); }
  void init_and_start() {
    init();
    osProfileStart(10000);
  }
  static u32 overflow() { return dump_self().value_or(Dump{}).overflow; }

  alignas(4) u16 bins[64] = {};
  OSProf segment{bins, 53, code(kStart), code(kEnd)};
};

}  // namespace pctally::manual
