#include "report/paths/stack_frame.h"

#include <fmt/format.h>

#include "report/names/own_files.h"
#include "report/path_totals.h"

namespace pctally {

namespace {

/// Whether several units may have functions of that name: static ones, and those in anonymous namespaces.
bool may_be_of_one_unit(const Frame& frame) {
  return frame.linkage.starts_with("_ZL") || frame.linkage.find("_GLOBAL__N_") != std::string::npos ||
         !frame.linkage.starts_with("_Z");
}

}  // namespace

std::string declaration_of(const Frame& frame) {
  if (frame.start_line == 0 || frame.file.empty() || !may_be_of_one_unit(frame)) return {};
  return fmt::format("{}:{}", normal_path(frame.file), frame.start_line);
}

StackFrame frame_called(const char* name) {
  StackFrame frame;
  frame.function = name;
  return frame;
}

std::string shown_name(NameStyle style, const StackFrame& frame) {
  return shown_name(style, frame.short_name, frame.function, frame.linkage);
}

std::string name_with_object(NameStyle style, const StackFrame& frame) {
  const std::string name = shown_name(style, frame);
  return frame.in_several_objects ? fmt::format("{} ({})", name, frame.object) : name;
}

std::vector<StackFrame> stack_frames(uint32_t executable, NamedRange symbol, std::vector<Frame> inlined,
                                     const ObjectNames& names) {
  const uint64_t address = table_address(names, executable, symbol);
  if (inlined.empty()) inlined.emplace_back();
  inlined.back().function = std::move(symbol.function);
  inlined.back().linkage = std::move(symbol.linkage);
  std::vector<StackFrame> frames;
  for (size_t k = inlined.size(); k-- > 0;) {
    Frame& frame = inlined[k];
    std::string declared = declaration_of(frame);
    frames.push_back({std::move(frame.function), std::move(frame.linkage), names.shown(executable),
                      std::move(frame.file), frame.line, k + 1 != inlined.size()});
    frames.back().start_line = frame.start_line;
    frames.back().declared = std::move(declared);
  }
  frames.front().address = address;
  return frames;
}

}  // namespace pctally
