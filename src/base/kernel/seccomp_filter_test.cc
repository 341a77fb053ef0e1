#include "base/kernel/seccomp_filter.h"

#include <gtest/gtest.h>

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstddef>
#include <vector>

namespace pctally {
namespace {

using Filter = std::vector<sock_filter>;

constexpr sock_filter kNumber = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
constexpr sock_filter kAllow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
constexpr sock_filter kKill = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);

bool lets_handlers_return(const Filter& filter) { return allows(filter, SYS_rt_sigreturn); }

sock_filter if_equal(uint32_t value, uint8_t skip, uint8_t skip_else) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, skip, skip_else);
}

TEST(SeccompFilter, AListOfCallsAllowsWhatIsInIt) {
  EXPECT_TRUE(lets_handlers_return(
      Filter{kNumber, if_equal(SYS_read, 1, 0), if_equal(SYS_rt_sigreturn, 0, 1), kAllow, kKill}));
  EXPECT_FALSE(lets_handlers_return(
      Filter{kNumber, if_equal(SYS_read, 1, 0), if_equal(SYS_write, 0, 1), kAllow, kKill}));
  EXPECT_TRUE(lets_handlers_return(Filter{kNumber, if_equal(SYS_write, 0, 1), kKill, kAllow}))
      << "all but one";
  EXPECT_TRUE(allows(Filter{kNumber, if_equal(SYS_read, 0, 1), kAllow, kKill}, SYS_read));
  EXPECT_TRUE(lets_handlers_return(Filter{BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG)}));
  EXPECT_FALSE(lets_handlers_return(Filter{BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1)}));
  EXPECT_FALSE(lets_handlers_return(Filter{BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)}));
}

TEST(SeccompFilter, TheArchitectureIsOurs) {
  const sock_filter architecture = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  EXPECT_FALSE(lets_handlers_return(Filter{architecture, if_equal(AUDIT_ARCH_S390, 0, 1), kAllow, kKill}));
#if defined(__x86_64__)
  EXPECT_TRUE(lets_handlers_return(Filter{architecture, if_equal(AUDIT_ARCH_X86_64, 1, 0), kKill, kAllow}));
#endif
}

/// A = ((5 + 3) * 2 - 4) / 3 = 4, kept in memory, shifted, and so on: each operation has a part in the
/// answer.
TEST(SeccompFilter, ItsArithmeticIsTheKernels) {
  const auto alu = [](unsigned operation, uint32_t k) {
    return sock_filter BPF_STMT(static_cast<uint16_t>(BPF_ALU | operation), k);
  };
  Filter filter{BPF_STMT(BPF_LD | BPF_IMM, 5),
                alu(BPF_ADD, 3),
                alu(BPF_MUL, 2),
                alu(BPF_SUB, 4),
                alu(BPF_DIV, 3),
                BPF_STMT(BPF_ST, 7),
                BPF_STMT(BPF_LDX | BPF_MEM, 7),
                alu(BPF_LSH, 4),
                alu(BPF_OR | BPF_X, 0),
                alu(BPF_XOR, 1),
                alu(BPF_AND, 0xff),
                alu(BPF_RSH, 1),
                alu(BPF_NEG, 0),
                BPF_STMT(BPF_MISC | BPF_TAX, 0),
                BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
                BPF_STMT(BPF_MISC | BPF_TXA, 0),
                if_equal(0u - 34u, 0, 1),
                kAllow,
                kKill};
  EXPECT_TRUE(lets_handlers_return(filter));
  filter[1].k = 9;
  EXPECT_FALSE(lets_handlers_return(filter));
}

TEST(SeccompFilter, JumpsComparesAndReturnsWhatItHas) {
  const auto jump = [](unsigned operation, uint32_t k) {
    return sock_filter BPF_JUMP(static_cast<uint16_t>(BPF_JMP | operation), k, 0, 1);
  };
  const sock_filter six = BPF_STMT(BPF_LD | BPF_IMM, 6);
  EXPECT_TRUE(lets_handlers_return(Filter{six, jump(BPF_JGT, 5), kAllow, kKill}));
  EXPECT_FALSE(lets_handlers_return(Filter{six, jump(BPF_JGT, 6), kAllow, kKill}));
  EXPECT_TRUE(lets_handlers_return(Filter{six, jump(BPF_JGE, 6), kAllow, kKill}));
  EXPECT_TRUE(lets_handlers_return(Filter{six, jump(BPF_JSET, 2), kAllow, kKill}));
  EXPECT_FALSE(lets_handlers_return(Filter{six, jump(BPF_JSET, 1), kAllow, kKill}));
  EXPECT_TRUE(lets_handlers_return(Filter{BPF_STMT(BPF_JMP | BPF_JA, 1), kKill, kAllow}));
  EXPECT_TRUE(lets_handlers_return(
      Filter{BPF_STMT(BPF_LD | BPF_IMM, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_A, 0)}));
}

/// The kernel takes none of them; here they end all the same.
TEST(SeccompFilter, WhatIsNoFilterAllowsNothing) {
  EXPECT_FALSE(lets_handlers_return({}));
  EXPECT_FALSE(lets_handlers_return(Filter{kNumber}));
  EXPECT_FALSE(lets_handlers_return(Filter{BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), kAllow}));
  EXPECT_FALSE(lets_handlers_return(Filter{BPF_STMT(BPF_ST, 16), kAllow}));
  EXPECT_FALSE(lets_handlers_return(Filter{BPF_STMT(BPF_LD | BPF_MEM, 16), kAllow}));
  EXPECT_FALSE(lets_handlers_return(Filter{BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), kAllow}));
  EXPECT_FALSE(lets_handlers_return(Filter{BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), kAllow}));
}

}  // namespace
}  // namespace pctally
