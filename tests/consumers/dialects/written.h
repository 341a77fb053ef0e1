/* The ticks of a function in the mon.out or gmon.out that a profile has left. Files have addresses as the linker gave
 * them, which differ from those of the process by whole pages: of at most one page of text this tells which is which. */
#include <stdio.h>
#include <string.h>

static unsigned long ticks_at(FILE *file, size_t from, size_t to, size_t counters, size_t text)
{
    unsigned long ticks = 0;
    unsigned short counter;
    size_t i;
    for (i = 0; i < counters && fread(&counter, sizeof counter, 1, file) == 1; i++)
        if ((from + (to - from) / counters * i) % 4096 / 256 == text % 4096 / 256) ticks += counter;
    return ticks;
}

/* Of 256 bytes from text on, which is a multiple of that. */
static unsigned long ticks_written(const char *name, void (*function)(long))
{
    FILE *file = fopen(name, "rb");
    size_t text = (size_t)function, range[2], rest;
    unsigned long ticks = 0;
    char magic[4], head[20 - 4], kind;
    int numbers[2];
    if (file == 0 || fread(magic, sizeof magic, 1, file) != 1) return 0;
    if (memcmp(magic, "gmon", 4) != 0) { /* mon.out: a header, no call counts, two bytes of text to a counter */
        rewind(file);
        if (fread(range, sizeof range, 1, file) == 1 && fread(&rest, sizeof rest, 1, file) == 1)
            ticks = ticks_at(file, range[0], range[1], (range[1] - range[0] + 1) / 2, text);
    } else if (fread(head, sizeof head, 1, file) == 1) {
        while (fread(&kind, 1, 1, file) == 1 && fread(range, sizeof range, 1, file) == 1 &&
               fread(numbers, sizeof numbers, 1, file) == 1 && fread(head, sizeof head, 1, file) == 1)
            ticks += ticks_at(file, range[0], range[1], (size_t)numbers[0], text);
    }
    fclose(file);
    printf("%s: %lu ticks\n", name, ticks);
    return ticks;
}
