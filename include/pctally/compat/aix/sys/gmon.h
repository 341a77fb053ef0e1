/* <sys/gmon.h> under AIX: the C library's without its monstartup, which <mon.h> has. */
#ifndef PCTALLY_COMPAT_AIX_SYS_GMON_H
#define PCTALLY_COMPAT_AIX_SYS_GMON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <sys/types.h>

#define monstartup pctally_c_library_monstartup
#ifdef __GLIBC__           /* musl has no such header */
#include_next <sys/gmon.h> /* declares the C library's before <mon.h> takes the name */
#endif
#undef monstartup

#endif
