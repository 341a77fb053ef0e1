#include <zlib.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <tuple>

#include "export/formats.h"
#include "export/program_file.h"
#include "object/elf/build_id.h"
#include "profile/effective_comment.h"
#include "profile/scope_marks.h"
#include "report/account/account.h"
#include "report/paths/part_shares.h"
#include "report/print/escape.h"
#include "report/scope_names.h"

namespace pctally {
namespace {

// Field numbers of profile.proto (google/pprof).
enum ProfileField : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14
};
enum ValueTypeField : protozero::pbf_tag_type { kType = 1, kUnit = 2 };
enum SampleField : protozero::pbf_tag_type { kLocationId = 1, kValue = 2, kLabel = 3 };
enum LabelField : protozero::pbf_tag_type { kLabelKey = 1, kLabelText = 2 };
enum MappingField : protozero::pbf_tag_type {
  kMappingId = 1,
  kMemoryLimit = 3,
  kFilename = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFilenames = 8,
  kHasLineNumbers = 9,
  kHasInlineFrames = 10
};
enum LocationField : protozero::pbf_tag_type {
  kLocationNumber = 1,
  kLocationMapping = 2,
  kAddress = 3,
  kLine = 4
};
enum LineField : protozero::pbf_tag_type { kLineFunction = 1, kLineNumber = 2 };
enum FunctionField : protozero::pbf_tag_type {
  kFunctionId = 1,
  kName = 2,
  kSystemName = 3,
  kFunctionFile = 4,
  kStartLine = 5
};

/// How many ticks of the recordings each sample has. Where a tick of the profile is a nanosecond, or one
/// event of recordings that counted several at a time, only their sum is known: it is shared out in
/// proportion, in whole ticks.
std::vector<uint64_t> recorded_ticks(const Profile& profile, const Samples& samples) {
  std::vector<uint64_t> ticks;
  for (const Sample& sample : samples.samples) ticks.push_back(sample.ticks);
  if (!is_in_single_units(profile)) return ticks;
  const std::vector<PartShares::Share> shares = PartShares(ticks).take(recorded(profile).number);
  std::ranges::fill(ticks, 0);
  for (const PartShares::Share& share : shares) ticks[share.part] = share.ticks;
  return ticks;
}

class Pprof {
 public:
  Pprof(const Profile& profile, const Samples& samples)
      : profile_(profile),
        samples_(samples),
        writer_(out_),
        recorded_ticks_(recorded_ticks(profile, samples)),
        has_period_(!is_in_single_units(profile) &&
                    (profile.period_ns != 1 || (profile.event_unit.empty() && profile.period_asked_ns != 0))),
        has_samples_((has_period_ || is_in_single_units(profile)) && profile.event_unit.empty() &&
                     value_kind(profile).type != "samples") {}

  std::string run() {
    const ValueKind kind = value_kind(profile_);
    if (has_samples_) add_value_type(kSampleType, "samples", "count");
    add_value_type(kSampleType, kind.type, kind.unit);
    add_mappings();
    for (const Location& location : samples_.locations) add_location(location);
    for (size_t i = 0; i < samples_.samples.size(); ++i) add_sample(samples_.samples[i], recorded_ticks_[i]);
    writer_.add_int64(kTimeNanos, static_cast<int64_t>(profile_.started_unix_ns));
    writer_.add_int64(kDurationNanos, static_cast<int64_t>(profile_.duration_ns));
    if (has_period_) {
      add_value_type(kPeriodType, kind.type, kind.unit);
      writer_.add_int64(kPeriod, static_cast<int64_t>(profile_.period_ns));
    }
    add_effective_samples(kind);
    writer_.add_int64(kDefaultSampleType, text(kind.type));
    for (const std::string& string : strings_) writer_.add_string(kStringTable, string);
    return std::move(out_);
  }

 private:
  int64_t text(const std::string& string) {
    auto [found, added] = known_.try_emplace(valid_utf8(string), static_cast<int64_t>(strings_.size()));
    if (added) strings_.push_back(found->first);
    return found->second;
  }

  void add_value_type(ProfileField field, const std::string& type, const std::string& unit) {
    const int64_t type_text = text(type), unit_text = text(unit);
    protozero::pbf_writer value(writer_, field);
    value.add_int64(kType, type_text);
    value.add_int64(kUnit, unit_text);
  }

  void add_effective_samples(const ValueKind& kind) {
    uint64_t amount = 0;
    for (const Sample& sample : samples_.samples) amount += sample.ticks * profile_.period_ns;
    const double samples = account_of(profile_).effective_samples;
    const uint64_t all = std::accumulate(recorded_ticks_.begin(), recorded_ticks_.end(), uint64_t{0});
    const bool is_said = has_samples_ && samples >= static_cast<double>(all);
    if (is_said || !(samples > 0)) return;
    const int64_t comment = text(effective_comment(samples, amount, kind.type, kind.unit));
    writer_.add_packed_int64(kComment, &comment, &comment + 1);
  }

  /// The program comes first: readers take the first mapping for it.
  [[nodiscard]] std::vector<size_t> mapping_order() const {
    std::vector<size_t> order(profile_.executables.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const std::optional<uint32_t> program = program_file(profile_);
    std::ranges::stable_partition(order, [program](size_t i) { return i == program; });
    return order;
  }

  /// Addresses are those of the object's symbols, not of a process. A mapping of all addresses from 0 on
  /// tells pprof so, and it adds nothing to them: neither for position-independent files nor for others.
  void add_mappings() {
    for (const size_t i : mapping_order()) {
      const Executable& executable = profile_.executables[i];
      const int64_t path = text(executable.path), build_id = text(to_hex(executable.build_id));
      protozero::pbf_writer mapping(writer_, kMapping);
      mapping.add_uint64(kMappingId, i + 1);
      mapping.add_uint64(kMemoryLimit, UINT64_MAX);
      mapping.add_int64(kFilename, path);
      mapping.add_int64(kBuildId, build_id);
      for (MappingField field : {kHasFunctions, kHasFilenames, kHasLineNumbers, kHasInlineFrames})
        mapping.add_bool(field, true);
    }
  }

  uint64_t function_of(const Frame& frame) {
    auto [found, added] = functions_.try_emplace(
        {frame.function, frame.linkage, frame.file, frame.start_line}, functions_.size() + 1);
    if (!added) return found->second;
    const int64_t name = text(frame.function), file = text(frame.file);
    const int64_t symbol = frame.linkage.empty() ? name : text(frame.linkage);
    protozero::pbf_writer function(writer_, kFunction);
    function.add_uint64(kFunctionId, found->second);
    function.add_int64(kName, name);
    function.add_int64(kSystemName, symbol);
    function.add_int64(kFunctionFile, file);
    if (frame.start_line != 0) function.add_int64(kStartLine, frame.start_line);
    return found->second;
  }

  /// The import knows a scope by it.
  [[nodiscard]] Frame marked(Frame frame, bool is_last) const {
    const bool group = scope_kind(profile_.paths) == PathScopeKind::kGroup;
    frame.linkage = !is_last ? kThreadMark : group ? kGroupMark : kProgramMark;
    return frame;
  }

  void add_location(const Location& place) {
    std::vector<std::pair<uint64_t, uint32_t>> lines;
    for (const Frame& frame : place.frames) {
      const bool is_last = &frame == &place.frames.back();
      lines.emplace_back(function_of(place.is_scope ? marked(frame, is_last) : frame), frame.line);
    }
    protozero::pbf_writer location(writer_, kLocation);
    location.add_uint64(kLocationNumber, ++locations_);
    if (place.executable != Location::kNowhere) location.add_uint64(kLocationMapping, place.executable + 1);
    location.add_uint64(kAddress, place.is_placed ? place.address : 0);
    for (const auto& [function, number] : lines) {
      protozero::pbf_writer line(location, kLine);
      line.add_uint64(kLineFunction, function);
      line.add_int64(kLineNumber, number);
    }
  }

  void add_sample(const Sample& sample, uint64_t recorded_ticks) {
    std::vector<uint64_t> ids;
    for (uint32_t location : sample.stack) ids.push_back(location + uint64_t{1});
    const int64_t values[] = {static_cast<int64_t>(recorded_ticks),
                              static_cast<int64_t>(sample.ticks * profile_.period_ns)};
    const bool labelled = !sample.thread.empty();
    const int64_t key = labelled ? text("thread") : 0, thread = text(sample.thread);
    protozero::pbf_writer message(writer_, kSample);
    message.add_packed_uint64(kLocationId, ids.begin(), ids.end());
    message.add_packed_int64(kValue, std::begin(values) + (has_samples_ ? 0 : 1), std::end(values));
    if (!labelled) return;
    protozero::pbf_writer label(message, kLabel);
    label.add_int64(kLabelKey, key);
    label.add_int64(kLabelText, thread);
  }

  const Profile& profile_;
  const Samples& samples_;
  std::string out_;
  protozero::pbf_writer writer_;
  std::vector<uint64_t> recorded_ticks_;  ///< of each sample
  bool has_period_;  ///< false: a sum of unlike ones, or an import without one, whose ticks are bytes or
                     ///< nanoseconds
  bool has_samples_;
  std::vector<std::string> strings_ = {""};
  std::map<std::string, int64_t> known_ = {{"", 0}};
  std::map<std::tuple<std::string, std::string, std::string, uint32_t>, uint64_t> functions_;
  uint64_t locations_ = 0;
};

std::string gzipped(const std::string& bytes) {
  constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) return bytes;
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::string pprof_export(const Profile& profile, const Samples& samples) {
  return gzipped(Pprof(profile, samples).run());
}

}  // namespace pctally
