// Fills the tables of the BPF program: unwind rules of objects, and the mappings of processes. Both lie in
// memory that the kernel shares; see path_tables.h for what they are and what depends on them.
//
// Refuses what finds no room: the program then copies stacks.
#pragma once
#include <sys/types.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bpf/path_tables.h"
#include "tick/unwind/unwind_rule.h"

namespace pctally {

/// Tables of rules, one behind the other. None is ever taken away. Not thread-safe.
class RuleTables {
 public:
  RuleTables() = default;
  /// `memory`: PCTALLY_RULE_BYTES, zero; outlives this.
  explicit RuleTables(unsigned char* memory) : memory_(memory) {}

  /// Where the table of these rows is now, PCTALLY_TABLE_NONE if they have no rules, PCTALLY_TABLE_UNKNOWN if
  /// there is no room. `rows`: as ObjectFrames::rows().
  uint32_t add(std::span<const UnwindRow> rows);

  /// Bytes in use.
  [[nodiscard]] size_t used() const noexcept { return used_; }

 private:
  unsigned char* memory_ = nullptr;
  size_t used_ = 64;  ///< so that no table has a number of its own meaning
};

/// The processes that the program has tables of. Not thread-safe; the program may read at any time.
class ProcessTables {
 public:
  ProcessTables() = default;
  /// `memory`: PCTALLY_PROCESSES of them, zero; outlives this.
  explicit ProcessTables(pctally_process* memory) : memory_(memory) {}

  /// Says what the process has mapped since that exec; of more than PCTALLY_RANGES the first. False if that
  /// is nothing new, or there is no room for another process.
  bool set(pid_t pid, uint32_t exec_id, std::span<const pctally_range> ranges);

  void forget(pid_t pid);

  /// Ticks that were left out of a program that was forgotten since: no path will carry them.
  struct LeftOut {
    pid_t pid, tid;
    uint64_t pc;  ///< of the last of them
    uint64_t ticks;
  };
  /// Those since the last call.
  std::vector<LeftOut> take_left_out() noexcept { return std::exchange(left_out_, {}); }

  /// All processes for which is_gone(pid) is true.
  template <class IsGone>
  void forget_if(IsGone&& is_gone) {
    for (uint32_t i = 0; i < PCTALLY_PROCESSES; ++i)
      if (const auto pid = static_cast<pid_t>(memory_[i].tgid); pid != 0 && is_gone(pid)) forget(pid);
  }

  /// The exec that the known mappings are of; nothing if none are known.
  [[nodiscard]] std::optional<uint32_t> known(pid_t pid) const noexcept;

 private:
  [[nodiscard]] pctally_process* find(pid_t pid, bool or_free) const noexcept;
  void begin_anew(pctally_process* process);

  pctally_process* memory_ = nullptr;
  std::vector<LeftOut> left_out_;
};

}  // namespace pctally
