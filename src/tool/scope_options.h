// The options of report for scopes: rows by program, thread or control group, and the ticks of some.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "report/rollup.h"
#include "tool/option_parser.h"

namespace pctally {

struct ScopeOptions {
  std::string program, thread, group;  ///< regular expressions; empty: all
  [[nodiscard]] bool any() const { return !program.empty() || !thread.empty() || !group.empty(); }
};

void describe_scope_options(OptionParser& app, ScopeOptions& options);

/// An empty string, or what is wrong with a word of --by.
std::string check_grouping(const std::string& word);

/// An exit code, and a line that says how to record it, if the profile `file` does not tell what is asked.
std::optional<int> refuse_without_scopes(const Profile& profile, const std::string& file, Grouping by,
                                         const ScopeOptions& options);

/// The same of several profiles.
std::optional<int> refuse_without_scopes(const std::vector<Profile>& profiles,
                                         const std::vector<std::string>& files, Grouping by);

/// Leaves the ticks of what is asked for; those of others are one row. An exit code, after a line, if there
/// are none. REQUIRES: options.any(), !refuse_without_scopes().
std::optional<int> choose_scopes(const ScopeOptions& options, Profile* profile);

/// An empty string, or what is wrong with a regular expression.
std::string check_pattern(const std::string& text);

/// Nothing for an empty text. REQUIRES: !check_pattern().
std::optional<NamePattern> pattern_of(const std::string& text);

}  // namespace pctally
