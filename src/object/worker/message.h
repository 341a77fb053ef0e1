// The messages between a report and its worker: numbers and texts behind a length, over a stream socket; a
// descriptor may come with a message. The report believes nothing that it reads here.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace pctally {

/// First number of a message.
enum class WorkerWord : uint64_t {
  kName = 1,      ///< positions; to the worker, as the next five
  kFrames = 2,    ///< positions
  kCode = 3,      ///< start, end
  kPosition = 4,  ///< an address
  kDigests = 8,   ///< positions
  kAliases = 9,   ///< positions
  kAnswer = 5,    ///< to the report: problem, then what was asked for
  kOpen = 6,      ///< to the report: a path
  kFile = 7,      ///< to the worker: errno, or 0 and a descriptor
};

class MessageWriter {
 public:
  MessageWriter() = default;
  explicit MessageWriter(WorkerWord word) { number(static_cast<uint64_t>(word)); }
  void number(uint64_t value);
  void text(std::string_view text);
  void numbers(std::span<const uint64_t> values);
  void append(const MessageWriter& rest) {
    bytes_.insert(bytes_.end(), rest.bytes_.begin(), rest.bytes_.end());
  }
  [[nodiscard]] std::span<const unsigned char> bytes() const { return bytes_; }

 private:
  std::vector<unsigned char> bytes_;
};

/// Reading past the end, or a text that is longer than the rest, gives zeros and sets damaged().
class MessageReader {
 public:
  MessageReader() = default;
  explicit MessageReader(std::vector<unsigned char> bytes) : bytes_(std::move(bytes)) {}
  uint64_t number();
  std::string text();
  /// At most as many as there are bytes for.
  std::vector<uint64_t> numbers();
  [[nodiscard]] bool damaged() const { return damaged_; }
  /// Bytes that have not been read.
  [[nodiscard]] size_t left() const { return bytes_.size() - at_; }
  UniqueFd descriptor{};

 private:
  std::vector<unsigned char> bytes_;
  size_t at_ = 0;
  bool damaged_ = false;
};

inline constexpr uint64_t kMostMessageBytes = 64 << 20;

/// False if the other side is gone.
bool send_message(int socket, const MessageWriter& message, int descriptor = -1);

/// The next message; none if the other side is gone, says nothing for `patience_ms` (-1: for ever), or
/// announces too much.
std::optional<MessageReader> receive_message(int socket, int patience_ms);

}  // namespace pctally
