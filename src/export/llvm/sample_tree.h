// LLVM's sample profile in text: what `clang -fprofile-sample-use` reads. Its rules, as of LLVM 19
// (lib/ProfileData/SampleProfReader.cpp and lib/IR/DebugInfoMetadata.cpp).
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "object/elf/compiler_frame.h"

namespace pctally {

/// A discriminator holds three numbers one after the other. The first tells the blocks of a line apart; the
/// second is the number of copies that the compiler made of the block. Each copy runs for its part alone.
uint32_t base_discriminator(uint32_t discriminator);
uint32_t duplication_factor(uint32_t discriminator);

/// The name a function has in the source, without what optimisation puts behind it (".cold", ".llvm.123").
std::string_view source_name(std::string_view linkage);

/// A function, or a function inlined at a call.
class SampleTree {
 public:
  /// `count` at a place given by its frames, innermost first; the outermost frame is a function of this tree.
  /// Keeps the largest of several counts at one place. False, and nothing kept, if a frame has no place
  /// (line 0), or a name that the format cannot hold. REQUIRES: frames not empty.
  bool add(std::span<const CompilerFrame> frames, uint64_t count);

  /// How often a function was entered; the largest is kept.
  void entered(std::string_view linkage, uint64_t count);

  [[nodiscard]] bool empty() const { return functions_.empty(); }
  [[nodiscard]] std::string text() const;

 private:
  struct Place {
    uint32_t offset = 0;  ///< lines from the function's start
    uint32_t discriminator = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Function {
    uint64_t entered = 0;
    std::map<Place, uint64_t> counts;
    std::map<Place, std::map<std::string, Function, std::less<>>> inlined;
    [[nodiscard]] uint64_t total() const;
    void append_body(size_t depth, std::string* out) const;
  };
  static Place place_of(const CompilerFrame& frame);

  std::map<std::string, Function, std::less<>> functions_;
};

}  // namespace pctally
