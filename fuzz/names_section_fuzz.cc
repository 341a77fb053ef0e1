// libFuzzer target: any bytes as the names section of a profile file. What must hold: it ends, and every name
// asked for is one that the section can hold.
#include <cstdlib>

#include "names/kept_names.h"
#include "names/kept_symbolizer.h"

using namespace pctally;

namespace {

class NoExecutable : public Symbolizer {
 public:
  [[nodiscard]] const std::string& object_name() const override { return none_; }
  [[nodiscard]] const std::string& problem() const override { return none_; }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    return std::vector<NamedRange>(positions.size());
  }
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    return std::vector<std::vector<Frame>>(positions.size());
  }

 private:
  std::string none_;
};

void look_up(const NamesSection& section, uint32_t object) {
  KeptSymbolizer names({}, {{&section, object}},
                       [](const ExecutableIdentity&) { return std::make_unique<NoExecutable>(); });
  size_t looked = 0;
  for (const NamesRange& range : section.ranges(object)) {
    if (++looked > 64) break;
    const std::vector<uint64_t> positions{range.first_hit, range.last_hit, range.end};
    const std::vector<NamedRange> found = names.name(positions);
    if (found[0].function != section.text(range.name) && range.name.bytes != 0) abort();
    (void)names.frames(positions);
    (void)names.code(range.start, range.end);
    (void)names.position(range.address);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  KeptNames names;
  const bool kept = names.add({data, data + size}).has_value();
  const auto section = NamesSection::parse({data, data + size});
  if (section.has_value() != kept) abort();
  if (!section) return 0;
  for (uint32_t object = 0; object < section->objects().size() && object < 16; ++object)
    look_up(*section, object);
  for (const NamesSource& source : section->sources())
    if (section->text(source.text).size() > size) abort();
  return 0;
}
