// Unwinds the stacks in a file of `perf record --call-graph dwarf` with the recorder's unwinder:
// unwind_perf_data perf.data. A line for each sample: thread, time in ns, how the path ends (PathEnd), and
// the frames, innermost first: where it was interrupted, then the last byte of each call, as an offset in a
// file, in hexadecimal, and the file's name in parentheses.
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/kernel/device_number.h"
#include "path/unwinder.h"
#include "perf/record.h"
#include "process/proc_maps.h"

namespace {

using namespace pctally;

/// Executable memory of one process.
struct Mapping {
  uint64_t start = 0, end = 0;
  uint64_t position = 0;  ///< of its first byte in its object
  uint32_t object = 0;
};

/// The code of one process. It keeps the places that it is asked for: a walk asks once for each frame.
class Process : public CodeSpace {
 public:
  void map(const Mapping& fresh) {
    std::vector<Mapping> kept;
    for (const Mapping& old : mappings_) {
      if (old.start < fresh.start)
        kept.push_back({old.start, std::min(old.end, fresh.start), old.position, old.object});
      const uint64_t from = std::max(old.start, fresh.end);
      if (from < old.end) kept.push_back({from, old.end, old.position + (from - old.start), old.object});
    }
    kept.push_back(fresh);
    mappings_ = std::move(kept);
  }
  void clear() { mappings_.clear(); }

  bool find(uint64_t address, CodeAddress* found) override {
    for (const Mapping& mapping : mappings_)
      if (address >= mapping.start && address < mapping.end) {
        *found = {mapping.object, address - mapping.start + mapping.position};
        asked.push_back(*found);
        return true;
      }
    return false;
  }

  std::vector<CodeAddress> asked;

 private:
  std::vector<Mapping> mappings_;
};

/// What a file of perf holds, of one event.
class PerfData {
 public:
  bool read(const char* path) {
    FILE* file = fopen(path, "rb");
    if (file == nullptr) return false;
    struct stat status {};
    fstat(fileno(file), &status);
    bytes_.resize(static_cast<size_t>(status.st_size));
    const bool whole = fread(bytes_.data(), 1, bytes_.size(), file) == bytes_.size();
    fclose(file);
    return whole && bytes_.size() > sizeof(Header) && find_records();
  }

  /// In the order of their times.
  void replay() {
    for (const auto& [time, at] : records_) apply(at);
  }

 private:
  struct Section {
    uint64_t offset, bytes;
  };
  /// tools/perf/Documentation/perf.data-file-format.txt
  struct Header {
    char magic[8];
    uint64_t bytes, attribute_bytes;
    Section attributes, data;
  };

  template <class T>
  [[nodiscard]] T at(size_t offset) const {
    T value{};
    if (offset + sizeof value <= bytes_.size()) memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  bool find_records() {
    const auto header = at<Header>(0);
    attribute_ = at<perf_event_attr>(header.attributes.offset);
    constexpr uint64_t kNeeded = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
                                 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    constexpr uint64_t kSkipped = PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC;
    if (memcmp(header.magic, "PERFILE2", 8) != 0 || header.attributes.bytes != header.attribute_bytes ||
        (attribute_.sample_type & ~kSkipped) != kNeeded) {
      fprintf(stderr, "not a file of one event with stacks: sample_type %#llx\n",
              static_cast<unsigned long long>(attribute_.sample_type));
      return false;
    }
    const size_t end = std::min<size_t>(header.data.offset + header.data.bytes, bytes_.size());
    for (size_t offset = header.data.offset; offset + sizeof(perf_event_header) <= end;) {
      const auto record = at<perf_event_header>(offset);
      if (record.size < sizeof record) return false;
      if (record.type < PERF_RECORD_MAX) records_.emplace_back(time_of(offset, record), offset);
      offset += record.size;
    }
    std::stable_sort(records_.begin(), records_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return true;
  }

  /// sample_id_all puts it at the end of every record but a sample.
  [[nodiscard]] uint64_t time_of(size_t offset, const perf_event_header& record) const {
    const bool is_sample = record.type == PERF_RECORD_SAMPLE;
    return at<uint64_t>(is_sample ? offset + sizeof record + 16 : offset + record.size - 8);
  }

  void apply(size_t offset) {
    const auto header = at<perf_event_header>(offset);
    if (header.type == PERF_RECORD_SAMPLE) return unwind(offset);
    const PerfRecord record = parse_perf_record(bytes_.data() + offset, header.size);
    if (record.kind == PerfRecord::Kind::kMmap && record.executable) map(record);
    if (record.kind == PerfRecord::Kind::kComm && record.exec) processes_[record.pid].clear();
    if (record.kind == PerfRecord::Kind::kFork && record.pid != record.parent)
      processes_[record.pid] = Process(processes_[record.parent]);
  }

  void map(const PerfRecord& record) {
    const std::string path(record.text);
    auto [entry, fresh] = objects_.try_emplace(path, static_cast<uint32_t>(objects_.size() + 1));
    const bool is_vdso = path == "[vdso]";
    if (fresh) {
      ObjectIdentity identity;
      struct stat status {};
      identity.path = entry->first;
      identity.kind = is_vdso              ? ObjectKind::kVdso
                      : is_anonymous(path) ? ObjectKind::kPrivate
                                           : ObjectKind::kFile;
      if (stat(path.c_str(), &status) == 0) {
        identity.inode = status.st_ino;
        identity.device = device_number(status.st_dev);
      }
      names_.push_back(path);
      unwinder_.add_segment(entry->second, 0, identity);
    }
    processes_[record.pid].map(
        {record.start, record.start + record.bytes, is_vdso ? 0 : record.offset, entry->second});
  }

  void unwind(size_t offset) {
    size_t at_field = offset + sizeof(perf_event_header) + 8;
    const auto take = [&] { return at<uint64_t>((at_field += 8) - 8); };
    const uint64_t thread = take(), time = take();
    for (const uint64_t field : {PERF_SAMPLE_ADDR, PERF_SAMPLE_PERIOD})
      if (attribute_.sample_type & field) (void)take();
    const uint64_t calls = take();
    at_field += 8 * calls;
    if (take() != PERF_SAMPLE_REGS_ABI_64) return;
    const auto reg = [&](unsigned number) {
      const uint64_t below = attribute_.sample_regs_user & ((uint64_t{1} << number) - 1);
      return at<uint64_t>(at_field + 8 * static_cast<size_t>(std::popcount(below)));
    };
    StackSample sample;
    sample.registers = {reg(8), reg(7), reg(6), reg(1), reg(18), reg(5)};
    at_field += 8 * static_cast<size_t>(std::popcount(attribute_.sample_regs_user));
    const uint64_t asked = take(), copied = asked == 0 ? 0 : at<uint64_t>(at_field + asked);
    sample.stack = {bytes_.data() + at_field, std::min(asked, copied)};
    sample.attempted = true;
    sample.cut_off = copied >= asked;
    print(static_cast<int32_t>(thread), static_cast<int32_t>(thread >> 32), time, sample);
  }

  void print(int32_t pid, int32_t tid, uint64_t time, const StackSample& sample) {
    Process& process = processes_[pid];
    frames_.clear();
    process.asked.clear();
    const PathEnd end = unwinder_.unwind(process, sample, &frames_);
    printf("%d %lu %d", tid, static_cast<unsigned long>(time), static_cast<int>(end));
    for (size_t i = 0; i < frames_.size(); ++i) {
      const CodeAddress& place = process.asked[i];
      printf(" %lx(%s)", static_cast<unsigned long>(place.index), names_[place.segment - 1].c_str());
    }
    printf("\n");
  }

  std::vector<unsigned char> bytes_;
  perf_event_attr attribute_{};
  std::vector<std::pair<uint64_t, size_t>> records_;  ///< time, and where
  Unwinder unwinder_;
  std::map<std::string, uint32_t> objects_;
  std::vector<std::string> names_;  ///< of objects_, from 1 on
  std::map<int32_t, Process> processes_;
  std::vector<PathFrame> frames_;
};

}  // namespace

int main(int count, char** words) {
  PerfData data;
  if (count != 2 || !data.read(words[1])) {
    fprintf(stderr, "unwind_perf_data: cannot read %s\n", count == 2 ? words[1] : "");
    return 1;
  }
  data.replay();
  return 0;
}
