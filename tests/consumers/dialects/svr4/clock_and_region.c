#include <unistd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned short buf[1];
static unsigned short buf2[128];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned short *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
static void *spin(void *arg) { hot(200000000L); return arg; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    pthread_t thread;
    profil(buf, sizeof buf, 0, 2); /* a clock that does not interrupt */
    hot(200000000L);
    if (buf[0] == 0) return 1;
    profil(buf2, sizeof buf2, (size_t)hot, 0x10000);
    pthread_create(&thread, 0, spin, 0);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    pthread_join(thread, 0);
    profil(buf2, sizeof buf2, 0, 1);
    h = sum(buf2, 64);
    c = 0;
    printf("hot %lu cold %lu\n", h, c);
    return !(h > 10 && h > 3 * c);
}
