// A source frame as compilers number it in their profiles: by line within the function, not within the file.
#pragma once
#include <cstdint>
#include <string>

namespace pctally {

struct CompilerFrame {
  std::string linkage;         ///< the function's symbol; empty if it has no name
  uint32_t line = 0;           ///< 0 if unknown
  uint32_t start_line = 0;     ///< where the function is declared; 0 if unknown
  uint32_t discriminator = 0;  ///< as DWARF has it: tells basic blocks of one line apart
};

}  // namespace pctally
