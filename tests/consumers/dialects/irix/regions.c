#include <sys/time.h>
#include <sys/profil.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned int a[64], b[64], rest;
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned int *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    struct prof prof[3];
    prof[0].pr_base = a; prof[0].pr_size = 128; prof[0].pr_off = (unsigned long)hot; prof[0].pr_scale = 0x10000;
    prof[1].pr_base = b; prof[1].pr_size = 128; prof[1].pr_off = (unsigned long)cold; prof[1].pr_scale = 0x10000;
    prof[2].pr_base = &rest; prof[2].pr_size = sizeof rest; prof[2].pr_off = 0; prof[2].pr_scale = 2;
    if (sprofil(prof, 3, 0, PROF_UINT) != 0) { perror("sprofil"); return 1; }
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    if (sprofil(prof, 0, 0, PROF_UINT) != 0) return 1;
    h = sum(a, 32);
    c = sum(b, 32);
    printf("hot %lu cold %lu\n", h, c);
    return !(h > 10 && h > 3 * c);
}
