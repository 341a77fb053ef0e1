// SPDX-License-Identifier: MIT OR GPL-2.0
/* Engine "bpf": the state of a walk, and the copies of the words that it reads; part of path.bpf.h. */
/* KERNEL_THREAD, EXITING: of task_struct's flags. */
enum { EXITING = 4, KERNEL_THREAD = 0x00200000, PAGE_BYTES = 4096 };

/* Why the walk ends. */
enum { GOING_ON, AT_END, NOT_KNOWN, NOT_READ };

struct walk {
  __u64 pc, stack, frame, base, scratch, link;
  __u64 start, end, position; /* of the range found last */
  __u32 table;
  __u32 exact; /* pc is no return address */
  __u32 process;
  __u32 version;   /* of the process's ranges */
  __u32 in_kernel; /* the tick fell there */
  __u32 used;      /* words of the draft */
  __u32 state;
  __u32 innermost; /* scratch and link are the frame's */
  __u64 kinds;     /* of the rule: the kinds, the words of the CFA, the words to add or upper half; */
  __u64 saved;     /* the words of the frame pointer, and of rbx or x30 */
};

/* Functions that are not inlined are checked by the verifier once, not once for each way that leads there. */
#define CHECKED_ONCE __attribute__((noinline))

static __always_inline struct pctally_path* own_draft(void) {
  __u32 cpu = bpf_get_smp_processor_id();
  return bpf_map_lookup_elem(&drafts, &cpu);
}

/* Copies `count` words (1 to 8) of user memory into the draft, behind `used` words. Returns what is used
 * then; 0: they cannot be read. */
CHECKED_ONCE __u32 put_chunk(__u64 address, __u32 count, __u32 used) {
  struct pctally_path* draft = own_draft();
  if (draft == 0 || (address & 7) || used > PCTALLY_PATH_WORDS - PCTALLY_CHUNK_WORDS - 1) return 0;
  count = ((count - 1) & 7) + 1;
  draft->data[used] = address | (count - 1);
  if (bpf_probe_read_user(&draft->data[used + 1], count * 8, (void*)address) != 0) return 0;
  return used + 1 + count;
}

CHECKED_ONCE __u64 draft_word(__u32 at) {
  struct pctally_path* draft = own_draft();
  return draft != 0 && at < PCTALLY_PATH_WORDS ? draft->data[at] : 0;
}

static __always_inline int copy_chunk(struct walk* walk, __u64 address, __u32 count) {
  __u32 used = put_chunk(address, count, walk->used);
  walk->state = used != 0 ? GOING_ON : NOT_READ;
  if (used == 0) return 0;
  walk->used = used;
  return 1;
}

/* A word of those copied last, counted from their end. */
static __always_inline __u64 last_word(struct walk* walk, __u32 from_end) {
  return draft_word(walk->used - from_end);
}

static __always_inline int copy_word(struct walk* walk, __u64 address, __u64* value) {
  if (!copy_chunk(walk, address, 1)) return 0;
  *value = last_word(walk, 1);
  return 1;
}

static __always_inline __u64 words_from(__u64 base, __u64 packed, int shift) {
  return base + 8 * (__s64)(short)(packed >> shift);
}

/* UnwindRule::far_words() of tick/unwind/unwind_rule.h. */
static __always_inline __u64 far_from(__u64 base, __u64 kinds) {
  return base + 8 * (__s64)(int)(kinds >> 32);
}

/* Where the caller's value of a register is. */
struct slot {
  __u64 address;
  __u32 kind;
};

static __always_inline struct slot slot_of(struct walk* walk, __u64 cfa, __u32 kind, int shift) {
  struct slot slot = {words_from(kind == PCTALLY_FRAME_OFFSET ? walk->frame : cfa, walk->saved, shift), kind};
  if (kind == PCTALLY_FRAME_SAVED || kind == PCTALLY_FRAME_OFFSET) {
    if (slot.address < walk->stack) slot.kind = PCTALLY_FRAME_SAME; /* popped */
  } else if (kind != PCTALLY_FRAME_SAME) {
    slot.kind = PCTALLY_FRAME_UNDEFINED;
  }
  return slot;
}

/* Words below the CFA down to the slot, if that are so few that they are copied at once. */
static __always_inline __u32 words_down_to(struct slot slot, __u64 cfa) {
  __u64 words = (cfa - slot.address) >> 3;
  return (slot.kind == PCTALLY_FRAME_SAVED || slot.kind == PCTALLY_FRAME_OFFSET) &&
                 words <= PCTALLY_CHUNK_WORDS
             ? words
             : 0;
}

/* `words`: words_down_to(), if the slot was copied with the return address. */
static __always_inline int restore(struct walk* walk, struct slot slot, __u32 words, __u32 used,
                                   __u64* value) {
  if (slot.kind == PCTALLY_FRAME_SAME) return 1;
  if (slot.kind == PCTALLY_FRAME_UNDEFINED) *value = 0;
  if (slot.kind == PCTALLY_FRAME_UNDEFINED) return 1;
  if (words == 0) return copy_word(walk, slot.address, value);
  *value = draft_word(used - words);
  return 1;
}
