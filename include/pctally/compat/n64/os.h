/* <os.h>: <PR/os.h> for sources that are compiled with -I.../PR. */
#ifndef PCTALLY_COMPAT_N64_OS_H
#define PCTALLY_COMPAT_N64_OS_H

#include "ultra64.h"

#endif
