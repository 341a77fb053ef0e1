#include "bpf/unwind_tables.h"

#include <string.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace pctally {
namespace {

constexpr uint64_t kPage = 4096;  ///< of a table's index (path_tables.h): its size is part of the format
constexpr size_t kAlignment = 64;
constexpr size_t kMostRules = size_t{1} << 16;  ///< a row has 16 bits for its rule

/// A number of the BPF program's is that of a kind here.
template <class Kind>
consteval bool is(int number, Kind kind) {
  return number == static_cast<int>(kind);
}
static_assert(is(PCTALLY_CFA_NONE, CfaKind::kNone) && is(PCTALLY_CFA_STACK, CfaKind::kStack) &&
              is(PCTALLY_CFA_FRAME, CfaKind::kFrame) && is(PCTALLY_CFA_PLT, CfaKind::kPlt) &&
              is(PCTALLY_CFA_SIGNAL, CfaKind::kSignal) && is(PCTALLY_CFA_END, CfaKind::kEnd) &&
              is(PCTALLY_CFA_UNSUPPORTED, CfaKind::kUnsupported) &&
              is(PCTALLY_CFA_FRAME_SLOT, CfaKind::kFrameSlot) &&
              is(PCTALLY_CFA_STACK_SLOT, CfaKind::kStackSlot) && is(PCTALLY_CFA_BASE, CfaKind::kBase) &&
              is(PCTALLY_CFA_SCRATCH, CfaKind::kScratch) && is(PCTALLY_CFA_LINK, CfaKind::kLink) &&
              is(PCTALLY_CFA_CALLED, CfaKind::kCalled));
static_assert(is(PCTALLY_FRAME_SAME, FrameKind::kSame) && is(PCTALLY_FRAME_SAVED, FrameKind::kSaved) &&
              is(PCTALLY_FRAME_UNDEFINED, FrameKind::kUndefined) &&
              is(PCTALLY_FRAME_OFFSET, FrameKind::kFrameOffset));

static_assert(PCTALLY_FULL_RATE_FRAMES == kFramesAtFullRate, "all engines have one border");

pctally_rule to_kernel(const UnwindRule& rule) {
  return {.cfa = static_cast<unsigned char>(rule.cfa),
          .frame = static_cast<unsigned char>(rule.frame),
          .base = static_cast<unsigned char>(rule.base),
          .unused = 0,
          .cfa_words = rule.cfa_words,
          .add_words = rule.add_words,
          .frame_words = rule.frame_words,
          .base_words = rule.base_words,
          .unused_too = 0};
}

/// The parts of a table.
struct Flat {
  std::vector<pctally_rule> rules;
  std::vector<uint32_t> index, rows;
  uint64_t first = 0;
};

/// False if it has more rules than rows can name.
bool flatten(std::span<const UnwindRow> from, Flat* flat) {
  std::unordered_map<std::string_view, uint32_t> numbers;
  flat->rules.reserve(kMostRules);  // the keys lie in it
  flat->first = from.front().position & ~(kPage - 1);
  for (const UnwindRow& row : from) {
    const uint64_t distance = row.position - flat->first;
    flat->rules.push_back(to_kernel(row.rule));
    const std::string_view key(reinterpret_cast<const char*>(&flat->rules.back()), sizeof(pctally_rule));
    const auto [entry, fresh] = numbers.try_emplace(key, static_cast<uint32_t>(numbers.size()));
    if (!fresh) flat->rules.pop_back();
    if (fresh && flat->rules.size() == kMostRules) return false;
    while (flat->index.size() <= distance / kPage)
      flat->index.push_back(static_cast<uint32_t>(flat->rows.size()));
    flat->rows.push_back(static_cast<uint32_t>(distance % kPage) << 16 | entry->second);
  }
  flat->index.push_back(static_cast<uint32_t>(flat->rows.size()));
  return true;
}

template <class T>
uint32_t put(const std::vector<T>& values, unsigned char* memory, size_t* at) {
  const auto place = static_cast<uint32_t>(*at);
  memcpy(memory + place, values.data(), values.size() * sizeof(T));
  *at += (values.size() * sizeof(T) + 7) & ~size_t{7};
  return place;
}

}  // namespace

uint32_t RuleTables::add(std::span<const UnwindRow> rows) {
  const auto has_rule = [](const UnwindRow& row) { return row.rule.cfa != CfaKind::kNone; };
  const auto first = std::find_if(rows.begin(), rows.end(), has_rule);
  if (first == rows.end()) return PCTALLY_TABLE_NONE;
  if (rows.back().position - first->position > UINT32_MAX) return PCTALLY_TABLE_UNKNOWN;
  Flat flat;
  if (!flatten(rows.subspan(static_cast<size_t>(first - rows.begin())), &flat)) return PCTALLY_TABLE_UNKNOWN;
  const size_t bytes = sizeof(pctally_rules) + flat.rules.size() * sizeof(pctally_rule) +
                       (flat.index.size() + flat.rows.size()) * sizeof(uint32_t) + 3 * sizeof(uint64_t);
  if (bytes > PCTALLY_RULE_BYTES - kAlignment - used_) return PCTALLY_TABLE_UNKNOWN;
  const auto place = static_cast<uint32_t>(used_);
  used_ += sizeof(pctally_rules);
  pctally_rules head{};
  head.first = flat.first;
  head.pages = static_cast<uint32_t>(flat.index.size() - 1);
  head.index = put(flat.index, memory_, &used_);
  head.rules = put(flat.rules, memory_, &used_);
  head.rows = put(flat.rows, memory_, &used_);
  memcpy(memory_ + place, &head, sizeof head);
  used_ = (used_ + kAlignment - 1) & ~(kAlignment - 1);
  return place;
}

/// As find_process() of path.bpf.h.
pctally_process* ProcessTables::find(pid_t pid, bool or_free) const noexcept {
  const uint32_t tgid = static_cast<uint32_t>(pid), hash = tgid * 0x9e3779b1u >> 16;
  pctally_process* free = nullptr;
  for (uint32_t i = 0; i < PCTALLY_PROCESS_PROBES; ++i) {
    pctally_process* process = memory_ + ((hash + i) & (PCTALLY_PROCESSES - 1));
    if (process->tgid == tgid) return process;
    if (process->tgid == 0 && free == nullptr) free = process;
  }
  return or_free ? free : nullptr;
}

/// The entry becomes another program's, or nobody's.
void ProcessTables::begin_anew(pctally_process* process) {
  const uint32_t owed = __atomic_exchange_n(&process->owed, 0, __ATOMIC_RELAXED);
  if (owed != 0)
    left_out_.push_back(
        {static_cast<pid_t>(process->tgid), static_cast<pid_t>(process->owed_tid), process->owed_pc, owed});
  process->paths = process->frames = process->left_out = 0;
}

bool ProcessTables::set(pid_t pid, uint32_t exec_id, std::span<const pctally_range> ranges) {
  pctally_process* process = pid <= 0 ? nullptr : find(pid, true);
  if (process == nullptr) return false;
  const auto count = static_cast<uint32_t>(std::min<size_t>(ranges.size(), PCTALLY_RANGES));
  const bool same_program = process->tgid == static_cast<uint32_t>(pid) && process->exec_id == exec_id;
  const bool same = same_program && process->ranges == count &&
                    memcmp(process->range, ranges.data(), count * sizeof(pctally_range)) == 0;
  if (same) return false;
  __atomic_fetch_add(&process->version, 1, __ATOMIC_SEQ_CST);
  if (!same_program) begin_anew(process);
  process->exec_id = exec_id;
  process->ranges = count;
  memcpy(process->range, ranges.data(), count * sizeof(pctally_range));
  __atomic_store_n(&process->tgid, static_cast<uint32_t>(pid), __ATOMIC_RELEASE);
  __atomic_fetch_add(&process->version, 1, __ATOMIC_SEQ_CST);
  return true;
}

void ProcessTables::forget(pid_t pid) {
  pctally_process* process = pid <= 0 ? nullptr : find(pid, false);
  if (process == nullptr) return;
  begin_anew(process);
  __atomic_store_n(&process->tgid, 0, __ATOMIC_RELEASE);
}

std::optional<uint32_t> ProcessTables::known(pid_t pid) const noexcept {
  const pctally_process* process = pid <= 0 ? nullptr : find(pid, false);
  if (process == nullptr) return std::nullopt;
  return process->exec_id;
}

}  // namespace pctally
