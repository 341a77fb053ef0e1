/* <sys/types.h> of 4.4BSD: has the types that the page names in strict ISO C (-std=c99), too. */
#ifndef PCTALLY_COMPAT_BSD_SYS_TYPES_H
#define PCTALLY_COMPAT_BSD_SYS_TYPES_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include_next <sys/types.h>

#ifndef __u_char_defined
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
#endif

#endif
