// What the tests of the monitors' calls share: a directory of their own, and no monitor left on.
#pragma once
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "pctally/aix.h"
#include "pctally/bsd.h"
#include "pctally/glibc.h"
#include "pctally/hpux.h"
#include "pctally/svr4.h"
#include "pctally/tru64.h"
#include "tests/manual/page_test.h"

namespace pctally::manual {

using Function = int (*)(void);

inline Function place(uintptr_t distance) { return reinterpret_cast<Function>(kText + distance); }

/// A directory of its own for every test; what is written to stderr is kept.
class MonitorCalls : public Page {
 protected:
  void SetUp() override {
    Page::SetUp();
    std::string name = testing::TempDir() + "monitor.XXXXXX";
    directory_ = mkdtemp(name.data());
    ASSERT_EQ(chdir(directory_.c_str()), 0);
    unsetenv("PROFDIR");
    unsetenv("PCTALLY_MONITOR");
    testing::internal::CaptureStderr();
  }
  void TearDown() override {
    pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0);
    pctally_hpux_smonitor(nullptr, 0, nullptr, 0, 0, 0);
    pctally_tru64_monitor(0, 0, nullptr, 0, 0);
    (void)pctally_aix_monitor(0, 0, nullptr, 0, 0);
    pctally_bsd_mcleanup();
    if (!stderr_taken_) stderr_text();
    ASSERT_EQ(chdir("/"), 0);
    (void)!system(("rm -r " + directory_).c_str());
  }
  std::string stderr_text() {
    stderr_taken_ = true;
    return testing::internal::GetCapturedStderr();
  }
  static bool exists(const char* name) { return access(name, F_OK) == 0; }
  static std::string bytes_of(const char* name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  template <class Call>
  static int error_of(Call call) {
    errno = 0;
    call();
    return errno;
  }

 private:
  std::string directory_;
  bool stderr_taken_ = false;
};

}  // namespace pctally::manual
