// The numbers of the machine's CPUs. They may have holes: how many CPUs there are does not tell the highest
// number, and a container may see fewer CPUs than its threads run on.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pctally {

/// The numbers in "0-3,8,10-11", ascending. Empty if the text is none of a kernel's.
std::vector<int> parse_cpu_list(std::string_view text);

/// The text of such a list.
std::string cpu_list_text(const std::vector<int>& cpus);

/// The CPUs that run now, ascending; empty if that is not known.
std::vector<int> online_cpus();

/// All numbers that a CPU may have here, ascending; never empty. Some may be offline.
std::vector<int> possible_cpus();

}  // namespace pctally
