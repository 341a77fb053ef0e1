#include <errno.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "export/formats.h"
#include "export/llvm/control_flow.h"
#include "export/llvm/sample_tree.h"
#include "object/compiler_places.h"
#include "report/account/account.h"
#include "report/annotate/disassembler.h"
#include "report/annotate/find_function.h"

namespace pctally {
namespace {

constexpr double kScale = 1000;  ///< of ticks per instruction, so that they are whole numbers
constexpr double kLeastPlaced = 0.95;

/// The instructions that ran equally often.
struct Class {
  uint64_t ticks = 0;
  uint64_t instructions = 0;

  [[nodiscard]] uint64_t count(uint64_t least_ticks) const {
    const auto all = static_cast<double>(std::max(ticks, least_ticks));
    return instructions == 0
               ? 0
               : static_cast<uint64_t>(std::llround(kScale * all / static_cast<double>(instructions)));
  }
};

/// One function of the machine code into the tree.
class FunctionSamples {
 public:
  FunctionSamples(const HotFunction& function, const Disassembler& code, CompilerPlaces& places)
      : function_(function),
        instructions_(code.instructions()),
        class_of_(equally_often(instructions_)),
        classes_(class_of_.empty() ? 0 : *std::ranges::max_element(class_of_) + 1) {
    std::vector<uint64_t> addresses;
    for (const Instruction& instruction : instructions_) addresses.push_back(instruction.address);
    frames_ = places.frames(addresses);
    for (size_t i = 0; i < instructions_.size(); ++i)
      if (!instructions_[i].is_nop) ++classes_[class_of_[i]].instructions;
    add_ticks(code.code().address);
  }

  /// The ticks that were on instructions of it; none if debug information has none of its lines. Compilers
  /// give part of the code no line at all: ticks there still count for their class.
  uint64_t add_to(SampleTree* tree) {
    bool has_lines = false;
    for (size_t i = 0; i < instructions_.size(); ++i) {
      if (frames_[i].empty() || instructions_[i].is_nop) continue;
      has_lines = tree->add(frames_[i], classes_[class_of_[i]].count(0)) || has_lines;
    }
    if (!has_lines) return 0;
    // Called, or its time would not be here: a tick at least, even where none fell on its first lines.
    if (!frames_[0].empty()) tree->entered(frames_[0].back().linkage, classes_[0].count(1));
    uint64_t ticks = 0;
    for (const Class& own : classes_) ticks += own.ticks;
    return ticks;
  }

 private:
  /// A tick inside of an instruction is of other code than this, and stays out.
  void add_ticks(uint64_t start) {
    for (size_t i = 0; i < function_.positions.size(); ++i) {
      const uint64_t address = start + (function_.positions[i] - function_.range.start);
      const auto at = std::ranges::lower_bound(instructions_, address, {}, &Instruction::address);
      if (at != instructions_.end() && at->address == address)
        classes_[class_of_[at - instructions_.begin()]].ticks += function_.position_ticks[i];
    }
  }

  const HotFunction& function_;
  std::vector<Instruction> instructions_;
  std::vector<uint32_t> class_of_;
  std::vector<Class> classes_;
  std::vector<std::vector<CompilerFrame>> frames_;
};

Result<void> check_event(const Profile& profile) {
  if (profile.counts_cpu_time()) return {};
  return fail(EINVAL, "a compiler profile is made of CPU time, and this one of %s", profile.event.c_str());
}

/// With the ticks of this object alone, so that no other is read.
Profile of_object(Profile profile, uint32_t executable) {
  std::erase_if(profile.positions,
                [&](const WeightedPosition& position) { return position.executable != executable; });
  return profile;
}

Result<void> check_placed(const LlvmProfile& made, const Profile& profile, const Symbolizer& symbolizer,
                          const std::string& path) {
  if (made.placed != 0 && static_cast<double>(made.placed) >= kLeastPlaced * static_cast<double>(made.ticks))
    return {};
  if (made.placed == 0 && !symbolizer.code_problem().empty())
    return fail(EINVAL, "%s: %s", path.c_str(), symbolizer.code_problem().c_str());
  return fail(EINVAL, "only %s of %s have lines; compile all of it with -g -fdebug-info-for-profiling",
              part_of_ticks(profile, made.placed, made.ticks).c_str(), path.c_str());
}

}  // namespace

Result<LlvmProfile> llvm_export(const Profile& profile, uint32_t executable, const OpenSymbolizer& open) {
  if (const auto checked = check_event(profile); !checked) return std::unexpected(checked.error());
  const Executable& object = profile.executables[executable];
  auto places = CompilerPlaces::open(object.path, object.build_id);
  if (!places) return std::unexpected(places.error());
  const Profile own = of_object(profile, executable);
  ObjectNames names(own, open);
  Symbolizer& symbolizer = names.symbolizer(executable);
  SampleTree tree;
  LlvmProfile result;
  for (const HotFunction& function : hot_functions(own, names)) {
    if (function.range.function.ends_with("@plt"))
      continue;  // the linker's own code: no compiler has its lines
    result.ticks += function.ticks;
    if (function.is_whole_object()) continue;
    const Disassembler code(symbolizer.code(function.range.start, function.range.end), Syntax::kAtt);
    if (code.readable()) result.placed += FunctionSamples(function, code, **places).add_to(&tree);
  }
  if (const auto checked = check_placed(result, own, symbolizer, object.path); !checked)
    return std::unexpected(checked.error());
  result.text = tree.text();
  return result;
}

}  // namespace pctally
