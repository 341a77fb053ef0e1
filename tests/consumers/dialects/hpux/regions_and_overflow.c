#include <sys/time.h>
#include <sys/profil.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void warm(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void elsewhere(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static void *work(void *arg)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    while (clock() < end) {
        struct timespec some = { 0, rand() % 2000000 };   /* not in step with what else is busy */
        long n = rand() % 400000;
        hot(3 * n); warm(n); elsewhere(n);
        nanosleep(&some, 0);
    }
    return arg;
}

int main(void)
{
    static unsigned int a[64], b[64], rest;
    struct prof prof[3] = { { a, sizeof a, (void *)hot, 0x10000 }, { b, sizeof b, (void *)warm, 0x10000 },
                            { &rest, sizeof rest, 0, 2 } };
    struct timeval tick;
    pthread_t thread;
    unsigned long hot_ticks = 0, warm_ticks = 0;
    int i;

    if (sprofil(prof, 3, &tick, PROF_UINT) != 0) { perror("sprofil"); return 1; }
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    if (sprofil(0, 0, 0, PROF_UINT) != 0) return 1;
    for (i = 0; i < 64; i++) hot_ticks += a[i], warm_ticks += b[i];
    printf("%ld us: hot %lu warm %lu rest %u\n", (long)tick.tv_usec, hot_ticks, warm_ticks, rest);
    return !(hot_ticks > warm_ticks && warm_ticks > 0 && rest > 0 && tick.tv_usec == 10000);
}
