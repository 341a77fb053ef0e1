// Asks debuginfod servers for debug information and sources, by build id. It is made only if the user asked
// for that; nothing else here uses a network.
//
//  1. Servers are asked by https; by http only if they are this machine.
//  2. Each file and the total time are limited. A separate process downloads with libdebuginfod and is killed
//     when the time is up.
//  3. What comes is somebody else's. It is not parsed here: see FetchedSymbolizer.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pctally {

/// URLs between blanks. Error: EINVAL, and which one is refused.
Result<std::vector<std::string>> parse_debuginfod_servers(std::string_view text);

class Debuginfod {
 public:
  struct Limits {
    uint64_t file_bytes = uint64_t{512} << 20;
    uint64_t seconds = 120;  ///< for all look-ups together
  };
  /// What is asked for, before it is: an object's name, or the path of a source.
  using Before = std::function<void(const std::string& what)>;
  /// REQUIRES: the servers are of parse_debuginfod_servers().
  Debuginfod(std::vector<std::string> servers, Limits limits, Before before = {});

  /// The path of a file in the cache of libdebuginfod. ENOENT: the servers have none.
  Result<std::string> debug_information(std::span<const uint8_t> build_id, const std::string& object_name);
  /// `path` as debug information has it.
  Result<std::string> source(std::span<const uint8_t> build_id, const std::string& path);

  /// Why no more is asked, or the first failure that is not just a file nobody has; empty if there is none.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  Result<std::string> fetch(std::span<const uint8_t> build_id, const std::string& source);
  void set_environment(uint64_t seconds) const;
  Result<std::string> failed(int code, const std::string& text);

  std::vector<std::string> servers_;
  Limits limits_;
  Before before_;
  uint64_t left_ns_;
  std::string failure_;
};

}  // namespace pctally
