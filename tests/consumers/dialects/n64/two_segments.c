/* Two disjoint text spaces, an error handler, stop and resume. */
#include <ultra64.h>
#include <ultraerror.h>
#include <stdarg.h>
#include <stdio.h>

#define WORDS 512

static u16 physicsBins[WORDS], soundBins[WORDS];
static OSProf profile[2];
static s32 errors[16], errorCount;
static volatile u32 work;

__attribute__((noinline, aligned(2048))) void physics(void)
{
    u32 i;
    for (i = 0; i < 3000000; i++)
        work = work + i;
}

__attribute__((noinline, aligned(2048))) void sound(void)
{
    u32 i;
    for (i = 0; i < 1000000; i++)
        work = work ^ i;
}

static void onError(s16 code, s16 numArgs, ...)
{
    (void)numArgs;
    if (errorCount < 16)
        errors[errorCount++] = code;
}

static void addSegment(OSProf *p, u16 *bins, void (*start)(void))
{
    p->histo_base = bins;
    p->histo_size = WORDS;
    p->text_start = (u32 *)(size_t)start;
    p->text_end = p->text_start + WORDS;
}

static u32 samples(u16 *bins)
{
    u32 i, total = 0;
    for (i = 0; i < WORDS; i++)
        total += bins[i];
    return total;
}

int main(void)
{
    u32 i;
    osSetErrorHandler(onError);
    addSegment(&profile[0], physicsBins, physics);
    addSegment(&profile[1], soundBins, sound);
    osProfileInit(profile, sizeof(profile) / sizeof(OSProf));
    osProfileStart(PROF_MIN_INTERVAL);
    for (i = 0; i < 40; i++)
        physics();
    osProfileStop();
    osProfileStart(10000);
    for (i = 0; i < 60 || (samples(soundBins) == 0 && i < 300); i++) {
        physics();
        sound();
    }
    osProfileStop();
    osProfileStop();
    printf("physics %u, sound %u\n", (unsigned)samples(physicsBins), (unsigned)samples(soundBins));
    if (errorCount != 1 || errors[0] != ERR_OSPROFILESTOP_FLAG)
        return 2;
    return samples(physicsBins) > samples(soundBins) && samples(soundBins) > 0 ? 0 : 1;
}
