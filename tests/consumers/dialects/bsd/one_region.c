#include <sys/types.h>
#include <unistd.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static u_short samples[256];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned short *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    char *base = (char *)hot < (char *)cold ? (char *)hot : (char *)cold;
    if (profil((char *)samples, sizeof(samples), (u_long)base, 65536) == -1) { perror("profil"); return 1; }
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    profil((char *)0, 0, 0, 0);
    h = sum(samples + ((char *)hot - base) / 2, 60);
    c = sum(samples + ((char *)cold - base) / 2, 60);
    printf("hot %lu cold %lu\n", h, c);
    return !(h > 10 && h > 3 * c);
}
