// The pool of a profile file that is made in memory: grows as units are taken.
#pragma once
#include <string.h>

#include <string>
#include <vector>

#include "histfile/layout.h"

namespace pctally {

class Units {
 public:
  /// Units of a file of at most `most_bytes`. Address space is reserved for `expected_bytes` of them, memory
  /// is used as needed.
  Units(uint64_t most_bytes, uint64_t expected_bytes);

  /// The first of `count` zeroed units in a row. Where there is no room for them full() becomes true: what is
  /// stored through at() from then on goes nowhere.
  uint32_t take(uint64_t count);
  [[nodiscard]] bool full() const { return full_; }

  /// Valid until the next unit is taken.
  template <class T>
  T* at(uint32_t unit) {
    static_assert(sizeof(T) <= sizeof nowhere_);
    if (full_) return reinterpret_cast<T*>(nowhere_);
    return reinterpret_cast<T*>(bytes_.data() + unit_offset(unit));
  }

  template <class Record>
  uint32_t add(const Record& record) {
    static_assert(sizeof(Record) % kUnitBytes == 0);
    const uint32_t unit = take(sizeof record / kUnitBytes);
    memcpy(at<unsigned char>(unit), &record, sizeof record);
    return unit;
  }
  uint32_t add_text(const std::string& text);

  /// Puts a record before `next` in its chain; returns it.
  template <class Record>
  uint32_t link(uint32_t unit, uint32_t next) {
    at<Record>(unit)->next = next;
    return unit;
  }

  /// Adds ticks to the cell of byte `index` of the text that `directory` is of.
  void add_cell(uint32_t directory, uint64_t index, uint64_t ticks);

  [[nodiscard]] uint32_t used() const {
    return static_cast<uint32_t>((bytes_.size() - kHeaderBytes) / kUnitBytes);
  }

  /// Valid until the next unit is taken.
  Pool pool();

  void set_header(const FileHeader& header) { memcpy(bytes_.data(), &header, sizeof header); }
  std::vector<unsigned char> take_bytes() { return std::move(bytes_); }

 private:
  uint32_t child(uint32_t unit, uint64_t slot, uint32_t units);

  uint64_t most_bytes_;
  std::vector<unsigned char> bytes_;
  alignas(kUnitBytes) unsigned char nowhere_[8 * kUnitBytes] = {};
  PoolHead head_{};
  bool full_ = false;
};

}  // namespace pctally
