#include <errno.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "import/formats.h"
#include "import/lines.h"
#include "import/stack_sum.h"

namespace pctally {
namespace {

struct FoldedLine {
  std::string_view stack;
  uint64_t count = 0;
  bool negative = false;  ///< as differences of profiles have it
  /// "stack 4 7", a count before and one after, as difffolded.pl writes. A name may end in a number, too.
  bool two_counts = false;
};

std::optional<FoldedLine> parse(std::string_view line) {
  const size_t blank = line.rfind(' ');
  FoldedLine parsed;
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  parsed.negative = line.substr(blank + 1).starts_with('-');
  const std::string_view number = line.substr(blank + (parsed.negative ? 2 : 1));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), parsed.count);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  parsed.stack = line.substr(0, blank);
  const std::string_view before = parsed.stack.substr(parsed.stack.rfind(' ') + 1);
  parsed.two_counts = before.size() < parsed.stack.size() && !before.empty() &&
                      before.find_first_not_of("0123456789") == std::string_view::npos;
  return parsed;
}

/// Not so a frame: "#<Class:Foo>#run;bar 5" of Ruby.
bool is_comment(std::string_view line) {
  return line.starts_with("# ") || (line.starts_with('#') && !parse(line));
}

/// Whether each line has two counts, as a difference of two profiles has: then no stack has two lines. Where
/// two lines differ in the first number alone ("worker 1", "worker 2"), it belongs to the name.
class TwoCounts {
 public:
  void add(const FoldedLine& line) {
    if (!possible_) return;
    const std::string_view stack = line.stack.substr(0, line.stack.rfind(' '));
    possible_ = line.two_counts && stacks_.insert(stack).second;
    if (!possible_) stacks_ = {};
  }
  [[nodiscard]] bool found() const { return possible_ && !stacks_.empty(); }

 private:
  bool possible_ = true;
  std::set<std::string_view> stacks_;
};

/// Innermost first.
std::vector<std::string_view> frames_of(std::string_view stack) {
  std::vector<std::string_view> frames;
  for (size_t start = 0; start <= stack.size();) {
    const size_t end = std::min(stack.find(';', start), stack.size());
    if (end > start) frames.push_back(stack.substr(start, end - start));
    start = end + 1;
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace

bool is_folded(std::string_view text) {
  LineReader lines(text);
  bool stacks = false;
  size_t seen = 0;
  for (std::string_view line; seen < kFirstLines && lines.next(&line);) {
    if (line.empty() || is_comment(line)) continue;
    if (line.find('\0') != std::string_view::npos || !parse(line)) return false;
    stacks = stacks || line.find(';') != std::string_view::npos;
    ++seen;
  }
  return stacks;
}

/// Nothing says what is counted: the profile is of "samples".
Result<Profile> import_folded(std::string_view text, const std::string& name, ImportedNames* names) {
  StackSum sum(names, name);
  const uint32_t object = sum.named_object(kNoObject);
  std::vector<ImportedPlace> stack;
  LineReader lines(text);
  TwoCounts two_counts;
  for (std::string_view line; lines.next(&line);) {
    if (line.empty() || is_comment(line)) continue;
    const std::optional<FoldedLine> parsed = parse(line);
    if (!parsed)
      return fail(EINVAL, "line %zu is not \"stack count\"; a folded profile has one a line", lines.number());
    if (parsed->negative)
      return fail(EINVAL, "line %zu counts less than nothing: differences of profiles are not read",
                  lines.number());
    two_counts.add(*parsed);
    stack.clear();
    for (const std::string_view frame : frames_of(parsed->stack))
      stack.push_back(sum.place(object, {{std::string(frame), "", 0}}));
    if (!sum.add_rows(stack.size() + 1)) return fail(EFBIG, "it has more than 10,000,000 frames");
    if (stack.empty())
      sum.add_outside(parsed->count, parsed->count);
    else
      sum.add(stack, parsed->count, parsed->count);
  }
  if (two_counts.found())
    return fail(EINVAL, "every line has two counts; compare two files: pctally diff OLD NEW");
  Profile profile;
  profile.engine = "folded";
  return sum.take({.event = "samples", .period = 1}, std::move(profile));
}

}  // namespace pctally
