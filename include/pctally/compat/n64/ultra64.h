/* ultra64.h for sources written for the Nintendo 64: its types, and the calls that pctally has. Find it with
 * -isystem .../pctally/compat/n64. OSProf has this machine's pointers; osSetErrorHandler's arguments too. */
#ifndef PCTALLY_COMPAT_N64_ULTRA64_H
#define PCTALLY_COMPAT_N64_ULTRA64_H

#include <stddef.h>

#include "../../n64.h"
#include "../uncast.h"
#include "PR/ultratypes.h"
#include "ultraerror.h"

typedef struct pctally_n64_prof OSProf;
typedef pctally_n64_error_handler OSErrorHandler;

#define PROF_MIN_INTERVAL PCTALLY_N64_MIN_INTERVAL

#endif
