#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/profil.h>
#include <time.h>
#include <unistd.h>

static unsigned short of_2[128];
static unsigned int of_4[64];
static uint64_t of_8[32];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static int run(void *buf, unsigned int flags)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 5;
    struct prof prof;
    prof.pr_base = buf;
    prof.pr_size = 256;
    prof.pr_offset = (void *)hot;
    prof.pr_scale = 65536;
    if (sprofil(&prof, 1, (struct timeval *)0, flags) == -1) { perror("sprofil"); return 0; }
    while (clock() < end) hot(100000L);
    return sprofil((struct prof *)0, 0, (struct timeval *)0, flags) == 0;
}

/* All entries have pr_scale 0 and are ignored. */
static int takes(struct prof *profp, long profcnt)
{
    errno = 0;
    return sprofil(profp, (int)profcnt, (struct timeval *)0, PROF_USHORT) == 0;
}

int main(void)
{
    long most = sysconf(_SC_PROFIL_MAX);
    struct prof *many = (struct prof *)calloc(most + 1, sizeof *many);
    uint64_t sum_2 = 0, sum_4 = 0, sum_8 = 0;
    int i;
    if (!run(of_2, PROF_USHORT) || !run(of_4, PROF_UINT) || !run(of_8, PROF_UINT64)) return 1;
    for (i = 0; i < 128; i++) sum_2 += of_2[i];
    for (i = 0; i < 64; i++) sum_4 += of_4[i];
    for (i = 0; i < 32; i++) sum_8 += of_8[i];
    printf("%lu %lu %lu, most %ld\n", (unsigned long)sum_2, (unsigned long)sum_4, (unsigned long)sum_8, most);
    if (!takes(many, most) || takes(many, most + 1) || errno != E2BIG) return 2;
    return !(sum_2 > 5 && sum_2 < 100 && sum_4 > 5 && sum_4 < 100 && sum_8 > 5 && sum_8 < 100);
}
