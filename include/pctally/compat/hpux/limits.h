/* <limits.h> of HP-UX 11i: has CLK_TCK, the clock ticks in a second. It can be included again and again, as
 * the compiler's own does so on its way to the C library's. */
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include_next <limits.h>

#include "../hpux_clock.h"
