#include "object/kernel/kernel_symbol_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/sanitizer.h"

namespace pctally {
namespace {

constexpr char kCore[] =
    "0000000000001000 A cpu_data\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000000 T startup_64\n"
    "ffffffff81000100 t helper\n"
    "ffffffff81000100 T do_work\n"
    "ffffffff81000200 T after\n";
constexpr char kModules[] =
    "ffffffffc0002000 t second\t[b]\n"
    "ffffffffc0001000 t first\t[a]\n"
    "ffffffffc0001000 T first_global\t[a]\n"
    "ffffffffc0003000 t program\t[bpf]\n"
    "ffffffffc0004000 t trampoline\t[__builtin__ftrace]\n";

KernelSymbolParser parsed(const std::string& text, bool finished) {
  KernelSymbolParser parser;
  parser.feed(text);
  if (finished) parser.finish();
  return parser;
}

std::string parsed_name(const KernelSymbolParser& parser, uint64_t address) {
  return parser.table().range_at(address).function;
}

TEST(KernelSymbolParser, KnowsTheCoreBelowWhatItHasRead) {
  const auto parser = parsed(kCore, false);
  EXPECT_TRUE(parser.knows(0xffffffff81000000, 0xffffffff810001ff));
  EXPECT_EQ(parsed_name(parser, 0xffffffff810001ff), "do_work");
  EXPECT_FALSE(parser.knows(0xffffffff81000000, 0xffffffff81000200)) << "it may have an alias yet";
  EXPECT_FALSE(parser.knows(0x1000, 0xffffffff81000000)) << "modules may lie below the core";
}

TEST(KernelSymbolParser, KnowsAllAtTheEnd) {
  EXPECT_TRUE(parsed(kCore, true).knows(0, UINT64_MAX));
  EXPECT_FALSE(parsed(std::string(kCore) + kModules, false).knows(0xffffffff81000000, 0xffffffffc0002000));
}

TEST(KernelSymbolParser, AModuleDoesNotExtendTheCore) {
  const auto parser = parsed(std::string(kCore) + "ffffffffc0001000 t first\t[a]\n", false);
  EXPECT_TRUE(parser.knows(0xffffffff81000000, 0xffffffff810001ff));
  EXPECT_FALSE(parser.knows(0xffffffff81000000, 0xffffffff81000300));
}

TEST(KernelSymbolParser, DistrustsACoreThatDescends) {
  const auto parser = parsed(std::string(kCore) + "ffffffff81000180 t late\n", false);
  EXPECT_FALSE(parser.knows(0xffffffff81000100, 0xffffffff81000100));
  EXPECT_FALSE(parsed("ffffffff81000100 t early\n" + std::string(kCore), false)
                   .knows(0xffffffff81000100, 0xffffffff81000100));
  EXPECT_FALSE(parsed("ffffffff81000100 t a\nffffffff81000080 t b\n", false)
                   .knows(0xffffffff81000080, 0xffffffff81000080));
}

TEST(KernelSymbolParser, SortsWhatIsOutOfOrder) {
  const auto parser = parsed(std::string(kCore) + kModules + "ffffffff81000180 t late\n", true);
  EXPECT_EQ(parsed_name(parser, 0xffffffff8100017f), "do_work");
  EXPECT_EQ(parsed_name(parser, 0xffffffff81000180), "late");
  EXPECT_EQ(parsed_name(parser, 0xffffffffc0001fff), "first_global [a]");
  EXPECT_EQ(parsed_name(parser, 0xffffffffc0002000), "second [b]");
}

TEST(KernelSymbolParser, FunctionsMayBeCalledLikeEndsOfText) {
  const auto parser = parsed(
      "ffffffff81000000 T _text\n"
      "ffffffff81000100 T __mmu_notifier_invalidate_range_end\n"
      "ffffffff81000200 T __entry_text_end\n"
      "ffffffff81000300 T _etext\n",
      true);
  EXPECT_EQ(parsed_name(parser, 0xffffffff81000180), "__mmu_notifier_invalidate_range_end");
  EXPECT_EQ(parsed_name(parser, 0xffffffff81000200), "[kernel+0xffffffff81000200]");
  EXPECT_EQ(parsed_name(parser, 0xffffffff81000300), "[kernel code without a symbol]");
}

TEST(KernelSymbolParser, OnlyPagesOfModulesLast) {
  const auto parser = parsed(std::string(kCore) + kModules, true);
  EXPECT_TRUE(parser.table().in_module(0xffffffffc0001fff));
  EXPECT_TRUE(parser.table().in_module(0xffffffffc0002001));
  for (uint64_t address : {0xffffffffc0000fff, 0xffffffffc0003000, 0xffffffffc0004000, 0xffffffff81000000}) {
    EXPECT_FALSE(parser.table().in_module(address)) << std::hex << address;
  }
  const auto unfinished = parsed(std::string(kCore) + "ffffffffc0001000 t first\t[a]\n", false);
  EXPECT_FALSE(unfinished.table().in_module(0xffffffffc0001fff));
}

TEST(KernelSymbolParser, LinesMayBeCutAnywhere) {
  const std::string text = std::string(kCore) + kModules;
  const auto whole = parsed(text, true);
  for (size_t cut = 0; cut <= text.size(); cut += kSanitized ? 5 : 1) {
    KernelSymbolParser parser;
    parser.feed(text.substr(0, cut));
    parser.feed(text.substr(cut, 1 + cut % 3));
    parser.feed(text.substr(std::min(cut + 1 + cut % 3, text.size())));
    parser.finish();
    ASSERT_TRUE(std::ranges::equal(parser.table().symbols(), whole.table().symbols())) << cut;
    ASSERT_TRUE(std::ranges::equal(parser.table().names(), whole.table().names())) << cut;
  }
}

}  // namespace
}  // namespace pctally
