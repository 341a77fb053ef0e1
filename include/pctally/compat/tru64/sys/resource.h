/* <sys/resource.h> of Tru64 UNIX: profil(2) with struct profil_args. */
#ifndef PCTALLY_COMPAT_TRU64_SYS_RESOURCE_H
#define PCTALLY_COMPAT_TRU64_SYS_RESOURCE_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include_next <sys/resource.h>
#include <unistd.h>

#endif
