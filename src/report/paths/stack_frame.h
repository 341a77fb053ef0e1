// A function as it is on a stack.
#pragma once
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "report/names/object_names.h"
#include "report/names/shown_names.h"

namespace pctally {

/// A real one, or one that was inlined.
struct StackFrame {
  std::string function;  ///< full name
  std::string linkage;
  std::string object;
  std::string file;  ///< of the call, or, of the innermost frame, empty
  uint32_t line = 0;
  bool inlined = false;
  std::string short_name{};  ///< as of short_names() for all functions of the paths
  std::string table_name{};  ///< its short name in a table, which has no inlined ones; empty: the same
  uint64_t address = 0;      ///< where it starts, if its object has several functions of its full name
  std::string
      declared{};  ///< the file and line that declare it, where inlined functions of its full name differ
  bool in_several_objects = false;  ///< a function of another object is called the same
  uint32_t start_line = 0;          ///< as of Frame
};

/// What stands in a path and is no function: "(outermost)", "[lost]".
StackFrame frame_called(const char* name);

/// Identifies a frame's function: object, full name, address, declaration.
using StackFunction = std::tuple<std::string, std::string, uint64_t, std::string>;
inline auto function_of(const StackFrame& frame) {
  return std::tie(frame.object, frame.function, frame.address, frame.declared);
}

/// The frame's name, for where its object stands beside it.
std::string shown_name(NameStyle style, const StackFrame& frame);

/// The frame's name by itself: "work (a.out)" where several objects have a function of that name.
std::string name_with_object(NameStyle style, const StackFrame& frame);

/// The frames at a place, outermost first. `symbol` names the function whose code it is: debug information
/// may not know it, or by another name. `inlined`: what debug information says of the place, innermost first;
/// may be empty.
std::vector<StackFrame> stack_frames(uint32_t executable, NamedRange symbol, std::vector<Frame> inlined,
                                     const ObjectNames& names);

/// File and line that declare the function; empty if they are not known, or if no other function of the
/// object can have its name.
std::string declaration_of(const Frame& frame);

}  // namespace pctally
