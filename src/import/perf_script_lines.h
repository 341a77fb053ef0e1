// What the lines of perf script's text say.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pctally {

template <class Number>
bool parse_number(std::string_view text, Number* number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

/// "name 123 [001] 12.345678:   250000 cpu-clock:u:   addr symbol+0x1 (object)"; what follows the event only
/// where there are no callers.
struct SampleLine {
  std::string_view comm, event, rest;
  int32_t pid = 0;
  std::optional<uint64_t> period;
  bool user_code = false;  ///< the event does not count in the kernel: "cycles:u"
};

std::optional<SampleLine> parse_sample(std::string_view line);

/// Whether a line has a time and an event, as a sample has: also where it lacks the thread, and
/// parse_sample() cannot tell the name.
bool has_time_and_event(std::string_view line);

/// "55d0 symbol+0x1 (object)", a symbol being of any characters. perf prints no object for what was inlined,
/// and none at all where it was not asked for.
struct FrameLine {
  uint64_t address = 0;
  std::string_view symbol, object;
  bool inlined = false;  ///< says so: "55d0 symbol (inlined)"
};

/// A line of a stack. Lines of the source between them are none.
std::optional<FrameLine> parse_frame(std::string_view line);

/// Whether the line is behind a stack, in place of the blank line: " insn: 31 d0" and other data.
bool ends_stack(std::string_view line);

/// The only place of a sample without callers: what follows the event.
std::optional<FrameLine> parse_place(std::string_view rest);

/// "name 123 12.345678: PERF_RECORD_LOST lost 7", which options of perf script print between samples: what
/// stands behind the time.
std::string_view record_of(std::string_view line);

/// The next word, and the rest behind it.
std::string_view take_word(std::string_view* text);

bool is_blank(std::string_view text);

}  // namespace pctally
