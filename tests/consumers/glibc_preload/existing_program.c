/* A program as it stands on people's disks: built with the C library's headers, and nothing of pctally.
   Prints who answered its calls (the C library's take SIGPROF), and exits 0 when each use found the hot function. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/profil.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

__attribute__((aligned(256), noinline)) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256), noinline)) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned short hot_cells[64], cold_cells[64];

static unsigned long sum(const unsigned short *cells) { unsigned long s = 0; int i; for (i = 0; i < 64; i++) s += cells[i]; return s; }

static void work(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    while (clock() < end) { hot(990000L); cold(10000L); }
}

static const char *answered_by(void)
{
    struct sigaction action;
    sigaction(SIGPROF, 0, &action);
    return action.sa_handler == SIG_DFL ? "pctally" : "libc";
}

static int use_profil(void)
{
    memset(hot_cells, 0, sizeof hot_cells);
    if (profil(hot_cells, sizeof hot_cells, (size_t)hot, 0x10000) != 0) return 0;
    printf("profil: %s\n", answered_by());
    work();
    profil(0, 0, 0, 0);
    return sum(hot_cells) > 10;
}

static int use_sprofil(void)
{
    struct prof prof[2];
    struct timeval tick;
    memset(hot_cells, 0, sizeof hot_cells);
    memset(cold_cells, 0, sizeof cold_cells);
    prof[0].pr_base = hot_cells; prof[0].pr_size = sizeof hot_cells; prof[0].pr_off = (size_t)hot; prof[0].pr_scale = 0x10000;
    prof[1].pr_base = cold_cells; prof[1].pr_size = sizeof cold_cells; prof[1].pr_off = (size_t)cold; prof[1].pr_scale = 0x10000;
    if (sprofil(prof, 2, &tick, PROF_USHORT) != 0) return 0;
    printf("sprofil: %s, a tick is %ld us\n", answered_by(), (long)tick.tv_usec);
    fflush(stdout);
    work();
    if (sprofil(0, 0, 0, PROF_USHORT) != 0) return 0;
    printf("hot %lu cold %lu\n", sum(hot_cells), sum(cold_cells));
    return sum(hot_cells) > 10 && sum(hot_cells) > sum(cold_cells);
}

int main(int argc, char **argv)
{
    int uses = argc > 1 ? argv[1][0] - '0' : 1, i, found = use_profil();
    for (i = 0; i < uses; i++) found &= use_sprofil();
    return !found;
}
