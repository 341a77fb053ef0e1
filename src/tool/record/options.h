// Parses the command line of pctally record.
#pragma once
#include <optional>

#include "recorder/recording.h"

namespace pctally {

struct RecordCommandLine {
  RecordOptions options;
  bool quiet = false;    ///< errors alone
  bool verbose = false;  ///< engine, rates and reasons too
};

/// An exit code if the command line ends here: help was printed, or it is wrong and a line says so.
std::optional<int> parse_record(int argc, char** argv, RecordCommandLine* line);

}  // namespace pctally
