#include <sys/types.h>
#include <unistd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char *sbuf[512 / sizeof(char *)];
static u_long s_lowpc;
static int (*control)(char *, size_t, u_long, u_int) = profil;

static void moncontrol(int mode)
{
    if (mode)
        control((char *)sbuf, sizeof(sbuf), s_lowpc, 32768);
    else
        control((char *)0, 0, 0, 0);
}
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned short *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
static void *spin(void *arg) { hot(200000000L); return arg; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    char *base = (char *)hot < (char *)cold ? (char *)hot : (char *)cold;
    pthread_t thread;
    s_lowpc = (u_long)base;
    moncontrol(1);
    pthread_create(&thread, 0, spin, 0);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    pthread_join(thread, 0);
    moncontrol(0);
    h = sum((unsigned short *)sbuf + ((char *)hot - base) / 4, 30);
    c = sum((unsigned short *)sbuf + ((char *)cold - base) / 4, 30);
    printf("hot %lu cold %lu\n", h, c);
    return !(h > 10 && h > 3 * c);
}
