#include "histread/names_bytes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "base/file/byte_reader.h"
#include "base/file/read_all.h"
#include "base/file/write_all.h"
#include "histfile/names_layout.h"
#include "histread/reader.h"

namespace pctally {
namespace {

/// `bytes` bytes from `offset` on; shorter where the file ends or cannot be read.
std::vector<unsigned char> read_at(int fd, uint64_t offset, uint64_t bytes) {
  std::vector<unsigned char> result(bytes);
  result.resize(static_cast<size_t>(std::max<ssize_t>(0, read_all_at(fd, offset, result.data(), bytes))));
  return result;
}

bool write_at(int fd, uint64_t offset, std::span<const unsigned char> bytes) {
  return lseek(fd, static_cast<off_t>(offset), SEEK_SET) >= 0 && write_all(fd, bytes.data(), bytes.size());
}

Result<FileHeader> header_of(int fd) { return read_file_header(read_at(fd, 0, kHeaderBytes)); }

/// The first unit behind everything that may belong to the pool; 0 if no recording has a pool so large, nor
/// the file: programs could write to the header.
uint32_t unit_behind(uint64_t file_bytes, const FileHeader& header) {
  const uint64_t pool = unit_offset(std::max(header.pool.used, header.pool.limit));
  if (pool > std::max(file_bytes, kHeaderBytes + kLargestBytes)) return 0;
  return static_cast<uint32_t>((std::max(file_bytes, pool) - kHeaderBytes + kUnitBytes - 1) / kUnitBytes);
}

}  // namespace

Result<std::vector<unsigned char>> read_names_bytes(int fd) {
  const auto header = header_of(fd);
  if (!header) return std::unexpected(header.error());
  NamesHead head{};
  const auto start = read_at(fd, unit_offset(header->names), header->names == 0 ? 0 : sizeof head);
  // A reader that knew no names may have copied the file without them.
  if (!ByteReader(start).read(0, &head)) return std::vector<unsigned char>();
  if (memcmp(head.magic, kNamesMagic, sizeof head.magic) != 0) return fail(EINVAL, "they are not there");
  if (head.bytes > kLargestNamesBytes) return fail(EFBIG, "they are larger than 1 GiB");
  const uint64_t end = size_of_file(fd);
  if (head.bytes > end - std::min(end, unit_offset(header->names))) return fail(EINVAL, "they end too early");
  auto bytes = read_at(fd, unit_offset(header->names), head.bytes);
  if (bytes.size() != head.bytes) return fail(EIO, "they cannot be read");
  return bytes;
}

bool append_names_bytes(std::span<const unsigned char> section, std::vector<unsigned char>* file) {
  FileHeader header;
  memcpy(&header, file->data(), sizeof header);
  header.names = unit_behind(file->size(), header);
  if (header.names == 0) return false;
  memcpy(file->data() + offsetof(FileHeader, names), &header.names, sizeof header.names);
  file->resize(unit_offset(header.names));
  file->insert(file->end(), section.begin(), section.end());
  return true;
}

Result<void> write_names_bytes(int fd, std::span<const unsigned char> section) {
  const auto header = header_of(fd);
  if (!header) return std::unexpected(header.error());
  if (header->state != FileState::kClosed) return fail(EBUSY, "it is not closed");
  if (header->names != 0) return fail(EEXIST, "it has names");
  const uint64_t before = size_of_file(fd);
  const uint32_t unit = unit_behind(before, *header);
  if (unit == 0) return fail(EINVAL, "its header is damaged");
  unsigned char field[sizeof unit];
  memcpy(field, &unit, sizeof unit);
  if (write_at(fd, unit_offset(unit), section) && write_at(fd, offsetof(FileHeader, names), field)) return {};
  const int error = errno;
  (void)!ftruncate(fd, static_cast<off_t>(before));
  return fail(error, "%s", strerror(error));
}

}  // namespace pctally
