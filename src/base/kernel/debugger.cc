#include "base/kernel/debugger.h"

#include <stdlib.h>
#include <string.h>

#include "base/kernel/proc_file.h"

namespace pctally {

pid_t tracer_of(pid_t pid) noexcept {
  ProcStatus status;
  return read_proc_status(pid, &status) ? status.tracer : 0;
}

bool is_debugger(pid_t tracer) noexcept {
  char name[32];
  if (tracer == 0 || read_proc_file(tracer, "comm", name, sizeof name) == 0) return false;
  return strncmp(name, "gdb", 3) == 0 || strncmp(name, "lldb", 4) == 0;
}

/// It puts libraries of its own in front of those that the program asks for.
bool in_valgrind() noexcept {
  const char* list = getenv("LD_PRELOAD");
  return list != nullptr && strstr(list, "vgpreload_core") != nullptr;
}

}  // namespace pctally
