// Options and words of other profilers (perf, pprof, gprof), and what to write in their place.
#pragma once
#include <map>
#include <string>

namespace pctally {

/// Options that the subcommand lacks, each with what to write instead: CommandLineHints::unknown. Empty for a
/// subcommand that has no counterpart elsewhere.
std::map<std::string, std::string> foreign_options(const std::string& subcommand);

/// "object" for "dso"; empty if `word` is no other name of a value.
std::string own_word(const std::string& word);

}  // namespace pctally
