// The profile the golden reports are made from: every kind of row, process, warning and awkward name
// in one file.
#pragma once
#include "histread/file_builder_for_test.h"

namespace pctally {

inline void sample_run(FileBuilder& file) {
  FileHeader& header = file.header();
  file.command(std::string_view("sort\0--key\0a b\0big.txt\0", 23));
  header.period_asked_ns = 1'000'000;
  header.period_ns = 1'003'000;
  header.started_ns = 5'000'000'000;
  header.ended_ns = 6'250'000'000;
  header.cpu_known = 1;
  header.cpu_user_ns = 1'150'000'000;
  header.cpu_system_ns = 40'000'000;
}

inline void sample_ticks(FileBuilder& file) {
  uint32_t sort = file.segment(file.object("/usr/bin/sort", "sort-build-id"), 0x1000, 0x4000);
  uint32_t libc = file.segment(file.object("/lib/libc.so.6", "libc-build-id"), 0x2000, 0x8000);
  uint32_t other_libc = file.segment(file.object("/opt/libc.so.6", "opt-build-id"), 0x2000, 0x8000);
  uint32_t stripped = file.segment(file.object("/lib/stripped.so"), 0, 0x1000);
  uint32_t evil = file.segment(file.object("/bin/evil"), 0, 0x1000);
  uint32_t kernel =
      file.segment(file.object("[kernel]", {}, ObjectKind::kKernel), 0xffffffff81000000, 0x1000);
  for (int32_t owner : {100, 101})
    file.count(file.segment(file.object("//anon", {}, ObjectKind::kPrivate, owner), 0x7f0000000000, 0x100),
               0x7f0000000010, 3);
  for (uint64_t i = 0; i < 40; ++i) file.count(sort, 0x1000 + 16 * i, 20 - i / 2);
  for (uint64_t i = 0; i < 60; ++i) file.count(libc, 0x2000 + 0x101 * i, i % 7 + 5);
  file.count(other_libc, 0x2345, 17);
  file.count(stripped, 0x234, 55);
  file.count(evil, 0x10, 4);
  file.count(kernel, 0xffffffff81000123, 31);
}

inline void of_cache_misses(FileHeader& header) {
  memcpy(header.event, "cache-misses", 13);
  header.period_asked_ns = 10'000;
  header.period_ns = 10'300;
}

inline void cxx_ticks(FileBuilder& file) {
  uint32_t cxx = file.segment(file.object("/bin/cxx", "cxx-build-id"), 0, 0x1000);
  for (uint64_t i = 0; i < 9; ++i) file.count(cxx, 0x100 * i + 0x10, 200 - 17 * i);
}

/// A program of C++ functions, some of which look alike.
inline std::vector<unsigned char> sample_cxx_file() {
  FileBuilder file;
  sample_run(file);
  cxx_ticks(file);
  return file.bytes();
}

/// `events`: its ticks stand for cache misses.
inline std::vector<unsigned char> sample_file(bool events = false) {
  FileBuilder file;
  sample_run(file);
  sample_ticks(file);
  file.header().ledger.outside = 9;
  file.header().ledger.lost = 21;
  file.header().throttled = 2;
  if (events) of_cache_misses(file.header());
  file.process(100, "sort", 900);
  file.process(101, "sort\033[2J", 33);
  file.process(102, "busybox", 0, ProcessNote::kStatic);
  return file.bytes();
}

}  // namespace pctally
