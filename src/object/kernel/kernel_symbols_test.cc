#include "object/kernel/kernel_symbols.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <tuple>

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
    "ffffffff81000300 T __x_text_end\n"
    "not a line\n"
    "ffffffffc0000000 t probe\t[module]\n";

std::vector<std::string> names(KernelSymbols& symbols, const std::vector<uint64_t>& addresses) {
  std::vector<std::string> list;
  for (const NamedRange& range : symbols.name(addresses)) list.push_back(range.function);
  return list;
}

TEST(KernelSymbols, EachReachesToTheNext) {
  auto symbols = KernelSymbols::parse(kTable);
  ASSERT_TRUE(symbols);
  EXPECT_THAT(
      names(*symbols, {0x1000, 0xffffffff81000000, 0xffffffff810000ff, 0xffffffff81000100, 0xffffffff81000200,
                       0xffffffff81000300, 0xffffffffc0000008}),
      testing::ElementsAre("[kernel]", "startup_64", "startup_64", "do_work", "[kernel+0xffffffff81000200]",
                           "[kernel code without a symbol]", "probe [module]"));
}

/// As code of a BPF program that has ended, behind all symbols.
TEST(KernelSymbols, TheLastOneDoesNotReachForEver) {
  auto symbols = KernelSymbols::parse(kTable);
  ASSERT_TRUE(symbols);
  EXPECT_THAT(names(*symbols, {0xffffffffc0100000}), testing::ElementsAre("[kernel code without a symbol]"));
}

/// As on aarch64.
TEST(KernelSymbols, ModulesAndProgramsMayLieBelowTheCore) {
  auto symbols = KernelSymbols::parse(std::string(kTable) + "ffff800000000000 t low\t[module]\n");
  ASSERT_TRUE(symbols);
  EXPECT_THAT(names(*symbols, {0xffff800000000010, 0xffff800000100000}),
              testing::ElementsAre("low [module]", "[kernel code without a symbol]"));
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
  KernelPlaces places;
  places.cache = {};
  auto symbols = KernelSymbols::load(boot, places);
  if (!symbols) GTEST_SKIP() << symbols.error().text;
  const auto lines = output_of("grep ' [tT] vfs_read$' /proc/kallsyms");
  if (lines.empty()) GTEST_SKIP() << "this kernel has no vfs_read";
  const uint64_t address = strtoull(lines[0].c_str(), nullptr, 16);
  EXPECT_THAT(names(*symbols, {address + 1}), testing::ElementsAre("vfs_read"));
}

/// A kernel made of files, and a cache of its own.
class FakeKernel {
 public:
  FakeKernel() {
    write_file(directory_ / "boot_id", "5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a\n");
    std::filesystem::create_directories(directory_ / "sys/drv");
    load_module("drv 4096 0 - Live 0xffffffffc0001000\n");
    write_symbols("core", "of_module", "of_program");
  }
  /// Many lines of core, so that it is not read at one go, then a module and a program.
  void write_symbols(const std::string& core, const std::string& module, const std::string& program) const {
    std::ostringstream text;
    text << std::hex << "ffffffff81000000 T _text\nffffffff81000010 T " << core << "\n";
    for (uint64_t i = 2; i < 4000; i++) text << 0xffffffff81000000 + i * 16 << " t filler_" << i << "\n";
    text << "ffffffff82000000 T last\n";
    text << "ffffffffc0001000 t " << module << "\t[drv]\n";
    text << "ffffffffc0003000 t " << program << "\t[bpf]\n";
    write_file(directory_ / "kallsyms", text.str());
  }
  void load_module(const std::string& line) const { write_file(directory_ / "modules", line); }
  void load_it_anew() const {
    std::filesystem::create_directory(directory_ / "sys/new");
    std::filesystem::rename(directory_ / "sys/new", directory_ / "sys/drv");
  }
  [[nodiscard]] std::string name(uint64_t address) const {
    auto symbols = KernelSymbols::load(kBoot, places());
    return symbols ? symbols->name({&address, 1}).at(0).function : symbols.error().text;
  }
  [[nodiscard]] std::optional<bool> cache_is_complete() const {
    const auto cached = places().cache.find(kBoot);
    return cached ? std::optional(cached->table.extent().is_complete != 0) : std::nullopt;
  }
  void remove_symbols() const { std::filesystem::remove(directory_ / "kallsyms"); }

 private:
  [[nodiscard]] KernelPlaces places() const {
    return {directory_ / "boot_id",
            directory_ / "kallsyms",
            {directory_ / "modules", directory_ / "sys"},
            KernelSymbolCache(directory_ / "", {"cache"})};
  }
  inline static const std::vector<uint8_t> kBoot = std::vector<uint8_t>(16, 0x5a);
  TemporaryDirectory directory_;
};

constexpr uint64_t kInCore = 0xffffffff81000018;
constexpr uint64_t kInModule = 0xffffffffc0001008;
constexpr uint64_t kInProgram = 0xffffffffc0003008;

TEST(KernelSymbolsCached, CoreIsReadOnceAndNotToTheEnd) {
  const FakeKernel kernel;
  EXPECT_EQ(kernel.name(kInCore), "core");
  EXPECT_EQ(kernel.cache_is_complete(), false);
  kernel.write_symbols("changed", "changed", "changed");
  kernel.load_module("");
  EXPECT_EQ(kernel.name(kInCore), "core") << "modules do not change the core";
  kernel.remove_symbols();
  EXPECT_EQ(kernel.name(kInCore), "core");
  EXPECT_EQ(kernel.name(kInModule), "[kernel]");
}

TEST(KernelSymbolsCached, ReadsOnlyAsFarAsNeeded) {
  const FakeKernel kernel;
  EXPECT_EQ(kernel.name(0xffffffff81000000 + 3000 * 16), "filler_bb8");
  EXPECT_EQ(kernel.cache_is_complete(), false);
}

TEST(KernelSymbolsCached, WhatTheCacheLacksIsReadToTheEnd) {
  const FakeKernel kernel;
  EXPECT_EQ(kernel.name(kInCore), "core");
  EXPECT_EQ(kernel.name(0xffffffff81000000 + 3000 * 16), "filler_bb8");
  EXPECT_EQ(kernel.cache_is_complete(), true);
  EXPECT_EQ(kernel.name(0xffffffff82000001), "last") << "above the core";
}

TEST(KernelSymbolsCached, ModulesHoldWhileTheSameAreLoaded) {
  const FakeKernel kernel;
  EXPECT_EQ(kernel.name(kInModule), "of_module [drv]");
  kernel.write_symbols("core", "stale", "of_program");
  EXPECT_EQ(kernel.name(kInModule), "of_module [drv]");
  kernel.load_module("drv 4096 3 other, Live 0xffffffffc0001000\n");
  EXPECT_EQ(kernel.name(kInModule), "of_module [drv]") << "its users changed, and nothing else";
  kernel.load_module("drv 8192 3 other, Live 0xffffffffc0001000\n");
  EXPECT_EQ(kernel.name(kInModule), "stale [drv]");
  kernel.write_symbols("core", "moved", "of_program");
  kernel.load_module("drv 8192 3 other, Live 0xffffffffc0001800\n");
  EXPECT_EQ(kernel.name(kInModule), "moved [drv]");
}

TEST(KernelSymbolsCached, AModuleLoadedAnewIsReadAnew) {
  const FakeKernel kernel;
  EXPECT_EQ(kernel.name(kInModule), "of_module [drv]");
  kernel.write_symbols("core", "rebuilt", "of_program");
  kernel.load_it_anew();
  EXPECT_EQ(kernel.name(kInModule), "rebuilt [drv]");
}

TEST(KernelSymbolsCached, ProgramsAreNeverTakenFromTheCache) {
  const FakeKernel kernel;
  EXPECT_EQ(kernel.name(kInProgram), "of_program [bpf]");
  kernel.write_symbols("core", "of_module", "next_program");
  EXPECT_EQ(kernel.name(kInProgram), "next_program [bpf]");
}

/// The same from whole lines, one by one.
class NaiveKernel {
 public:
  explicit NaiveKernel(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) add(line);
  }
  /// Addresses of text, and something beyond each.
  [[nodiscard]] std::vector<uint64_t> some(size_t count) const {
    std::mt19937_64 random(2024);
    std::vector<uint64_t> starts;
    for (const auto& [address, rank] : best_) {
      if (!std::get<0>(rank)) starts.push_back(address);
    }
    std::vector<uint64_t> addresses;
    while (addresses.size() < count) addresses.push_back(starts[random() % starts.size()] + random() % 64);
    std::ranges::sort(addresses);
    return addresses;
  }
  /// Empty: the address has no name.
  [[nodiscard]] std::string name(uint64_t address) const {
    const auto& [start, rank] = *std::prev(best_.upper_bound(address));
    return std::get<0>(rank) || address - start >= 65536 ? "" : std::get<4>(rank);
  }

 private:
  using Rank = std::tuple<bool, bool, size_t, size_t, std::string>;
  void add(const std::string& line) {
    const uint64_t address = strtoull(line.c_str(), nullptr, 16);
    const char type = line.at(17);
    std::string name = line.substr(19);
    const bool bound = name.ends_with("_etext") || name.ends_with("_einittext") || name.ends_with("text_end");
    std::ranges::replace(name, '\t', ' ');
    const Rank rank{bound || !strchr("tTwW", type), type != 'T' && type != 'W', name.find_first_not_of('_'),
                    name.size(), name};
    if (address == 0) return;
    const auto [at, added] = best_.emplace(address, rank);
    if (!added) at->second = std::min(at->second, rank);
  }
  std::map<uint64_t, Rank> best_;
};

void expect_same(KernelSymbols& symbols, const NaiveKernel& naive, std::span<const uint64_t> addresses) {
  const auto ranges = symbols.name(addresses);
  for (size_t i = 0; i < addresses.size(); i++) {
    const std::string name = naive.name(addresses[i]);
    if (name.empty()) {
      ASSERT_THAT(ranges[i].function,
                  testing::AnyOf(testing::StartsWith("[kernel+"), "[kernel code without a symbol]"))
          << std::hex << addresses[i];
    } else {
      ASSERT_EQ(ranges[i].function, name) << std::hex << addresses[i];
    }
  }
}

TEST(KernelSymbolsCached, ThisKernelIsNamedAsByANaiveReading) {
  const auto boot = parse_uuid(read_file("/proc/sys/kernel/random/boot_id"));
  const TemporaryDirectory directory;
  KernelPlaces places;
  places.cache = {};
  if (!KernelSymbols::load(boot, places)) GTEST_SKIP() << "kernel symbols are hidden";
  const NaiveKernel naive(read_file("/proc/kallsyms"));
  const auto addresses = naive.some(2000);
  for (size_t count : {1, 3, 10, 100, 1000, 2000}) {
    auto fresh = KernelSymbols::load(boot, places);
    ASSERT_TRUE(fresh);
    expect_same(*fresh, naive, std::span(addresses).first(count));
  }
  places.cache = KernelSymbolCache(directory / "", {"cache"});
  for (size_t count : {100, 2000, 2000}) {
    auto cached = KernelSymbols::load(boot, places);
    ASSERT_TRUE(cached);
    expect_same(*cached, naive, std::span(addresses).first(count));
    EXPECT_TRUE(places.cache.find(boot));
  }
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
