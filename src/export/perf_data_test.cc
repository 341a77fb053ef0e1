#include "export/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <elf.h>
#include <linux/perf_event.h>
#include <string.h>

#include <string>
#include <utility>
#include <vector>

#include "export/profiles_for_test.h"
#include "object/elf/elf_file.h"

namespace pctally {
namespace {

/// The data section of a perf.data: its records, one after the other.
std::vector<std::pair<perf_event_header, std::string>> perf_records(const std::string& file) {
  uint64_t section[2];
  memcpy(section, file.data() + 40, sizeof section);
  std::vector<std::pair<perf_event_header, std::string>> records;
  for (uint64_t at = section[0]; at < section[0] + section[1];) {
    perf_event_header header;
    memcpy(&header, file.data() + at, sizeof header);
    records.emplace_back(header, file.substr(at + sizeof header, header.size - sizeof header));
    at += header.size;
  }
  return records;
}

uint64_t word_at(const std::string& record, size_t number) {
  uint64_t word = 0;
  memcpy(&word, record.data() + number * sizeof word, sizeof word);
  return word;
}

TEST(PerfData, HasEveryTickAndTheCallersOfItsPath) {
  const Profile profile = profile_with_callers();
  const std::string file = perf_data_export(profile, stacks_of(profile, &FakeSymbolizer::open, false));
  ASSERT_EQ(file.substr(0, 8), "PERFILE2");
  uint64_t period = 0, longest = 0;
  size_t mappings = 0;
  std::string named;
  for (const auto& [header, body] : perf_records(file)) {
    EXPECT_EQ(header.size % sizeof(uint64_t), 0u);
    mappings += header.type == PERF_RECORD_MMAP2 ? 1 : 0;
    if (header.type == PERF_RECORD_KSYMBOL) named += body.substr(16, body.find('\0', 16) - 16);
    if (header.type != PERF_RECORD_SAMPLE) continue;
    period += word_at(body, 3);
    longest = std::max(longest, word_at(body, 4));
    const bool in_file = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
    EXPECT_EQ(word_at(body, 5), in_file ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL);
    EXPECT_EQ(word_at(body, 6), word_at(body, 0)) << "a path starts where the tick fell";
  }
  EXPECT_EQ(period, profile.ledger.ticks() * profile.period_ns);
  EXPECT_EQ(longest, 7u) << "f1, [folded], f4, f1, and three words that say where they run";
  EXPECT_EQ(mappings, 1u);
  EXPECT_EQ(named, "[path cut at code without unwind table][folded][lost]");
}

/// perf maps the kernel where it is, and a file where the records say.
TEST(PerfData, PlacesAreThoseOfTheirMappings) {
  Profile profile = sample_profile();
  profile.executables[1] = {ExecutableKind::kKernel, "[kernel]", {}, 0};
  profile.executables.push_back({ExecutableKind::kVdso, "[vdso]", {}, 0});
  profile.positions = {{0, 0x3000, 7}, {1, 0xffffffff81001234, 5}, {2, 0x1110, 2}};
  std::map<uint64_t, uint64_t> places;  // ticks, position
  std::vector<std::array<uint64_t, 3>> mappings;
  for (const auto& [header, body] :
       perf_records(perf_data_export(profile, samples_of(profile, &FakeSymbolizer::open, false)))) {
    if (header.type == PERF_RECORD_MMAP2)
      mappings.push_back({word_at(body, 1), word_at(body, 2), word_at(body, 3)});
    if (header.type != PERF_RECORD_SAMPLE) continue;
    const uint64_t address = word_at(body, 0);
    for (const auto& [start, bytes, offset] : mappings)
      if (address - start < bytes && start < 0xffffffff00000000)
        places[word_at(body, 3)] = address - start + offset;
    if ((header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
      places.try_emplace(word_at(body, 3), address);
  }
  EXPECT_EQ(places[7'000'000], 0x3000u);
  EXPECT_EQ(places[5'000'000], 0xffffffff81001234u);
  EXPECT_EQ(places[2'000'000], 0x1110u);
}

TEST(PerfData, AThreadIsOfItsProgramsProcess) {
  Profile profile = profile_with_callers();
  profile.paths.scopes = {{"/bin/prog", {}, PathScopeKind::kThread, "io"}};
  std::string names;
  for (const auto& [header, body] :
       perf_records(perf_data_export(profile, stacks_of(profile, &FakeSymbolizer::open, false)))) {
    if (header.type != PERF_RECORD_COMM) continue;
    uint32_t process = 0, thread = 0;
    memcpy(&process, body.data(), sizeof process);
    memcpy(&thread, body.data() + sizeof process, sizeof thread);
    names += body.substr(8, body.find('\0', 8) - 8) +
             (process == thread ? " " : " of " + std::to_string(process) + " ");
  }
  EXPECT_THAT(names, testing::HasSubstr("prog io of 1 "));
}

TEST(PerfData, NamesOfProcessesSteerNothing) {
  Profile profile = profile_with_callers();
  profile.paths.scopes = {{"/bin/a\033[31mb", {}}};
  for (const auto& [header, body] :
       perf_records(perf_data_export(profile, stacks_of(profile, &FakeSymbolizer::open, false))))
    if (header.type == PERF_RECORD_COMM) {
      EXPECT_THAT(body, Not(testing::HasSubstr("\033")));
    }
}

}  // namespace
}  // namespace pctally
