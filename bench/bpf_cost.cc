// What a tick of engine "bpf" costs, and what it would cost keyed otherwise (docs/decisions/006-bpf-keys.md).
// The objects are src/bpf/tick.bpf.o and bench/bpf_cost.bpf.o of the build directory.
//
//   runs   ns per run of the program, by the kernel's own statistics (minus those of an empty program, which
//          are the statistics' own cost), for each filter; and of the program that keys by file
//   locks  how often the latter finds the lock of the mappings taken, where threads map and unmap
//   gaps   length of the interruption as a program on that CPU feels it: an event nobody consumes / the
//          engine, in turns of 100 ms
//   start  CPU time of loading
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

#include <algorithm>
#include <string>
#include <thread>

#include "base/kernel/perf_event.h"
#include "bpf/bpf_counter.h"

namespace pctally {
namespace {

constexpr int kRounds = 9;
constexpr int kCpu = 1;

uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

void spin(uint64_t ns) {
  for (uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns; clock_ns(CLOCK_MONOTONIC) < end;)
    for (int i = 0; i < 20000; ++i) asm volatile("");
}

void pin() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(kCpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

struct Spread {
  double low, median, high;
};

Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t n = values.size();
  return n == 0 ? Spread{} : Spread{values[n / 4], values[n / 2], values[3 * n / 4]};
}

[[noreturn]] void die(const char* what) {
  fprintf(stderr, "bpf_cost: %s\n", what);
  exit(1);
}

BpfCounter loaded(pctally_filter filter, uint64_t period_ns, int cgroup = -1) {
  BpfCounter::Settings settings;
  settings.filter = filter;
  settings.period = period_ns;
  settings.cgroup = cgroup;
  auto counter = BpfCounter::load(settings);
  if (!counter) die(counter.error().text);
  return std::move(*counter);
}

UniqueFd clock_event(uint64_t period_ns, int cpu) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = period_ns;
  attr.disabled = attr.exclude_idle = 1;
  return open_perf_event(attr, -1, cpu);
}

/// A program of an object file, run by an event of one CPU.
struct Measured {
  const char* row;
  const char* file;
  const char* program;
  pctally_filter filter;
  bool ours;  ///< follow this process
  bpf_object* object = nullptr;
  std::vector<double> gross{}, net{};
};

void load(Measured* measured, int cgroup) {
  measured->object = bpf_object__open(measured->file);
  if (measured->object == nullptr) die("cannot open the object");
  pctally_tick_settings settings{measured->filter, 1, PCTALLY_TABLE_SLOTS - 1, 0, 1, ~0ull};
  size_t bytes = 0;
  bpf_map* constants = bpf_object__find_map_by_name(measured->object, ".rodata");
  memcpy(const_cast<void*>(bpf_map__initial_value(constants, &bytes)), &settings, sizeof settings);
  bpf_map__set_max_entries(bpf_object__find_map_by_name(measured->object, "tables"), 512);
  bpf_map__set_max_entries(bpf_object__find_map_by_name(measured->object, "followed"), 65536);
  if (bpf_object__load(measured->object) != 0) die("cannot load the object");
  auto map = [measured](const char* name) { return bpf_object__find_map_fd_by_name(measured->object, name); };
  uint32_t first = 0, word = static_cast<uint32_t>(getpid()) / 64;
  uint64_t bits = uint64_t{1} << (getpid() % 64);
  if (measured->ours) bpf_map_update_elem(map("followed"), &word, &bits, BPF_ANY);
  bpf_map_update_elem(map("cgroups"), &first, &cgroup, BPF_ANY);
}

bpf_prog_info info_of(int program) {
  bpf_prog_info info{};
  uint32_t bytes = sizeof info;
  bpf_obj_get_info_by_fd(program, &info, &bytes);
  return info;
}

double ns_per_run(const Measured& measured) {
  int program = bpf_program__fd(bpf_object__find_program_by_name(measured.object, measured.program));
  UniqueFd event = clock_event(250000, kCpu);
  ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program);
  bpf_prog_info before = info_of(program);
  ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0);
  spin(300000000);
  ioctl(event.get(), PERF_EVENT_IOC_DISABLE, 0);
  bpf_prog_info after = info_of(program);
  return static_cast<double>(after.run_time_ns - before.run_time_ns) /
         static_cast<double>(after.run_cnt - before.run_cnt);
}

void print_outcomes(const bpf_object* object) {
  uint64_t counts[4] = {};
  int map = bpf_object__find_map_fd_by_name(object, "outcomes");
  for (uint32_t i = 0; i < 4; ++i) {
    std::vector<uint64_t> values(static_cast<size_t>(libbpf_num_possible_cpus()));
    bpf_map_lookup_elem(map, &i, values.data());
    for (uint64_t value : values) counts[i] += value;
  }
  printf("\nby file: found %lu, without a file %lu, lock busy %lu, no mapping %lu\n", counts[0], counts[1],
         counts[2], counts[3]);
}

int run_costs(const char* engine, const char* peers) {
  UniqueFd statistics(bpf_enable_stats(BPF_STATS_RUN_TIME));
  if (!statistics.valid()) die("bpf_enable_stats");
  pin();
  UniqueFd cgroup(open("/sys/fs/cgroup/unified", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!cgroup.valid()) cgroup.reset(open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::vector<Measured> rows = {
      {"empty program", peers, "nothing", PCTALLY_FILTER_ALL, false},
      {"all", engine, "count_tick", PCTALLY_FILTER_ALL, false},
      {"followed", engine, "count_tick", PCTALLY_FILTER_FOLLOWED, true},
      {"followed, of another process", engine, "count_tick", PCTALLY_FILTER_FOLLOWED, false},
      {"cgroup", engine, "count_tick", PCTALLY_FILTER_CGROUP, false},
      {"all, by file and offset", peers, "by_file", PCTALLY_FILTER_ALL, false},
      {"followed, by file and offset", peers, "by_file", PCTALLY_FILTER_FOLLOWED, true}};
  for (Measured& row : rows) load(&row, cgroup.get());
  for (int round = 0; round < kRounds; ++round)
    for (Measured& row : rows) {
      row.gross.push_back(ns_per_run(row));
      row.net.push_back(row.gross.back() - rows[0].gross.back());
    }
  printf("| program | ns per run | less the empty program's |\n|---|---|---|\n");
  for (const Measured& row : rows) {
    Spread gross = spread(row.gross), net = spread(row.net);
    printf("| %s | %.0f [%.0f..%.0f] | %.0f [%.0f..%.0f] |\n", row.row, gross.median, gross.low, gross.high,
           net.median, net.low, net.high);
  }
  print_outcomes(rows.back().object);
  return 0;
}

/// How often the mapping of a pc cannot be looked up in the kernel, in a program whose threads map and unmap.
int lock_failures(const char* peers) {
  Measured by_file{"", peers, "by_file", PCTALLY_FILTER_FOLLOWED, true};
  load(&by_file, -1);
  int program = bpf_program__fd(bpf_object__find_program_by_name(by_file.object, "by_file"));
  std::vector<UniqueFd> events;
  for (int cpu = 0; cpu < libbpf_num_possible_cpus(); ++cpu) {
    events.push_back(clock_event(250000, cpu));
    ioctl(events.back().get(), PERF_EVENT_IOC_SET_BPF, program);
    ioctl(events.back().get(), PERF_EVENT_IOC_ENABLE, 0);
  }
  uint64_t end = clock_ns(CLOCK_MONOTONIC) + 3000000000u;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([end] {
      while (clock_ns(CLOCK_MONOTONIC) < end) {
        constexpr size_t kBytes = 1 << 20;
        void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(memory, 1, kBytes);
        munmap(memory, kBytes);
      }
    });
  threads.emplace_back([] { spin(3000000000u); });
  for (std::thread& thread : threads) thread.join();
  print_outcomes(by_file.object);
  return 0;
}

/// Lengths in ns of the interruptions in the next 100 ms, above 2 us and below 100 us: the median.
double median_gap(double ns_per_cycle) {
  std::vector<double> gaps;
  uint64_t last = __rdtsc();
  auto end = last + static_cast<uint64_t>(1e8 / ns_per_cycle);
  while (last < end) {
    uint64_t now = __rdtsc();
    double ns = static_cast<double>(now - last) * ns_per_cycle;
    if (ns > 2000 && ns < 100000) gaps.push_back(ns);
    last = now;
  }
  return spread(gaps).median;
}

double measure_cycle() {
  uint64_t cycles = __rdtsc(), ns = clock_ns(CLOCK_MONOTONIC);
  spin(200000000);
  return static_cast<double>(clock_ns(CLOCK_MONOTONIC) - ns) / static_cast<double>(__rdtsc() - cycles);
}

int gap_costs(uint64_t period_ns) {
  pin();
  double ns_per_cycle = measure_cycle();
  BpfCounter counter = loaded(PCTALLY_FILTER_FOLLOWED, period_ns);
  if (!counter.follow(getpid())) die("follow");
  UniqueFd idle = clock_event(period_ns, kCpu);
  Random random;
  std::vector<double> bare, counted, added;
  for (int round = 0; round < 60; ++round) {
    double gap[2] = {};
    for (int turn = 0; turn < 2; ++turn) {
      bool engine = (turn + round) % 2 != 0;
      if (engine && !counter.enable(&random)) die("enable");
      if (!engine) ioctl(idle.get(), PERF_EVENT_IOC_ENABLE, 0);
      gap[engine] = median_gap(ns_per_cycle);
      if (engine) counter.disable();
      if (!engine) ioctl(idle.get(), PERF_EVENT_IOC_DISABLE, 0);
      counter.drain([](const pctally_slot&) {}, [](const pctally_full&) {});
    }
    bare.push_back(gap[0]);
    counted.push_back(gap[1]);
    added.push_back(gap[1] - gap[0]);
  }
  Spread b = spread(bare), c = spread(counted), a = spread(added);
  printf("| interruption, ns | median of 60 | quartiles |\n|---|---|---|\n");
  printf("| event nobody consumes | %.0f | %.0f..%.0f |\n", b.median, b.low, b.high);
  printf("| engine bpf | %.0f | %.0f..%.0f |\n", c.median, c.low, c.high);
  printf("| difference of neighbours | %.0f | %.0f..%.0f |\n", a.median, a.low, a.high);
  return 0;
}

int start_cost() {
  std::vector<double> cpu, wall;
  for (int round = 0; round < 21; ++round) {
    uint64_t c = clock_ns(CLOCK_PROCESS_CPUTIME_ID), w = clock_ns(CLOCK_MONOTONIC);
    BpfCounter counter = loaded(PCTALLY_FILTER_FOLLOWED, 1000000);
    cpu.push_back(static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - c) * 1e-6);
    wall.push_back(static_cast<double>(clock_ns(CLOCK_MONOTONIC) - w) * 1e-6);
  }
  Spread c = spread(cpu), w = spread(wall);
  printf("load: CPU %.2f [%.2f..%.2f] ms, wall %.2f [%.2f..%.2f] ms\n", c.median, c.low, c.high, w.median,
         w.low, w.high);
  return 0;
}

}  // namespace
}  // namespace pctally

int main(int argc, char** argv) {
  std::string what = argc > 1 ? argv[1] : "";
  if (what == "runs" && argc > 3) return pctally::run_costs(argv[2], argv[3]);
  if (what == "locks" && argc > 2) return pctally::lock_failures(argv[2]);
  if (what == "gaps")
    return pctally::gap_costs(1000000000u / strtoul(argc > 2 ? argv[2] : "4000", nullptr, 10));
  if (what == "start") return pctally::start_cost();
  fprintf(stderr, "usage: bpf_cost runs TICK_OBJECT COST_OBJECT | locks COST_OBJECT | gaps [HZ] | start\n");
  return 2;
}
