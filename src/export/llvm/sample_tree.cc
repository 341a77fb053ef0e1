#include "export/llvm/sample_tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace pctally {
namespace {

/// The number in front: 0 in one bit, below 32 in seven, else in fourteen.
uint32_t front_number(uint32_t word) {
  if ((word & 1) != 0) return 0;
  word >>= 1;
  return (word & 0x20) != 0 ? ((word >> 1) & 0xfe0) | (word & 0x1f) : word & 0x1f;
}

uint32_t without_front(uint32_t word) {
  if ((word & 1) != 0) return word >> 1;
  return word >> ((word & 0x40) != 0 ? 14 : 7);
}

/// One line of the file is one name; in brackets it would be a calling context.
bool fits(std::string_view name) {
  constexpr auto kIsPlain = [](unsigned char c) { return c > ' ' && c != 0x7f; };
  return !name.empty() && name.front() != '[' && std::ranges::all_of(name, kIsPlain);
}

}  // namespace

uint32_t base_discriminator(uint32_t discriminator) { return front_number(discriminator); }

uint32_t duplication_factor(uint32_t discriminator) {
  return std::max(1U, front_number(without_front(discriminator)));
}

std::string_view source_name(std::string_view linkage) {
  for (std::string_view mark : {".llvm.", ".cold", ".part.", ".constprop.", ".isra.", ".__uniq."})
    if (const size_t at = linkage.find(mark); at != std::string_view::npos && at != 0)
      linkage = linkage.substr(0, at);
  return linkage;
}

SampleTree::Place SampleTree::place_of(const CompilerFrame& frame) {
  return {(frame.line - frame.start_line) & 0xffff, base_discriminator(frame.discriminator)};
}

bool SampleTree::add(std::span<const CompilerFrame> frames, uint64_t count) {
  for (const CompilerFrame& frame : frames)
    if (frame.line == 0 || frame.start_line == 0 || !fits(source_name(frame.linkage))) return false;
  Function* function = &functions_[std::string(source_name(frames.back().linkage))];
  for (size_t i = frames.size() - 1; i > 0; --i)
    function = &function->inlined[place_of(frames[i])][std::string(source_name(frames[i - 1].linkage))];
  uint64_t& kept = function->counts[place_of(frames[0])];
  kept = std::max(kept, count * duplication_factor(frames[0].discriminator));
  return true;
}

void SampleTree::entered(std::string_view linkage, uint64_t count) {
  const auto found = functions_.find(source_name(linkage));
  if (found != functions_.end()) found->second.entered = std::max(found->second.entered, count);
}

uint64_t SampleTree::Function::total() const {
  uint64_t sum = 0;
  for (const auto& [place, count] : counts) sum += count;
  for (const auto& [place, functions] : inlined)
    for (const auto& [name, function] : functions) sum += function.total();
  return sum;
}

void SampleTree::Function::append_body(size_t depth, std::string* out) const {
  const auto place_text = [depth](const Place& place) {
    std::string text = fmt::format("{}{}", std::string(depth, ' '), place.offset);
    return place.discriminator == 0 ? text : fmt::format("{}.{}", text, place.discriminator);
  };
  for (const auto& [place, count] : counts) *out += fmt::format("{}: {}\n", place_text(place), count);
  for (const auto& [place, functions] : inlined) {
    for (const auto& [name, function] : functions) {
      *out += fmt::format("{}: {}:{}\n", place_text(place), name, function.total());
      function.append_body(depth + 1, out);
    }
  }
}

std::string SampleTree::text() const {
  std::string out;
  for (const auto& [name, function] : functions_) {
    out += fmt::format("{}:{}:{}\n", name, function.total(), function.entered);
    function.append_body(1, &out);
  }
  return out;
}

}  // namespace pctally
