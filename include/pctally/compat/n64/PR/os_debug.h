/* <PR/os_debug.h>: the part of the Nintendo 64's <ultra64.h> that has osProfile*. */
#ifndef PCTALLY_COMPAT_N64_PR_OS_DEBUG_H
#define PCTALLY_COMPAT_N64_PR_OS_DEBUG_H

#include "../ultra64.h"

#endif
