// The word that was probably meant.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pctally {

/// The candidate that is nearest to `word` by inserted, missing, wrong and swapped letters, or that `word`
/// begins; empty if none is near enough to be worth naming.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace pctally
