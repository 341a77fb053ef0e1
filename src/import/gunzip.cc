#include <errno.h>
#include <zlib.h>

#include <algorithm>

#include "import/formats.h"

namespace pctally {
namespace {

constexpr int kGzip = 15 + 16;  ///< the largest window, with gzip's header
constexpr uint64_t kStep = 1 << 20;
constexpr uint64_t kLarge = 128 << 20;

/// Ends the stream whatever happens.
struct Stream {
  z_stream zlib{};
  bool ready = inflateInit2(&zlib, kGzip) == Z_OK;
  ~Stream() { inflateEnd(&zlib); }
};

}  // namespace

bool is_gzip(ImportedBytes bytes) { return bytes.size() > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

Result<std::vector<unsigned char>> gunzip(ImportedBytes bytes, uint64_t most_bytes) {
  Stream stream;
  if (!stream.ready) return fail(ENOMEM, "cannot be decompressed: no memory");
  std::vector<unsigned char> plain;
  stream.zlib.next_in = const_cast<unsigned char*>(bytes.data());
  stream.zlib.avail_in = static_cast<uInt>(bytes.size());
  for (int status = Z_OK; status != Z_STREAM_END || stream.zlib.avail_in != 0;) {
    if (status == Z_STREAM_END && inflateReset(&stream.zlib) != Z_OK) break;  // another member
    const uint64_t done = plain.size();
    if (done >= most_bytes)
      return fail(EFBIG, "decompressed it is larger than %llu MiB",
                  static_cast<unsigned long long>(most_bytes >> 20));
    if (done >= kLarge) plain.reserve(most_bytes);  // growing would need twice the memory
    plain.resize(std::min(most_bytes, done + std::max(kStep, done / 2)));
    stream.zlib.next_out = plain.data() + done;
    stream.zlib.avail_out = static_cast<uInt>(plain.size() - done);
    status = inflate(&stream.zlib, Z_NO_FLUSH);
    plain.resize(plain.size() - stream.zlib.avail_out);
    const bool stuck =
        status == Z_BUF_ERROR || (status == Z_OK && plain.size() == done && stream.zlib.avail_in == 0);
    if ((status != Z_OK && status != Z_STREAM_END) || stuck)
      return fail(EINVAL, "its compression is damaged, or it is cut off");
  }
  return plain;
}

}  // namespace pctally
