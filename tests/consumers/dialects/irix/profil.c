#include <sys/types.h>
#include <sys/time.h>
#include <sys/profil.h>
#include <unistd.h>
#include <stdio.h>
#include <time.h>

static unsigned short buf[256];
static unsigned int all;
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned short *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
static void spend(void) { clock_t end = clock() + CLOCKS_PER_SEC / 4; while (clock() < end) { hot(950000L); cold(50000L); } }
int main(void)
{
    unsigned long h, c;
    unsigned int before;
    char *base = (char *)hot < (char *)cold ? (char *)hot : (char *)cold;
    struct prof prof;
    prof.pr_base = &all; prof.pr_size = sizeof all; prof.pr_off = 0; prof.pr_scale = 2;
    if (sprofil(&prof, 1, 0, PROF_UINT) != 0) { perror("sprofil"); return 1; }
    spend();
    if (profil(buf, sizeof buf, (size_t)base, 0x10000) != 0) { perror("profil"); return 1; }
    before = all;
    spend();
    profil(buf, 0, 0, 0);
    h = sum(buf + ((char *)hot - base) / 2, 60);
    c = sum(buf + ((char *)cold - base) / 2, 60);
    spend();
    printf("all %u hot %lu cold %lu\n", all, h, c);
    return !(before > 10 && all == before && h > 10 && h > 3 * c);
}
