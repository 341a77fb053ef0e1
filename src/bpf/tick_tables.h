/* The memory that the BPF program counts into, as both sides see it. Plain C without includes: the BPF target
 * and C++ read the same text.
 *
 * Every CPU has two tables. The program counts into the active one; the recorder turns `active` over, waits
 * until no program can still be in the other one, reads it, zeroes it. A CPU runs one instance of the program
 * at a time (the kernel refuses to nest them), so nothing in a table is ever contended: plain stores, and one
 * tick is one store more or less whatever the number of CPUs.
 *
 * "Until": the recorder interrupts the CPU. A clock or a hardware event runs the program in an interrupt,
 * which the recorder's waits for; but older kernels run it for a page fault where it can be interrupted, so
 * then it says in `running` that it is not through.
 */
#ifndef PCTALLY_BPF_TICK_TABLES_H
#define PCTALLY_BPF_TICK_TABLES_H

enum pctally_filter {
  PCTALLY_FILTER_ALL = 0,      /* every process of the machine */
  PCTALLY_FILTER_FOLLOWED = 1, /* the processes whose bit is set, and what they fork */
  PCTALLY_FILTER_CGROUP = 2,   /* a cgroup (v2) and those below it */
};

enum {
  PCTALLY_TURN = 1,     /* bits of `active`: which table is counted into; */
  PCTALLY_SEPARATE = 2, /* every tick takes a slot of its own, so that the time of each is known */
};

enum {
  PCTALLY_TABLE_SLOTS = 2048, /* a power of two: distinct pcs per CPU and drain */
  PCTALLY_TABLE_PROBES = 16,  /* slots searched for one pc */
  PCTALLY_TABLE_FULL = 64,    /* processes, counted one by one, whose ticks found no slot */
};

/* Fixed before the program is loaded: the verifier drops the branches not taken. */
struct pctally_tick_settings {
  unsigned int filter;             /* enum pctally_filter */
  unsigned int children;           /* FOLLOWED: 1 if what followed processes fork is followed */
  unsigned int slots_mask;         /* a power of two less one: below PCTALLY_TABLE_SLOTS in tests only */
  unsigned int says_running;       /* 1: the program keeps `running`, for it may be interrupted */
  unsigned int per_ms;             /* ticks of a CPU; at least 1 */
  unsigned long long address_bits; /* of a return address; those above hold its signature */
};

/* One pc of one program image. `exec_id` tells the images of a process apart: exec changes it. */
struct pctally_slot {
  unsigned long long pc;
  unsigned long long first_ns; /* CLOCK_MONOTONIC of its first tick and of its last one: which mapping the */
  unsigned long long last_ns;  /* pc belongs to */
  unsigned int tgid;
  unsigned int exec_id;
  unsigned int ticks; /* 0: the slot is free */
  unsigned int tid;   /* the thread of its first tick */
};

/* Ticks of one process that found no slot. */
struct pctally_full {
  unsigned long long first_ns;
  unsigned int tgid;
  unsigned int ticks;
};

/* passed = sum of slots[].ticks + sum of full[].ticks + unowned + the ticks of paths and those left out. */
struct pctally_table {
  unsigned long long passed;  /* runs of the program that passed the filter */
  unsigned long long unowned; /* ticks that found neither a slot nor room in full[] */
  unsigned int used;          /* entries of order[] */
  unsigned int full_used;
  unsigned int running; /* in the first of a CPU's two tables: 1 from before `active` is read to the end */
  unsigned int seen; /* in the first of a CPU's two tables: ticks of anybody but the idle task; never zeroed,
                        goes round */
  struct pctally_full full[PCTALLY_TABLE_FULL];
  unsigned short order[PCTALLY_TABLE_SLOTS]; /* the slots in use: the reader reads no other */
  struct pctally_slot slots[PCTALLY_TABLE_SLOTS];
};

#endif
