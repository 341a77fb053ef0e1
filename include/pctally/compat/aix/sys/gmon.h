/* <sys/gmon.h> under AIX: the C library's without its monstartup, which <mon.h> has. */
#ifndef PCTALLY_COMPAT_AIX_SYS_GMON_H
#define PCTALLY_COMPAT_AIX_SYS_GMON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <sys/types.h>

#pragma push_macro("monstartup")
#undef monstartup
#define monstartup pctally_c_library_monstartup
#ifdef __GLIBC__           /* musl has no such header */
#include_next <sys/gmon.h> /* declares the C library's, whatever was included before */
#endif
#pragma pop_macro("monstartup")

#endif
