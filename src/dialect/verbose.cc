#include "dialect/verbose.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file/quiet_write.h"
#include "dialect/variant.h"
#include "process/proc_maps.h"

namespace pctally {
namespace {

bool overlaps(const Region& region, const ExecutableMapping& mapping) noexcept {
  return region.rule.cells != 0 && region.low < mapping.end && region.last >= mapping.start;
}

}  // namespace

void say(const char* format, ...) noexcept {
  const int error = errno;
  char line[768] = "pctally: ";
  const size_t prefix = strlen(line);
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  size_t end = strlen(line);
  for (size_t i = 0; i < end; ++i)
    if (static_cast<unsigned char>(line[i]) < ' ' || line[i] == 0x7f) line[i] = '?';
  line[end] = '\n';
  (void)write_quietly(STDERR_FILENO, line, end + 1);
  errno = error;
}

bool is_verbose() noexcept { return is_variant("PCTALLY_VERBOSE", "1"); }

void say_if_nothing_counts(const char* system, std::span<const Region> regions) noexcept {
  if (!is_verbose()) return;
  const int error = errno;
  bool any = false;
  bool known = ProcMaps(0).visit([&](const ExecutableMapping& mapping) {
    for (const Region& region : regions)
      if (!any) any = overlaps(region, mapping);
  });
  errno = error;
  if (!known || any) return;
  if (regions.empty() || regions[0].rule.cells == 0)
    say("%s: no counter to count in; check the sizes and scales", system);
  else
    say("%s: no code at 0x%llx, nothing can be counted; if the address was cut to 32 bits, link with -no-pie",
        system, static_cast<unsigned long long>(regions[0].low));
}

void say_failed(const char* call, int error) noexcept {
  if (is_verbose()) say("%s: %s", call, strerror(error));
}

}  // namespace pctally
