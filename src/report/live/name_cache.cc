#include "report/live/name_cache.h"

#include <unordered_map>

namespace pctally {

/// One object's symbolizer and all it has ever answered.
class CachedNames {
 public:
  explicit CachedNames(std::unique_ptr<Symbolizer> source) : source_(std::move(source)) {}

  Symbolizer& source() { return *source_; }
  std::vector<NamedRange> name(std::span<const uint64_t> positions) {
    return look_up(positions, &names_,
                   [this](std::span<const uint64_t> asked) { return source_->name(asked); });
  }
  std::vector<std::vector<Frame>> frames(std::span<const uint64_t> positions) {
    return look_up(positions, &frames_,
                   [this](std::span<const uint64_t> asked) { return source_->frames(asked); });
  }

 private:
  template <class Answer, class Ask>
  static std::vector<Answer> look_up(std::span<const uint64_t> positions,
                                     std::unordered_map<uint64_t, Answer>* known, Ask ask) {
    std::vector<uint64_t> missing;
    for (uint64_t position : positions)
      if (!known->contains(position)) missing.push_back(position);
    if (!missing.empty()) {
      std::vector<Answer> answers = ask(missing);
      for (size_t i = 0; i < missing.size(); ++i) known->emplace(missing[i], std::move(answers[i]));
    }
    std::vector<Answer> result;
    result.reserve(positions.size());
    for (uint64_t position : positions) result.push_back(known->at(position));
    return result;
  }

  std::unique_ptr<Symbolizer> source_;
  std::unordered_map<uint64_t, NamedRange> names_;
  std::unordered_map<uint64_t, std::vector<Frame>> frames_;
};

namespace {

class Borrowed : public Symbolizer {
 public:
  explicit Borrowed(CachedNames& names) : names_(names) {}
  [[nodiscard]] const std::string& object_name() const override { return names_.source().object_name(); }
  [[nodiscard]] const std::string& problem() const override { return names_.source().problem(); }
  [[nodiscard]] const std::string& line_problem() const override { return names_.source().line_problem(); }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    return names_.name(positions);
  }
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    return names_.frames(positions);
  }

 private:
  CachedNames& names_;
};

}  // namespace

NameCache::NameCache(OpenSymbolizer open) : open_(std::move(open)) {}
NameCache::~NameCache() = default;

std::unique_ptr<Symbolizer> NameCache::open(const ExecutableIdentity& identity) {
  if (identity.kind == ExecutableIdentity::Kind::kPrivate) return open_(identity);
  std::unique_ptr<CachedNames>& names = known_[identity];
  if (names == nullptr) names = std::make_unique<CachedNames>(open_(identity));
  return std::make_unique<Borrowed>(*names);
}

}  // namespace pctally
