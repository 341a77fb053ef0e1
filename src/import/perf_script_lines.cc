#include "import/perf_script_lines.h"

#include <algorithm>

namespace pctally {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool is_time(std::string_view word) {
  const size_t dot = word.find('.');
  return word.ends_with(':') && dot != kNone && dot != 0 && dot + 2 < word.size() &&
         word.substr(0, word.size() - 1).find_first_not_of("0123456789.") == kNone;
}

/// "123/124" is process and thread. "123" may be either, by default the thread: then no process is known.
bool is_pid(std::string_view word, int32_t* pid) {
  const size_t slash = word.find('/');
  if (!parse_number(word.substr(0, slash), pid)) return false;
  if (slash == kNone) *pid = 0;
  return true;
}

bool are_modifiers(std::string_view text) { return text.find_first_not_of("ukhGHpPSDIWeb") == kNone; }

/// "cpu-clock:u" is cpu-clock. A tracepoint keeps its colon.
std::string_view without_modifiers(std::string_view event) {
  const size_t colon = event.rfind(':');
  return colon != kNone && are_modifiers(event.substr(colon + 1)) ? event.substr(0, colon) : event;
}

/// "cycles:u:", "cpu_core/cycles/Pu:" and "cpu_atom/cycles:u/:". perf adds the u where a plain user may not
/// count in the kernel.
bool is_of_user_code(std::string_view word) {
  word.remove_suffix(1);
  if (word.ends_with('/')) word.remove_suffix(1);
  const size_t mark = word.find_last_of(":/");
  if (mark == kNone || !are_modifiers(word.substr(mark + 1))) return false;
  return word.find('u', mark) != kNone && word.find('k', mark) == kNone;
}

/// perf opens an event once for each kind of core of a hybrid CPU: "cpu_core/cycles/P:",
/// "cpu_atom/cycles/P:".
std::string_view event_of(std::string_view word) {
  word.remove_suffix(1);
  word = without_modifiers(word);
  for (const std::string_view cores : {"cpu_core/", "cpu_atom/"}) {
    if (!word.starts_with(cores) || word.size() == cores.size()) continue;
    const std::string_view event = word.substr(cores.size());
    return without_modifiers(event.substr(0, event.rfind('/')));
  }
  return word;
}

/// What stands before the time: a name of any characters, the process, perhaps a CPU and flags.
bool parse_process(std::string_view before, SampleLine* sample) {
  while (!before.empty()) {
    before.remove_suffix(before.size() - std::min(before.find_last_not_of(' ') + 1, before.size()));
    const size_t blank = before.rfind(' ');
    const std::string_view word = before.substr(blank == kNone ? 0 : blank + 1);
    if (blank == kNone) return false;
    before.remove_suffix(word.size());
    if (word.empty() || !is_pid(word, &sample->pid)) continue;
    const size_t first = before.find_first_not_of(' ');
    if (first == kNone) return false;
    sample->comm = before.substr(first, before.find_last_not_of(' ') - first + 1);
    return true;
  }
  return false;
}

void trim(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(" \t"), text->size()));
  text->remove_suffix(text->size() - (text->find_last_not_of(" \t") + 1));
}

constexpr std::string_view kInlined = " (inlined)", kDeleted = " (deleted)";

/// The blank before the bracket that the end of `text` closes.
size_t closed_bracket(std::string_view text) {
  size_t depth = 1;
  for (size_t i = text.size(); i-- > 1;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return text[i - 1] == ' ' ? i - 1 : kNone;
  }
  return kNone;
}

/// Where " (object)" begins in "symbol (object)"; both may have blanks and brackets. Most objects are a path
/// or in square brackets.
size_t object_at(std::string_view line) {
  if (!line.ends_with(')')) return kNone;
  std::string_view text = line.substr(0, line.size() - 1);
  if (text.ends_with(kDeleted)) text.remove_suffix(kDeleted.size());
  const size_t closed = closed_bracket(text);
  const auto last = [text](std::string_view open) { return text.rfind(open); };
  const auto usual = [text](size_t at) {
    return text.substr(at).starts_with(" (/") || text.substr(at).starts_with(" ([");
  };
  if (closed != kNone && usual(closed)) return closed;
  for (const size_t at : {last(" (/"), last(" (["), closed, last(" (")})
    if (at != kNone) return at;
  return kNone;
}

/// Without "+0x1", as it stands behind symbols.
std::string_view without_offset(std::string_view name) {
  uint64_t offset = 0;
  const size_t plus = name.rfind("+0x");
  const bool has_offset = plus != kNone && plus != 0 && parse_number(name.substr(plus + 3), &offset, 16);
  return has_offset ? name.substr(0, plus) : name;
}

/// "55d0 symbol+0x1 (object)", the symbol with its offset.
std::optional<FrameLine> parse_address(std::string_view line) {
  FrameLine frame;
  if (!parse_number(take_word(&line), &frame.address, 16)) return std::nullopt;
  while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
  frame.inlined = line.ends_with(kInlined);
  if (frame.inlined) {
    line.remove_suffix(kInlined.size());
  } else if (const size_t at = object_at(line); at != kNone) {
    frame.object = without_offset(line.substr(at + 2, line.size() - at - 3));
    line = line.substr(0, at);
  }
  trim(&line);
  frame.symbol = line;
  return frame;
}

/// What perf prints of the event's data stands before the address: hexadecimal numbers, or such a number and
/// words, as "68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A".
void skip_data(FrameLine* frame) {
  bool in_words = false;
  std::string_view rest = frame->symbol;
  for (std::string_view word = take_word(&rest); !is_blank(rest); word = take_word(&rest)) {
    uint64_t number = 0;
    if (parse_number(word, &number, 16)) {
      in_words = false;
      frame->address = number;
      frame->symbol = rest;
    } else {
      in_words = in_words || word.starts_with('|');
      if (!in_words) break;
    }
  }
  if (in_words) frame->symbol = {};
  trim(&frame->symbol);
}

/// What perf prints of the registers, branches and instruction stands behind the place.
std::string_view without_data_behind(std::string_view line) {
  for (const std::string_view data : {" insn:", " ilen:", " ABI:", " 0x"})
    line = line.substr(0, line.find(data));
  return line;
}

/// "250000 cpu-clock:u:", the period perhaps.
bool take_event(std::string_view* text, SampleLine* sample) {
  std::string_view event = take_word(text);
  uint64_t period = 0;
  if (parse_number(event, &period)) {
    sample->period = period;
    event = take_word(text);
  }
  if (event.size() < 2 || !event.ends_with(':')) return false;
  sample->event = event_of(event);
  sample->user_code = is_of_user_code(event);
  return true;
}

}  // namespace

std::string_view take_word(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(" \t"), text->size()));
  const std::string_view word = text->substr(0, text->find_first_of(" \t"));
  text->remove_prefix(word.size());
  return word;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t") == kNone; }

std::optional<SampleLine> parse_sample(std::string_view line) {
  constexpr int kMostTimes = 16;  // a process may be called like one
  SampleLine sample;
  std::string_view rest = line;
  int times = 0;
  for (std::string_view word; !(word = take_word(&rest)).empty();) {
    if (!is_time(word)) continue;
    if (++times > kMostTimes) return std::nullopt;
    if (!parse_process(line.substr(0, static_cast<size_t>(word.data() - line.data())), &sample)) continue;
    if (!take_event(&rest, &sample)) return std::nullopt;
    sample.rest = rest;
    return sample;
  }
  return std::nullopt;
}

bool has_time_and_event(std::string_view line) {
  for (std::string_view word; !(word = take_word(&line)).empty();) {
    SampleLine sample;
    std::string_view rest = line;
    if (is_time(word) && take_event(&rest, &sample)) return true;
  }
  return false;
}

std::string_view record_of(std::string_view line) {
  if (line.find("PERF_RECORD_") == kNone) return {};
  for (std::string_view rest = line, word; !(word = take_word(&rest)).empty();) {
    std::string_view record = rest;
    if (is_time(word) && take_word(&record).starts_with("PERF_RECORD_"))
      return rest.substr(rest.find_first_not_of(" \t"));
  }
  return {};
}

/// perf indents frames by a tab and lines of the source by blanks. Where an editor has made blanks of all
/// tabs, only the object or the mark tells a frame.
std::optional<FrameLine> parse_frame(std::string_view line) {
  std::optional<FrameLine> frame = parse_address(line);
  if (!frame) return std::nullopt;
  if (!line.starts_with('\t') && frame->object.empty() && !frame->inlined) return std::nullopt;
  frame->symbol = without_offset(frame->symbol);
  return frame;
}

bool ends_stack(std::string_view line) { return line.size() > 1 && line[0] == ' ' && line[1] != ' '; }

std::optional<FrameLine> parse_place(std::string_view rest) {
  std::optional<FrameLine> frame = parse_address(without_data_behind(rest));
  if (frame) skip_data(&*frame);
  if (!frame || (frame->symbol.empty() && frame->object.empty())) return std::nullopt;
  frame->symbol = without_offset(frame->symbol);
  return frame;
}

}  // namespace pctally
