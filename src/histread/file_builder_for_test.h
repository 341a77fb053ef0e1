// Profile files put together in memory, sound ones and, through edit(), unsound ones. For tests only.
#pragma once
#include <string.h>

#include <string>
#include <string_view>
#include <vector>

#include "histfile/layout.h"
#include "tick/cell_tree.h"

namespace pctally {

class FileBuilder {
 public:
  explicit FileBuilder(uint32_t units = 4096) : units_(kHeaderBytes / kUnitBytes + units) {
    FileHeader& h = header();
    memcpy(h.magic, kMagic, sizeof h.magic);
    h.version = kLayoutVersion;
    h.header_bytes = kHeaderBytes;
    h.byte_order = 0x01020304;
    h.unit_bytes = kUnitBytes;
    h.pointer_bytes = 8;
    h.state = FileState::kClosed;
    h.pool = {1, units};
    h.period_asked_ns = h.period_ns = 1'000'000;
    h.kernel_observed = 1;
    memcpy(h.engine, "ring", 5);
  }

  FileHeader& header() { return *reinterpret_cast<FileHeader*>(units_.data()); }
  Pool pool() { return {reinterpret_cast<unsigned char*>(units_.data()) + kHeaderBytes, &header().pool}; }
  template <class T>
  T& edit(uint32_t unit) {
    return *pool_at<T>(pool(), unit);
  }

  uint32_t text(std::string_view text) {
    uint32_t unit =
        pool_take(pool(), static_cast<uint32_t>((sizeof(StringRecord) + text.size()) / kUnitBytes + 1));
    edit<StringRecord>(unit).bytes = static_cast<uint32_t>(text.size());
    memcpy(&edit<StringRecord>(unit) + 1, text.data(), text.size());
    return unit;
  }
  /// Objects, segments and processes are put at the front of their chain.
  uint32_t object(std::string_view path, std::string_view build_id = {}, ObjectKind kind = ObjectKind::kFile,
                  int32_t owner = 0) {
    uint32_t unit = pool_take(pool(), sizeof(ObjectRecord) / kUnitBytes);
    ObjectRecord& record = edit<ObjectRecord>(unit);
    record.next = header().objects;
    record.path = this->text(path);
    record.kind = kind;
    record.owner = owner;
    record.build_id_bytes = static_cast<uint32_t>(build_id.size());
    build_id.copy(reinterpret_cast<char*>(record.build_id), sizeof record.build_id);
    return header().objects = unit;
  }
  uint32_t segment(uint32_t object, uint64_t start, uint64_t bytes) {
    uint32_t unit = pool_take(pool(), 1);
    uint32_t directory = pool_take(pool(), static_cast<uint32_t>(directory_units(bytes)));
    edit<SegmentRecord>(unit) = {edit<ObjectRecord>(object).segments, directory, start, bytes, {}};
    return edit<ObjectRecord>(object).segments = unit;
  }
  /// Counts ticks as a tick would, ledger included.
  void count(uint32_t segment, uint64_t position, uint64_t ticks, uint64_t weight = 1) {
    const SegmentRecord& record = edit<SegmentRecord>(segment);
    *tree_cell(pool(), record.directory, position - record.start) += ticks;
    header().ledger.counted += ticks;
    header().ledger.samples += ticks / weight;
    header().ledger.weight_squares += ticks * weight;
  }
  uint32_t process(int32_t pid, std::string_view comm, uint64_t ticks,
                   ProcessNote note = ProcessNote::kNone) {
    uint32_t unit = pool_take(pool(), sizeof(ProcessRecord) / kUnitBytes);
    ProcessRecord& record = edit<ProcessRecord>(unit);
    record.next = header().processes;
    record.pid = pid;
    record.note = note;
    if (note == ProcessNote::kNone) record.flags = kProcessObserved;
    record.ticks = ticks;
    record.started_ns = static_cast<uint64_t>(pid);
    memcpy(record.comm, comm.data(), comm.size());
    memcpy(record.engine, "ring", 5);
    ++header().process_count;
    return header().processes = unit;
  }
  void command(std::string_view arguments) { header().command = text(arguments); }

  /// The file as it is at a clean end: cut to what the pool has used.
  std::vector<unsigned char> bytes() {
    const auto* first = reinterpret_cast<const unsigned char*>(units_.data());
    return {first, first + kHeaderBytes + kUnitBytes * header().pool.used};
  }
  /// The file as it is while it grows.
  std::vector<unsigned char> all_bytes() {
    const auto* first = reinterpret_cast<const unsigned char*>(units_.data());
    return {first, first + kUnitBytes * units_.size()};
  }

 private:
  struct alignas(kUnitBytes) Unit {
    unsigned char bytes[kUnitBytes] = {};
  };
  std::vector<Unit> units_;
};

}  // namespace pctally
