// The process without rights that reads another user's file for a report.
#pragma once
#include "object/symbolizer.h"

namespace pctally {

/// Gives up all rights and answers what comes over the socket until that ends. `fetched`: as of
/// open_executable(). REQUIRES: the child of a fork.
[[noreturn]] void serve_names(int socket, const ExecutableIdentity& identity,
                              const std::string& fetched) noexcept;

}  // namespace pctally
