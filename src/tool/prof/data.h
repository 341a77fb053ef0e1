// Reads the input of pctally prof: mon.out, gmon.out or a profile of pctally; their first bytes say which.
#pragma once
#include <string>
#include <vector>

#include "monfile/read/text_histogram.h"
#include "object/elf/elf_file.h"
#include "report/prof/prof_listing.h"

namespace pctally {

struct ProfData {
  TextProfile text;                      ///< in the a.out
  std::vector<ProfElsewhere> elsewhere;  ///< in libraries and the kernel, or not counted; only profiles know
  std::vector<std::string> damage{};     ///< as Profile::damage
};

/// Errors name the path.
Result<ProfData> read_prof_data(const std::string& path, const ElfFile& a_out);

}  // namespace pctally
