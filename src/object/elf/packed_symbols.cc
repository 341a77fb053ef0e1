#include "object/elf/packed_symbols.h"

#include <lzma.h>

#include <algorithm>
#include <cerrno>

namespace pctally {
namespace {

/// That of libLLVM has 5 MB.
constexpr size_t kMostBytes = size_t{64} << 20;
/// What unpacking itself may take: xz -9 needs 65 MB.
constexpr uint64_t kMostMemory = uint64_t{96} << 20;

class Unpacking {
 public:
  Unpacking() = default;
  ~Unpacking() { lzma_end(&stream_); }
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;

  /// Nothing if they are damaged, or more than we take.
  std::vector<unsigned char> run(std::span<const unsigned char> packed) {
    std::vector<unsigned char> bytes;
    if (lzma_stream_decoder(&stream_, kMostMemory, 0) != LZMA_OK) return {};
    stream_.next_in = packed.data();
    stream_.avail_in = packed.size();
    for (lzma_ret state = LZMA_OK; state != LZMA_STREAM_END;) {
      if (state != LZMA_OK || bytes.size() == kMostBytes) return {};
      const size_t done = bytes.size();
      bytes.resize(std::min(kMostBytes, std::max(packed.size() * 4, done * 2)));
      stream_.next_out = bytes.data() + done;
      stream_.avail_out = bytes.size() - done;
      state = lzma_code(&stream_, LZMA_FINISH);
    }
    bytes.resize(stream_.total_out);
    return bytes;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

Result<std::unique_ptr<ElfFile>> unpack_symbols(const ElfFile& object) {
  const ElfSection* section = object.section(".gnu_debugdata");
  if (section == nullptr) return std::unique_ptr<ElfFile>();
  std::vector<unsigned char> bytes = Unpacking().run(object.contents(*section));
  if (bytes.empty()) return fail(EINVAL, "its symbols cannot be unpacked (.gnu_debugdata)");
  auto file = ElfFile::from_image(std::move(bytes));
  if (!file) return fail(EINVAL, "its symbols cannot be read (.gnu_debugdata): %s", file.error().text);
  return std::make_unique<ElfFile>(std::move(*file));
}

}  // namespace pctally
