/* What the BPF program needs to follow a stack, and what it hands over, as both sides see it. Plain C without
 * includes, as tick_tables.h. x86-64 and aarch64.
 *
 * The program decides nothing. It copies the words of the stack that a walk by the unwind rules reads; the
 * recorder makes the walk, with the code that unwinds whole copies of stacks (tick/unwind/stack_walk.h). So
 * what the program knows of mappings and rules may be old or wrong: then a word that the walk asks for is not
 * there, and the path is cut. It cannot become another one.
 *
 * Where it does not know how to go on (a process or a mapping that is not loaded, code whose rules are not
 * loaded yet, more frames than there is room for) it copies the stack itself from there on.
 */
#ifndef PCTALLY_BPF_PATH_TABLES_H
#define PCTALLY_BPF_PATH_TABLES_H

enum {
  PCTALLY_RANGES = 128,          /* mappings of a process */
  PCTALLY_PROCESSES = 1024,      /* loaded at a time; a power of two */
  PCTALLY_PROCESS_PROBES = 8,    /* places looked at for one process */
  PCTALLY_RULE_BYTES = 16 << 20, /* for the tables of all objects; a power of two */
  PCTALLY_PATH_FRAMES = 512,     /* followed by rules */
  PCTALLY_PATH_WORDS = 2048,     /* of kernel calls and chunks of one path */
  PCTALLY_CHUNK_WORDS = 8,       /* copied at once */
  PCTALLY_FRAME_WORDS = 40,      /* left at least for a frame, or it is not followed */
  PCTALLY_STACK_BYTES = 32768,   /* copied where the program does not know how to go on */
  PCTALLY_KERNEL_CALLS = 127,
  PCTALLY_KNOWN_RULES = 1024,     /* that a CPU remembers; a power of two */
  PCTALLY_FULL_RATE_FRAMES = 128, /* a path of so many costs no more than a signal */
  PCTALLY_MEAN_OF = 256,
};

/* CfaKind and FrameKind of tick/unwind/unwind_rule.h, as far as the program follows them. */
enum {
  PCTALLY_CFA_NONE,
  PCTALLY_CFA_STACK,
  PCTALLY_CFA_FRAME,
  PCTALLY_CFA_PLT,
  PCTALLY_CFA_SIGNAL,
  PCTALLY_CFA_END,
  PCTALLY_CFA_UNSUPPORTED,
  PCTALLY_CFA_FRAME_SLOT,
  PCTALLY_CFA_STACK_SLOT,
  PCTALLY_CFA_BASE,
  PCTALLY_CFA_SCRATCH,
  PCTALLY_CFA_LINK,
  PCTALLY_CFA_CALLED
};
enum { PCTALLY_FRAME_SAME, PCTALLY_FRAME_SAVED, PCTALLY_FRAME_UNDEFINED, PCTALLY_FRAME_OFFSET };

enum {
  PCTALLY_TABLE_UNKNOWN = 0, /* of a range: not loaded */
  PCTALLY_TABLE_NONE = 1,    /* code without unwind rules: by its frame pointers */
};

/* [start, end) of the executable memory of a process. */
struct pctally_range {
  unsigned long long start, end;
  unsigned long long position; /* of its first byte in its object */
  unsigned int table;          /* where in the rules' memory the object's table is, or a number above */
  unsigned int unused;
};

/* A process, in an open hash by its number. `version` is odd while the recorder writes.
 *
 * Of a process whose paths are long some ticks are left out: to follow 512 frames takes 50 us and more of its
 * time. If the mean has more than m * PCTALLY_FULL_RATE_FRAMES frames, 0 to 2n ticks are left out after each
 * path, n on average, where n is m times the ticks in a millisecond. The next path carries them. Where a tick
 * falls decides nothing, so each place keeps its share. Several CPUs at once may leave out a tick more or
 * less: only `owed` has to be exact. */
struct pctally_process {
  unsigned int tgid; /* 0: free */
  unsigned int exec_id;
  unsigned int version;
  unsigned int ranges;   /* used */
  unsigned int paths;    /* followed, up to PCTALLY_MEAN_OF */
  unsigned int frames;   /* the mean of about so many, in 1/256 */
  unsigned int left_out; /* of its next ticks */
  unsigned int owed;     /* ticks left out that no path has carried yet; */
  unsigned int owed_tid; /* the thread and the pc of the last of them */
  unsigned long long owed_pc;
  struct pctally_range range[PCTALLY_RANGES]; /* ascending, disjoint */
};

/* UnwindRule of tick/unwind/unwind_rule.h. */
struct pctally_rule {
  unsigned char cfa, frame, base, unused;
  short cfa_words, add_words, frame_words, base_words;
  unsigned int unused_too;
};

/* A table of rules. Rows are sorted by position; one is the low 12 bits of its position << 16 | the number of
 * its rule. `index` lies at words, one for each page of 4 KiB and one more: the first row in that page. */
struct pctally_rules {
  unsigned long long first;        /* position of the first page */
  unsigned int pages;              /* that have rows */
  unsigned int index, rules, rows; /* where they are, in bytes of the rules' memory */
  unsigned int unused[2];
};

enum pctally_path_flags {
  PCTALLY_PATH_REGISTERS = 1, /* there are user registers */
  PCTALLY_PATH_UNKNOWN = 2,   /* the program did not know how to go on */
  PCTALLY_PATH_CUT_OFF = 4,   /* the stack is longer than what was copied */
  PCTALLY_PATH_NO_ROOM = 8,   /* the copy of the stack found no room */
  PCTALLY_PATH_EXITING = 16,  /* the thread is ending, so its memory may be gone */
};

/* A tick with its stack. A chunk is a word with an address, a multiple of 8, + the number of words less one,
 * then the words that lie there. */
struct pctally_path {
  unsigned long long time_ns; /* CLOCK_MONOTONIC */
  unsigned long long pc;
  unsigned int tgid, tid, exec_id;
  unsigned int flags;
  unsigned int kernel_calls;        /* words of data[]: addresses, innermost first, the first is pc */
  unsigned int words;               /* then words of chunks */
  unsigned int stack_bytes;         /* then bytes of the stack */
  unsigned int ticks;               /* it stands for: 1, and those that were left out before */
  unsigned long long stack_address; /* of the bytes */
  /* StackRegister of perf/record.h. kReturn is 0 where no path needs it: equal paths are known by what they
   * need (path/path_memo.h). */
  unsigned long long registers[6];
  unsigned long long data[PCTALLY_PATH_WORDS + PCTALLY_STACK_BYTES / 8];
};

#endif
