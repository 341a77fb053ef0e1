#include <errno.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "import/formats.h"
#include "import/lines.h"
#include "import/stack_sum.h"

namespace pctally {
namespace {

/// "name 123 [001] 12.345678:   250000 cpu-clock:u:   addr symbol+0x1 (object)"; what follows the event only
/// where there are no callers.
struct SampleLine {
  std::string_view comm, event, rest;
  int32_t pid = 0;
  std::optional<uint64_t> period;
};

template <class Number>
bool parse_number(std::string_view text, Number* number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

/// The next word, and the rest behind it.
std::string_view take_word(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(" \t"), text->size()));
  const std::string_view word = text->substr(0, text->find_first_of(" \t"));
  text->remove_prefix(word.size());
  return word;
}

bool is_time(std::string_view word) {
  const size_t dot = word.find('.');
  return word.ends_with(':') && dot != std::string_view::npos && dot != 0 && dot + 2 < word.size() &&
         word.substr(0, word.size() - 1).find_first_not_of("0123456789.") == std::string_view::npos;
}

/// "123", or "123/124": process and thread.
bool is_pid(std::string_view word, int32_t* pid) { return parse_number(word.substr(0, word.find('/')), pid); }

/// "cpu-clock:u:" is cpu-clock. A tracepoint keeps its colon.
std::string_view event_of(std::string_view word) {
  word.remove_suffix(1);
  const size_t colon = word.rfind(':');
  const bool modifier = colon != std::string_view::npos &&
                        word.substr(colon + 1).find_first_not_of("ukhGHpPSDIWeb") == std::string_view::npos;
  return modifier ? word.substr(0, colon) : word;
}

/// What stands before the time: a name of any characters, the process, perhaps a CPU and flags.
bool parse_process(std::string_view before, SampleLine* sample) {
  while (!before.empty()) {
    before.remove_suffix(before.size() - std::min(before.find_last_not_of(' ') + 1, before.size()));
    const size_t blank = before.rfind(' ');
    const std::string_view word = before.substr(blank == std::string_view::npos ? 0 : blank + 1);
    if (blank == std::string_view::npos) return false;
    before.remove_suffix(word.size());
    if (word.empty() || !is_pid(word, &sample->pid)) continue;
    const size_t first = before.find_first_not_of(' ');
    if (first == std::string_view::npos) return false;
    sample->comm = before.substr(first, before.find_last_not_of(' ') - first + 1);
    return true;
  }
  return false;
}

std::optional<SampleLine> parse_sample(std::string_view line) {
  constexpr int kMostTimes = 16;  // a process may be called like one
  SampleLine sample;
  std::string_view rest = line;
  int times = 0;
  for (std::string_view word; !(word = take_word(&rest)).empty();) {
    if (!is_time(word)) continue;
    if (++times > kMostTimes) return std::nullopt;
    if (!parse_process(line.substr(0, static_cast<size_t>(word.data() - line.data())), &sample)) continue;
    std::string_view event = take_word(&rest);
    uint64_t period = 0;
    if (parse_number(event, &period)) {
      sample.period = period;
      event = take_word(&rest);
    }
    if (event.size() < 2 || !event.ends_with(':')) return std::nullopt;
    sample.event = event_of(event);
    sample.rest = rest;
    return sample;
  }
  return std::nullopt;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; }

/// "name 123 12.345678: PERF_RECORD_LOST lost 7", which options of perf script print between samples: what
/// stands behind the time.
std::string_view record_of(std::string_view line) {
  if (line.find("PERF_RECORD_") == std::string_view::npos) return {};
  for (std::string_view rest = line, word; !(word = take_word(&rest)).empty();) {
    std::string_view record = rest;
    if (is_time(word) && take_word(&record).starts_with("PERF_RECORD_"))
      return rest.substr(rest.find_first_not_of(" \t"));
  }
  return {};
}

/// "55d0 symbol+0x1 (object)", a symbol being of any characters.
struct FrameLine {
  std::string_view symbol, object;
};

std::optional<FrameLine> parse_frame(std::string_view line) {
  uint64_t address = 0;
  if (!parse_number(take_word(&line), &address, 16)) return std::nullopt;
  while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
  FrameLine frame;
  const size_t open = line.rfind(" (");
  if (!line.ends_with(')') || open == std::string_view::npos) return std::nullopt;
  frame.object = line.substr(open + 2, line.size() - open - 3);
  frame.symbol = line.substr(0, open);
  frame.symbol.remove_prefix(std::min(frame.symbol.find_first_not_of(" \t"), frame.symbol.size()));
  if (const size_t plus = frame.symbol.rfind("+0x"); plus != std::string_view::npos && plus != 0)
    frame.symbol = frame.symbol.substr(0, plus);
  return frame;
}

class PerfScriptReader {
 public:
  PerfScriptReader(std::string_view text, const std::string& name, ImportedNames* names)
      : text_(text), lines_(text), sum_(names, name) {}
  Result<Profile> run();

 private:
  Result<void> begin(const SampleLine& sample);
  bool add_frame(std::string_view line);
  void apply(std::string_view record);
  void add_lost();
  [[nodiscard]] bool is_cut_off(std::string_view last) const;
  void finish();
  [[nodiscard]] ImportedUnit unit() const;

  std::string_view text_;
  LineReader lines_;
  StackSum sum_;
  std::optional<SampleLine> sample_;
  std::vector<ImportedPlace> stack_;
  std::string event_;
  std::optional<bool> has_periods_;
  std::optional<uint64_t> period_;  ///< of all samples; 0: they differ
  uint64_t samples_ = 0, amounts_ = 0;
  uint64_t lost_ = 0;  ///< samples
  uint64_t throttled_ = 0;
  bool have_blank_lines_ = false;  ///< behind samples
};

/// Keeps only the names of the objects' functions: addresses in this text are those of one process.
bool PerfScriptReader::add_frame(std::string_view line) {
  const std::optional<FrameLine> frame = parse_frame(line);
  if (!frame) return true;  // a source line
  const std::string_view object = frame->object == "inlined" && !stack_.empty() ? "[inlined]" : frame->object;
  const uint32_t index = sum_.named_object(std::string(object));
  stack_.push_back(sum_.place(index, {{std::string(frame->symbol), "", 0}}));
  return sum_.add_rows(1);
}

void PerfScriptReader::finish() {
  if (!sample_) return;
  const uint64_t amount = sample_->period.value_or(1);
  const std::string comm(sample_->comm);
  ++samples_;
  if (__builtin_add_overflow(amounts_, amount, &amounts_)) amounts_ = UINT64_MAX;
  if (stack_.empty())
    sum_.add_outside(amount, 1);
  else
    sum_.add(stack_, amount, 1, comm);
  sum_.add_process(sample_->pid, comm, amount);
  sample_.reset();
  stack_.clear();
}

Result<void> PerfScriptReader::begin(const SampleLine& sample) {
  if (event_.empty()) event_ = sample.event;
  if (sample.event != event_)
    return fail(EINVAL, "it holds %.40s and %.40s; print one event: perf record -e EVENT", event_.c_str(),
                std::string(sample.event).c_str());
  if (has_periods_.value_or(sample.period.has_value()) != sample.period.has_value())
    return fail(EINVAL, "line %zu: some samples have a period and some have none", lines_.number());
  has_periods_ = sample.period.has_value();
  if (sample.period) period_ = period_.value_or(*sample.period) == *sample.period ? *sample.period : 0;
  sample_ = sample;
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

/// The last line is not whole, or the last sample has no blank line behind it where others have one. Who
/// takes the file's end away takes whole lines: a line without its end may be whole.
bool PerfScriptReader::is_cut_off(std::string_view last) const {
  const bool flat = sample_ && !is_blank(sample_->rest);  // its only place stands in its own line
  const bool lacks_end = sample_ && have_blank_lines_ && !flat;
  if (text_.ends_with('\n') || last.empty()) return lacks_end;
  const std::optional<SampleLine> sample = parse_sample(last);
  const std::string_view frame = sample ? sample->rest : last;
  return is_blank(frame) ? lacks_end : !parse_frame(frame);
}

/// perf's clocks count nanoseconds. Without periods nothing says how much a sample is.
ImportedUnit PerfScriptReader::unit() const {
  const bool clock = event_ == "cpu-clock" || event_ == "task-clock";
  if (!has_periods_.value_or(false)) return {.event = "samples", .period = 1};
  return {.cpu_time = clock, .event = event_, .period = period_.value_or(0)};
}

Result<Profile> PerfScriptReader::run() {
  std::string_view last;
  for (std::string_view line; lines_.next(&line);) {
    if (line.empty()) {
      have_blank_lines_ = have_blank_lines_ || sample_;
      finish();
      continue;
    }
    if (line[0] == '#') continue;
    if (const std::string_view record = record_of(line); !record.empty()) {
      apply(record);
      continue;
    }
    last = line;
    if (const std::optional<SampleLine> sample = parse_sample(line)) {
      finish();
      if (auto begun = begin(*sample); !begun) return std::unexpected(begun.error());
      line = sample->rest;
    }
    if (sample_ && !add_frame(line)) return fail(EFBIG, "it has more than 10,000,000 rows");
  }
  Profile profile;
  profile.engine = "perf";
  if (is_cut_off(last)) profile.damage.emplace_back("its last sample is cut off, and others may be missing");
  finish();
  add_lost();
  profile.throttled = throttled_;
  return sum_.take(unit(), std::move(profile));
}

}  // namespace

bool is_perf_script(std::string_view text) {
  LineReader lines(text);
  size_t seen = 0;
  for (std::string_view line; seen < kFirstLines && lines.next(&line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.find('\0') != std::string_view::npos) return false;
    if (line.size() < 4096 && parse_sample(line)) return true;
    ++seen;
  }
  return false;
}

Result<Profile> import_perf_script(std::string_view text, const std::string& name, ImportedNames* names) {
  return PerfScriptReader(text, name, names).run();
}

}  // namespace pctally
