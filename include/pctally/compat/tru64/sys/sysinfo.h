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

/* The number of values stored: 1, or -1 with errno EINVAL. Each object file has it, and the linker keeps one.
 * Calls without a prototype may pass an int where the system has a long, and leave out arguments at the end:
 * no more is read than all of them pass. */
extern int pctally_tru64_getsysinfo(unsigned int op, void *buffer, unsigned int nbytes, ...)
    __attribute__((weak, visibility("hidden")));
int pctally_tru64_getsysinfo(unsigned int op, void *buffer, unsigned int nbytes, ...) {
  int ticks = 1024;
  if (op != GSI_CLK_TCK || nbytes < sizeof ticks) {
    errno = EINVAL;
    return -1;
  }
  memcpy(buffer, &ticks, sizeof ticks);
  return 1;
}

/* Sources pass pointers of any type, and some declare the call. In C a declaration without parameters allows
 * both. */
#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname getsysinfo pctally_tru64_getsysinfo
#else
#if defined(__cplusplus)
extern int getsysinfo(unsigned long op, char *buffer, unsigned long nbytes, int *start, void *arg,
                      unsigned long flag) __asm__("pctally_tru64_getsysinfo");
extern "C++" template <class Buffer, class... Rest>
inline int getsysinfo(unsigned long op, Buffer *buffer, unsigned long nbytes, Rest...) {
  return pctally_tru64_getsysinfo((unsigned int)op, (void *)buffer, (unsigned int)nbytes);
}
#define PCTALLY_GETSYSINFO getsysinfo
#elif __STDC_VERSION__ >= 202000L
#define PCTALLY_GETSYSINFO(op, buffer, ...) \
  pctally_tru64_getsysinfo((unsigned int)(op), (void *)(buffer), __VA_ARGS__)
#else
extern int getsysinfo() __asm__("pctally_tru64_getsysinfo");
#define PCTALLY_GETSYSINFO getsysinfo
#endif
#define getsysinfo(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_GETSYSINFO, getsysinfo, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
