#include <errno.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "import/formats.h"
#include "import/lines.h"
#include "import/stack_sum.h"
#include "profile/path_cut.h"

namespace pctally {
namespace {

struct FoldedLine {
  std::string_view stack;
  uint64_t count = 0;
  bool negative = false;  ///< as differences of profiles have it
  bool fraction = false;  ///< the count is no whole number
  /// "stack 4 7", a count before and one after, as difffolded.pl writes. A name may end in a number, too.
  bool two_counts = false;
};

constexpr std::string_view kBlanks = " \t";

std::string_view without_blanks_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// Zeros behind the point are no part of the number.
std::string_view without_zeros(std::string_view number) {
  const size_t point = number.find('.');
  const bool whole = point != std::string_view::npos && point + 1 < number.size() &&
                     number.find_first_not_of('0', point + 1) == std::string_view::npos;
  return whole ? number.substr(0, point) : number;
}

/// "12.25": a point behind the first `before` digits, and digits behind it.
bool is_fraction(std::string_view number, size_t before) {
  return before != 0 && before + 1 < number.size() && number[before] == '.' &&
         number.find_first_not_of("0123456789", before + 1) == std::string_view::npos;
}

std::optional<FoldedLine> parse(std::string_view line) {
  line = without_blanks_behind(line);
  const size_t blank = line.find_last_of(kBlanks);
  FoldedLine parsed;
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  parsed.negative = line.substr(blank + 1).starts_with('-');
  const std::string_view number = without_zeros(line.substr(blank + (parsed.negative ? 2 : 1)));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), parsed.count);
  const auto digits = static_cast<size_t>(end - number.data());
  parsed.fraction = is_fraction(number, digits);
  if (error != std::errc() || (digits != number.size() && !parsed.fraction)) return std::nullopt;
  parsed.stack = without_blanks_behind(line.substr(0, blank));
  if (parsed.stack.empty()) return std::nullopt;
  const std::string_view before = parsed.stack.substr(parsed.stack.find_last_of(kBlanks) + 1);
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
    const std::string_view stack = line.stack.substr(0, line.stack.find_last_of(kBlanks));
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

/// Takes the frame of a cut out of a stack: we write it behind the program and, where it is known, the
/// thread, which are the outermost frames of all stacks. If it is the last frame, it stays: as what ran.
/// kComplete: it has none.
PathEnd take_cut(std::vector<std::string_view>* frames) {
  constexpr size_t kMostInFront = 2;
  for (size_t i = 0; i <= kMostInFront && i < frames->size(); ++i) {
    const auto frame = frames->end() - 1 - static_cast<ptrdiff_t>(i);
    const std::optional<PathEnd> cut = cut_named(*frame);
    if (!cut) continue;
    if (frame != frames->begin()) frames->erase(frame);
    return *cut;
  }
  return PathEnd::kComplete;
}

}  // namespace

/// Most of the first lines are stacks of several frames. Where all have one frame, the lines that follow
/// decide, up to the first that is no stack.
bool is_folded(std::string_view text) {
  LineReader lines(text);
  size_t seen = 0, several = 0, others = 0;
  for (std::string_view line; (seen < kFirstLines || (several + others == 0)) && lines.next(&line); ++seen) {
    if (line.find('\0') != std::string_view::npos) return false;
    if (line.empty() || is_comment(line)) continue;
    if (!parse(line))
      ++others;
    else if (line.find(';') != std::string_view::npos)
      ++several;
  }
  return several > others;
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
    if (parsed->fraction)
      return fail(EINVAL, "line %zu has a count that is no whole number; multiply the counts",
                  lines.number());
    two_counts.add(*parsed);
    stack.clear();
    std::vector<std::string_view> frames = frames_of(parsed->stack);
    const PathEnd end = take_cut(&frames);
    for (const std::string_view frame : frames)
      stack.push_back(sum.place(object, {{std::string(frame), "", 0}}));
    if (!sum.add_rows(stack.size() + 1)) return fail(EFBIG, "it has more than 10,000,000 frames");
    if (stack.empty())
      sum.add_outside(parsed->count, parsed->count);
    else
      sum.add(stack, parsed->count, parsed->count, PathScope{}, end);
  }
  if (two_counts.found())
    return fail(EINVAL,
                "every line has two counts; write pctally diff OLD NEW; if one is of a name: a;f_5 7");
  Profile profile;
  profile.engine = "folded";
  return sum.take({.event = "samples", .period = 1}, std::move(profile));
}

}  // namespace pctally
