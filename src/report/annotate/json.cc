#include <fmt/format.h>

#include <numeric>

#include "report/annotate/output.h"
#include "report/json.h"
#include "report/print/escape.h"
#include "report/print/json_value.h"

namespace pctally {
namespace {

constexpr int kAnnotationVersion = 1;

void add_ticks(const TickShare& ticks, Json* json) {
  (*json)["ticks"] = ticks.ticks;
  (*json)["share"] = ticks.share;
  (*json)["low"] = ticks.interval.low;
  (*json)["high"] = ticks.interval.high;
}

void add_total(const MeasuredTotal& total, Json* json) {
  (*json)["total_ticks"] = total.ticks.low;
  (*json)["total"] = total.share;
  (*json)["total_low"] = total.interval.low;
  (*json)["total_high"] = total.interval.high;
}

Json frame_json(const Frame& frame) {
  return {{"function", valid_utf8(frame.function)}, {"file", valid_utf8(frame.file)}, {"line", frame.line}};
}

Json instruction_json(Annotator& annotator, size_t index, const std::vector<Frame>& frames) {
  const AnnotatedInstruction& row = annotator.annotation().instructions[index];
  const InstructionText text = annotator.text(index);
  Json json = {{"address", row.instruction.address},
               {"length", row.instruction.length},
               {"mnemonic", text.mnemonic},
               {"operands", text.operands}};
  if (text.memory != 0) json["memory"] = text.memory;
  if (row.instruction.target != 0) {
    json["target"] = row.instruction.target;
    json["target_name"] = valid_utf8(annotator.target_name(index));
  }
  add_ticks(row.ticks, &json);
  Json& chain = json["frames"] = Json::array();
  for (const Frame& frame : frames) chain.push_back(frame_json(frame));
  return json;
}

}  // namespace

std::string annotation_json(const Profile& profile, Annotator& annotator, SourceFiles& sources) {
  const Annotation& annotation = annotator.annotation();
  const NamedRange& range = annotation.function->range;
  Json json = {{"version", kAnnotationVersion},
               {"function", valid_utf8(range.function)},
               {"short", valid_utf8(annotation.function->short_name)},
               {"linkage", valid_utf8(range.linkage.empty() ? range.function : range.linkage)},
               {"object", valid_utf8(annotation.function->object)},
               {"all_ticks", profile.ledger.ticks()},
               {"problem", valid_utf8(annotation.problem)}};
  add_ticks(annotation.ticks, &json);
  if (annotation.with_totals) add_total(annotation.total, &json);
  add_warnings(warnings_of(profile), &json);
  Json& lines = json["lines"] = Json::array();
  for (const AnnotatedLine& line : annotation.lines) {
    Json entry = {{"file", valid_utf8(line.file)}, {"line", line.line}};
    if (line.line != 0) entry["source"] = valid_utf8(sources.line(line.file, line.line));
    add_ticks(line.ticks, &entry);
    if (annotation.with_totals) add_total(line.total, &entry);
    lines.push_back(std::move(entry));
  }
  Json& changed = json["changed_sources"] = Json::array();
  for (const std::string& file : annotation.files)
    if (const SourceChange change = annotator.change_of_source(file, sources); change != SourceChange::kNone)
      changed.push_back(
          {{"file", valid_utf8(file)}, {"change", change == SourceChange::kNewer ? "newer" : "differs"}});
  std::vector<size_t> indices(annotation.instructions.size());
  std::iota(indices.begin(), indices.end(), size_t{0});
  const std::vector<std::vector<Frame>> frames = annotator.frames(indices);
  annotator.find_targets(indices);
  Json& rows = json["instructions"] = Json::array();
  for (size_t index : indices) rows.push_back(instruction_json(annotator, index, frames[index]));
  return json.dump(1) + "\n";
}

}  // namespace pctally
