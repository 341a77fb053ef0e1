// Records of a perf ring, as the kernel writes them, read into values. Layout: perf_event_open(2).
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <span>
#include <string_view>

namespace pctally {

/// Registers that a walk along a stack starts with.
enum StackRegister : uint8_t {
  kBase,     ///< rbx; on aarch64 x30
  kReturn,   ///< rdi, where vfork has its return address; on aarch64 0
  kFrame,    ///< frame pointer
  kStack,    ///< stack pointer
  kProgram,  ///< program counter
  kScratch,  ///< r10; on aarch64 x0
};
inline constexpr unsigned kStackRegisters = 6;

struct NumberedRegister {
  unsigned number;  ///< in asm/perf_regs.h, and so a bit of perf_event_attr::sample_regs_user
  StackRegister is;
};
#if defined(__aarch64__)
inline constexpr NumberedRegister kNumberedRegisters[] = {
    {0, kScratch}, {29, kFrame}, {30, kBase}, {31, kStack}, {32, kProgram}};
#else
inline constexpr NumberedRegister kNumberedRegisters[] = {{1, kBase},  {5, kReturn},  {6, kFrame},
                                                          {7, kStack}, {8, kProgram}, {18, kScratch}};
#endif

/// What perf_event_attr asks every record to carry: sample_type IP|TID|TIME, sample_id_all. Samples with a
/// stack: CALLCHAIN (of the kernel alone), REGS_USER and STACK_USER, too.
struct PerfRecord {
  enum class Kind : uint8_t { kOther, kSample, kMmap, kComm, kFork, kExit, kLost, kThrottle, kUnthrottle };
  Kind kind = Kind::kOther;
  bool kernel = false;      ///< kSample: in kernel mode
  bool guest = false;       ///< kSample: the process ran a virtual machine; `pc` is the guest's
  bool exec = false;        ///< kComm: because of exec
  bool executable = false;  ///< kMmap
  int32_t pid = 0;
  int32_t tid = 0;
  int32_t parent = 0;         ///< kFork: pid of the parent
  int32_t parent_thread = 0;  ///< kFork: its thread that forked
  uint64_t time = 0;
  uint64_t pc = 0;      ///< kSample
  uint64_t start = 0;   ///< kMmap
  uint64_t bytes = 0;   ///< kMmap
  uint64_t offset = 0;  ///< kMmap
  uint64_t lost = 0;    ///< kLost
  uint64_t stream = 0;  ///< kThrottle, kUnthrottle: a number of the event stopped, inherited ones apart
  uint64_t device = 0;  ///< kMmap without a build id
  uint64_t inode = 0;
  uint32_t build_id_bytes = 0;  ///< kMmap with a build id
  uint8_t build_id[20] = {};
  std::string_view text{};         ///< kMmap: path, kComm: name; lies in the bytes parsed
  bool has_registers = false;      ///< kSample with a stack
  bool without_user_mode = false;  ///< kSample with a stack: the thread has no registers of user mode
  uint64_t registers[kStackRegisters] = {};  ///< by StackRegister
  std::span<const unsigned char>
      kernel_calls{};                      ///< return addresses in the kernel, innermost first, 8 bytes each
  std::span<const unsigned char> stack{};  ///< from the stack pointer upwards; lies in the bytes parsed
  bool stack_cut_off = false;              ///< the stack is longer than what was asked for
};

/// Reads one record of `bytes` bytes; `stack`: samples carry one. A record too short for its kind comes
/// back as kOther.
PerfRecord parse_perf_record(const unsigned char* record, size_t bytes, bool stack = false) noexcept;

}  // namespace pctally
