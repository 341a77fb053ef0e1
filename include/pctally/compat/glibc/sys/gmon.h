/* <sys/gmon.h> of the GNU C library: monstartup, also named __monstartup, moncontrol and _mcleanup. */
#ifndef PCTALLY_COMPAT_GLIBC_SYS_GMON_H
#define PCTALLY_COMPAT_GLIBC_SYS_GMON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#pragma push_macro("monstartup")
#pragma push_macro("__monstartup")
#undef monstartup
#undef __monstartup
#define monstartup pctally_c_library_monstartup
#define __monstartup pctally_c_library_monstartup
#define _mcleanup pctally_c_library_mcleanup
#if __has_include_next(<sys/gmon.h>)
#include_next <sys/gmon.h> /* declares the C library's, whatever was included before */
#include <sys/types.h>
#endif
#undef _mcleanup
#pragma pop_macro("monstartup")
#pragma pop_macro("__monstartup")

#include "../../glibc_monitor.h"

#endif
