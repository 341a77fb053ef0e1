#include <sys/resource.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned int a[32], b[32];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned int *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
static void *spin(void *arg) { hot(200000000L); return arg; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    struct profil_args args[2];
    int first = (char *)hot > (char *)cold ? 0 : 1; /* decreasing lowpc */
    pthread_t thread;
    args[first].buffer = a;
    args[first].lowpc = args[first].offset = (void *)hot;
    args[first].highpc = (char *)hot + 128;
    args[first].scale = 0x10000;
    args[1 - first].buffer = b;
    args[1 - first].lowpc = args[1 - first].offset = (void *)cold;
    args[1 - first].highpc = (char *)cold + 128;
    args[1 - first].scale = 0x10000;
    profil(args, 2, -1, 0);
    pthread_create(&thread, 0, spin, 0);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    pthread_join(thread, 0);
    profil(0, 0, 0, 0);
    h = sum(a, 32);
    c = sum(b, 32);
    printf("hot %lu cold %lu\n", h, c);
    return !(h > 10 && h > 3 * c);
}
