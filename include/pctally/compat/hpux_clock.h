/* The clock ticks of HP-UX 11i in a second, by the name on sprofil(2)'s page and by that on profil(2)'s: for
 * <time.h>, <limits.h> and <sys/profil.h>. A tick is 10 ms, which sprofil() tells by its third argument. Each
 * of them includes it again, because in some modes the C library's <time.h> has the number as a call. */
#pragma GCC system_header /* no warnings in the caller's name */

#undef CLK_TCK
#define CLK_TCK 100
#undef CLK_TICK
#define CLK_TICK CLK_TCK
