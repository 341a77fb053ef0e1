#include "report/names/called.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

Called of_put(const char* text) {
  return called_by("void ns::put<int>(int) [clone .cold]", "_ZN2ns3putIiEEvT_.cold", "put(int)", text);
}

TEST(Called, WholeNamesAreBetterThanParts) {
  EXPECT_EQ(of_put("_ZN2ns3putIiEEvT_.cold"), Called::kInFull);
  EXPECT_EQ(of_put("put(int)"), Called::kAsShown);
  EXPECT_EQ(of_put("ns::put.cold"), Called::kInForm);
  EXPECT_EQ(of_put("ns::put<int>.cold"), Called::kInForm);
  EXPECT_EQ(of_put("void ns::put<int>(int)"), Called::kInForm) << "a clone is called as its function";
  EXPECT_EQ(of_put("_ZN2ns3putIiEEvT_"), Called::kInForm);
  EXPECT_EQ(of_put("ns::put"), Called::kBare);
  EXPECT_EQ(of_put("put"), Called::kMember);
  EXPECT_EQ(of_put("pu"), Called::kInPart);
  EXPECT_EQ(of_put("<int>"), Called::kInFormPart);
  EXPECT_EQ(of_put("main"), Called::kNot);
}

TEST(Called, ANameInsideAnotherIsAPart) {
  EXPECT_EQ(called_by("main", "", "main", "main"), Called::kInFull);
  EXPECT_EQ(called_by("main.cold", "", "main.cold", "main"), Called::kInForm);
  for (const char* other : {"dl_main", "__libc_start_main", "main_loop"}) {
    EXPECT_EQ(called_by(other, "", other, "main"), Called::kInPart) << other;
    EXPECT_TRUE(is_part(called_by(other, "", other, "main"))) << other;
  }
  EXPECT_FALSE(is_part(called_by("app::main", "", "app::main", "main")));
}

}  // namespace
}  // namespace pctally
