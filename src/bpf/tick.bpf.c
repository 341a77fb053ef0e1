// SPDX-License-Identifier: MIT OR GPL-2.0
/* Engine "bpf", the kernel's half: a perf event of every CPU runs count_tick(), which raises one counter.
 *
 * It has no memory but its maps, all of a size fixed before the start. It knows no files: the recorder turns
 * a pc into object and offset.
 *
 * Without call paths it takes no lock. It looks up arrays, reads the clock and stores into memory of this
 * CPU, which is safe in an NMI, where hardware events run it. There it may interrupt follow_fork(), whose
 * words it only reads.
 *
 * With call paths (PCTALLY_PATHS, path.bpf.h) it also reads the program's stack and writes into a ring. Both
 * may fail: a stack that cannot be read cuts the path, and a full ring leaves the path, or its stack, out.
 * The tick is then counted without it.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/path_tables.h"
#include "bpf/tick_tables.h"

/* The fields used, found in the running kernel's own layout when the program is loaded. */
struct task_struct {
  int pid;
  int tgid;
  __u64 self_exec_id;
#ifdef PCTALLY_PATHS
  unsigned int flags;
#endif
} __attribute__((preserve_access_index));

const volatile struct pctally_tick_settings settings = {
    PCTALLY_FILTER_ALL, 1, PCTALLY_TABLE_SLOTS - 1, 0, 1, ~0ull};

/* PCTALLY_TURN, PCTALLY_SEPARATE. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} active SEC(".maps");

/* Two tables for each CPU, 2 * cpu + active. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 2);
  __type(key, __u32);
  __type(value, struct pctally_table);
} tables SEC(".maps");

/* A bit per process id. Set or cleared at each fork, so a number used again starts out right and nothing has
 * to be done when a process ends. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} followed SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} cgroups SEC(".maps");

static __always_inline int is_followed(__u32 tgid) {
  __u32 word = tgid / 64;
  __u64* bits = bpf_map_lookup_elem(&followed, &word);
  return bits != 0 && (*bits >> (tgid % 64) & 1);
}

static __always_inline int passes(__u32 tgid) {
  if (settings.filter == PCTALLY_FILTER_FOLLOWED) return is_followed(tgid);
  if (settings.filter == PCTALLY_FILTER_CGROUP) return bpf_current_task_under_cgroup(&cgroups, 0) == 1;
  return 1;
}

static __always_inline struct pctally_table* own_table(__u64 turn) {
  __u32 index = bpf_get_smp_processor_id() * 2 + (turn & PCTALLY_TURN);
  return bpf_map_lookup_elem(&tables, &index);
}

static __always_inline __u64 current_turn(void) {
  __u32 first = 0;
  __u64* turn = bpf_map_lookup_elem(&active, &first);
  return turn == 0 ? 0 : *(volatile __u64*)turn;
}

static __always_inline void count_seen(void) {
  struct pctally_table* first = own_table(0);
  if (first != 0) ++first->seen;
}

/* Before `active` is read, and after the last store. */
static __always_inline void set_running(__u32 running) {
  if (!settings.says_running) return;
  struct pctally_table* first = own_table(0);
  barrier();
  if (first != 0) first->running = running;
  barrier();
}

/* Fibonacci hashing: the upper half of a product depends on all of the pc. */
static __always_inline __u32 first_slot(__u64 pc, __u32 tgid, __u32 exec_id) {
  return ((pc + ((__u64)tgid << 32) + exec_id) * 0x9e3779b97f4a7c15u) >> 40;
}

static __always_inline void count_full(struct pctally_table* table, __u32 tgid) {
  for (int i = 0; i < PCTALLY_TABLE_FULL; ++i) {
    struct pctally_full* full = &table->full[i];
    if (full->ticks == 0) {
      full->first_ns = bpf_ktime_get_ns();
      full->tgid = tgid;
      table->full_used = i + 1;
    }
    if (full->tgid == tgid) {
      ++full->ticks;
      return;
    }
  }
  ++table->unowned;
}

static __always_inline void take_slot(struct pctally_table* table, __u32 index, __u64 pc, __u32 tgid,
                                      __u32 tid, __u32 exec_id) {
  struct pctally_slot* slot = &table->slots[index];
  __u32 place = table->used;
  table->order[place & (PCTALLY_TABLE_SLOTS - 1)] = index;
  table->used = place + 1;
  slot->pc = pc;
  slot->first_ns = slot->last_ns = bpf_ktime_get_ns();
  slot->tgid = tgid;
  slot->tid = tid;
  slot->exec_id = exec_id;
  slot->ticks = 1;
}

static __always_inline void count_pc(struct pctally_table* table, __u64 pc, __u32 tgid, __u32 tid,
                                     __u32 exec_id, __u64 separate) {
  /* Slots that nobody is to find again are spread by their number. */
  __u32 hash = first_slot(separate ? pc + ((__u64)table->used << 13) : pc, tgid, exec_id);
  ++table->passed;
  for (__u32 i = 0; i < PCTALLY_TABLE_PROBES; ++i) {
    __u32 index = (hash + i) & settings.slots_mask & (PCTALLY_TABLE_SLOTS - 1);
    struct pctally_slot* slot = &table->slots[index];
    if (slot->ticks == 0) {
      take_slot(table, index, pc, tgid, tid, exec_id);
      return;
    }
    if (!separate && slot->pc == pc && slot->tgid == tgid && slot->exec_id == exec_id) {
      ++slot->ticks;
      slot->last_ns = bpf_ktime_get_ns();
      return;
    }
  }
  count_full(table, tgid);
}

#ifdef PCTALLY_PATHS
#include "bpf/path.bpf.h"
#else
static __always_inline int keep_path(struct bpf_perf_event_data* event, struct task_struct* task,
                                     __u32 tgid) {
  (void)event, (void)task, (void)tgid;
  return 0;
}
#endif

SEC("perf_event")
int count_tick(struct bpf_perf_event_data* event) {
  struct task_struct* task = (struct task_struct*)bpf_get_current_task_btf();
  __u32 tgid = task->tgid;
  if (tgid == 0) return 0; /* the idle task's time is nobody's */
  count_seen();
  if (!passes(tgid)) return 0;
  set_running(1);
  __u64 turn = current_turn();
  struct pctally_table* table = own_table(turn);
  /* None: a CPU the kernel said was not possible. */
  if (table != 0 && keep_path(event, task, tgid))
    ++table->passed;
  else if (table != 0)
    count_pc(table, PT_REGS_IP(&event->regs), tgid, task->pid, task->self_exec_id, turn & PCTALLY_SEPARATE);
  set_running(0);
  return 0;
}

static __always_inline void set_followed(__u32 tgid, int on) {
  __u32 word = tgid / 64;
  __u64 bit = 1ull << (tgid % 64);
  __u64* bits = bpf_map_lookup_elem(&followed, &word);
  if (bits == 0 || ((*bits & bit) != 0) == on) return;
  if (on)
    __sync_fetch_and_or(bits, bit);
  else
    __sync_fetch_and_and(bits, ~bit);
}

/* What a followed process starts is followed from before its first instruction. A new thread gets a bit, too,
 * which nobody reads: no process has the number of a living thread. */
SEC("raw_tp/sched_process_fork")
int follow_fork(struct bpf_raw_tracepoint_args* arguments) {
  struct task_struct* child = (struct task_struct*)arguments->args[1];
  int on = settings.children && is_followed(bpf_get_current_pid_tgid() >> 32);
  set_followed(BPF_CORE_READ(child, pid), on);
  return 0;
}

char license_text[] SEC("license") = "Dual MIT/GPL";
