/* <sys/gmon.h> of the GNU C library: monstartup, moncontrol and _mcleanup. */
#ifndef PCTALLY_COMPAT_GLIBC_SYS_GMON_H
#define PCTALLY_COMPAT_GLIBC_SYS_GMON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#if __has_include_next(<sys/gmon.h>)
#include_next <sys/gmon.h> /* declares the C library's own before the names are taken */
#include <sys/types.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern void pctally_glibc_monstartup(unsigned long lowpc, unsigned long highpc);
extern void pctally_glibc_moncontrol(int mode);
extern void pctally_glibc_mcleanup(void);

#ifdef __cplusplus
}
#endif

#define monstartup(low, high) pctally_glibc_monstartup((unsigned long)(low), (unsigned long)(high))
#define moncontrol pctally_glibc_moncontrol
#define _mcleanup pctally_glibc_mcleanup

#endif
