#include "object/kernel_symbols.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "object/fixtures_for_test.h"

namespace pctally {
namespace {

constexpr char kTable[] =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000000 T startup_64\n"
    "ffffffff81000100 t helper\n"
    "ffffffff81000100 T do_work\n"
    "ffffffff81000200 D some_data\n"
    "ffffffff81000300 T __x_end\n"
    "not a line\n"
    "ffffffffc0000000 t probe\t[module]\n";

std::vector<std::string> names(const KernelSymbols& symbols, const std::vector<uint64_t>& addresses) {
  std::vector<std::string> list;
  for (const NamedRange& range : symbols.name(addresses)) list.push_back(range.function);
  return list;
}

TEST(KernelSymbols, EachReachesToTheNext) {
  const auto symbols = KernelSymbols::parse(kTable);
  ASSERT_TRUE(symbols);
  EXPECT_THAT(
      names(*symbols, {0x1000, 0xffffffff81000000, 0xffffffff810000ff, 0xffffffff81000100, 0xffffffff81000200,
                       0xffffffff81000300, 0xffffffffc0000008}),
      testing::ElementsAre("[kernel]", "startup_64", "startup_64", "do_work", "[kernel+0xffffffff81000200]",
                           "[kernel+0xffffffff81000300]", "probe [module]"));
}

TEST(KernelSymbols, TheLastOneDoesNotReachForEver) {
  const auto symbols = KernelSymbols::parse(kTable);
  ASSERT_TRUE(symbols);
  EXPECT_THAT(names(*symbols, {0xffffffffc0100000}), testing::ElementsAre("[kernel+0xffffffffc0010000]"));
}

TEST(KernelSymbols, HiddenAddressesAreAnError) {
  EXPECT_FALSE(KernelSymbols::parse("0000000000000000 T _text\n0000000000000000 T main\n"));
  EXPECT_FALSE(KernelSymbols::parse(""));
  EXPECT_FALSE(KernelSymbols::parse("\n\nffff\nffff \nffff T\nffff T \n"));
}

TEST(KernelSymbols, AnotherBootIsRefused) {
  EXPECT_FALSE(KernelSymbols::load(std::vector<uint8_t>(16, 0x5a)));
  EXPECT_FALSE(KernelSymbols::load({}));
}

TEST(KernelSymbols, ThisBootNamesThisKernelIfItIsShown) {
  const auto boot = parse_uuid(read_file("/proc/sys/kernel/random/boot_id"));
  ASSERT_EQ(boot.size(), 16u);
  const auto symbols = KernelSymbols::load(boot);
  if (!symbols) GTEST_SKIP() << symbols.error().text;
  const auto lines = output_of("grep ' [tT] vfs_read$' /proc/kallsyms");
  if (lines.empty()) GTEST_SKIP() << "this kernel has no vfs_read";
  const uint64_t address = strtoull(lines[0].c_str(), nullptr, 16);
  EXPECT_THAT(names(*symbols, {address + 1}), testing::ElementsAre("vfs_read"));
}

TEST(KernelSymbols, SymbolizerFallsBackToOneRange) {
  ExecutableIdentity identity;
  identity.kind = ExecutableIdentity::Kind::kKernel;
  const auto symbolizer = Symbolizer::open(identity);
  EXPECT_EQ(symbolizer->object_name(), "[kernel]");
  const std::vector<uint64_t> positions{0xffffffff81000000, 0xffffffff82000000};
  const auto ranges = symbolizer->name(positions);
  EXPECT_EQ(ranges.at(0).function, "[kernel]");
  EXPECT_EQ(ranges.at(1).function, "[kernel]");
  EXPECT_NE(symbolizer->problem(), "");
}

TEST(ParseUuid, TakesOnlyWholeOnes) {
  EXPECT_EQ(parse_uuid("f4f85f2e-4407-402b-b5b0-ade7ac9ea8d4\n").size(), 16u);
  EXPECT_EQ(parse_uuid("f4f85f2e-4407-402b-b5b0-ade7ac9ea8d4\n")[0], 0xf4);
  EXPECT_TRUE(parse_uuid("f4f85f2e").empty());
  EXPECT_TRUE(parse_uuid("").empty());
}

}  // namespace
}  // namespace pctally
