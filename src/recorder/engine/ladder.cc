// The ladder: which engines work here, and if not, why not and what to do about it.
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/kernel/kernel_timer.h"
#include "base/kernel/period.h"
#include "perf/refusal.h"
#include "perf/ring.h"
#include "recorder/engine/injected_engine.h"
#include "recorder/engine/ring_engine.h"

#ifndef PCTALLY_HAVE_BPF
#define PCTALLY_HAVE_BPF 0  // the capture side alone is built
#endif
#if PCTALLY_HAVE_BPF
#include "recorder/engine/bpf_engine.h"
#include "recorder/engine/bpf_probe.h"
#endif

namespace pctally {
namespace {

void explain(const Refusal& refusal, EngineProbe* probe) {
  probe->reason = refusal.reason;
  probe->remedy = refusal.remedy;
}

Result<PerfRing> try_ring(PerfScope scope, bool kernel) {
  PerfSettings settings;
  settings.kernel = kernel;
  settings.ring_pages = 1;
  settings.lost_count = settings.build_ids = false;
  return PerfRing::open(scope, 0, settings);
}

/// What it misses is as of a command and its children: they are observed by way of the whole machine where
/// that is permitted.
EngineProbe probe_ring() {
  EngineProbe probe;
  probe.name = "ring";
  probe.cost = "one interrupt per tick; no signal, nothing runs in the program";
  probe.shortest_period_ns = shortest_perf_period_ns();
  const PerfScope self = PerfScope::task(getpid());
  auto ring = try_ring(self, false);
  probe.available = ring.has_value();
  if (!ring) explain(explain_refusal(ring.error()), &probe);
  bool kernel = try_ring(self, true).has_value();
  bool whole_machine = try_ring(PerfScope::machine(), kernel).has_value();
  probe.misses = ring_blindness(!whole_machine, kernel);
  return probe;
}

/// For engines that run in the program.
EngineProbe probe_injected(ClockKind kind, const char* cost) {
  EngineProbe probe;
  probe.name = clock_name(kind);
  probe.enters_program = true;
  probe.cost = cost;
  probe.misses = TimerEngine(kind, EngineSettings{}).blind_spots();
  auto library = find_preload_library();
  probe.available = library.has_value();
  if (library) return probe;
  probe.reason = library.error().text;
  probe.remedy = "build or install pctally as a whole";
  return probe;
}

EngineProbe probe_timer() {
  EngineProbe probe = probe_injected(
      ClockKind::kTimer, "one signal per kernel tick and busy thread in the program, which sees LD_PRELOAD");
  if (!probe.available) return probe;
  int timer = 0;
  auto created = create_thread_timer(gettid(), SIGRTMIN, nullptr, &timer);  // not set: it brings no signal
  if (created) {
    delete_timer(timer);
    return probe;
  }
  probe.available = false;
  probe.reason = explained(created).error().text;
  probe.remedy = created.error() == EAGAIN ? "raise ulimit -i" : "use a kernel with CONFIG_POSIX_TIMERS";
  return probe;
}

EngineProbe probe_trap() {
  EngineProbe probe =
      probe_injected(ClockKind::kTrap,
                     "one interrupt and one signal per tick in the program, which sees LD_PRELOAD and a "
                     "descriptor per thread");
  probe.shortest_period_ns = shortest_perf_period_ns();
  if (!probe.available) return probe;
  auto works = PerfTrap::probe();
  if (works) return probe;
  probe.available = false;
  const int error = works.error();
  if (error == EACCES || error == EPERM || error == ENOSYS) explain(explain_refusal(error), &probe);
  if (error == ENOSYS && try_ring(PerfScope::task(getpid()), false)) {  // the call is there, the trap is not
    probe.reason = explained(works).error().text;
    probe.remedy = "use a newer kernel, or engine timer";
  }
  if (probe.remedy.empty()) probe.reason = explained(works).error().text;
  return probe;
}

#if !PCTALLY_HAVE_BPF
EngineProbe probe_bpf() {
  EngineProbe probe;
  probe.name = "bpf";
  probe.reason = "left out of this build";
  probe.remedy = "build with clang and libbpf-dev >= 1.0, and without -DPCTALLY_BPF=OFF";
  return probe;
}
#endif

}  // namespace

std::vector<EngineProbe> probe_ladder(const std::string& only, [[maybe_unused]] bool whole) {
  struct {
    const char* name;
    EngineProbe (*probe)();
  } constexpr kProbes[] = {
      {"bpf", probe_bpf}, {"ring", probe_ring}, {"timer", probe_timer}, {"trap", probe_trap}};
  std::vector<EngineProbe> ladder;
  ClockKind kind;  // "thread-timer" names one, too
  const std::string name = clock_of(only.c_str(), &kind) ? clock_name(kind) : only;
  for (const auto& entry : kProbes)
    if (name.empty() || name == entry.name) ladder.push_back(entry.probe());
#if PCTALLY_HAVE_BPF
  if (whole && !ladder.empty() && ladder[0].name == "bpf") load_bpf(&ladder[0]);
#endif
  return ladder;
}

std::unique_ptr<Engine> make_engine(const std::string& name, const EngineSettings& settings) {
#if PCTALLY_HAVE_BPF
  if (name == "bpf") return std::make_unique<BpfEngine>(settings);
#endif
  if (name == "ring") return std::make_unique<RingEngine>(settings);
  ClockKind kind;
  if (clock_of(name.c_str(), &kind) && kind != ClockKind::kNone)
    return std::make_unique<TimerEngine>(kind, settings);
  return nullptr;
}

}  // namespace pctally
