/* profil(), monitor(), monstartup(), moncontrol() of AIX: for <mon.h>, and for sources without a header. */
#ifndef PCTALLY_COMPAT_AIX_CALLS_H
#define PCTALLY_COMPAT_AIX_CALLS_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"
#include "uncast.h"

#ifdef __cplusplus
extern "C" {
#endif

extern int pctally_aix_profil(void *buffer, unsigned int bufsize, unsigned long offset, unsigned int scale);
extern int pctally_aix_monitor(__UINTPTR_TYPE__ low, __UINTPTR_TYPE__ high, void *buffer, int bufsize,
                               int nfunc);
extern int pctally_aix_monstartup(__UINTPTR_TYPE__ low, __UINTPTR_TYPE__ high);
extern int pctally_aix_moncontrol(int mode);

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_aix_profil
#pragma redefine_extname monitor pctally_aix_monitor
#pragma redefine_extname monstartup pctally_aix_monstartup
#pragma redefine_extname moncontrol pctally_aix_moncontrol
#else
/* For sources that take its address or write (profil)(...). Calls go through the macro below. */
extern int profil(unsigned short *buffer, unsigned int bufsize, unsigned long offset,
                  unsigned int scale) __asm__("pctally_aix_profil");
extern int moncontrol(int mode) __asm__("pctally_aix_moncontrol");
#endif

#ifdef __cplusplus
}
#endif

#ifndef PCTALLY_SOURCE_DECLARES
/* The two forms pass pointers and numbers in the same places. */
#define PCTALLY_PROFIL(buffer, size, offset, scale) \
  pctally_aix_profil((void *)(buffer), (unsigned int)(size), (unsigned long)(offset), (unsigned int)(scale))

/* monitor(0) ends, with one argument or five. */
#define PCTALLY_MONITOR(low, high, buffer, size, functions, ...)                                  \
  pctally_aix_monitor((unsigned long)(low), (unsigned long)(high), (void *)(buffer), (int)(size), \
                      (int)(functions))
#define PCTALLY_ANY_MONITOR(...) PCTALLY_MONITOR(__VA_ARGS__, 0, 0, 0, 0, 0)
#define PCTALLY_MONSTARTUP(low, high) pctally_aix_monstartup((unsigned long)(low), (unsigned long)(high))

#define profil(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_PROFIL, profil, __VA_ARGS__)
#define monitor(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_ANY_MONITOR, monitor, __VA_ARGS__)
#define monstartup(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_MONSTARTUP, monstartup, __VA_ARGS__)
#define moncontrol(...) PCTALLY_CALL_OR_DECLARE(moncontrol, moncontrol, __VA_ARGS__)
#endif

#endif
