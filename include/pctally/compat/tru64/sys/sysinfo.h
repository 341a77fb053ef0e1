/* <sys/sysinfo.h> of Tru64 UNIX: getsysinfo(GSI_CLK_TCK), and nothing else of it. */
#ifndef PCTALLY_COMPAT_TRU64_SYS_SYSINFO_H
#define PCTALLY_COMPAT_TRU64_SYS_SYSINFO_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <errno.h>
#include <string.h>
#include_next <sys/sysinfo.h>

#include "../../declarations.h"

#define GSI_CLK_TCK 42 /* any number: sources name it */

#ifdef __cplusplus
extern "C" {
#endif

/* The number of values stored: 1, or -1 with errno EINVAL. */
static __inline__ int getsysinfo(unsigned long op, char *buffer, unsigned long nbytes, int *start, void *arg,
                                 unsigned long flag) {
  int ticks = 1024;
  (void)start;
  (void)arg;
  (void)flag;
  if (op != GSI_CLK_TCK || nbytes < sizeof ticks) {
    errno = EINVAL;
    return -1;
  }
  memcpy(buffer, &ticks, sizeof ticks);
  return 1;
}

#ifdef __cplusplus
}
#endif

#ifndef PCTALLY_SOURCE_DECLARES
/* Sources pass pointers of any type, and leave out arguments at the end that their operation does not use. */
#define PCTALLY_GETSYSINFO(op, buffer, nbytes, start, arg, flag, ...)                                       \
  getsysinfo((unsigned long)(op), (char *)(buffer), (unsigned long)(nbytes), (int *)(start), (void *)(arg), \
             (unsigned long)(flag))
#define PCTALLY_ANY_GETSYSINFO(...) PCTALLY_GETSYSINFO(__VA_ARGS__, 0, 0, 0, 0, 0)
#define getsysinfo(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_ANY_GETSYSINFO, getsysinfo, __VA_ARGS__)
#endif

#endif
