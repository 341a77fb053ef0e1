// The report of gperf: counters become functions, and lines of 65 columns.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tool/gperf/transfer.h"

namespace pctally {

enum class GperfUnit { kPercent, kCounts, kTime };

/// Executable memory of a program, with what it takes to name an address in it.
struct GperfMapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  std::string path;
  bool is_file = false;
  std::vector<uint8_t> build_id{};  ///< as the process has it in memory; empty: none
};

/// The mappings of a living process, ascending; that of the program itself has the path `a_out`. Empty if
/// they may not be read.
std::vector<GperfMapping> gperf_mappings(pid_t pid, const std::string& a_out);

struct GperfRow {
  uint64_t address = 0;  ///< of the function, in the process
  std::string name;
  uint64_t count = 0;
};

/// Functions with ticks, in the order of their addresses. A file that names nothing, such as one with another
/// build id, is reported on standard error.
std::vector<GperfRow> gperf_rows(const GperfCounts& counts, const std::vector<GperfMapping>& mappings);

/// Functions (and other labels of text) in the symbol table of an executable.
Result<size_t> count_text_symbols(const std::string& a_out);

struct GperfLayout {
  GperfUnit unit = GperfUnit::kPercent;
  double threshold = 0;  ///< in percent, or in counts with kCounts: rows below it are left out
  size_t text_symbols = 0;
};

std::string gperf_report(const GperfCounts& counts, const std::vector<GperfRow>& rows,
                         const GperfLayout& layout);

}  // namespace pctally
