// A Report as one JSON object, described by docs/report.schema.json.
#pragma once
#include <span>
#include <string>

#include "report/print/json_value.h"
#include "report/rollup.h"

namespace pctally {

/// Version of the JSON object; raised when a key changes its meaning or goes.
inline constexpr int kJsonVersion = 1;

/// ASCII throughout, so that no name can steer a terminal; ends in a newline. Names are unabridged.
std::string json_report(const Profile& profile, const Report& report);

/// "note", "warning" or "incomplete".
const char* severity_word(Severity severity);

/// Adds "complete", whether nothing that ran is known to be missing, and "warnings".
void add_warnings(std::span<const Warning> given, Json* json);

/// In seconds; null where ticks are not CPU time.
Json time_json(const Profile& profile, int64_t nanoseconds);

}  // namespace pctally
