#include "report/paths/namesakes.h"

#include <algorithm>

namespace pctally {

void Namesakes::add(const StackFrame& frame) {
  if (frame.address == 0 && frame.declared.empty()) return;
  Functions& functions = functions_[{frame.object, frame.function}];
  if (frame.address != 0) functions.starts.insert(frame.address);
  if (frame.declared.empty()) return;
  std::set<uint64_t>& starts = functions.declared[frame.declared];
  if (frame.address != 0) starts.insert(frame.address);
}

bool Namesakes::lacks_declaration(const StackFrame& frame) const {
  if (frame.address == 0 || !frame.declared.empty()) return false;
  const auto found = functions_.find({frame.object, frame.function});
  return found != functions_.end() && !found->second.declared.empty() &&
         std::ranges::none_of(found->second.declared,
                              [&](const auto& one) { return one.second.contains(frame.address); });
}

void Namesakes::keep_what_distinguishes(StackFrame* frame) const {
  const auto found = functions_.find({frame->object, frame->function});
  if (found == functions_.end()) return;
  const auto& [starts, declared] = found->second;
  if (declared.size() < 2) {
    frame->declared.clear();  // inlined or not, it is one function
    if (starts.size() == 1) frame->address = 0;
    return;
  }
  if (frame->address != 0) {
    const auto its =
        std::ranges::find_if(declared, [&](const auto& one) { return one.second.contains(frame->address); });
    if (its != declared.end()) frame->declared = its->first;
  } else if (const auto its = declared.find(frame->declared);
             its != declared.end() && its->second.size() == 1) {
    frame->address = *its->second.begin();
  }
}

StackFrame Namesakes::function(std::string object, std::string full, uint64_t address) const {
  StackFrame frame;
  frame.object = std::move(object);
  frame.function = std::move(full);
  frame.address = address;
  keep_what_distinguishes(&frame);
  return frame;
}

}  // namespace pctally
