#include <map>
#include <tuple>

#include "export/formats.h"
#include "profile/command.h"
#include "report/print/escape.h"
#include "report/print/json_value.h"

namespace pctally {
namespace {

/// Each distinct frame once, in order of first use.
class FrameTable {
 public:
  size_t index_of(const Frame& frame) {
    auto [found, added] = known_.try_emplace({frame.function, frame.file, frame.line}, known_.size());
    if (added) {
      Json entry = {{"name", valid_utf8(frame.function)}};
      if (!frame.file.empty()) entry["file"] = valid_utf8(frame.file);
      if (frame.line != 0) entry["line"] = frame.line;
      frames_.push_back(std::move(entry));
    }
    return found->second;
  }
  Json take() { return std::move(frames_); }

 private:
  std::map<std::tuple<std::string, std::string, uint32_t>, size_t> known_;
  Json frames_ = Json::array();
};

}  // namespace

std::string speedscope_export(const Profile& profile, const Samples& samples) {
  FrameTable frames;
  Json stacks = Json::array(), weights = Json::array();
  uint64_t sum = 0;
  for (const Sample& sample : samples.samples) {
    Json stack = Json::array();
    const Location& place = samples.place_of(sample);
    if (!samples.with_callers && place.executable != Location::kNowhere)
      stack.push_back(frames.index_of({samples.objects[place.executable], "", 0}));
    for (size_t k = sample.stack.size(); k-- > 0;) {
      const std::vector<Frame>& own = samples.locations[sample.stack[k]].frames;
      for (size_t i = own.size(); i-- > 0;) stack.push_back(frames.index_of(own[i]));
    }
    stacks.push_back(std::move(stack));
    uint64_t weight = sample.ticks * profile.period_ns;
    weights.push_back(weight);
    sum += weight;
  }
  const std::string unit = value_kind(profile).unit;
  Json run = {{"type", "sampled"},
              {"name", valid_utf8(program_name(profile))},
              {"unit", unit == "nanoseconds" || unit == "bytes" ? unit : "none"},
              {"startValue", 0},
              {"endValue", sum},
              {"samples", std::move(stacks)},
              {"weights", std::move(weights)}};
  Json json = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
               {"exporter", "pctally"},
               {"shared", {{"frames", frames.take()}}},
               {"profiles", Json::array({std::move(run)})}};
  return json.dump(-1) + "\n";
}

}  // namespace pctally
