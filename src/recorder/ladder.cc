// The ladder: which engines work here, and if not, why not and what to do about it.
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/period.h"
#include "clock/kernel_timer.h"
#include "perf/refusal.h"
#include "perf/ring.h"
#include "recorder/injected_engine.h"
#include "recorder/ring_engine.h"

#ifndef PCTALLY_HAVE_BPF
#define PCTALLY_HAVE_BPF 0  // the capture side alone is built
#endif
#if PCTALLY_HAVE_BPF
#include "recorder/bpf_engine.h"
#include "recorder/bpf_probe.h"
#endif

namespace pctally {
namespace {

void explain(int error, Rung* rung) {
  Refusal refusal = explain_refusal(error);
  rung->reason = refusal.reason;
  rung->remedy = refusal.remedy;
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
Rung probe_ring() {
  Rung rung;
  rung.name = "ring";
  rung.cost = "one interrupt per tick; no signal, nothing runs in the program";
  rung.shortest_period_ns = shortest_perf_period_ns();
  const PerfScope self = PerfScope::task(getpid());
  auto ring = try_ring(self, false);
  rung.available = ring.has_value();
  if (!ring) explain(ring.error().code, &rung);
  bool kernel = try_ring(self, true).has_value();
  bool whole_machine = try_ring(PerfScope::machine(), kernel).has_value();
  rung.misses = ring_blindness(!whole_machine, kernel);
  return rung;
}

/// For engines that run in the program.
Rung injected_rung(ClockKind kind, const char* cost) {
  Rung rung;
  rung.name = clock_name(kind);
  rung.enters_program = true;
  rung.cost = cost;
  rung.misses = TimerEngine(kind, EngineSettings{}).blind_spots();
  auto library = find_preload_library();
  rung.available = library.has_value();
  if (library) return rung;
  rung.reason = library.error().text;
  rung.remedy = "build or install pctally as a whole";
  return rung;
}

Rung probe_timer() {
  Rung rung = injected_rung(
      ClockKind::kTimer, "one signal per kernel tick and busy thread in the program, which sees LD_PRELOAD");
  if (!rung.available) return rung;
  auto timer = create_thread_timer(gettid(), SIGRTMIN, nullptr);  // not set: it brings no signal
  if (timer) {
    delete_timer(*timer);
    return rung;
  }
  rung.available = false;
  rung.reason = timer.error().text;
  rung.remedy = timer.error().code == EAGAIN ? "raise ulimit -i" : "use a kernel with CONFIG_POSIX_TIMERS";
  return rung;
}

Rung probe_trap() {
  Rung rung =
      injected_rung(ClockKind::kTrap,
                    "one interrupt and one signal per tick in the program, which sees LD_PRELOAD and a "
                    "descriptor per thread");
  rung.shortest_period_ns = shortest_perf_period_ns();
  if (!rung.available) return rung;
  auto works = PerfTrap::probe();
  if (works) return rung;
  rung.available = false;
  int error = works.error().code;
  if (error == EACCES || error == EPERM || error == ENOSYS) explain(error, &rung);
  if (error == ENOSYS && try_ring(PerfScope::task(getpid()), false)) {  // the call is there, the trap is not
    rung.reason = works.error().text;
    rung.remedy = "use a newer kernel, or engine timer";
  }
  if (rung.remedy.empty()) rung.reason = works.error().text;
  return rung;
}

#if !PCTALLY_HAVE_BPF
Rung probe_bpf() {
  Rung rung;
  rung.name = "bpf";
  rung.reason = "left out of this build";
  rung.remedy = "build with clang and libbpf-dev >= 1.0, and without -DPCTALLY_BPF=OFF";
  return rung;
}
#endif

}  // namespace

std::vector<Rung> probe_ladder(const std::string& only, [[maybe_unused]] bool whole) {
  struct {
    const char* name;
    Rung (*probe)();
  } constexpr kRungs[] = {
      {"bpf", probe_bpf}, {"ring", probe_ring}, {"timer", probe_timer}, {"trap", probe_trap}};
  std::vector<Rung> ladder;
  ClockKind kind;  // "thread-timer" names one, too
  const std::string name = clock_of(only.c_str(), &kind) ? clock_name(kind) : only;
  for (const auto& rung : kRungs)
    if (name.empty() || name == rung.name) ladder.push_back(rung.probe());
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
