// For each of a few query positions, finds the best of many overlapping ranges without sorting them all.
// Positions between the same two neighbouring edges form a cell; cells are disjoint and do not depend on
// the other queries.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "object/elf/elf_file.h"

namespace pctally {

class Cover {
 public:
  struct Candidate {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t id = 0;
  };

  /// `wanted` must be ascending and outlive the Cover.
  explicit Cover(std::span<const uint64_t> wanted);

  /// Adds the range [start, end); ranges that hold no wanted position only bound the cells.
  void add(uint64_t start, uint64_t end, uint64_t id);

  /// Gives each position to the first range in the order `before` that holds it. Call once, after
  /// all are added.
  void resolve(const std::function<bool(const Candidate&, const Candidate&)>& before);

  /// The range that names the i-th position, or null. After resolve().
  [[nodiscard]] const Candidate* winner(size_t i) const {
    return winners_[i] == kNobody ? nullptr : &candidates_[winners_[i]];
  }
  /// The cell the i-th position lies in: no edge lies inside it. After resolve().
  [[nodiscard]] AddressRange cell(size_t i) const { return {below_[i], above_[i + 1]}; }

 private:
  static constexpr size_t kNobody = SIZE_MAX;
  void assign(size_t candidate, std::vector<uint32_t>* next);
  [[nodiscard]] size_t first_at_or_after(uint64_t address) const;

  std::span<const uint64_t> wanted_;
  std::vector<uint64_t> below_;  ///< [i]: the greatest edge at or below position i
  std::vector<uint64_t> above_;  ///< [i + 1]: the least edge above position i
  std::vector<Candidate> candidates_;
  std::vector<size_t> winners_;  ///< indices into candidates_
};

}  // namespace pctally
