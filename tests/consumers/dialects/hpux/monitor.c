#include <mon.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HEAD (sizeof(struct hdr) / sizeof(WORD))
static WORD buf[HEAD + 256];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(WORD *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    char *base = (char *)hot < (char *)cold ? (char *)hot : (char *)cold;
    monitor((void (*)(void))base, (void (*)(void))(base + 512), buf, HEAD + 256, 0);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    monitor(0, 0, 0, 0, 0);
    h = sum(buf + HEAD + ((char *)hot - base) / 2, 60);
    c = sum(buf + HEAD + ((char *)cold - base) / 2, 60);
    printf("hot %lu cold %lu\n", h, c);
    return !(fopen(MON_OUT, "r") && h > 10 && h > 3 * c);
}
