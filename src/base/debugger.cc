#include "base/debugger.h"

#include <stdlib.h>
#include <string.h>

#include "base/proc_file.h"

namespace pctally {

pid_t tracer_of(pid_t pid) noexcept {
  constexpr char kLine[] = "\nTracerPid:";
  char text[1024];
  if (read_proc_file(pid, "status", text, sizeof text) == 0) return 0;
  const char* line = strstr(text, kLine);
  return line == nullptr ? 0 : static_cast<pid_t>(strtol(line + sizeof kLine - 1, nullptr, 10));
}

bool has_debugger(pid_t pid) noexcept {
  char name[32];
  const pid_t tracer = tracer_of(pid);
  if (tracer == 0 || read_proc_file(tracer, "comm", name, sizeof name) == 0) return false;
  return strncmp(name, "gdb", 3) == 0 || strncmp(name, "lldb", 4) == 0;
}

/// It puts libraries of its own in front of those that the program asks for.
bool in_valgrind() noexcept {
  const char* list = getenv("LD_PRELOAD");
  return list != nullptr && strstr(list, "vgpreload_core") != nullptr;
}

}  // namespace pctally
