/* <time.h> of HP-UX 11i: also declares profil(2), and has the rate of its ticks. */
#ifndef PCTALLY_COMPAT_HPUX_TIME_H
#define PCTALLY_COMPAT_HPUX_TIME_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include_next <time.h>

#include "../hpux_clock.h"
#include "../hpux_profil.h"

#endif
