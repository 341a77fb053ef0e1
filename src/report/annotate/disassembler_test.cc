#include "report/annotate/disassembler.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pctally {
namespace {

using ::testing::ElementsAre;

TEST(Disassembler, KnowsJumpsAndKeepsEveryByte) {
  // push %rbp; mov %rsp,%rbp; test %edi,%edi; je 1c; dec %edi; jmp 14; pop %rbp; ret
  const std::vector<uint8_t> bytes = {0x55, 0x48, 0x89, 0xe5, 0x85, 0xff, 0x74,
                                      0x04, 0xff, 0xcf, 0xeb, 0xf8, 0x5d, 0xc3};
  Disassembler disassembler({.address = 0x10, .bytes = bytes, .machine = EM_X86_64}, Syntax::kAtt);
  std::vector<Instruction> instructions = disassembler.instructions();
  if (instructions.empty()) GTEST_SKIP() << "built without Zydis";
  uint64_t next = 0x10;
  for (const Instruction& instruction : instructions) {
    EXPECT_EQ(instruction.address, next);
    next += instruction.length;
  }
  EXPECT_EQ(next, 0x10 + bytes.size());
  EXPECT_EQ(instructions[3].target, 0x1cu);
  EXPECT_EQ(instructions[5].target, 0x14u);
  EXPECT_EQ(disassembler.text(instructions[1]).mnemonic, "mov");
  EXPECT_EQ(disassembler.text(instructions[1]).operands, "%rsp, %rbp");
  EXPECT_EQ(disassembler.text(instructions[3]).mnemonic, "je") << "as objdump, not jz";
}

TEST(Disassembler, BadBytesAreOneEach) {
  Disassembler disassembler({.address = 0, .bytes = {0x06, 0x90, 0x0f}, .machine = EM_X86_64},
                            Syntax::kIntel);
  if (!disassembler.readable() || disassembler.instructions().empty()) GTEST_SKIP() << "built without Zydis";
  std::vector<Instruction> instructions = disassembler.instructions();
  ASSERT_EQ(instructions.size(), 3u);
  EXPECT_EQ(disassembler.text(instructions[0]).mnemonic, "(bad)");
  EXPECT_EQ(disassembler.text(instructions[1]).mnemonic, "nop");
  EXPECT_EQ(disassembler.text(instructions[2]).mnemonic, "(bad)");
}

TEST(Disassembler, CallsInstructionsAsObjdumpDoes) {
  // movzbl (%rsi),%eax; cltq; movsd (%rdi),%xmm1; nopl 0x0(%rax); cvtsi2sdl (%rdi),%xmm0; jne
  const std::vector<uint8_t> bytes = {0x0f, 0xb6, 0x06, 0x48, 0x98, 0xf2, 0x0f, 0x10, 0x0f, 0x0f,
                                      0x1f, 0x40, 0x00, 0xf2, 0x0f, 0x2a, 0x07, 0x75, 0x00};
  Disassembler disassembler({.address = 0, .bytes = bytes, .machine = EM_X86_64}, Syntax::kAtt);
  std::vector<std::string> names;
  for (const Instruction& instruction : disassembler.instructions())
    names.push_back(disassembler.text(instruction).mnemonic);
  if (names.empty()) GTEST_SKIP() << "built without Zydis";
  EXPECT_THAT(names, ElementsAre("movzbl", "cltq", "movsd", "nop", "cvtsi2sdl", "jne"));
}

TEST(Disassembler, SaysTheSizeThatNoRegisterSays) {
  const std::vector<uint8_t> bytes = {0xf7, 0x5c, 0x24, 0x50,              // negl 0x50(%rsp)
                                      0xf0, 0x48, 0xff, 0x0f,              // lock decq (%rdi)
                                      0xf6, 0x17,                          // notb (%rdi)
                                      0xf2, 0x48, 0x0f, 0x2a, 0x07,        // cvtsi2sdq (%rdi),%xmm0
                                      0xd9, 0x07, 0xdd, 0x07, 0xdb, 0x2f,  // flds, fldl, fldt (%rdi)
                                      0xdf, 0x2f, 0xdf, 0x07, 0xdd, 0x0f,  // fildll, filds, fisttpll (%rdi)
                                      0xd9, 0x2f,                          // fldcw (%rdi)
                                      0xf3, 0xa5,                          // rep movsl
                                      0x48, 0xb8, 0xff, 0x00, 0x00, 0x00,
                                      0x80, 0x00, 0x00, 0x00,  // movabs $0x80000000ff,%rax
                                      0x48, 0xf7, 0xdb};       // neg %rbx
  Disassembler disassembler({.address = 0, .bytes = bytes, .machine = EM_X86_64}, Syntax::kAtt);
  std::vector<std::string> names;
  for (const Instruction& instruction : disassembler.instructions())
    names.push_back(disassembler.text(instruction).mnemonic);
  if (names.empty()) GTEST_SKIP() << "built without Zydis";
  EXPECT_THAT(names, ElementsAre("negl", "lock decq", "notb", "cvtsi2sdq", "flds", "fldl", "fldt", "fildll",
                                 "filds", "fisttpll", "fldcw", "rep movsl", "movabs", "neg"));
}

TEST(Disassembler, WritesOperandsAsObjdumpDoes) {
  const std::vector<uint8_t> bytes = {0x48, 0x8b, 0x15, 0xe5, 0x2e, 0x00, 0x00,  // 0x2ee5(%rip), %rdx
                                      0xff, 0x54, 0x24, 0x20,                    // call *0x20(%rsp)
                                      0xff, 0xe0,                                // jmp *%rax
                                      0xff, 0x25, 0xf0, 0xff, 0xff, 0xff,        // jmp *-0x10(%rip)
                                      0xdc, 0xc9,                                // fmul %st, %st(1)
                                      0xdd, 0xd8,                                // fstp %st(0)
                                      0x83, 0x7d, 0x00, 0xff,                    // $0xffffffff, 0x0(%rbp)
                                      0x62, 0xf1, 0x7f, 0x29, 0x6f, 0x4d, 0x00,  // 0x0(%rbp), %ymm1{%k1}
                                      0xf2, 0x0f, 0x38, 0xf8, 0x08,              // enqcmd (%rax), %rcx
                                      0x0f, 0x6e, 0x00,                          // movd (%rax), %mm0
                                      0xf2, 0x48, 0x0f, 0x38, 0xf1, 0x00,        // crc32q (%rax), %rax
                                      0xc5, 0xf9, 0x5a, 0x08, 0xc5, 0xfd, 0x5a, 0x08,  // vcvtpd2psx, -y
                                      0x66, 0x98,                                      // cbtw
                                      0xde, 0xe1, 0xdc, 0xe9, 0xd8, 0xe1};             // fsubp, fsubr, fsub
  Disassembler disassembler({.address = 0x1000, .bytes = bytes, .machine = EM_X86_64}, Syntax::kAtt);
  std::vector<std::string> texts;
  for (const Instruction& instruction : disassembler.instructions()) {
    const InstructionText text = disassembler.text(instruction);
    texts.push_back(text.mnemonic + " " + text.operands_and_memory());
  }
  if (texts.empty()) GTEST_SKIP() << "built without Zydis";
  EXPECT_THAT(texts, ElementsAre("mov 0x2ee5(%rip), %rdx  # 3eec", "call *0x20(%rsp)", "jmp *%rax",
                                 "jmp *-0x10(%rip)  # 1003", "fmul %st, %st(1)", "fstp %st(0)",
                                 "cmpl $0xffffffff, 0x0(%rbp)", "vmovdqu8 0x0(%rbp), %ymm1{%k1}",
                                 "enqcmd (%rax), %rcx", "movd (%rax), %mm0", "crc32q (%rax), %rax",
                                 "vcvtpd2psx (%rax), %xmm1", "vcvtpd2psy (%rax), %xmm1", "cbtw ",
                                 "fsubp %st, %st(1)", "fsubr %st, %st(1)", "fsub %st(1), %st"));
}

TEST(Disassembler, ReadsAarch64) {
  // bl 0x1010; b.eq; cbz x3, 0x1010; tbz w4, #1, 0x1014; b; no instruction; ldr x1, [x0]; br x16; blr x16;
  // ret; nop; a rest
  constexpr uint32_t kWords[] = {0x94000004, 0x54000060, 0xb4000043, 0x36080044, 0x14000003, 0xffffffff,
                                 0xf9400001, 0xd61f0200, 0xd63f0200, 0xd65f03c0, 0xd503201f};
  std::vector<uint8_t> bytes;
  for (const uint32_t word : kWords)
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(word >> shift));
  bytes.push_back(0x1f);
  const Disassembler disassembler({.address = 0x1000, .bytes = bytes, .machine = EM_AARCH64}, Syntax::kAtt);
  if (!disassembler.readable()) GTEST_SKIP() << "built without Capstone";
  std::vector<std::string> texts;
  std::string kinds, ends;
  std::vector<uint64_t> targets;
  uint64_t next = 0x1000;
  for (const Instruction& instruction : disassembler.instructions()) {
    EXPECT_EQ(instruction.address, next);
    next += instruction.length;
    const InstructionText text = disassembler.text(instruction);
    texts.push_back(text.mnemonic + " " + text.operands);
    kinds += "-JC?"[static_cast<int>(instruction.kind)];
    ends += instruction.falls_through ? '-' : '.';
    targets.push_back(instruction.target);
  }
  EXPECT_EQ(next, 0x1000 + bytes.size());
  EXPECT_THAT(texts, ElementsAre("bl ", "b.eq ", "cbz x3", "tbz w4, #1", "b ", "(bad) ", "ldr x1, [x0]",
                                 "br x16", "blr x16", "ret ", "nop ", "(bad) "));
  EXPECT_EQ(kinds, "CJJJJ?-JC--?");
  EXPECT_EQ(ends, "----.--.-.--");
  EXPECT_THAT(targets, ElementsAre(0x1010, 0x1010, 0x1010, 0x1014, 0x101c, 0, 0, 0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace pctally
