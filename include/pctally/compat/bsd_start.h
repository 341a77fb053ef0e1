/* monstartup, moncontrol and _mcleanup of 4.4BSD: for <sys/gmon.h>, and for sources without a header. */
#ifndef PCTALLY_COMPAT_BSD_START_H
#define PCTALLY_COMPAT_BSD_START_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sources pass monstartup numbers and pointers, and some define one of their own. In C a declaration without
 * parameters allows both. */
#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname moncontrol pctally_bsd_moncontrol
#pragma redefine_extname _mcleanup pctally_bsd_mcleanup
#pragma redefine_extname monstartup pctally_bsd_monstartup
#else
extern void moncontrol(int mode) __asm__("pctally_bsd_moncontrol");
extern void _mcleanup(void) __asm__("pctally_bsd_mcleanup");
#define moncontrol(...) PCTALLY_CALL_OR_DECLARE(moncontrol, moncontrol, __VA_ARGS__)
#if defined(__cplusplus)
extern void monstartup(unsigned long lowpc, unsigned long highpc) __asm__("pctally_bsd_monstartup");
extern "C++" template <class Low, class High>
inline void monstartup(Low low, High high) {
  monstartup((unsigned long)low, (unsigned long)high);
}
#define PCTALLY_MONSTARTUP monstartup
#elif __STDC_VERSION__ >= 202000L
extern void pctally_bsd_monstartup(unsigned long lowpc, unsigned long highpc);
#define PCTALLY_MONSTARTUP(low, high) pctally_bsd_monstartup((unsigned long)(low), (unsigned long)(high))
#else
extern void monstartup() __asm__("pctally_bsd_monstartup");
#define PCTALLY_MONSTARTUP monstartup
#endif
#define monstartup(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_MONSTARTUP, monstartup, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
