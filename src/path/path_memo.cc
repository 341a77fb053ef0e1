#include "path/path_memo.h"

namespace pctally {

/// The code's version, the program counter, the return address that is in a register (0: none is needed; on
/// aarch64 it is always there), on aarch64 whether x0 is 0 (clone_return.h), and of each chunk its length and
/// its last word: a return address is the last of the words that are copied with it.
bool PathMemo::make_key(uint64_t version, const StackSample& stack, bool behind) {
  constexpr uint64_t kCount = 7, kCountShift = 56;
  key_.clear();
  if (version == 0 || !stack.attempted || stack.chunks.empty() || !stack.stack.empty()) return false;
  key_.push_back(version << 1 | (behind ? 1 : 0));
  key_.push_back(stack.registers.pc);
  key_.push_back(kReturnsInRegister ? stack.registers.base ^ (stack.registers.scratch == 0 ? 1 : 0)
                                    : stack.registers.link);
  uint64_t hash = key_[0] * 0x9e3779b97f4a7c15u + key_[1] + (key_[2] << 1);
  for (size_t at = 0; at < stack.chunks.size();) {
    const uint64_t count = (stack.chunks[at] & kCount) + 1;
    if (count >= stack.chunks.size() - at) break;
    at += count;
    key_.push_back(stack.chunks[at++] ^ count << kCountShift);
    hash = (hash ^ key_.back()) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  place_ = hash % kEntries;
  return true;
}

const std::vector<PathFrame>* PathMemo::find(uint64_t version, const StackSample& stack, bool behind) {
  if (!make_key(version, stack, behind)) return nullptr;
  if (entries_.empty()) entries_.resize(kEntries);
  const Entry* entry = entries_[place_].get();
  return entry != nullptr && entry->key == key_ ? &entry->frames : nullptr;
}

void PathMemo::put(std::span<const PathFrame> frames) {
  if (key_.empty()) return;
  std::unique_ptr<Entry>& entry = entries_[place_];
  if (entry == nullptr) entry = std::make_unique<Entry>();
  entry->key = key_;
  entry->frames.assign(frames.begin(), frames.end());
}

}  // namespace pctally
