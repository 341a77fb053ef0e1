#include "base/kernel/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>

#include "base/time_ns.h"

namespace pctally {
namespace {

constexpr uint64_t kKernelThread = 0x200000;  ///< PF_KTHREAD of the flags
constexpr uint64_t kExiting = 0x4;            ///< PF_EXITING
constexpr uint64_t kWorker = 0x10;            ///< PF_IO_WORKER
constexpr unsigned kStatFields = 22;          ///< up to the start of the process

void append_number(char** to, unsigned number) noexcept {
  char digits[12];
  char* at = digits + sizeof digits;
  do {
    *--at = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (at != digits + sizeof digits) *(*to)++ = *at++;
}

/// What follows `name` at the begin of a line; null without such a line.
const char* after(const char* text, const char* name) noexcept {
  const char* line = strstr(text, name);
  return line == nullptr ? nullptr : line + strlen(name);
}

/// The last field of that line.
const char* last_of_line(const char* text, const char* name) noexcept {
  const char* line = after(text, name);
  if (line == nullptr) return nullptr;
  const char* at = line + strcspn(line, "\n");
  while (at != line && at[-1] != '\t' && at[-1] != ' ') --at;
  return at;
}

size_t read_start(const UniqueFd& fd, char* text, size_t bytes) noexcept {
  text[0] = '\0';
  ssize_t count = fd.valid() ? read(fd.get(), text, bytes - 1) : -1;
  if (count <= 0) return 0;
  text[count] = '\0';
  return static_cast<size_t>(count);
}

/// `thread` 0: the file of the whole process.
UniqueFd open_thread_file(pid_t pid, pid_t thread, const char* file) noexcept {
  char name[32] = "task/", *end = name + 5;
  if (thread != 0) append_number(&end, static_cast<unsigned>(thread)), *end++ = '/';
  strcpy(thread == 0 ? name : end, file);
  return open_proc_file(pid, name);
}

/// Reads the start of a status file into `text`, ended by a zero byte, and leaves out the line of groups. A
/// user may be in thousands, and the lines that we need come after it. False if it cannot be read.
bool read_status(const UniqueFd& fd, char* text, size_t bytes) noexcept {
  constexpr char kGroups[] = "Groups:";
  size_t size = 0, line = 0;  // kept, and where its last line starts
  bool in_groups = false;
  char part[1024];
  for (ssize_t count; fd.valid() && (count = read(fd.get(), part, sizeof part)) > 0;) {
    for (ssize_t i = 0; i < count; ++i) {
      if (!in_groups && size + 1 < bytes) text[size++] = part[i];
      if (part[i] == '\n') {
        in_groups = false;
        line = size;
      } else if (size - line == sizeof kGroups - 1 && memcmp(text + line, kGroups, size - line) == 0) {
        in_groups = true;
        size = line;
      }
    }
  }
  text[size] = '\0';
  return size != 0;
}

}  // namespace

UniqueFd open_proc_file(pid_t pid, const char* name) noexcept {
  char path[64] = "/proc/self", *end = path + 10;
  if (pid != 0) append_number(&(end = path + 6), static_cast<unsigned>(pid));
  if (strlen(name) + 2 > static_cast<size_t>(path + sizeof path - end))
    return errno = ENAMETOOLONG, UniqueFd();
  *end++ = '/';
  strcpy(end, name);
  return UniqueFd(open(path, O_RDONLY | O_CLOEXEC));
}

size_t read_proc_file(pid_t pid, const char* name, char* text, size_t bytes) noexcept {
  return read_start(open_proc_file(pid, name), text, bytes);
}

size_t read_proc_file(const char* path, char* text, size_t bytes) noexcept {
  return read_start(UniqueFd(open(path, O_RDONLY | O_CLOEXEC)), text, bytes);
}

ProcStatus parse_status(const char* text) noexcept {
  ProcStatus status;
  const char* inside = last_of_line(text, "\nNSpid:");
  const char* filters = last_of_line(text, "\nSeccomp_filters:");
  if (filters == nullptr) filters = last_of_line(text, "\nSeccomp:");
  if (const char* tracer = last_of_line(text, "\nTracerPid:"); tracer != nullptr)
    status.tracer = static_cast<pid_t>(strtol(tracer, nullptr, 10));
  if (inside != nullptr) status.inside = static_cast<pid_t>(strtol(inside, nullptr, 10));
  if (filters != nullptr) status.filters = static_cast<unsigned>(strtol(filters, nullptr, 10));
  if (const char* group = after(text, "\nTgid:"); group != nullptr)
    status.group = static_cast<pid_t>(strtol(group, nullptr, 10));
  if (const char* blocked = after(text, "\nSigBlk:"); blocked != nullptr)
    status.blocked = strtoull(blocked, nullptr, 16);
  const char* at = after(text, "\nUid:");
  char* end = nullptr;
  for (unsigned i = 0; at != nullptr && i < 4; ++i, at = end)
    status.users[i] = static_cast<uid_t>(strtoull(at, &end, 10));
  return status;
}

bool read_proc_status(pid_t pid, ProcStatus* status, pid_t thread) noexcept {
  char text[4096];
  if (!read_status(open_thread_file(pid, thread, "status"), text, sizeof text)) return false;
  *status = parse_status(text);
  return true;
}

/// The name, in parentheses, may hold anything; the numbers follow the last of these.
bool read_proc_stat(pid_t pid, ProcStat* stat, pid_t thread) noexcept {
  char text[1024];
  if (read_start(open_thread_file(pid, thread, "stat"), text, sizeof text) == 0) return false;
  const char* at = strrchr(text, ')');
  if (at == nullptr || at[1] != ' ' || at[2] == '\0') return false;
  stat->state = at[2];
  at += 3;
  uint64_t fields[kStatFields + 1] = {};
  for (unsigned field = 4; field <= kStatFields && *at != '\0'; ++field) {
    while (*at == ' ' || *at == '-') ++at;
    for (; *at >= '0' && *at <= '9'; ++at)
      fields[field] = fields[field] * 10 + static_cast<uint64_t>(*at - '0');
  }
  stat->parent = static_cast<pid_t>(fields[4]);
  stat->kernel_thread = (fields[9] & kKernelThread) != 0;
  stat->kernel_worker = (fields[9] & kWorker) != 0;
  stat->exiting = (fields[9] & kExiting) != 0;
  stat->user = fields[14];
  stat->system = fields[15];
  stat->children_user = fields[16];
  stat->children_system = fields[17];
  stat->threads = fields[20];
  stat->started = fields[22];
  return true;
}

bool is_there(pid_t pid, uint64_t started) noexcept {
  ProcStat stat;
  return read_proc_stat(pid, &stat) && stat.started == started;
}

uint64_t start_ns(const ProcStat& stat, clockid_t clock) noexcept {
  timespec now{}, up{};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_BOOTTIME, &up);
  const uint64_t sum = to_ns(now) + clock_ticks_to_ns(stat.started);
  return sum - std::min(sum, to_ns(up));  // CLOCK_MONOTONIC began later, for the time that the machine slept
}

MachineTicks read_machine_ticks() noexcept {
  MachineTicks ticks;
  char text[256];  // "cpu ", ten numbers
  if (read_proc_file("/proc/stat", text, sizeof text) == 0) return ticks;
  char* at = text + strcspn(text, " \n");
  for (uint64_t* field : {&ticks.user, &ticks.nice, &ticks.system, &ticks.idle, &ticks.wait, &ticks.irq,
                          &ticks.softirq, &ticks.steal})
    *field = strtoull(at, &at, 10);
  return ticks;
}

}  // namespace pctally
