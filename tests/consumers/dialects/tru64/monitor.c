#include <mon.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned int a[32], b[32];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned int *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    struct monitor_args args[2];
    int first = (char *)hot > (char *)cold ? 0 : 1; /* decreasing lowpc */
    args[first].lowpc = (void *)hot;
    args[first].highpc = (char *)hot + 128;
    args[first].buffer = a;
    args[1 - first].lowpc = (void *)cold;
    args[1 - first].highpc = (char *)cold + 128;
    args[1 - first].buffer = b;
    args[0].bufsiz = args[1].bufsiz = sizeof a;
    monitor(-1, 0, args, 2, 0);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    monitor(0);
    h = sum(a, 32);
    c = sum(b, 32);
    printf("hot %lu cold %lu\n", h, c);
    return !(fopen("gmon.out", "r") && h > 10 && h > 3 * c);
}
