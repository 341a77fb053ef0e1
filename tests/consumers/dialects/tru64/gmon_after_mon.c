/* <sys/gmon.h> after <mon.h>: the C library declares a monstartup of its own there. */
#include <mon.h>
#include <sys/gmon.h>
#include <stdio.h>
#include <time.h>
#include "../written.h"

__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }

int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 4;
    monstartup((char *)hot, (char *)hot + 256);
    while (clock() < end) hot(900000L);
    monitor(0);
    return !(ticks_written("gmon.out", hot) > 10);
}
