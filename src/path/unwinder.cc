#include "path/unwinder.h"

#include <string.h>

namespace pctally {
namespace {

constexpr size_t kMostOpen = 256;  ///< descriptors; beyond them return addresses are believed
constexpr size_t kMostReturns = size_t{1} << 18;

/// Words of a copied stack.
class StackReader {
 public:
  explicit StackReader(const StackSample& sample) : sample_(sample) {}

  bool operator()(uint64_t address, uint64_t* value, PathEnd* why) const {
    const uint64_t base = sample_.registers.stack, offset = address - base;
    if (address >= base && offset <= sample_.stack.size() && sample_.stack.size() - offset >= sizeof *value) {
      memcpy(value, sample_.stack.data() + offset, sizeof *value);
      return true;
    }
    *why = address >= base && sample_.cut_off ? PathEnd::kShortDump : PathEnd::kUnreadable;
    return false;
  }

 private:
  const StackSample& sample_;
};

}  // namespace

std::string identity_key(const ObjectIdentity& object) {
  std::string key(object.path);
  key.push_back('\0');
  key.append(reinterpret_cast<const char*>(object.build_id), object.build_id_bytes);
  for (uint64_t number :
       {object.device, object.inode, object.time_unix_ns, static_cast<uint64_t>(object.kind)})
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
  return key;
}

void Unwinder::add_segment(uint32_t segment, uint64_t start, const ObjectIdentity& identity) {
  if (segments_.contains(segment)) return;
  auto [entry, fresh] = by_identity_.try_emplace(identity_key(identity), objects_.size());
  if (fresh) {
    auto object = std::make_unique<Object>();
    object->path = identity.path;
    object->build_id.assign(identity.build_id, identity.build_id + identity.build_id_bytes);
    object->identity = identity;
    object->identity.path = object->path;
    object->identity.build_id = object->build_id.data();
    objects_.push_back(std::move(object));
  }
  segments_[segment] = {start, entry->second};
}

const ObjectFrames* Unwinder::frames_of(uint32_t segment) {
  auto found = segments_.find(segment);
  if (found == segments_.end()) return nullptr;
  Object& object = *objects_[found->second.object];
  if (object.frames == nullptr) object.frames = ObjectFrames::open(object.identity, opened_++ < kMostOpen);
  return object.frames.get();
}

const Unwinder::Known& Unwinder::rule_at(const CodeAddress& address) {
  const uint64_t place = PathPlace::code(address.segment, address.index);
  Known& known = known_[(place * 0x9e3779b97f4a7c15u >> 40) % known_.size()];
  if (known.place == place) return known;
  known = {place, place, {}};
  const ObjectFrames* frames = frames_of(address.segment);
  CfiFunction function;
  if (frames == nullptr) return known;
  const uint64_t start = segments_[address.segment].start;
  if (!frames->find(start + address.index, &function)) return known;
  known.rule = function.rule;
  if (function.start >= start) known.function = PathPlace::code(address.segment, function.start - start);
  return known;
}

/// `address` is that of the return address.
bool Unwinder::may_return(const CodeAddress& address) {
  const uint64_t place = PathPlace::code(address.segment, address.index);
  if (auto found = returns_.find(place); found != returns_.end()) return found->second;
  if (returns_.size() >= kMostReturns) returns_.clear();
  const ObjectFrames* frames = frames_of(address.segment);
  const bool may =
      frames == nullptr || frames->may_return_to(segments_[address.segment].start + address.index);
  return returns_[place] = may;
}

PathEnd Unwinder::unwind(CodeSpace& code, const StackSample& sample, std::vector<PathFrame>* frames) {
  if (!sample.attempted) return PathEnd::kNotAttempted;
  const StackReader read(sample);
  UnwindRegisters registers = sample.registers;
  bool exact = true, by_table = true, innermost = true;
  for (CodeAddress address;;) {
    const uint64_t pc = registers.pc;
    if (!code.find(exact ? pc : pc - 1, &address))
      return by_table ? PathEnd::kUnknownMapping : PathEnd::kNoUnwindTable;
    const Known known = rule_at(address);
    const bool is_return = !exact && known.rule.cfa != CfaKind::kSignal;
    if (is_return && !may_return({address.segment, address.index + 1})) return PathEnd::kDoubtful;
    if (frames->size() == kMostFrames) return PathEnd::kTooDeep;
    const uint64_t here = PathPlace::code(address.segment, address.index);
    frames->push_back({frames->empty() ? known.function : here, known.function});
    PathEnd why = PathEnd::kNoUnwindTable;
    by_table = known.rule.cfa != CfaKind::kNone;
    const StepResult step = by_table ? unwind_step(known.rule, innermost, &registers, read, &why)
                                     : step_by_frame_pointer(&registers, read);
    if (step == StepResult::kEnd) return PathEnd::kComplete;
    if (step == StepResult::kCut) return why;
    if (registers.pc == 0) return PathEnd::kComplete;  // how the psABI marks the outermost frame
    exact = step == StepResult::kInterrupted;
    innermost = false;
  }
}

}  // namespace pctally
