#include <mon.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/profil.h>
#include <sys/time.h>
#include <time.h>

static unsigned int counts[128];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned int *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    struct text_region regions[2];
    int of_hot = (char *)hot > (char *)cold; /* ascending */
    unsigned long h, c;
    FILE *file;
    regions[of_hot].text_start = (unsigned long)hot;
    regions[of_hot].text_end = (unsigned long)hot + 256;
    regions[of_hot].name = (char *)"hot";
    regions[1 - of_hot].text_start = (unsigned long)cold;
    regions[1 - of_hot].text_end = (unsigned long)cold + 256;
    regions[1 - of_hot].name = (char *)"cold";
    smonitor(regions, 2, counts, sizeof counts, 0, PROF_UINT);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    smonitor(0, 0, 0, 0, 0, 0);
    h = sum(counts + 64 * of_hot, 64);
    c = sum(counts + 64 * (1 - of_hot), 64);
    printf("hot %lu cold %lu\n", h, c);
    file = fopen("gmon.out", "r");
    return !(file && h > 10 && h > 3 * c);
}
