/* A gmon.c that a program brings itself, in the style of the system's own: it defines monstartup, moncontrol and
 * _mcleanup over profil. */
#include <sys/types.h>
#include <sys/gmon.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct gmonparam _gmonparam = { GMON_PROF_OFF };
static int s_scale;
#define SCALE_1_TO_1 0x10000L

void moncontrol __P((int));
static int cleaned;

void
monstartup(lowpc, highpc)
    u_long lowpc;
    u_long highpc;
{
    struct gmonparam *p = &_gmonparam;
    p->lowpc = ROUNDDOWN(lowpc, HISTFRACTION * sizeof(HISTCOUNTER));
    p->highpc = ROUNDUP(highpc, HISTFRACTION * sizeof(HISTCOUNTER));
    p->textsize = p->highpc - p->lowpc;
    p->kcountsize = p->textsize / HISTFRACTION;
    p->kcount = (u_short *)calloc(1, p->kcountsize);
    if (p->kcount == NULL) return;
    s_scale = (int)((float)p->kcountsize / p->textsize * SCALE_1_TO_1);
    moncontrol(1);
}

void
moncontrol(mode)
    int mode;
{
    struct gmonparam *p = &_gmonparam;
    if (mode) {
        profil((char *)p->kcount, (int)p->kcountsize, (u_long)p->lowpc, s_scale);
        p->state = GMON_PROF_ON;
    } else {
        profil((char *)0, 0, 0, 0);
        p->state = GMON_PROF_OFF;
    }
}

void
_mcleanup()
{
    moncontrol(0);
    cleaned = 1;
}

__attribute__((aligned(256))) void hot(n) long n; { volatile long i; for (i = 0; i < n; i++) ; }

int
main()
{
    clock_t end = clock() + CLOCKS_PER_SEC / 4;
    u_long i, ticks = 0;
    monstartup((u_long)hot, (u_long)hot + 256);
    while (clock() < end) hot(900000L);
    _mcleanup();
    for (i = 0; i < _gmonparam.kcountsize / sizeof(HISTCOUNTER); i++)
        ticks += _gmonparam.kcount[i];
    printf("hot %lu\n", ticks);
    return !(ticks > 10 && cleaned && _gmonparam.state == GMON_PROF_OFF);
}
