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
