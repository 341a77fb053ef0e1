// One writer a format. The ticks written are those of the ledger, in every format.
#pragma once
#include <string>

#include "export/samples.h"

namespace pctally {

/// profile.proto of google/pprof, gzip'd. Read by `go tool pprof`, speedscope, Grafana, and others.
std::string pprof_export(const Profile& profile, const Samples& samples);

/// A line for each place: "program;object;function;inlined function TICKS". What flamegraph.pl and inferno
/// read.
std::string folded_export(const Profile& profile, const Samples& samples);

/// The "sampled" profile of speedscope.app's JSON.
std::string speedscope_export(const Profile& profile, const Samples& samples);

/// Callgrind's format, version 1, with the event Ticks: callgrind_annotate, kcachegrind, qcachegrind.
std::string callgrind_export(const Profile& profile, const Samples& samples);

/// RFC 4180, a row for each place: object, function, file, line, position, ticks, seconds.
std::string csv_export(const Profile& profile, const Samples& samples);

}  // namespace pctally
