#include <mon.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NFUNC 4
#define HEAD ((sizeof(struct hdr) + NFUNC * sizeof(struct cnt)) / sizeof(WORD))
static WORD buf[HEAD + 256];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(WORD *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    struct hdr written;
    FILE *file;
    char *base = (char *)hot < (char *)cold ? (char *)hot : (char *)cold;
    monitor((int (*)())base, (int (*)())(base + 512), buf, sizeof buf / sizeof(WORD), NFUNC);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    monitor(0);
    h = sum(buf + HEAD + ((char *)hot - base) / 2, 60);
    c = sum(buf + HEAD + ((char *)cold - base) / 2, 60);
    printf("hot %lu cold %lu\n", h, c);
    file = fopen(MON_OUT, "r");
    if (!file || fread(&written, sizeof written, 1, file) != 1 || written.nfns != NFUNC) return 2;
    return !(h > 10 && h > 3 * c);
}
