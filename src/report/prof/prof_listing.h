// The listing of prof(1) of System V: %Time Seconds Cumsecs #Calls msec/call Name.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "report/prof/prof_functions.h"

namespace pctally {

enum class ProfOrder { kTime, kCalls, kAddress, kName };
enum class ProfAddress { kNone, kOctal, kHex };

struct ProfOptions {
  ProfOrder order = ProfOrder::kTime;
  ProfAddress address = ProfAddress::kNone;
  bool statics = false;  ///< a line for every static function; else their time is one line
  bool unused = false;   ///< also functions without time and calls
  bool header = true;
  double seconds_per_tick = 0.01;
};

/// Time that belongs to no function of the a.out.
struct ProfElsewhere {
  std::string label;
  double ticks = 0;
};

/// All lines, whose times add up to all ticks. Names pass through escaped().
std::string prof_listing(const ProfFunctions& functions, const std::vector<ProfElsewhere>& elsewhere,
                         const ProfOptions& options);

/// The lines of prof -s.
std::string prof_summary(const TextProfile& profile, const ProfFunctions& functions, double seconds_per_tick);

}  // namespace pctally
