#include "perf/cpu_numbers.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <numeric>

#include "base/kernel/proc_file.h"

namespace pctally {
namespace {

constexpr int kMostCpus = 1 << 16;  ///< eight times what kernels can be built for

/// A number at the start of *text, which loses it; below 0: there is none.
int take_number(std::string_view* text) {
  int number = -1;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
  if (read.ec != std::errc() || number >= kMostCpus) return -1;
  text->remove_prefix(static_cast<size_t>(read.ptr - text->data()));
  return number;
}

/// The highest CPU this thread may run on, 0 if that is not known.
int highest_allowed() {
  const std::unique_ptr<cpu_set_t, decltype(&free)> set(CPU_ALLOC(kMostCpus), free);
  const size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  int highest = 0;
  if (set == nullptr || sched_getaffinity(0, bytes, set.get()) != 0) return 0;
  for (int cpu = 0; cpu < kMostCpus; ++cpu)
    if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set.get())) highest = cpu;
  return highest;
}

std::vector<int> read_cpu_list(const char* path) {
  char text[4096];
  const size_t bytes = read_proc_file(path, text, sizeof text);
  return parse_cpu_list({text, bytes});
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty() && text != "\n") {
    if (!cpus.empty() && text[0] == ',') text.remove_prefix(1);
    const int first = take_number(&text);
    int last = first;
    if (!text.empty() && text[0] == '-') {
      text.remove_prefix(1);
      last = take_number(&text);
    }
    if (first < 0 || last < first || (!cpus.empty() && first <= cpus.back())) return {};
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string cpu_list_text(const std::vector<int>& cpus) {
  std::string text;
  for (size_t i = 0, first = 0; i < cpus.size(); ++i) {
    if (i + 1 < cpus.size() && cpus[i + 1] == cpus[i] + 1) continue;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (i != first) text += '-' + std::to_string(cpus[i]);
    first = i + 1;
  }
  return text;
}

std::vector<int> online_cpus() { return read_cpu_list("/sys/devices/system/cpu/online"); }

/// Where the kernel's list is masked: all numbers up to the highest that anything else tells of.
std::vector<int> possible_cpus() {
  std::vector<int> cpus = read_cpu_list("/sys/devices/system/cpu/possible");
  const int highest = highest_allowed();
  if (!cpus.empty() && cpus.back() >= highest) return cpus;
  const auto count = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
  cpus.resize(static_cast<size_t>(std::max(count, highest + 1)));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

}  // namespace pctally
