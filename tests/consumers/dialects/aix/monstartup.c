#include <sys/types.h>
#include <mon.h>
#include <stdio.h>
#include <time.h>
#include "../written.h"

__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

int main(void)
{
    extern struct monglobal _mondata;
    clock_t end = clock() + CLOCKS_PER_SEC / 4;
    caddr_t base = (caddr_t)hot < (caddr_t)cold ? (caddr_t)hot : (caddr_t)cold;
    _mondata.prof_type = _PROF_TYPE_IS_PG;
    if (monstartup(base, base + 512) != 0) return 2;
    while (clock() < end) hot(900000L);
    if (moncontrol(0) != 1) return 3;
    for (end += CLOCKS_PER_SEC / 4; clock() < end;) cold(100000L);
    if (moncontrol(1) != 0 || moncontrol(1) != 1) return 4;
    if (monitor((caddr_t)0) != 0) return 5;
    return !(ticks_written("gmon.out", hot) > 10 && ticks_written("gmon.out", hot) > 3 * ticks_written("gmon.out", cold));
}
