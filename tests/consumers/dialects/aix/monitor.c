#include <sys/types.h>
#include <mon.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static HISTCOUNTER buf[256];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(HISTCOUNTER *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    caddr_t base = (caddr_t)hot < (caddr_t)cold ? (caddr_t)hot : (caddr_t)cold;
    if (monitor(base, base + 512, buf, 256, 0) != 0) return 2;
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    monitor(0);
    h = sum(buf + ((char *)hot - base) / 2, 60);
    c = sum(buf + ((char *)cold - base) / 2, 60);
    printf("hot %lu cold %lu\n", h, c);
    return !(fopen("mon.out", "r") && h > 10 && h > 3 * c);
}
