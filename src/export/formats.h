// One writer a format. The ticks written are those of the ledger, in every format.
#pragma once
#include <string>

#include "base/result.h"
#include "export/samples.h"
#include "report/rollup.h"

namespace pctally {

/// profile.proto of google/pprof, gzip'd. Read by `go tool pprof`, speedscope, Grafana, and others.
std::string pprof_export(const Profile& profile, const Samples& samples);

/// A line for each place: "program;object;function;inlined function TICKS". What flamegraph.pl
/// and inferno read.
std::string folded_export(const Profile& profile, const Samples& samples);

/// The "sampled" profile of speedscope.app's JSON.
std::string speedscope_export(const Profile& profile, const Samples& samples);

/// Callgrind's format, version 1, with the event Ticks for each address and line: callgrind_annotate,
/// kcachegrind (which disassembles the objects), qcachegrind.
std::string callgrind_export(const Profile& profile, const Samples& samples);

/// RFC 4180, a row for each place: object, function, file, line, position, ticks, seconds.
std::string csv_export(const Profile& profile, const Samples& samples);

/// Firefox Profiler's processed profile: one thread, a sample for each stack with its ticks as weight. It has
/// no time line: times are numbers of samples.
std::string firefox_export(const Profile& profile, const Samples& samples);

/// perf.data: a sample for each place, or path, with its CPU time (or events) as period, in processes
/// that are called like the scopes. Read by perf-report(1), perf-script(1), hotspot. They look names up
/// in the files.
std::string perf_data_export(const Profile& profile, const Samples& samples);

/// A table for a pull request: the report's rows, what they leave out, and the sum. Names are code, in which
/// nothing is markup.
std::string markdown_export(const Profile& profile, const Report& report, NameStyle names);

/// gmon.out of one executable, as `gprof FILE gmon.out` reads it: counters for two bytes of text each. Fails
/// if the file is not there as it was, or its ticks are not CPU time of one period.
Result<std::string> gmon_export(const Profile& profile, uint32_t executable);

struct LlvmProfile {
  std::string text;
  uint64_t placed = 0;  ///< ticks that it tells of
  uint64_t ticks = 0;   ///< of the executable
};

/// A sample profile of one executable for clang's -fprofile-sample-use. Counts are how often a line ran, not
/// how long. Fails if the file is not there as it was, or less than 95 % of its ticks have a place: a
/// compiler takes a wrong profile without a word.
Result<LlvmProfile> llvm_export(const Profile& profile, uint32_t executable, const OpenSymbolizer& open);

}  // namespace pctally
