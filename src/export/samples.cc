#include "export/samples.h"

#include "report/rollup.h"

namespace pctally {
namespace {

void add_executable(const ExecutableTicks& part, ObjectNames& names, bool lines,
                    std::vector<Sample>* samples) {
  Symbolizer& symbolizer = names.symbolizer(part.executable);
  std::vector<NamedRange> ranges = symbolizer.name(part.positions);
  ranges.resize(part.positions.size());
  std::vector<std::vector<Frame>> frames;
  if (lines) frames = symbolizer.frames(part.positions);
  frames.resize(part.positions.size());
  for (size_t i = 0; i < part.positions.size(); ++i) {
    Sample sample{part.executable, part.positions[i], part.ticks[i], std::move(frames[i])};
    if (sample.frames.empty()) sample.frames.push_back({});
    // The symbol names the function: debug information may not know it, or by another name.
    if (!ranges[i].function.empty()) {
      sample.frames.back().function = std::move(ranges[i].function);
      sample.frames.back().linkage = std::move(ranges[i].linkage);
    }
    samples->push_back(std::move(sample));
  }
}

void add_nowhere(const char* name, uint64_t ticks, std::vector<Sample>* samples) {
  if (ticks == 0) return;
  Sample sample;
  sample.ticks = ticks;
  sample.frames.push_back({name, "", 0});
  samples->push_back(std::move(sample));
}

/// Frames are named all at once, because look-alikes tell each other's names.
void shorten(Samples* samples) {
  std::vector<Frame*> frames;
  std::vector<FunctionName> functions;
  for (Sample& sample : samples->samples) {
    const bool placed = sample.executable != Sample::kNowhere;
    for (Frame& frame : sample.frames) {
      frames.push_back(&frame);
      functions.push_back({frame.function, frame.linkage, placed ? samples->objects[sample.executable] : ""});
    }
  }
  std::vector<std::string> names = short_names(functions);
  for (size_t i = 0; i < frames.size(); ++i) frames[i]->function = std::move(names[i]);
}

void rename(NameStyle style, Samples* samples) {
  if (style == NameStyle::kShort) shorten(samples);
  if (style != NameStyle::kLinkage) return;
  for (Sample& sample : samples->samples)
    for (Frame& frame : sample.frames)
      if (!frame.linkage.empty()) frame.function = frame.linkage;
}

}  // namespace

Samples samples_of(const Profile& profile, const OpenSymbolizer& open, bool lines, NameStyle style) {
  Samples result;
  ObjectNames names(profile, open);
  for_each_batch(profile,
                 [&](const ExecutableTicks& part) { add_executable(part, names, lines, &result.samples); });
  for (uint32_t i = 0; i < profile.executables.size(); ++i) result.objects.push_back(names.shown(i));
  add_nowhere("[outside]", profile.ledger.outside, &result.samples);
  add_nowhere("[full]", profile.ledger.full, &result.samples);
  add_nowhere("[lost]", profile.ledger.lost, &result.samples);
  rename(style, &result);
  return result;
}

ValueKind value_kind(const Profile& profile) {
  if (profile.counts_cpu_time()) return {"cpu", "nanoseconds"};
  return {profile.event, "count"};
}

}  // namespace pctally
