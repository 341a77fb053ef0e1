// SPDX-License-Identifier: MIT OR GPL-2.0
/* Engine "bpf", the kernel's half of call paths; part of tick.bpf.c where it is compiled with PCTALLY_PATHS.
 *
 * Follows a tick's stack with tables of unwind rules, for processes that the recorder has loaded. See
 * path_tables.h for what comes out. All memory is that of the maps. What can fail (a page that is not there,
 * a full ring) leaves out part of the path, never the tick.
 */
#include "bpf/path_maps.bpf.h"
#include "bpf/path_stack.bpf.h"

#if defined(__TARGET_ARCH_arm64)
#include "bpf/path_arm64.bpf.h"
#else
#include "bpf/path_x86.bpf.h"
#endif

/* 1 if v <= key, else 0, without a branch. REQUIRES: both below 2^63 */
static __always_inline __u32 not_above(__u64 v, __u64 key) {
  __u64 result = (v - key - 1) >> 63;
  asm volatile("" : "+r"(result));
  return result;
}

/* The version of the process's ranges << 32 | its number, or PCTALLY_PROCESSES. */
CHECKED_ONCE __u64 find_process(__u32 tgid, __u32 exec_id) {
  __u32 hash = tgid * 0x9e3779b1u >> 16;
  for (__u32 i = 0; i < PCTALLY_PROCESS_PROBES; ++i) {
    __u32 number = (hash + i) & (PCTALLY_PROCESSES - 1);
    struct pctally_process* process = bpf_map_lookup_elem(&processes, &number);
    if (process == 0 || process->tgid != tgid) continue;
    __u64 version = process->version;
    return process->exec_id == exec_id && !(version & 1) ? version << 32 | number : PCTALLY_PROCESSES;
  }
  return PCTALLY_PROCESSES;
}

/* The number of the range around the address, or PCTALLY_RANGES. */
CHECKED_ONCE __u32 find_range(__u64 address, __u32 number) {
  struct pctally_process* process = bpf_map_lookup_elem(&processes, &number);
  if (process == 0 || (process->version & 1)) return PCTALLY_RANGES;
  __u32 low = 0, left = process->ranges;
  if (left > PCTALLY_RANGES || left == 0 || (address >> 63)) return PCTALLY_RANGES;
  for (int i = 0; i < 8; ++i) {
    __u32 half = left >> 1;
    low += half * not_above(process->range[(low + half) & (PCTALLY_RANGES - 1)].start, address);
    left -= half;
  }
  low &= PCTALLY_RANGES - 1;
  if (address < process->range[low].start || address >= process->range[low].end) return PCTALLY_RANGES;
  return low;
}

static __always_inline __u32 word_at(char* memory, __u32 at) {
  return *(__u32*)(memory + (at & (PCTALLY_RULE_BYTES - 4)));
}

static __always_inline __u64 long_at(char* memory, __u32 at) {
  return *(__u64*)(memory + (at & (PCTALLY_RULE_BYTES - 8)));
}

/* Where the rule for a position is; 0: there is none. Behind the last page the last row goes on. */
CHECKED_ONCE __u32 find_rule(__u64 position, __u32 table) {
  __u32 first = 0;
  char* memory = bpf_map_lookup_elem(&rules, &first);
  if (memory == 0) return 0;
  __u64 start = long_at(memory, table), pages = long_at(memory, table + 8),
        places = long_at(memory, table + 16);
  if (position < start) return 0;
  __u64 distance = position - start, page = distance >> 12;
  __u32 index = pages >> 32, rule = places, rows = places >> 32, key = (distance & 0xfff) << 16 | 0xffff;
  int inside = page < (__u32)pages;
  if (!inside) page = (__u32)pages;
  __u32 low = word_at(memory, index + (__u32)page * 4);
  __u32 left = inside ? word_at(memory, index + (__u32)page * 4 + 4) - low : 0;
  for (int i = 0; i < 12; ++i) {
    __u32 half = left >> 1;
    low += half * not_above(word_at(memory, rows + (low + half) * 4), key);
    left -= half;
  }
  low += (left & 1) & not_above(word_at(memory, rows + low * 4), key);
  if (low == 0) return 0;
  return rule + (word_at(memory, rows + (low - 1) * 4) & 0xffff) * sizeof(struct pctally_rule);
}

/* The return address is in rdi. What else such a rule may say is left to the recorder. */
static __always_inline void step_to_link(struct walk* walk, __u64 cfa) {
  struct pctally_path* draft = own_draft();
  walk->state = NOT_KNOWN;
  if (draft == 0 || !walk->innermost || cfa < walk->stack || (walk->kinds & 0xffff00) != 0) return;
  draft->registers[1] = walk->pc = walk->link;
  walk->stack = cfa;
  walk->exact = 0;
  walk->state = GOING_ON;
}

/* Follows the rule. */
CHECKED_ONCE int step_by_rule(struct walk* walk) {
  if (walk == 0) return 0;
  __u64 kinds = walk->kinds, cfa = far_from(walk->stack, kinds), slot;
  __u32 kind = kinds & 0xff;
  walk->state = AT_END;
  if (kind == PCTALLY_CFA_SIGNAL) {
    leave_signal_frame(walk);
    return 0;
  }
  if (kind == PCTALLY_CFA_LINK) {
    step_to_link(walk, cfa);
    return 0;
  }
  if (kind == PCTALLY_CFA_FRAME) {
    cfa = far_from(walk->frame, kinds);
  } else if (kind == PCTALLY_CFA_PLT) {
    cfa = walk->stack + 8 + ((walk->pc & 15) >= (__u64)(short)(kinds >> 32) ? 8 : 0);
  } else if (kind == PCTALLY_CFA_FRAME_SLOT || kind == PCTALLY_CFA_STACK_SLOT) {
    slot = words_from(kind == PCTALLY_CFA_FRAME_SLOT ? walk->frame : walk->stack, kinds, 32);
    if (!copy_word(walk, slot, &cfa)) return 0;
    cfa = words_from(cfa, kinds, 48);
  } else if (kind == PCTALLY_CFA_BASE) {
    cfa = far_from(walk->base, kinds);
  } else if (kind == PCTALLY_CFA_SCRATCH && walk->innermost) {
    cfa = far_from(walk->scratch, kinds);
  } else if (kind == PCTALLY_CFA_CALLED && walk->innermost) {
    cfa = walk->stack + 8; /* the recorder asks for the call */
  } else if (kind != PCTALLY_CFA_STACK) {
    return 0;
  }
  walk->state = AT_END;
  if (cfa >= walk->stack + (walk->exact ? SMALLEST_FRAME : 8) && (cfa & 7) == 0) step_to(walk, cfa);
  return 0;
}

static __always_inline int know_range(struct walk* walk, __u64 address) {
  if (address >= walk->start && address < walk->end) return 1;
  __u32 number = walk->process, found = find_range(address, number);
  struct pctally_process* process = bpf_map_lookup_elem(&processes, &number);
  if (process == 0 || found >= PCTALLY_RANGES) return 0;
  const struct pctally_range* range = &process->range[found & (PCTALLY_RANGES - 1)];
  walk->start = range->start;
  walk->end = range->end;
  walk->position = range->position;
  walk->table = range->table;
  return 1;
}

static __always_inline void take_rule(struct walk* walk, __u64 address) {
  __u32 first = 0, at = find_rule(address - walk->start + walk->position, walk->table);
  char* memory = bpf_map_lookup_elem(&rules, &first);
  if (memory == 0 || at == 0) return;
  walk->kinds = long_at(memory, at);
  walk->saved = long_at(memory, at + 8);
}

static __always_inline struct known_rule* known_at(__u64 address) {
  __u32 cpu = bpf_get_smp_processor_id();
  struct known_rules* all = bpf_map_lookup_elem(&known, &cpu);
  return all == 0 ? 0 : &all->rule[(address * 0x9e3779b97f4a7c15u >> 48) & (PCTALLY_KNOWN_RULES - 1)];
}

/* Finds the rule for an address. 0: something is not known. */
CHECKED_ONCE int know_rule(struct walk* walk, __u64 address) {
  struct known_rule* known = known_at(address);
  if (walk == 0 || known == 0) return 0;
  if (known->address == address && known->process == walk->process && known->version == walk->version) {
    walk->kinds = known->kinds;
    walk->saved = known->saved;
    return 1;
  }
  if (!know_range(walk, address) || walk->table == PCTALLY_TABLE_UNKNOWN) return 0;
  walk->kinds = walk->saved = 0;
  if (walk->table != PCTALLY_TABLE_NONE) take_rule(walk, address);
  known->address = address;
  known->process = walk->process;
  known->version = walk->version;
  known->kinds = walk->kinds;
  known->saved = walk->saved;
  return 1;
}

static long follow_frame(__u32 number, void* context) {
  struct walk* walk = context;
  __u64 address = walk->exact ? walk->pc : walk->pc - 1;
  walk->state = NOT_KNOWN;
  if (walk->used > PCTALLY_PATH_WORDS - PCTALLY_FRAME_WORDS || !know_rule(walk, address)) return 1;
  walk->innermost = number == 0;
  if ((walk->kinds & 0xff) == PCTALLY_CFA_NONE)
    step_without_rule(walk);
  else
    step_by_rule(walk);
  if (walk->state == GOING_ON && walk->pc == 0) walk->state = AT_END;
  if (walk->state == GOING_ON && number + 1 == PCTALLY_PATH_FRAMES) walk->state = NOT_KNOWN;
  return walk->state != GOING_ON;
}

/* Copies bytes of the stack from `from` on, page by page as far as they are there, behind `used` words. */
CHECKED_ONCE __u32 copy_stack(__u32 used, __u64 from) {
  struct pctally_path* draft = own_draft();
  __u32 copied = 0;
  if (draft == 0 || used > PCTALLY_PATH_WORDS) return 0;
  for (int i = 0; i <= PCTALLY_STACK_BYTES / PAGE_BYTES; ++i) {
    __u32 bytes = PAGE_BYTES - (from & (PAGE_BYTES - 1)), at = used * 8 + copied;
    if (bytes > PCTALLY_STACK_BYTES - copied) bytes = PCTALLY_STACK_BYTES - copied;
    /* Else the compiler leaves out tests that Linux 6.1's verifier asks for. */
    asm volatile("" : "+r"(bytes), "+r"(at));
    if (bytes == 0 || bytes > PAGE_BYTES || at > sizeof draft->data - PAGE_BYTES) break;
    if (bpf_probe_read_user((char*)draft->data + at, bytes, (void*)from) != 0) break;
    copied += bytes;
    from += bytes;
  }
  return copied;
}

static __always_inline __u32 copy_kernel_calls(struct bpf_perf_event_data* event,
                                               struct pctally_path* draft) {
  if (is_of_user(event)) return 0;
  long bytes = bpf_get_stack(event, draft->data, PCTALLY_KERNEL_CALLS * 8, 0);
  return bytes <= 0 ? 0 : (__u32)bytes / 8 & 127;
}

/* The reader is woken when the ring is half full. */
static __always_inline int hand_over(struct pctally_path* draft, __u32 used, __u32 copied) {
  __u64 half = bpf_ringbuf_query(&paths, BPF_RB_RING_SIZE) / 2;
  __u64 wake = bpf_ringbuf_query(&paths, BPF_RB_AVAIL_DATA) > half ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
  __u32 bytes = __builtin_offsetof(struct pctally_path, data) + used * 8;
  if (copied > PCTALLY_STACK_BYTES) return 0;
  draft->stack_bytes = copied;
  if (bpf_ringbuf_output(&paths, draft, bytes + copied, wake) == 0) return 1;
  if (copied == 0) return 0;
  draft->stack_bytes = 0;
  draft->flags = (draft->flags & ~PCTALLY_PATH_CUT_OFF) | PCTALLY_PATH_NO_ROOM;
  return bpf_ringbuf_output(&paths, draft, bytes, BPF_RB_FORCE_WAKEUP) == 0;
}

static __always_inline struct pctally_process* process_at(__u32 number) {
  return number < PCTALLY_PROCESSES ? bpf_map_lookup_elem(&processes, &number) : 0;
}

/* True if the tick is left out: a path to come carries it. */
static __always_inline int leave_out(struct pctally_process* process, __u64 pc, __u32 tid) {
  __u32 left = process == 0 ? 0 : process->left_out;
  if (left == 0) return 0;
  process->left_out = left - 1;
  process->owed_pc = pc;
  process->owed_tid = tid;
  __sync_fetch_and_add(&process->owed, 1);
  return 1;
}

/* Decides how many ticks are left out after a path of so many frames. */
static __always_inline void note_frames(struct pctally_process* process, __u32 frames) {
  __u32 paths = process->paths < PCTALLY_MEAN_OF ? process->paths + 1 : PCTALLY_MEAN_OF;
  __u32 mean = process->frames, now = frames << 8, times;
  mean = now > mean ? mean + (now - mean) / paths : mean - (mean - now) / paths;
  times = (mean >> 8) / PCTALLY_FULL_RATE_FRAMES * settings.per_ms;
  process->paths = paths;
  process->frames = mean;
  process->left_out = times == 0 ? 0 : bpf_get_prandom_u32() % (2 * times + 1);
}

/* True if the tick is left out, or its path, or what there is of it, is in the ring. */
static __always_inline int keep_path(struct bpf_perf_event_data* event, struct task_struct* task,
                                     __u32 tgid) {
  struct pctally_path* draft = own_draft();
  __u64 found = find_process(tgid, task->self_exec_id);
  struct pctally_process* process = process_at(found);
  struct walk walk = {0};
  __u32 copied = 0, used;
  if (draft == 0) return 0;
  if (leave_out(process, PT_REGS_IP(&event->regs), task->pid)) return 1;
  draft->time_ns = bpf_ktime_get_ns();
  draft->pc = PT_REGS_IP(&event->regs);
  draft->tgid = tgid;
  draft->tid = task->pid;
  draft->exec_id = task->self_exec_id;
  draft->flags = 0;
  draft->stack_address = 0;
  walk.used = draft->kernel_calls = copy_kernel_calls(event, draft);
  if (take_registers(event, task, draft, &walk)) {
    draft->flags = PCTALLY_PATH_REGISTERS | (task->flags & EXITING ? PCTALLY_PATH_EXITING : 0);
    walk.state = NOT_KNOWN;
    walk.in_kernel = !is_of_user(event);
    walk.process = found;
    walk.version = found >> 32;
    if (process != 0) note_frames(process, bpf_loop(PCTALLY_PATH_FRAMES, follow_frame, &walk, 0));
    if (walk.state == NOT_KNOWN) {
      draft->registers[1] = walk.link;
      copied = copy_stack(walk.used, walk.stack);
      draft->stack_address = walk.stack;
      draft->flags |= PCTALLY_PATH_UNKNOWN | (copied == PCTALLY_STACK_BYTES ? PCTALLY_PATH_CUT_OFF : 0);
    }
  }
  used = walk.used;
  if (used > PCTALLY_PATH_WORDS) return 0;
  draft->words = used - draft->kernel_calls;
  draft->ticks = 1;
  if (process != 0 && process->owed != 0) draft->ticks += __sync_lock_test_and_set(&process->owed, 0);
  if (hand_over(draft, used, copied)) return 1;
  if (process != 0 && draft->ticks > 1) __sync_fetch_and_add(&process->owed, draft->ticks - 1);
  return 0;
}
