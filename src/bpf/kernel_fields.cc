#include "bpf/kernel_fields.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "base/file/read_all.h"
#include "base/file/write_all.h"

namespace pctally {
namespace {

constexpr const char* kKernelTypes = "/sys/kernel/btf/vmlinux";
constexpr const char* kStructure = "task_struct";
constexpr uint32_t kLargestStructure = 65536;  ///< bytes; members may lie anywhere below

struct Field {
  const char* name;
  int type;
};

struct Sections {
  const unsigned char* types = nullptr;
  const unsigned char* types_end = nullptr;
  std::string_view strings;
};

bool find_sections(const unsigned char* btf, size_t bytes, Sections* sections) noexcept {
  btf_header header;
  if (bytes < sizeof header) return false;
  memcpy(&header, btf, sizeof header);
  uint64_t types = uint64_t{header.hdr_len} + header.type_off;
  uint64_t strings = uint64_t{header.hdr_len} + header.str_off;
  if (header.magic != BTF_MAGIC || types + header.type_len > bytes || strings + header.str_len > bytes)
    return false;
  sections->types = btf + types;
  sections->types_end = sections->types + header.type_len;
  sections->strings = {reinterpret_cast<const char*>(btf + strings), header.str_len};
  return true;
}

/// Bytes that follow a type's fixed part.
size_t tail_bytes(const btf_type& type) noexcept {
  size_t entries = BTF_INFO_VLEN(type.info);
  switch (BTF_INFO_KIND(type.info)) {
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
      return entries * sizeof(struct btf_member);
    case BTF_KIND_ENUM:
      return entries * sizeof(struct btf_enum);
    case BTF_KIND_ENUM64:
      return entries * sizeof(struct btf_enum64);
    case BTF_KIND_FUNC_PROTO:
      return entries * sizeof(struct btf_param);
    case BTF_KIND_DATASEC:
      return entries * sizeof(struct btf_var_secinfo);
    case BTF_KIND_ARRAY:
      return sizeof(struct btf_array);
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case BTF_KIND_DECL_TAG:
      return sizeof(uint32_t);
    default:
      return 0;
  }
}

/// Where `name` stands in the strings, or 0. BTF writes each string once.
uint32_t string_offset(std::string_view strings, std::string_view name) noexcept {
  const char* at = strings.data();
  const char* end = at + strings.size();
  while (at < end) {
    at = static_cast<const char*>(memmem(at, static_cast<size_t>(end - at), name.data(), name.size()));
    if (at == nullptr) return 0;
    const char* after = at + name.size();
    if (at > strings.data() && at[-1] == 0 && after < end && *after == 0)
      return static_cast<uint32_t>(at - strings.data());
    at = after;
  }
  return 0;
}

int64_t offset_in(const btf_type& type, const unsigned char* members, uint32_t name) noexcept {
  for (uint32_t i = 0; i < BTF_INFO_VLEN(type.info); ++i) {
    btf_member member;
    memcpy(&member, members + i * sizeof member, sizeof member);
    if (member.name_off != name) continue;
    bool packed = BTF_INFO_KFLAG(type.info);
    uint32_t bits = packed ? BTF_MEMBER_BIT_OFFSET(member.offset) : member.offset;
    bool bit_field = bits % 8 != 0 || (packed && BTF_MEMBER_BITFIELD_SIZE(member.offset) != 0);
    return bit_field ? -1 : int64_t{bits} / 8;
  }
  return -1;
}

/// The kernel's own BTF: mapped where the kernel allows it (Linux 6.16), else copied.
class KernelTypes {
 public:
  KernelTypes() = default;
  KernelTypes(const KernelTypes&) = delete;
  KernelTypes& operator=(const KernelTypes&) = delete;
  ~KernelTypes() {
    if (mapped_ != MAP_FAILED) munmap(mapped_, bytes_);
  }

  Result<void> open() {
    UniqueFd fd(::open(kKernelTypes, O_RDONLY | O_CLOEXEC));
    struct stat status;
    if (!fd.valid() || fstat(fd.get(), &status) != 0)
      return fail(errno, "%s: %s", kKernelTypes, strerror(errno));
    bytes_ = static_cast<size_t>(status.st_size);
    mapped_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (mapped_ != MAP_FAILED) return {};
    copy_.resize(bytes_);
    if (read_all_at(fd.get(), 0, copy_.data(), bytes_) == status.st_size) return {};
    return fail(EIO, "%s: cannot be read", kKernelTypes);
  }

  [[nodiscard]] int64_t offset(const char* structure, const char* member) const noexcept {
    const void* bytes = mapped_ != MAP_FAILED ? mapped_ : copy_.data();
    return btf_member_offset(static_cast<const unsigned char*>(bytes), bytes_, structure, member);
  }

 private:
  void* mapped_ = MAP_FAILED;
  size_t bytes_ = 0;
  std::vector<unsigned char> copy_;
};

struct BtfDeleter {
  void operator()(btf* types) const noexcept { btf__free(types); }
};

Result<UniqueFd> save(const btf* types) {
  uint32_t bytes = 0;
  const void* data = btf__raw_data(types, &bytes);
  UniqueFd fd(memfd_create("pctally-btf", MFD_CLOEXEC));
  if (data == nullptr || !fd.valid() || !write_all(fd.get(), data, bytes))
    return fail(errno, "memfd_create: %s", strerror(errno));
  return fd;
}

}  // namespace

int64_t btf_member_offset(const unsigned char* btf, size_t bytes, std::string_view structure,
                          std::string_view member) noexcept {
  Sections sections;
  if (!find_sections(btf, bytes, &sections)) return -1;
  uint32_t structure_name = string_offset(sections.strings, structure);
  uint32_t member_name = string_offset(sections.strings, member);
  if (structure_name == 0 || member_name == 0) return -1;
  const unsigned char* at = sections.types;
  while (static_cast<size_t>(sections.types_end - at) >= sizeof(btf_type)) {
    btf_type type;
    memcpy(&type, at, sizeof type);
    at += sizeof type;
    size_t tail = tail_bytes(type);
    if (tail > static_cast<size_t>(sections.types_end - at)) return -1;
    if (type.name_off == structure_name && BTF_INFO_KIND(type.info) == BTF_KIND_STRUCT)
      return offset_in(type, at, member_name);
    at += tail;
  }
  return -1;
}

Result<UniqueFd> write_kernel_fields() {
  KernelTypes kernel;
  if (auto opened = kernel.open(); !opened) return std::unexpected(opened.error());
  std::unique_ptr<btf, BtfDeleter> types(btf__new_empty());
  if (types == nullptr) return fail(ENOMEM, "no memory for a BTF");
  int number = btf__add_int(types.get(), "int", sizeof(int32_t), BTF_INT_SIGNED);
  int wide = btf__add_int(types.get(), "unsigned long long", sizeof(uint64_t), 0);
  btf__add_struct(types.get(), kStructure, kLargestStructure);
  const Field fields[] = {{"pid", number}, {"tgid", number}, {"self_exec_id", wide}, {"flags", number}};
  for (const Field& field : fields) {
    int64_t offset = kernel.offset(kStructure, field.name);
    if (offset < 0) return fail(ENOENT, "%s: no %s.%s", kKernelTypes, kStructure, field.name);
    if (btf__add_field(types.get(), field.name, field.type, static_cast<uint32_t>(offset) * 8, 0) < 0)
      return fail(ENOMEM, "no memory for a BTF");
  }
  return save(types.get());
}

}  // namespace pctally
