/* monstartup, moncontrol and _mcleanup of the GNU C library: for <sys/gmon.h>, and for sources without a
 * header. */
#ifndef PCTALLY_COMPAT_GLIBC_MONITOR_H
#define PCTALLY_COMPAT_GLIBC_MONITOR_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"

#undef monstartup /* sources define it as __monstartup: both are declared here */

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname monstartup pctally_glibc_monstartup
#pragma redefine_extname __monstartup pctally_glibc_monstartup
#pragma redefine_extname moncontrol pctally_glibc_moncontrol
#pragma redefine_extname _mcleanup pctally_glibc_mcleanup
#else
extern void monstartup(unsigned long lowpc, unsigned long highpc) __asm__("pctally_glibc_monstartup");
extern void __monstartup(unsigned long lowpc, unsigned long highpc) __asm__("pctally_glibc_monstartup");
extern void moncontrol(int mode) __asm__("pctally_glibc_moncontrol");
extern void _mcleanup(void) __asm__("pctally_glibc_mcleanup");
#define monstartup(...) PCTALLY_CALL_OR_DECLARE(monstartup, monstartup, __VA_ARGS__)
#define __monstartup(...) PCTALLY_CALL_OR_DECLARE(__monstartup, __monstartup, __VA_ARGS__)
#define moncontrol(...) PCTALLY_CALL_OR_DECLARE(moncontrol, moncontrol, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
