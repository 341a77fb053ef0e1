#include "bpf/kernel_paths.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <bit>

#include "bpf/map_array.h"

namespace pctally {
namespace {

/// Bytes of the ring: at 1000 Hz, 100 ms of whole stacks of a CPU, in 64 MiB at most. Where all processes are
/// counted, each new program among them copies its stacks, and others may keep the recorder from its CPU for
/// so long.
constexpr size_t kBytesPerCpu = size_t{4} << 20, kBytesPerCpuOfAll = size_t{16} << 20,
                 kMostBytes = size_t{64} << 20;

}  // namespace

void KernelPaths::choose_sizes(bpf_object* object, size_t cpus, size_t ring_bytes, bool all) {
  const size_t by_cpus = std::bit_ceil(cpus) * (all ? kBytesPerCpuOfAll : kBytesPerCpu);
  const size_t ring = ring_bytes != 0 ? ring_bytes : std::min(by_cpus, kMostBytes);
  bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "paths"), static_cast<uint32_t>(ring));
  for (const char* of_each_cpu : {"drafts", "known"})
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object, of_each_cpu), static_cast<uint32_t>(cpus));
}

Result<KernelPaths> KernelPaths::map(const bpf_object* object) {
  KernelPaths paths;
  auto rules = map_array(object, "rules");
  if (!rules) return std::unexpected(rules.error());
  auto processes = map_array(object, "processes");
  if (!processes) return std::unexpected(processes.error());
  const bpf_map* map = bpf_object__find_map_by_name(object, "paths");
  auto ring = PathRing::map(bpf_map__fd(map), bpf_map__max_entries(map));
  if (!ring) return std::unexpected(ring.error());
  paths.rule_memory_ = std::move(*rules);
  paths.process_memory_ = std::move(*processes);
  paths.rules_ = RuleTables(paths.rule_memory_.data());
  paths.processes_ = ProcessTables(reinterpret_cast<pctally_process*>(paths.process_memory_.data()));
  paths.ring_ = std::move(*ring);
  return paths;
}

}  // namespace pctally
