/* ultra64.h for sources written for the Nintendo 64: its types, and the calls that pctally has. Find it with
 * -isystem .../pctally/compat/n64. OSProf has this machine's pointers; osSetErrorHandler's arguments too. */
#ifndef PCTALLY_COMPAT_N64_ULTRA64_H
#define PCTALLY_COMPAT_N64_ULTRA64_H

#include <stddef.h>

#include "../../n64.h"
#include "../uncast.h"
#include "ultraerror.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef volatile uint8_t vu8;
typedef volatile uint16_t vu16;
typedef volatile uint32_t vu32;
typedef volatile uint64_t vu64;
typedef volatile int8_t vs8;
typedef volatile int16_t vs16;
typedef volatile int32_t vs32;
typedef volatile int64_t vs64;
typedef float f32;
typedef double f64;

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

typedef struct pctally_n64_prof OSProf;
typedef pctally_n64_error_handler OSErrorHandler;

#define PROF_MIN_INTERVAL PCTALLY_N64_MIN_INTERVAL

#endif
