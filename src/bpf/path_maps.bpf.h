// SPDX-License-Identifier: MIT OR GPL-2.0
/* Engine "bpf", the memory of the kernel's half of call paths; part of path.bpf.h. */
struct rule_memory {
  char bytes[PCTALLY_RULE_BYTES];
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct rule_memory);
} rules SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, PCTALLY_PROCESSES);
  __type(key, __u32);
  __type(value, struct pctally_process);
} processes SEC(".maps");

/* Where each CPU puts a path together. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct pctally_path);
} drafts SEC(".maps");

/* Rules found before, by the address; they are forgotten by being overwritten. One line of memory instead of
 * some six. */
struct known_rule {
  __u64 address;
  __u32 process, version; /* the process, and which list of its ranges was valid */
  __u64 kinds, saved;     /* as in struct walk */
};

struct known_rules {
  struct known_rule rule[PCTALLY_KNOWN_RULES];
};

/* Of each CPU. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct known_rules);
} known SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 22);
} paths SEC(".maps");
