/* <PR/ultraerror.h>: the path that the Nintendo 64's own kit has. */
#ifndef PCTALLY_COMPAT_N64_PR_ULTRAERROR_H
#define PCTALLY_COMPAT_N64_PR_ULTRAERROR_H

#include "../ultraerror.h"

#endif
