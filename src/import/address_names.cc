#include "import/address_names.h"

#include <errno.h>

#include <algorithm>
#include <charconv>

#include "import/lines.h"
#include "import/stack_sum.h"

namespace pctally {
namespace {

constexpr std::string_view kHead = "--- symbol\n", kProfile = "\n--- profile\n",
                           kProgram = "binary=", kAddress = "0x", kSeparator = "--",
                           kDecrement = "operator--";

/// "main<0000000000401040>": where the function begins.
std::string_view without_start(std::string_view name) {
  const size_t at = name.rfind('<');
  const bool is_start = at != name.npos && at + 18 == name.size() && name.ends_with('>') &&
                        name.find_first_not_of("0123456789abcdef", at + 1) == name.size() - 1;
  return is_start ? name.substr(0, at) : name;
}

/// Behind the name of the outermost function.
size_t end_of_name(std::string_view names) {
  size_t from = 0;
  const size_t decrement = names.find(kDecrement);
  if (decrement != names.npos && names.find(kSeparator) > decrement) from = decrement + kDecrement.size();
  return std::min(names.find(kSeparator, from), names.size());
}

/// "main--inlined there"
std::vector<Frame> parse_frames(std::string_view names) {
  std::vector<Frame> frames;
  while (!names.empty()) {
    const size_t end = end_of_name(names);
    Frame frame;
    frame.function = without_start(names.substr(0, end));
    if (!frame.function.empty()) frames.push_back(std::move(frame));
    names.remove_prefix(std::min(end + kSeparator.size(), names.size()));
  }
  std::ranges::reverse(frames);
  return frames;
}

}  // namespace

std::optional<size_t> end_of_address_names(std::string_view file) {
  if (!file.starts_with(kHead)) return std::nullopt;
  const size_t at = file.find(kProfile);
  if (at == file.npos) return std::nullopt;
  return at + kProfile.size();
}

Result<AddressNames> parse_address_names(std::string_view text) {
  AddressNames names;
  uint64_t rows = 0;
  LineReader lines(text);
  for (std::string_view line; lines.next(&line);) {
    if (line.starts_with(kProgram)) names.program = line.substr(kProgram.size());
    if (!line.starts_with(kAddress)) continue;
    uint64_t address = 0;
    const auto part = std::from_chars(line.data() + kAddress.size(), line.data() + line.size(), address, 16);
    if (part.ec != std::errc() || part.ptr == line.data() + line.size() || *part.ptr != ' ') continue;
    line.remove_prefix(static_cast<size_t>(part.ptr + 1 - line.data()));
    std::vector<Frame> frames = parse_frames(line);
    rows += frames.size();
    if (rows > kMostImportedRows) return fail(EFBIG, "it has more than 10,000,000 rows");
    if (!frames.empty()) names.frames.emplace(address, std::move(frames));
  }
  return names;
}

}  // namespace pctally
