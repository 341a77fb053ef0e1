// perf.data as tools/perf/Documentation/perf.data-file-format.txt of Linux describes it. Records are
// those of perf_event_open(2).
#include <limits.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/page.h"
#include "export/formats.h"
#include "profile/command.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

constexpr char kMagic[] = "PERFILE2";
constexpr uint64_t kFileHeaderBytes = 104;
constexpr uint64_t kFirstAddress = uint64_t{4} << 30;  ///< of the mappings, which lie one behind the other
constexpr uint64_t kGap = uint64_t{2} << 20;
constexpr size_t kBuildIdBytes = 20;
constexpr uint16_t kMmapBuildId = 1 << 14;  ///< PERF_RECORD_MISC_MMAP_BUILD_ID, of newer headers
constexpr unsigned kFeatureWords = 4;

// Numbers of optional sections (HEADER_... in tools/perf/util/header.h).
enum Feature : unsigned { kRelease = 4, kMachine = 6, kCommandLine = 11, kEventNames = 12 };

class Bytes {
 public:
  template <class T>
  void put(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(const std::string& text) { out_ += text; }
  void pad(uint64_t to) { out_.append((to - out_.size() % to) % to, '\0'); }
  [[nodiscard]] uint64_t size() const { return out_.size(); }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::string out_;
};

/// A text of a feature section: its length, and zeroes behind it.
void put_feature_text(const std::string& text, Bytes* to) {
  Bytes body;
  body.put_text(text);
  body.put('\0');
  body.pad(64);
  to->put(static_cast<uint32_t>(body.size()));
  to->put_text(body.text());
}

/// The part of an executable that has ticks, as a mapping.
struct Mapped {
  uint64_t first = UINT64_MAX, last = 0;  ///< positions
  uint64_t address = 0;                   ///< of the page of `first`
};

class PerfData {
 public:
  PerfData(const Profile& profile, const Samples& samples)
      : profile_(profile), samples_(samples), mapped_(profile.executables.size()) {}

  std::string run() {
    place_mappings();
    for (const Sample& sample : samples_.samples) add_sample(sample);
    const std::string attribute = attribute_bytes();
    const uint64_t entry = attribute.size() + 2 * sizeof(uint64_t);  // with the place of its ids
    Bytes file;
    file.put_text(kMagic);
    for (uint64_t number : {kFileHeaderBytes, entry, kFileHeaderBytes, entry, kFileHeaderBytes + entry,
                            records_.size(), uint64_t{0}, uint64_t{0}})
      file.put(number);
    file.put(uint64_t{1} << kRelease | uint64_t{1} << kMachine | uint64_t{1} << kCommandLine |
             uint64_t{1} << kEventNames);
    for (unsigned i = 1; i < kFeatureWords; ++i) file.put(uint64_t{0});
    file.put_text(attribute);
    file.put(uint64_t{0});  // no ids: there is one event
    file.put(uint64_t{0});
    file.put_text(records_.text());
    add_features(attribute, &file);
    return file.text();
  }

 private:
  void place_mappings() {
    for (const Location& location : samples_.locations) {
      if (location.executable == Location::kNowhere) continue;
      Mapped& mapped = mapped_[location.executable];
      // hotspot finds the names of a file that is mapped from its start.
      const bool is_file = profile_.executables[location.executable].kind == ExecutableKind::kFile;
      mapped.first = is_file ? 0 : std::min(mapped.first, location.position);
      mapped.last = std::max(mapped.last, location.position);
    }
    uint64_t next = kFirstAddress;
    for (size_t i = 0; i < mapped_.size(); ++i) {
      Mapped& mapped = mapped_[i];
      if (mapped.first > mapped.last) continue;
      mapped.address = is_kernel(i) ? page_start(mapped.first) : next;
      if (!is_kernel(i)) next += (bytes_of(mapped) + kGap) & ~(kGap - 1);
    }
    after_mappings_ = next + kGap;
  }
  static uint64_t bytes_of(const Mapped& mapped) {
    return page_end(mapped.last + 1) - page_start(mapped.first);
  }
  [[nodiscard]] bool is_kernel(uint32_t executable) const {
    return executable != Location::kNowhere &&
           profile_.executables[executable].kind == ExecutableKind::kKernel;
  }

  /// What lies in no file is at an address of its own, where nothing is mapped. Records give the kernel's
  /// code names, and no other: so it is there.
  [[nodiscard]] uint64_t address_of(uint32_t number) const {
    const Location& location = samples_.locations[number];
    if (location.executable == Location::kNowhere) return after_mappings_ + number;
    const Mapped& mapped = mapped_[location.executable];
    return mapped.address + (location.position - page_start(mapped.first));
  }

  [[nodiscard]] bool is_as_kernel(uint32_t number) const {
    const uint32_t executable = samples_.locations[number].executable;
    return executable == Location::kNowhere || is_kernel(executable);
  }

  void add_record(uint32_t type, uint16_t misc, const Bytes& body) {
    const auto bytes = static_cast<uint16_t>(sizeof(perf_event_header) + body.size());
    records_.put(perf_event_header{type, misc, bytes});
    records_.put_text(body.text());
  }

  /// Number of the process, or thread, of that name; made at its first sample.
  uint32_t process_of(const std::string& name, const std::string& thread) {
    const auto [entry, fresh] = processes_.try_emplace({name, thread}, processes_.size() + 1);
    if (!fresh) return entry->second;
    const uint32_t process = thread.empty() ? entry->second : process_of(name, "");
    Bytes body;
    body.put(process);
    body.put(entry->second);
    body.put_text(escaped(thread.empty() ? name : thread).substr(0, kLongestComm));
    body.put('\0');
    body.pad(sizeof(uint64_t));
    add_record(PERF_RECORD_COMM, 0, body);
    return entry->second;
  }

  void map(uint32_t process, uint32_t executable) {
    if (is_kernel(executable)) process = UINT32_MAX;
    if (!mapped_in_.insert({process, executable}).second) return;
    const Executable& file = profile_.executables[executable];
    const Mapped& mapped = mapped_[executable];
    const bool has_id = !file.build_id.empty() && file.build_id.size() <= kBuildIdBytes;
    Bytes body;
    body.put(process);
    body.put(process);
    body.put(mapped.address);
    body.put(is_kernel(executable) ? ~mapped.address : bytes_of(mapped));
    body.put(is_kernel(executable) ? 0 : page_start(mapped.first));
    if (has_id) {
      body.put(static_cast<uint32_t>(file.build_id.size()));
      body.put_text(std::string(file.build_id.begin(), file.build_id.end()));
      body.put_text(std::string(kBuildIdBytes - file.build_id.size(), '\0'));
    } else {
      for (uint64_t none : {0, 0, 0}) body.put(none);  // device, inode, generation
    }
    body.put(uint32_t{5});  // PROT_READ | PROT_EXEC
    body.put(uint32_t{2});  // MAP_PRIVATE
    body.put_text((is_kernel(executable) ? "[kernel.kallsyms]_text" : file.path).substr(0, PATH_MAX - 1));
    body.put('\0');
    body.pad(sizeof(uint64_t));
    const uint16_t mode = is_kernel(executable) ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
    add_record(PERF_RECORD_MMAP2, static_cast<uint16_t>(mode | (has_id ? kMmapBuildId : 0)), body);
  }

  void name_nowhere(uint32_t number) {
    if (!named_.insert(number).second) return;
    Bytes body;
    body.put(address_of(number));
    body.put(uint32_t{1});  // byte
    body.put(uint16_t{PERF_RECORD_KSYMBOL_TYPE_UNKNOWN});
    body.put(uint16_t{0});
    body.put_text(escaped(samples_.locations[number].frames.back().function).substr(0, kLongestSymbol));
    body.put('\0');
    body.pad(sizeof(uint64_t));
    add_record(PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL, body);
  }

  /// Whose ticks they are: the outermost location where there are scopes, which is no frame then.
  [[nodiscard]] std::string name_of(const Sample& sample) const {
    if (samples_.with_callers && sample.stack.size() > 1)
      return samples_.locations[sample.stack.back()].frames.back().function;
    if (samples_.place_of(sample).executable == Location::kNowhere)
      return samples_.place_of(sample).frames.back().function;
    return program_name(profile_);
  }

  void add_sample(const Sample& sample) {
    const std::string name = name_of(sample);
    const uint32_t process = process_of(name, ""), thread = process_of(name, sample.thread);
    const size_t frames = sample.stack.size() - (samples_.with_callers && sample.stack.size() > 1 ? 1 : 0);
    std::vector<uint64_t> chain;
    uint64_t mode = 0;
    for (size_t i = 0; i < std::min(frames, kMostFrames); ++i) {
      const uint32_t executable = samples_.locations[sample.stack[i]].executable;
      const uint64_t here = is_as_kernel(sample.stack[i]) ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
      if (here != mode) chain.push_back(mode = here);
      chain.push_back(address_of(sample.stack[i]));
      if (executable != Location::kNowhere)
        map(process, executable);
      else
        name_nowhere(sample.stack[i]);
    }
    Bytes body;
    body.put(chain[1]);
    body.put(process);
    body.put(thread);
    body.put(profile_.started_unix_ns + ++times_);
    body.put(sample.ticks * profile_.period_ns);
    body.put(static_cast<uint64_t>(chain.size()));
    for (uint64_t word : chain) body.put(word);
    add_record(PERF_RECORD_SAMPLE,
               chain[0] == PERF_CONTEXT_KERNEL ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, body);
  }

  [[nodiscard]] std::string attribute_bytes() const {
    perf_event_attr attribute{};
    attribute.size = sizeof attribute;
    // Other events have their name in kEventNames. Readers take any number for a raw one, and perf script
    // prints no frames for a dummy.
    attribute.type = profile_.counts_cpu_time() ? PERF_TYPE_SOFTWARE : PERF_TYPE_RAW;
    attribute.config = profile_.counts_cpu_time() ? PERF_COUNT_SW_CPU_CLOCK : 0;
    attribute.sample_period = profile_.period_ns;
    attribute.sample_type =
        PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
    return {reinterpret_cast<const char*>(&attribute), sizeof attribute};
  }

  /// Their places stand in front of them, in the order of their numbers.
  void add_features(const std::string& attribute, Bytes* file) const {
    Bytes features[4];
    put_feature_text(profile_.release, &features[0]);
    put_feature_text(profile_.machine, &features[1]);
    features[2].put(static_cast<uint32_t>(profile_.command.size()));
    for (const std::string& word : profile_.command) put_feature_text(word, &features[2]);
    features[3].put(uint32_t{1});
    features[3].put(static_cast<uint32_t>(attribute.size()));
    features[3].put_text(attribute);
    features[3].put(uint32_t{0});
    put_feature_text(profile_.counts_cpu_time() ? "cpu-clock" : profile_.event, &features[3]);
    uint64_t at = file->size() + std::size(features) * 2 * sizeof(uint64_t);
    for (const Bytes& feature : features) {
      file->put(at);
      file->put(feature.size());
      at += feature.size();
    }
    for (const Bytes& feature : features) file->put_text(feature.text());
  }

  static constexpr size_t kLongestComm = 63, kLongestSymbol = 255, kMostFrames = 1023;

  const Profile& profile_;
  const Samples& samples_;
  std::vector<Mapped> mapped_;  ///< of each executable
  uint64_t after_mappings_ = 0;
  uint64_t times_ = 0;
  Bytes records_;
  std::map<std::pair<std::string, std::string>, uint32_t> processes_;
  std::set<uint32_t> named_;                           ///< locations
  std::set<std::pair<uint32_t, uint32_t>> mapped_in_;  ///< process and executable
};

}  // namespace

std::string perf_data_export(const Profile& profile, const Samples& samples) {
  return PerfData(profile, samples).run();
}

}  // namespace pctally
