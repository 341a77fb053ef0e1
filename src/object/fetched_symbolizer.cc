#include "object/fetched_symbolizer.h"

#include <algorithm>
#include <cerrno>

namespace pctally {
namespace {

bool is_unnamed(const NamedRange& range) { return range.function.empty() || range.function[0] == '['; }

}  // namespace

const std::string& FetchedSymbolizer::problem() const {
  if (fetched_) return fetched_->problem();
  return problem_.empty() ? here_->problem() : problem_;
}

const std::string& FetchedSymbolizer::line_problem() const {
  if (fetched_) return fetched_->line_problem();
  return line_problem_.empty() ? here_->line_problem() : line_problem_;
}

/// False if there is nothing more to read than what is here: then *problem says why, after `missing`, what is
/// known of it here.
bool FetchedSymbolizer::fetch(const std::string& missing, std::string* problem) {
  if (!asked_ && identity_.kind == ExecutableIdentity::Kind::kFile && !identity_.build_id.empty()) {
    const Result<std::string> path = servers_.debug_information(identity_.build_id, object_name());
    if (path)
      fetched_ = std::make_unique<WorkerSymbolizer>(identity_, *path);
    else
      failure_ = path.error().text;
  }
  asked_ = true;
  if (!failure_.empty()) *problem = missing.empty() ? failure_ : missing + "; " + failure_;
  return fetched_ != nullptr;
}

std::vector<NamedRange> FetchedSymbolizer::find_names(std::span<const uint64_t> positions) {
  std::vector<NamedRange> names = here_->name(positions);
  if (std::ranges::none_of(names, is_unnamed) || !fetch(here_->problem(), &problem_)) return names;
  std::vector<uint64_t> asked;
  for (size_t i = 0; i < names.size(); ++i)
    if (is_unnamed(names[i])) asked.push_back(positions[i]);
  std::vector<NamedRange> found = fetched_->name(asked);
  auto next = found.begin();
  for (NamedRange& range : names)
    if (is_unnamed(range)) {
      if (!is_unnamed(*next)) range = std::move(*next);
      ++next;
    }
  return names;
}

/// Text without lines in an object that has some stays so: a server has no more.
std::vector<std::vector<Frame>> FetchedSymbolizer::find_frames(std::span<const uint64_t> positions) {
  std::vector<std::vector<Frame>> frames = here_->frames(positions);
  const bool some = std::ranges::any_of(frames, [](const auto& chain) { return !chain.empty(); });
  if (some || positions.empty() || !fetch(here_->line_problem(), &line_problem_)) return frames;
  return fetched_->frames(positions);
}

SourceDigests FetchedSymbolizer::digests(std::span<const uint64_t> positions) {
  SourceDigests digests = here_->digests(positions);
  return digests.empty() && fetched_ ? fetched_->digests(positions) : digests;
}

}  // namespace pctally
