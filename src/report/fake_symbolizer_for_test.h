// Names made up from positions: object "/x/y" has a function every 0x100 bytes. For tests only.
#pragma once
#include <fmt/format.h>
#include <unistd.h>

#include <iterator>
#include <memory>
#include <string>

#include "object/symbolizer.h"

namespace pctally {

/// Executables of these paths behave specially: "/lib/stripped.so" has a problem and no names; in "/bin/evil"
/// every name tries to steer the terminal; "/bin/cxx" has functions of C++ and look-alikes among them.
class FakeSymbolizer : public Symbolizer {
 public:
  static std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity) {
    return std::make_unique<FakeSymbolizer>(identity);
  }
  explicit FakeSymbolizer(const ExecutableIdentity& identity) : path_(identity.path) {
    object_ =
        identity.kind == ExecutableIdentity::Kind::kPrivate ? "[jit]" : path_.substr(path_.rfind('/') + 1);
    if (path_ == "/lib/stripped.so") problem_ = "it is stripped and no debug file was found";
  }

  [[nodiscard]] const std::string& object_name() const override { return object_; }
  [[nodiscard]] const std::string& problem() const override { return problem_; }

  [[nodiscard]] std::optional<uid_t> owner() const override { return geteuid(); }

  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    std::vector<NamedRange> ranges;
    for (uint64_t position : positions) {
      uint64_t start = position & ~uint64_t{0xff};
      ranges.push_back({function(start), start, start + 0x100, linkage(start), start});
    }
    return ranges;
  }

  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    std::vector<std::vector<Frame>> all;
    for (uint64_t position : positions) {
      std::vector<Frame> frames;
      if (problem_.empty())
        frames.push_back({function(position & ~uint64_t{0xff}), "/src/" + object_ + ".c",
                          static_cast<uint32_t>(position / 16), linkage(position & ~uint64_t{0xff})});
      if (problem_.empty() && position % 2 != 0)
        frames.insert(frames.begin(), {"inlined", header(position), 7});
      all.push_back(std::move(frames));
    }
    return all;
  }

 private:
  /// From 0x1000 on "/bin/units" was compiled in another directory.
  [[nodiscard]] const char* header(uint64_t position) const {
    return path_ == "/bin/units" && position >= 0x1000 ? "/src/units/../inlined.h" : "/src/inlined.h";
  }
  static constexpr std::pair<const char*, const char*> kCxx[] = {
      {"std::map<int, std::vector<int, std::allocator<int> >, std::less<int> >::operator[](int const&)",
       "_ZM"},
      {"void put<int>(int)", "_Zputi"},
      {"void put<long>(long)", "_Zputl"},
      {"std::__cxx11::list<int>::sort() [clone .isra.0]", "_ZL.isra.0"},
      {"help", ""},
      {"help", ""},
      {"read_all.cold", ""},
      {"ns::log(int, char const*)", "_Zlogi"},
      {"ns::log(int, char const*) [clone .cold]", "_Zlogi.cold"},
  };
  [[nodiscard]] std::string linkage(uint64_t start) const {
    return path_ == "/bin/cxx" ? kCxx[start / 0x100 % std::size(kCxx)].second : "";
  }
  [[nodiscard]] std::string function(uint64_t start) const {
    if (!problem_.empty()) return fmt::format("[{}+0x{:x}]", object_, start);
    if (path_ == "/bin/evil") return "\033]0;owned\007\xe2\x80\xae\xff\xc2\x9b";
    if (path_ == "/bin/cxx") return kCxx[start / 0x100 % std::size(kCxx)].first;
    return fmt::format("f{:x}", start / 0x100);
  }

  std::string path_, object_, problem_;
};

}  // namespace pctally
