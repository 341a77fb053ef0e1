#include <errno.h>

#include <algorithm>

#include "import/formats.h"
#include "import/lines.h"
#include "import/perf_script_lines.h"
#include "import/recorded_object.h"
#include "import/stack_sum.h"

namespace pctally {
namespace {

constexpr char kFields[] = "comm,pid,tid,time,period,event,ip,sym,dso";

class PerfScriptReader {
 public:
  PerfScriptReader(std::string_view text, const std::string& name, ImportedNames* names)
      : text_(text), lines_(text), sum_(names, name) {}
  Result<Profile> run();

 private:
  Result<void> read(std::string_view line);
  Result<void> read_other(std::string_view line);
  void end_sample();
  Result<void> begin(const SampleLine& sample);
  void add_frame(const FrameLine& frame);
  void enter_frames(const FrameLine& function);
  void apply(std::string_view record);
  void add_lost();
  [[nodiscard]] bool has_stack() const { return !stack_.empty() || !frames_.empty(); }
  [[nodiscard]] bool is_whole(const FrameLine& frame) const;
  [[nodiscard]] bool is_cut_off() const;
  void finish();
  [[nodiscard]] ImportedUnit unit() const;

  std::string_view text_;
  LineReader lines_;
  StackSum sum_;
  std::optional<SampleLine> sample_;
  std::vector<ImportedPlace> stack_;
  std::vector<FrameLine> frames_;  ///< that the stack goes on with when their object is known
  bool has_objects_ = false;       ///< of some frame at least
  std::string event_;
  std::optional<bool> has_periods_;
  std::optional<uint64_t> period_;  ///< of all samples; 0: they differ
  uint64_t samples_ = 0, amounts_ = 0;
  uint64_t lost_ = 0;  ///< samples
  uint64_t throttled_ = 0;
  bool sees_kernel_ = false;
  bool have_ends_ = false;  ///< behind samples: blank lines, or ends_stack()
  std::string_view last_;   ///< line of a sample
  size_t other_line_ = 0;   ///< number of the last line that is not indented and no sample; 0: none
  size_t unreadable_ = 0;   ///< that of the first line that should be a sample
};

/// Keeps only the names of the objects' functions: addresses in this text are those of one process. What was
/// inlined into a function has its address.
void PerfScriptReader::enter_frames(const FrameLine& function) {
  for (const FrameLine& frame : frames_) {
    const bool known = frame.address == function.address && !function.object.empty();
    const uint32_t object =
        sum_.named_object(known ? recorded_object(function.object, function.address) : kNoObject);
    const std::string name = frame.symbol.empty() ? address_name(frame.address) : std::string(frame.symbol);
    stack_.push_back(sum_.place(object, {{name, "", 0}}));
  }
  frames_.clear();
}

void PerfScriptReader::add_frame(const FrameLine& frame) {
  frames_.push_back(frame);
  if (frame.object.empty()) return;
  has_objects_ = true;
  enter_frames(frame);
}

void PerfScriptReader::finish() {
  if (!sample_) return;
  if (const auto place = parse_place(sample_->rest); place && !has_stack() && is_whole(*place))
    add_frame(*place);
  enter_frames({});
  const uint64_t amount = sample_->period.value_or(1);
  const std::string comm(sample_->comm);
  ++samples_;
  if (__builtin_add_overflow(amounts_, amount, &amounts_)) amounts_ = UINT64_MAX;
  if (stack_.empty())
    sum_.add_outside(amount, 1, comm);
  else
    sum_.add(stack_, amount, 1, comm);
  sum_.add_process(sample_->pid, comm, amount);
  sample_.reset();
  stack_.clear();
}

Result<void> PerfScriptReader::begin(const SampleLine& sample) {
  if (event_.empty()) event_ = sample.event;
  if (sample.event != event_)
    return fail(EINVAL, "it holds %.40s and %.40s; perf script --per-event-dump writes a file for each event",
                event_.c_str(), std::string(sample.event).c_str());
  if (has_periods_.value_or(sample.period.has_value()) != sample.period.has_value())
    return fail(EINVAL, "line %zu: some samples have a period and some have none", lines_.number());
  has_periods_ = sample.period.has_value();
  sees_kernel_ = sees_kernel_ || !sample.user_code;
  if (sample.period) period_ = period_.value_or(*sample.period) == *sample.period ? *sample.period : 0;
  sample_ = sample;
  other_line_ = 0;
  if (!sum_.add_rows(1)) return fail(EFBIG, "it has more than 10,000,000 rows");
  return {};
}

/// PERF_RECORD_LOST and PERF_RECORD_LOST_SAMPLES; PERF_RECORD_THROTTLE.
void PerfScriptReader::apply(std::string_view record) {
  const std::string_view kind = take_word(&record);
  uint64_t lost = 0;
  if (kind.starts_with("PERF_RECORD_LOST") && take_word(&record) == "lost" &&
      parse_number(take_word(&record), &lost) && lost < UINT64_MAX - lost_)
    lost_ += lost;
  if (kind == "PERF_RECORD_THROTTLE") ++throttled_;
}

/// As much each as the samples that are there are on the average.
void PerfScriptReader::add_lost() {
  if (samples_ == 0 || lost_ == 0) return;
  const uint64_t each = std::max<uint64_t>(amounts_ / samples_, 1);
  sum_.add_lost(lost_ > UINT64_MAX / each ? UINT64_MAX : lost_ * each);
}

/// Whether the line it stands in may be whole: where others have objects, this one has it or needs none.
bool PerfScriptReader::is_whole(const FrameLine& frame) const {
  return !has_objects_ || frame.inlined || !frame.object.empty();
}

/// The last line is not whole, or the last sample has no blank line behind it where others have one. Who
/// takes the file's end away takes whole lines: a line without its end may be whole.
bool PerfScriptReader::is_cut_off() const {
  const bool flat = sample_ && !has_stack() && !is_blank(sample_->rest);  // its place stands in its own line
  const bool lacks_end = sample_ && have_ends_ && !flat;
  if (text_.ends_with('\n') || last_.empty()) return lacks_end;
  const std::optional<SampleLine> sample = parse_sample(last_);
  if (is_blank(sample ? sample->rest : last_)) return lacks_end;
  const std::optional<FrameLine> frame = sample ? parse_place(sample->rest) : parse_frame(last_);
  return !frame || !is_whole(*frame);
}

/// perf's clocks count nanoseconds. Without periods nothing says how much a sample is.
ImportedUnit PerfScriptReader::unit() const {
  const bool clock = event_ == "cpu-clock" || event_ == "task-clock";
  if (!has_periods_.value_or(false)) return {.event = "samples", .period = 1};
  return {.cpu_time = clock, .event = event_, .period = period_.value_or(0)};
}

/// A line that is no sample: of a stack, or one that should be the first of a sample.
Result<void> PerfScriptReader::read_other(std::string_view line) {
  const bool is_head = !line.starts_with('\t') && has_time_and_event(line);
  const std::optional<FrameLine> frame = is_head ? std::nullopt : parse_frame(line);
  if (frame && sample_) {
    add_frame(*frame);
    if (!sum_.add_rows(1)) return fail(EFBIG, "it has more than 10,000,000 rows");
  } else if (frame) {
    if (unreadable_ == 0) unreadable_ = other_line_;
  } else if (has_stack() && ends_stack(line) && !is_head) {
    end_sample();
    last_ = {};
  } else if (!is_blank(line.substr(0, 1)) || is_head) {
    if (has_stack()) finish();
    other_line_ = lines_.number();
    if (unreadable_ == 0 && is_head) unreadable_ = other_line_;
  }
  return {};
}

Result<void> PerfScriptReader::read(std::string_view line) {
  if (const std::string_view record = record_of(line); !record.empty()) {
    apply(record);
    return {};
  }
  last_ = line;
  const std::optional<SampleLine> sample = parse_sample(line);
  if (!sample) return read_other(line);
  finish();
  return begin(*sample);
}

void PerfScriptReader::end_sample() {
  have_ends_ = have_ends_ || sample_;
  finish();
}

Result<Profile> PerfScriptReader::run() {
  for (std::string_view line; lines_.next(&line);) {
    if (line.empty()) end_sample();
    if (line.empty() || (line[0] == '#' && !parse_sample(line))) continue;
    if (auto read_it = read(line); !read_it) return std::unexpected(read_it.error());
  }
  if (samples_ == 0 && !sample_)
    return fail(EINVAL, "it lacks names, times or events; perf script -F %s prints them", kFields);
  if (unreadable_ != 0)
    return fail(EINVAL, "line %zu is a sample that cannot be read; try perf script -F %s", unreadable_,
                kFields);
  Profile profile;
  profile.engine = "perf";
  if (is_cut_off()) {
    profile.damage.emplace_back("its last sample is cut off, and others may be missing");
    if (!text_.ends_with('\n') && parse_frame(last_) && !frames_.empty()) frames_.pop_back();
  }
  finish();
  add_lost();
  profile.throttled = throttled_;
  Result<Profile> whole = sum_.take(unit(), std::move(profile));
  if (whole) whole->kernel_observed = sees_kernel_;
  return whole;
}

/// A sample's first line without its name, time or event, and its first frame below.
bool is_incomplete_sample(std::string_view head, std::string_view below) {
  const auto frame = parse_frame(below);
  return !head.empty() && !head.starts_with('\t') && below.starts_with('\t') && frame &&
         (frame->object.starts_with('/') || frame->object.starts_with('[') || has_time_and_event(head));
}

}  // namespace

/// True also for samples that lack what the import needs, so that it can say so.
bool is_perf_script(std::string_view text) {
  LineReader lines(text);
  size_t seen = 0;
  std::string_view before;
  for (std::string_view line; seen < kFirstLines && lines.next(&line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.find('\0') != std::string_view::npos) return false;
    if (line.size() < 4096 && (parse_sample(line) || is_incomplete_sample(before, line))) return true;
    before = line;
    ++seen;
  }
  return false;
}

Result<Profile> import_perf_script(std::string_view text, const std::string& name, ImportedNames* names) {
  return PerfScriptReader(text, name, names).run();
}

}  // namespace pctally
