#include <sys/time.h>
#include <sys/profil.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned short a[64], b[64];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned short *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
static void *spin(void *arg) { hot(200000000L); return arg; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    struct prof prof[2] = { { a, 128, (unsigned long)hot, 0x10000 }, { b, 128, (unsigned long)cold, 0x10000 } };
    struct timeval tick;
    pthread_t thread;
    if (sprofil(prof, 2, &tick, PROF_USHORT | PROF_FAST) != 0) { perror("sprofil"); return 1; }
    if (tick.tv_usec != 1000) return 1;
    pthread_create(&thread, 0, spin, 0);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    pthread_join(thread, 0);
    if (sprofil(prof, 0, 0, PROF_USHORT) != 0) return 1;
    h = sum(a, 64);
    c = sum(b, 64);
    printf("hot %lu cold %lu\n", h, c);
    return !(h > 10 && h > 3 * c);
}
