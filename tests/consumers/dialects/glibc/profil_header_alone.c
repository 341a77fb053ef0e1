/* <sys/profil.h> alone brings struct timeval, size_t and timersub, as the C library's own does. */
#include <sys/profil.h>

static unsigned int a[64];
static void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }

int main(void)
{
    struct timeval tick, twice, once;
    struct prof prof;
    size_t i;
    u_long ticks = 0;
    prof.pr_base = a; prof.pr_size = sizeof a; prof.pr_off = (size_t)hot; prof.pr_scale = 0x10000;
    if (sprofil(&prof, 1, &tick, PROF_UINT) != 0) return 1;
    hot(200000000L);
    sprofil(&prof, 0, 0, PROF_UINT);
    for (i = 0; i < 64; i++) ticks += a[i];
    timeradd(&tick, &tick, &twice);
    timersub(&twice, &tick, &once);
    return !(ticks > 0 && timercmp(&once, &tick, ==));
}
