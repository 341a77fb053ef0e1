// Files with flipped bytes. Nothing is said about the names they get: only that there is one per
// position, in time.
#include <random>

#include "object/fixtures_for_test.h"

namespace pctally {
namespace {

/// Names and frames of a file however broken, at positions all over it.
void survive(const std::string& path, uint64_t size) {
  ExecutableIdentity identity;
  identity.path = path;
  const auto symbolizer = Symbolizer::open(identity);
  std::vector<uint64_t> positions;
  for (uint64_t position = 0; position < size + 4096; position += 61) positions.push_back(position);
  const auto ranges = symbolizer->name(positions);
  ASSERT_EQ(ranges.size(), positions.size());
  for (size_t i = 0; i < ranges.size(); i++) {
    ASSERT_FALSE(ranges[i].function.empty());
    ASSERT_LE(ranges[i].start, positions[i]);
    ASSERT_GT(ranges[i].end, positions[i]);
  }
  ASSERT_EQ(symbolizer->frames(positions).size(), positions.size());
}

/// Where flipped bytes matter most: the headers, the tables of symbols, unwinding, relocation and debugging.
std::vector<AddressRange> sensitive(const std::string& path) {
  std::vector<AddressRange> places{{0, 64 + 56 * 14}};
  const auto file = open_elf(path);
  for (const ElfSection& section : file->sections()) {
    const bool table = section.name.starts_with(".debug") || section.name.starts_with(".eh_frame") ||
                       section.name.starts_with(".rela") || section.name.ends_with("sym") ||
                       section.name.starts_with(".note") || section.name.ends_with("str") ||
                       section.name == ".gnu_debugdata";
    if (table && !file->contents(section).empty())
      places.push_back({section.offset, section.offset + section.size});
  }
  const uint64_t headers = file->bytes().size() - 64 * (file->sections().size() + 1);
  places.push_back({headers, file->bytes().size()});
  return places;
}

class Mutants : public testing::TestWithParam<const char*> {};

TEST_P(Mutants, AreNamedWithoutCrashing) {
  constexpr int kMutants = 250;
  if (!exists(fixture(GetParam()))) GTEST_SKIP() << "no compiler or tool for " << GetParam();
  const std::string original = read_file(fixture(GetParam()));
  const auto places = sensitive(fixture(GetParam()));
  TemporaryDirectory directory;
  std::mt19937 random(2024);
  for (int mutant = 0; mutant < kMutants; mutant++) {
    std::string bytes = original;
    for (unsigned flips = 1 + random() % 8; flips > 0; flips--) {
      const AddressRange& place = places[random() % places.size()];
      const uint64_t at = place.start + random() % (place.end - place.start);
      const unsigned char values[] = {0, 0xff, 0x7f, 0x80, static_cast<unsigned char>(random())};
      bytes[at % bytes.size()] = static_cast<char>(values[random() % 5]);
    }
    if (mutant % 10 == 0) bytes.resize(random() % bytes.size());
    write_file(directory / "mutant", bytes);
    survive(directory / "mutant", bytes.size());
    ASSERT_FALSE(HasFatalFailure()) << "mutant " << mutant;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Mutants,
                         testing::Values("inlined", "layout_stripped", "libcalls.so", "inlined_zstd",
                                         "inlined_zlib", "inlined_clang5", "packed_symbols"),
                         [](const auto& name) {
                           const std::string text = name.param;
                           return text.substr(0, text.find('.'));
                         });

}  // namespace
}  // namespace pctally
