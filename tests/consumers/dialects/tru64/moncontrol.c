#include <mon.h>
#include <stdio.h>
#include <time.h>
#include "../written.h"

__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 4;
    char *base = (char *)hot < (char *)cold ? (char *)hot : (char *)cold;
    monstartup(base, base + 512);
    while (clock() < end) hot(900000L);
    moncontrol(0);
    for (end += CLOCKS_PER_SEC / 4; clock() < end;) cold(100000L);
    moncontrol(1);
    monitor(0);
    return !(ticks_written("gmon.out", hot) > 10 && ticks_written("gmon.out", hot) > 3 * ticks_written("gmon.out", cold));
}
