// PCTALLY_VERBOSE=1: a call that fails or can count nothing says so on standard error; without it none does.
#include <gtest/gtest.h>

#include <string>

#include "pctally/aix.h"
#include "pctally/bsd.h"
#include "pctally/glibc.h"
#include "pctally/hpux.h"
#include "pctally/svr4.h"
#include "pctally/tru64.h"
#include "tests/manual/hot.h"
#include "tests/manual/page_test.h"

namespace pctally::manual {
namespace {

class dialect_verbose : public Page {
 protected:
  void SetUp() override {
    Page::SetUp();
    setenv("PCTALLY_VERBOSE", "1", 1);
  }
  void TearDown() override {
    pctally_svr4_profil(nullptr, 0, 0, 0);
    pctally_bsd_profil(nullptr, 0, 0, 0);
    pctally_glibc_profil(nullptr, 0, 0, 0);
    pctally_tru64_profil(nullptr, 0, 0, 0);
    pctally_hpux_sprofil(nullptr, 0, nullptr, 0);
    pctally_aix_profil(nullptr, 0, 0, 0);
    unsetenv("PCTALLY_VERBOSE");
  }
  template <class Call>
  static std::string said(Call call) {
    testing::internal::CaptureStderr();
    call();
    return testing::internal::GetCapturedStderr();
  }
  uint16_t cells[64] = {};
  char* bytes = reinterpret_cast<char*>(cells);
};

constexpr char kNoCode[] =
    ": no code at 0x400000, nothing can be counted; if the address was cut to 32 bits, link with -no-pie\n";

TEST_F(dialect_verbose, an_address_without_code_is_named) {
  EXPECT_EQ(said([&] { pctally_svr4_profil(cells, 128, kText, 0x10000); }),
            std::string("pctally: svr4") + kNoCode);
  EXPECT_EQ(said([&] { pctally_tru64_profil(cells, 128, kText, 0x10000); }),
            std::string("pctally: tru64") + kNoCode);
  pctally_hpux_prof entry{cells, 128, text(), 0x10000};
  EXPECT_EQ(said([&] { pctally_hpux_sprofil(&entry, 1, nullptr, PCTALLY_HPUX_USHORT); }),
            std::string("pctally: hpux") + kNoCode);
}

TEST_F(dialect_verbose, code_that_is_there_needs_no_word) {
  EXPECT_EQ(said([&] { pctally_svr4_profil(cells, 128, text_of<size_t>(burn), 0x10000); }), "");
  EXPECT_EQ(said([&] { pctally_glibc_profil(cells, 128, 0, 0); }), "") << "every pc";
}

TEST_F(dialect_verbose, a_call_without_counters_is_named) {
  EXPECT_EQ(said([&] { pctally_svr4_profil(cells, 0, kText, 0x10000); }),
            "pctally: svr4: no counter to count in; check the sizes and scales\n");
}

TEST_F(dialect_verbose, a_scale_that_means_off_is_named) {
  EXPECT_EQ(said([&] { pctally_aix_profil(cells, 128, kText, 0x20000); }),
            "pctally: aix: scale 0x20000 is off: its low 16 bits are below 2\n");
  EXPECT_EQ(said([&] { pctally_aix_profil(cells, 128, kText, 0); }), "");
}

TEST_F(dialect_verbose, a_failed_call_is_named) {
  EXPECT_EQ(said([&] {
              EXPECT_EQ(pctally_bsd_profil(bytes, 128, kText, 0x20000), -1);
              EXPECT_EQ(errno, EINVAL);
            }),
            "pctally: pctally_bsd_profil: Invalid argument\n");
}

// By the name that the program calls it, not by that of a function inside.
TEST_F(dialect_verbose, a_failed_call_of_a_monitor_is_named) {
  auto line = [](const char* call, const char* error) {
    return std::string("pctally: pctally_") + call + ": " + error + "\n";
  };
  auto* place = reinterpret_cast<int (*)()>(kText);
  auto* other = reinterpret_cast<void (*)()>(kText);
  pctally_aix_prof ranges[1] = {{bytes, bytes, cells, 1, 0}};
  pctally_hpux_text_region region = {kText, kText, nullptr};
  const auto low = static_cast<long>(kText);
  EXPECT_EQ(said([&] { pctally_svr4_monitor(place, place, cells, 64, 0); }),
            line("svr4_monitor", "Invalid argument"));
  EXPECT_EQ(said([&] { pctally_hpux_monitor(other, other, cells, 64, 0); }),
            line("hpux_monitor", "Invalid argument"));
  EXPECT_EQ(said([&] { pctally_hpux_smonitor(&region, 1, cells, 64, 0, PCTALLY_HPUX_UINT); }),
            line("hpux_smonitor", "Invalid argument"));
  EXPECT_EQ(said([&] { pctally_bsd_monitor(place, place, nullptr, 64, 0); }),
            line("bsd_monitor", "Invalid argument"));
  EXPECT_EQ(said([&] { pctally_bsd_monstartup(kText, kText); }), line("bsd_monstartup", "Invalid argument"));
  EXPECT_EQ(said([&] { pctally_glibc_monstartup(kText, kText); }),
            line("glibc_monstartup", "Invalid argument"));
  EXPECT_EQ(said([&] { pctally_tru64_monitor(low, low, cells, 64, 0); }),
            line("tru64_monitor", "Invalid argument"));
  EXPECT_EQ(said([&] { pctally_tru64_monitor(-1, 0, nullptr, 1, 0); }), line("tru64_monitor", "Bad address"));
  EXPECT_EQ(said([&] { pctally_tru64_monstartup(bytes, bytes); }),
            line("tru64_monstartup", "Invalid argument"));
  EXPECT_EQ(said([&] { (void)pctally_aix_monitor(kText, kText, cells, 64, 0); }),
            line("aix_monitor", "Invalid argument"));
  EXPECT_EQ(said([&] { (void)pctally_aix_monitor(1, 0, ranges, -1, 0); }),
            line("aix_monitor", "Invalid argument"));
  EXPECT_EQ(said([&] { (void)pctally_aix_monstartup(kText, kText); }),
            line("aix_monstartup", "Invalid argument"));
}

TEST_F(dialect_verbose, without_it_nothing_is_said) {
  setenv("PCTALLY_VERBOSE", "0", 1);
  EXPECT_EQ(said([&] {
              pctally_svr4_profil(cells, 128, kText, 0x10000);
              pctally_aix_profil(cells, 128, kText, 0x20000);
              pctally_bsd_profil(bytes, 128, kText, 0x20000);
            }),
            "");
}

}  // namespace
}  // namespace pctally::manual
