/* <PR/os.h>: the part of the Nintendo 64's <ultra64.h> that has osProfile* in older kits. */
#ifndef PCTALLY_COMPAT_N64_PR_OS_H
#define PCTALLY_COMPAT_N64_PR_OS_H

#include "../ultra64.h"

#endif
