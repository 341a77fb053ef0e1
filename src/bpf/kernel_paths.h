// Maps the memory that the BPF program and the recorder share for call paths: rules and mappings go one
// way, paths the other. Runs in the recorder.
#pragma once
#include "base/file/mapped_file.h"
#include "bpf/path_ring.h"
#include "bpf/unwind_tables.h"

struct bpf_object;

namespace pctally {

class KernelPaths {
 public:
  /// Says how large the maps of an object are to be that is not loaded yet. `ring_bytes`: 0: by the CPUs, and
  /// larger where programs of `all` processes, or of a group, are counted.
  static void choose_sizes(bpf_object* object, size_t cpus, size_t ring_bytes, bool all);

  /// Maps them. Errors: errno of mmap(2).
  static Result<KernelPaths> map(const bpf_object* object);

  [[nodiscard]] RuleTables& rules() noexcept { return rules_; }
  [[nodiscard]] ProcessTables& processes() noexcept { return processes_; }
  [[nodiscard]] PathRing& ring() noexcept { return ring_; }
  [[nodiscard]] const PathRing& ring() const noexcept { return ring_; }

 private:
  MappedFile rule_memory_, process_memory_;
  RuleTables rules_;
  ProcessTables processes_;
  PathRing ring_;
};

}  // namespace pctally
