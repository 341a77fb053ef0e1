#include "perf/record.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

namespace pctally {
namespace {

/// Takes fields one after another; past the end everything is zero and `short_` says so.
class FieldReader {
 public:
  FieldReader(const unsigned char* at, size_t bytes) noexcept : at_(at), left_(bytes) {}

  template <class T>
  T take() noexcept {
    T value{};
    if (left_ < sizeof value) {
      short_ = true;
      return value;
    }
    memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    left_ -= sizeof value;
    return value;
  }
  std::string_view take_text(size_t behind) noexcept {
    if (left_ < behind) return short_ = true, std::string_view{};
    const char* text = reinterpret_cast<const char*>(at_);
    return {text, strnlen(text, left_ - behind)};
  }
  std::span<const unsigned char> take_bytes(uint64_t bytes) noexcept {
    if (left_ < bytes) return short_ = true, std::span<const unsigned char>{};
    std::span<const unsigned char> taken(at_, bytes);
    at_ += bytes;
    left_ -= bytes;
    return taken;
  }
  void run_short() noexcept { short_ = true; }
  [[nodiscard]] bool ran_short() const noexcept { return short_; }
  [[nodiscard]] size_t left() const noexcept { return left_; }

 private:
  const unsigned char* at_;
  size_t left_;
  bool short_ = false;
};

constexpr size_t kTrailerBytes = 16;  ///< u32 pid, tid; u64 time: what sample_id_all puts behind every record

void parse_sample(FieldReader& fields, uint16_t misc, PerfRecord* record) noexcept {
  record->kind = PerfRecord::Kind::kSample;
  const int mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
  record->kernel = mode == PERF_RECORD_MISC_KERNEL;
  record->guest = mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
  record->pc = fields.take<uint64_t>();
  record->pid = fields.take<int32_t>();
  record->tid = fields.take<int32_t>();
  record->time = fields.take<uint64_t>();
  if (record->tid < 0) record->tid = record->pid;  // it ends, and has no number any more
}

/// The kernel's part alone: a word that says so, where the tick fell, and the return addresses.
void parse_kernel_calls(FieldReader& fields, PerfRecord* record) noexcept {
  constexpr uint64_t kWord = sizeof(uint64_t), kHead = 2;
  const auto words = fields.take<uint64_t>();
  if (words > fields.left() / kWord) return fields.run_short();
  const std::span<const unsigned char> chain = fields.take_bytes(words * kWord);
  if (words > kHead) record->kernel_calls = chain.subspan(kHead * kWord);
}

/// Threads of the kernel, and those that have given their memory back, have neither; the registers of another
/// word size mean others.
void parse_stack(FieldReader& fields, PerfRecord* record) noexcept {
  const auto abi = fields.take<uint64_t>();
  if (abi != PERF_SAMPLE_REGS_ABI_NONE)
    for (const NumberedRegister& next : kNumberedRegisters)
      record->registers[next.is] = fields.take<uint64_t>();
  record->has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
  record->without_user_mode = abi == PERF_SAMPLE_REGS_ABI_NONE;
  const auto asked = fields.take<uint64_t>();
  if (asked == 0) return;
  record->stack = fields.take_bytes(asked);
  const auto copied = fields.take<uint64_t>();
  record->stack = record->stack.first(std::min<uint64_t>(copied, record->stack.size()));
  record->stack_cut_off = copied >= asked;
}

void parse_mmap2(FieldReader& fields, uint16_t misc, PerfRecord* record) noexcept {
  record->kind = PerfRecord::Kind::kMmap;
  record->pid = fields.take<int32_t>();
  record->tid = fields.take<int32_t>();
  record->start = fields.take<uint64_t>();
  record->bytes = fields.take<uint64_t>();
  record->offset = fields.take<uint64_t>();
  if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
    uint8_t size = fields.take<uint8_t>();
    fields.take<uint8_t>();
    fields.take<uint16_t>();
    for (uint8_t& byte : record->build_id) byte = fields.take<uint8_t>();
    record->build_id_bytes = size <= sizeof record->build_id ? size : 0;
  } else {
    uint64_t major = fields.take<uint32_t>(), minor = fields.take<uint32_t>();
    record->device = major << 32 | minor;
    record->inode = fields.take<uint64_t>();
    fields.take<uint64_t>();  // inode generation
  }
  record->executable = (fields.take<uint32_t>() & PROT_EXEC) != 0;
  fields.take<uint32_t>();  // flags
  record->text = fields.take_text(kTrailerBytes);
}

void parse_comm(FieldReader& fields, uint16_t misc, PerfRecord* record) noexcept {
  record->kind = PerfRecord::Kind::kComm;
  record->exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  record->pid = fields.take<int32_t>();
  record->tid = fields.take<int32_t>();
  record->text = fields.take_text(kTrailerBytes);
}

void parse_task(FieldReader& fields, PerfRecord::Kind kind, PerfRecord* record) noexcept {
  record->kind = kind;
  record->pid = fields.take<int32_t>();
  record->parent = fields.take<int32_t>();
  record->tid = fields.take<int32_t>();
  record->parent_thread = fields.take<int32_t>();
}

void parse_lost(FieldReader& fields, PerfRecord* record) noexcept {
  record->kind = PerfRecord::Kind::kLost;
  fields.take<uint64_t>();  // id
  record->lost = fields.take<uint64_t>();
}

void parse_throttle(FieldReader& fields, PerfRecord::Kind kind, PerfRecord* record) noexcept {
  record->kind = kind;
  fields.take<uint64_t>();  // time, by another clock in older kernels
  fields.take<uint64_t>();  // id, one for all that were inherited
  record->stream = fields.take<uint64_t>();
}

}  // namespace

PerfRecord parse_perf_record(const unsigned char* bytes, size_t length, bool stack) noexcept {
  PerfRecord record;
  FieldReader fields(bytes, length);
  auto header = fields.take<perf_event_header>();
  switch (header.type) {
    case PERF_RECORD_SAMPLE:
      parse_sample(fields, header.misc, &record);
      if (stack) parse_kernel_calls(fields, &record);
      if (stack) parse_stack(fields, &record);
      return fields.ran_short() ? PerfRecord{} : record;
    case PERF_RECORD_MMAP2:
      parse_mmap2(fields, header.misc, &record);
      break;
    case PERF_RECORD_COMM:
      parse_comm(fields, header.misc, &record);
      break;
    case PERF_RECORD_FORK:
      parse_task(fields, PerfRecord::Kind::kFork, &record);
      break;
    case PERF_RECORD_EXIT:
      parse_task(fields, PerfRecord::Kind::kExit, &record);
      break;
    case PERF_RECORD_LOST:
      parse_lost(fields, &record);
      break;
    case PERF_RECORD_THROTTLE:
      parse_throttle(fields, PerfRecord::Kind::kThrottle, &record);
      break;
    case PERF_RECORD_UNTHROTTLE:
      parse_throttle(fields, PerfRecord::Kind::kUnthrottle, &record);
      break;
    default:
      break;
  }
  if (fields.ran_short() || length < sizeof header + kTrailerBytes) return PerfRecord{};
  FieldReader trailer(bytes + length - 8, 8);
  record.time = trailer.take<uint64_t>();
  return record;
}

}  // namespace pctally
