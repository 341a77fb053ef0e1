#include <unistd.h>
#include <sys/sysinfo.h>
#include <machine/hal_sysinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned short buf[256];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned short *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    char *base = (char *)hot < (char *)cold ? (char *)hot : (char *)cold;
    int hz = 0, start = 0;
    unsigned int hz3 = 0, hz4 = 0, hz5 = 0;
    if (getsysinfo(GSI_CLK_TCK, (char *)&hz, sizeof hz, 0, 0, 0) != 1 || hz != 1024) return 1;
    if (getsysinfo(GSI_CLK_TCK, &hz3, sizeof(hz3)) != 1 || hz3 != 1024) return 1;
    if (getsysinfo(GSI_CLK_TCK, (char *)&hz4, sizeof(int), &start) != 1 || hz4 != 1024) return 1;
    if (getsysinfo(GSI_CLK_TCK, (void *)&hz5, sizeof(int), 0, NULL) != 1 || hz5 != 1024) return 1;
    if (getsysinfo(GSI_CLK_TCK + 1, (char *)&hz, sizeof hz, NULL, NULL, NULL) != -1) return 1;
    profil(buf, sizeof buf, (void *)base, 0x10000);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    profil(0, 0, 0, 0);
    h = sum(buf + ((char *)hot - base) / 2, 60);
    c = sum(buf + ((char *)cold - base) / 2, 60);
    printf("hot %lu cold %lu\n", h, c);
    return !(h > 10 && h > 3 * c);
}
