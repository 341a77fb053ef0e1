#include "report/print/json_value.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

namespace pctally {
namespace {

/// The same value of either class: ours is to print what the library prints.
template <class J>
J everything() {
  J json = {{"integers", {0, -1, INT64_MIN, UINT64_MAX}},
            {"reals", {2.5, 100.0, 1e300, 1e-7, 0.1, 123456789012345678.0, -0.0}},
            {"words", J::array({"a", 1})},
            {"object of one", {{"x", "y"}}},
            {"null", J()},
            {"nothing known", nullptr},
            {"flag", true},
            {"text", "\"\\\n\x01 \u00e9 \U0001f525 \xff"},
            {"texts", std::vector<std::string>{"a", "b"}},
            {"counts", std::array<uint64_t, 2>{1, 2}},
            {"nothing", J::object()},
            {"none", J::array()}};
  json["made"]["when asked"] = 5U;
  json["pushed"].push_back({{"k", 1}});
  json["pushed"].push_back(J::array({"a", 1}));
  json["flag"] = false;
  return json;
}

TEST(Json, PrintsWhatTheLibraryPrints) {
  const auto expected = everything<nlohmann::ordered_json>();
  for (const int indent : {-1, 0, 1, 2})
    EXPECT_EQ(everything<Json>().dump(indent),
              expected.dump(indent, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

TEST(Json, AMemberThatIsAddedIsOne) {
  Json json;
  json.add("a", 1);
  json.add("b", Json::array({2}));
  EXPECT_EQ(json.dump(-1), Json({{"a", 1}, {"b", Json::array({2})}}).dump(-1));
}

TEST(Json, HasTheSizeOfItsMembersOrValues) {
  EXPECT_TRUE(Json().empty());
  EXPECT_TRUE(Json::array().empty());
  EXPECT_TRUE(Json::object().empty());
  EXPECT_EQ(Json::array({"a", 1}).size(), 2U);
  EXPECT_EQ(Json({{"a", 1}}).size(), 1U);
}

}  // namespace
}  // namespace pctally
