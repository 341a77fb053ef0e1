#include "recorder/engine/bpf_probe.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/kernel/kernel_setting.h"
#include "base/kernel/period.h"
#include "bpf/bpf_counter.h"
#include "bpf/capabilities.h"
#include "perf/descriptor_limit.h"
#include "perf/process_tree.h"
#include "perf/refusal.h"
#include "recorder/engine/bpf_engine.h"

namespace pctally {
namespace {

constexpr size_t kMoreDescriptors = 16;  ///< of a recording, beside those of its counter
constexpr const char* kKernelTypes = "/sys/kernel/btf/vmlinux";

std::string setting(const char* name, const char* path) {
  constexpr long kUnreadable = -100;
  const long value = kernel_setting(path, kUnreadable);
  return value == kUnreadable ? "" : std::string(", ") + name + " = " + std::to_string(value);
}

void explain_capabilities(const std::string& missing, EngineProbe* probe) {
  probe->reason = "without " + missing +
                  setting("kernel.unprivileged_bpf_disabled", "/proc/sys/kernel/unprivileged_bpf_disabled");
  probe->remedy =
      "run as root, or once as root: setcap cap_bpf,cap_perfmon=ep on the pctally binary; in a container: "
      "--cap-add SYS_ADMIN --pid host";
}

void explain_refusal(const Error& error, EngineProbe* probe) {
  if (error.code == EMFILE) {
    probe->reason = kTooManyFiles;
    probe->remedy = kRaiseFileLimit;
    return;
  }
  bool event = strncmp(error.text, "perf", 4) == 0;
  probe->reason = std::string(event ? "perf_event_open: " : "bpf(2): ") + error_name(error.code);
  if (under_seccomp()) {
    probe->reason += ", under a seccomp filter";
    probe->remedy =
        "let the sandbox's seccomp profile allow bpf and perf_event_open; in a container: --cap-add "
        "SYS_ADMIN "
        "--pid host";
  } else if (error.code == ENOSYS) {
    probe->remedy = "use a kernel with CONFIG_BPF_SYSCALL and CONFIG_PERF_EVENTS";
  } else if (error.code == EPERM || error.code == EACCES) {
    probe->remedy = "leave the user namespace or kernel lockdown that forbids it";
  } else {
    probe->remedy = "use a kernel of Linux 5.15 or later";
  }
}

}  // namespace

void load_bpf(EngineProbe* probe) {
  if (!probe->available) return;
  auto counter = BpfCounter::load(BpfCounter::Settings{});
  if (counter && has_descriptors_left(kMoreDescriptors)) return;
  probe->available = false;
  explain_refusal(counter ? Error{EMFILE} : counter.error(), probe);
}

EngineProbe probe_bpf() {
  EngineProbe probe;
  probe.name = "bpf";
  probe.cost = "one interrupt per tick on every CPU, also where others run; nothing runs in the program";
  probe.shortest_period_ns = shortest_perf_period_ns();
  probe.misses = kBpfBlindness;
  if (std::string missing = missing_capabilities(); !missing.empty()) {
    explain_capabilities(missing, &probe);
  } else if (!in_first_pid_namespace()) {
    probe.reason = "in a pid namespace, whose process numbers are not the kernel's";
    probe.remedy = "run it in the host's pid namespace (docker run --pid=host)";
  } else if (access(kKernelTypes, R_OK) != 0) {
    probe.reason = std::string("no ") + kKernelTypes;
    probe.remedy = "use a kernel with CONFIG_DEBUG_INFO_BTF, and let /sys be seen";
  } else if (auto probed = BpfCounter::probe(); !probed) {
    explain_refusal(probed.error(), &probe);
  } else {
    probe.available = true;
  }
  return probe;
}

}  // namespace pctally
