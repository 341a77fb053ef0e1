// libFuzzer target: any bytes as .eh_frame_hdr and .eh_frame, or as .eh_frame alone, any address, any stack;
// and in a file, for the rows of all functions. What must hold: it ends, nothing outside the bytes is read,
// the function found holds the address, rows ascend, and a step never goes down the stack.
#include <elf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/kernel/device_number.h"
#include "path/frame_table.h"
#include "path/object_frames.h"
#include "tick/unwind/cfi.h"

using namespace pctally;

namespace {

constexpr uint64_t kHeaderAddress = 0x1000, kStack = 0x7000;

void check_step(const UnwindRule& rule, const std::vector<unsigned char>& stack) {
  UnwindRegisters registers{
      .pc = 0x2000, .stack = kStack, .frame = kStack + 64, .scratch = kStack + 32, .link = 0x3000};
  PathEnd why = PathEnd::kComplete;
  const auto read = [&](uint64_t address, uint64_t* value, PathEnd* reason) {
    *reason = PathEnd::kUnreadable;
    if (address < kStack || address - kStack > stack.size() ||
        stack.size() - (address - kStack) < sizeof *value)
      return false;
    memcpy(value, stack.data() + (address - kStack), sizeof *value);
    return true;
  };
  const StepResult result = unwind_step(rule, true, &registers, read, &why);
  const uint64_t lowest = rule.cfa == CfaKind::kLink ? kStack : kStack + 8;  // it was popped
  if (result == StepResult::kCaller && registers.stack < lowest) abort();
  if (result == StepResult::kCut && why == PathEnd::kComplete) abort();
}

void check_addresses(const CfiSections& sections, uint64_t some, const std::vector<unsigned char>& stack) {
  for (uint64_t address : {some, kHeaderAddress, sections.frames_address + 8, uint64_t{0}, UINT64_MAX}) {
    CfiFunction found;
    const bool is_found = find_cfi(sections, address, &found);
    if (is_found && (address < found.start || address >= found.end)) abort();
    if (!is_found && found.rule.cfa != CfaKind::kNone) abort();
    check_step(found.rule, stack);
  }
}

/// One segment, which is the file; what was given lies at kHeaderAddress.
struct Image {
  Elf64_Ehdr header{};
  Elf64_Phdr load{}, table{};
};

void check_rows(const std::vector<unsigned char>& header, const std::vector<unsigned char>& frames) {
  static const int file = memfd_create("cfi_fuzz", MFD_CLOEXEC);
  const uint64_t bytes = kHeaderAddress + header.size() + frames.size();
  Image image;
  memcpy(image.header.e_ident, ELFMAG, SELFMAG);
  image.header.e_ident[EI_CLASS] = ELFCLASS64;
  image.header.e_machine = EM_X86_64;
  image.header.e_phoff = sizeof image.header;
  image.header.e_phentsize = sizeof(Elf64_Phdr);
  image.header.e_phnum = 2;
  image.load = {PT_LOAD, PF_R | PF_X, 0, 0, 0, bytes, bytes, 0};
  image.table = {PT_GNU_EH_FRAME, PF_R, 0, kHeaderAddress, 0, header.size(), header.size(), 0};
  const auto put = [](const void* data, size_t size, uint64_t at) {
    if (pwrite(file, data, size, static_cast<off_t>(at)) != static_cast<ssize_t>(size)) abort();
  };
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0) abort();
  put(&image, sizeof image, 0);
  put(header.data(), header.size(), kHeaderAddress);
  put(frames.data(), frames.size(), kHeaderAddress + header.size());
  struct stat status;
  if (fstat(file, &status) != 0) abort();
  ObjectIdentity identity;
  identity.path = "/";
  identity.device = device_number(status.st_dev);
  identity.inode = status.st_ino;
  const auto rows = ObjectFrames::open(identity, true, file)->rows();
  for (size_t i = 1; rows && i < rows->size(); ++i)
    if ((*rows)[i - 1].position >= (*rows)[i].position) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  const size_t header_bytes = std::min<size_t>(data[0] | data[1] << 8, size - 4);
  // Copies of their own size, so that a read behind their end is found.
  const std::vector<unsigned char> header(data + 4, data + 4 + header_bytes),
      frames(data + 4 + header_bytes, data + size);
  const uint64_t frames_address = kHeaderAddress + header.size();
  const CfiSections sections{header.data(), header.size(), kHeaderAddress,
                             frames.data(), frames.size(), frames_address};
  const uint64_t some = uint64_t{data[2]} << 8 | data[3];
  check_addresses(sections, some, frames);
  check_rows(header, frames);
  // The same without .eh_frame_hdr: the table is made.
  CfiSections unsorted{nullptr, 0, frames_address, frames.data(), frames.size(), frames_address};
  const std::vector<unsigned char> table = make_frame_table(unsorted);
  unsorted.header = table.data();
  unsorted.header_bytes = table.size();
  check_addresses(unsorted, some, frames);
  return 0;
}
