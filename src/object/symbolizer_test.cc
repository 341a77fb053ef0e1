#include "object/symbolizer.h"

#include <gmock/gmock.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/kernel/device_number.h"
#include "base/time_ns.h"
#include "object/dwarf/debug_finder.h"
#include "object/fixtures_for_test.h"
#include "object/kernel/kernel_symbol_epoch.h"
#include "object/vdso.h"

namespace pctally {
namespace {

namespace fs = std::filesystem;

std::string name_of(Symbolizer& symbolizer, uint64_t position) {
  return symbolizer.name({&position, 1}).at(0).function;
}

TEST(Symbolizer, ObjectsAreCalledByTheirBaseName) {
  for (const auto& [path, name] :
       std::map<std::string, std::string>{{"/usr/lib/libx.so.5.4.1", "libx.so.5.4.1"},
                                          {"/opt/app (deleted)", "app"},
                                          {"//anon", "anon"},
                                          {"/memfd:jit (deleted)", "memfd:jit"},
                                          {"", "unknown"}}) {
    ExecutableIdentity identity;
    identity.path = path;
    const auto symbolizer = Symbolizer::open(identity);
    EXPECT_EQ(symbolizer->object_name(), name);
    EXPECT_EQ(name_of(*symbolizer, 0x1234), "[" + name + "]");
    EXPECT_NE(symbolizer->problem(), "") << path;
    const uint64_t position = 0x1234;
    EXPECT_TRUE(symbolizer->frames({&position, 1}).at(0).empty());
  }
}

TEST(Symbolizer, CodeIsTheFilesBytes) {
  const std::string path = fixture("layout");
  const auto symbolizer = Symbolizer::open(identity_of(path));
  std::ifstream file(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto elf = ElfFile::open(path);
  ASSERT_TRUE(elf);
  const ElfSection* text = elf->section(".text");
  ASSERT_NE(text, nullptr);
  const CodeBytes code = symbolizer->code(text->offset, text->offset + text->size);
  EXPECT_EQ(code.address, text->address);
  EXPECT_EQ(code.machine, elf->machine());
  EXPECT_NE(code.changed_unix_ns, 0u);
  EXPECT_EQ(std::string(code.bytes.begin(), code.bytes.end()), whole.substr(text->offset, text->size));
  EXPECT_EQ(symbolizer->position(text->address), text->offset);
  EXPECT_FALSE(symbolizer->position(UINT64_MAX).has_value());
  EXPECT_TRUE(symbolizer->code(text->offset + 1, text->offset).bytes.empty());
  EXPECT_TRUE(symbolizer->code(UINT64_MAX - 1, UINT64_MAX).bytes.empty());
  EXPECT_LE(symbolizer->code(text->offset, UINT64_MAX).bytes.size(), whole.size());
  const auto segment = std::ranges::find_if(
      elf->segments(), [](const ElfSegment& one) { return one.type == PT_LOAD && (one.flags & PF_X) != 0; });
  EXPECT_EQ(symbolizer->code(text->offset, whole.size()).bytes.size(),
            segment->offset + segment->file_size - text->offset)
      << "what lies behind the segment is no code of the function";
}

TEST(Symbolizer, AllSymbolsOfAFunctionAreKnown) {
  const std::string path = fixture("layout");
  const uint64_t documented = listed_symbol(path, "documented").value;
  std::set<std::string> expected, found;
  for (const ListedSymbol& symbol : listed_symbols(path))
    if (symbol.value == documented) expected.insert(symbol.name);
  const uint64_t starts[] = {position_of(path, documented), position_of(path, documented + 1)};
  const auto aliases = Symbolizer::open(identity_of(path))->aliases(starts);
  for (const SymbolName& alias : aliases.at(0)) found.insert(alias.function);
  EXPECT_GE(found.size(), 3u);
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(aliases.at(1).empty()) << "nothing starts there";
}

TEST(Symbolizer, AReplacedFileNamesNothing) {
  ExecutableIdentity identity = identity_of(fixture("layout"));
  identity.build_id[0] ^= 1;
  const auto symbolizer = Symbolizer::open(identity);
  EXPECT_EQ(Symbolizer::open({.path = "/proc/999999999/root/opt/x"})->problem(),
            "/opt/x was in the container or root directory of process 999999999, which has ended");
  EXPECT_EQ(symbolizer->problem(),
            "build id differs: the file was replaced since, or unmapped while it was read");
  const uint64_t main = position_of(fixture("layout"), listed_symbol(fixture("layout"), "main").value);
  EXPECT_EQ(name_of(*symbolizer, main), "[layout]");
}

TEST(Symbolizer, AFileCutShortSaysSo) {
  const std::string path = testing::TempDir() + "cut_short." + std::to_string(getpid());
  fs::copy_file(fixture("layout"), path);
  ExecutableIdentity identity = identity_of(path);
  const uint64_t main = position_of(path, listed_symbol(path, "main").value);
  fs::resize_file(path, std::filesystem::file_size(path) - 1);
  const auto symbolizer = Symbolizer::open(identity);
  EXPECT_THAT(name_of(*symbolizer, main), testing::StartsWith("[cut_short"));
  EXPECT_EQ(symbolizer->problem(), "the file is cut short: its symbols lay behind its end");
  fs::remove(path);
}

TEST(Symbolizer, ADeletedFileThatIsThereAgainHasToProveItself) {
  const uint64_t main = position_of(fixture("layout"), listed_symbol(fixture("layout"), "main").value);
  ExecutableIdentity identity = identity_of(fixture("layout"));
  identity.path += " (deleted)";
  EXPECT_EQ(name_of(*Symbolizer::open(identity), main), "main");
  identity.build_id.clear();
  const auto unproven = Symbolizer::open(identity);
  EXPECT_EQ(name_of(*unproven, main), "[layout]");
  EXPECT_THAT(unproven->problem(), testing::HasSubstr("deleted"));
}

/// Nothing says that it is the same; and by whatever the recorder knew of the others.
TEST(Symbolizer, AFileWithoutABuildIdHasToBeTheOneThatRan) {
  const std::string path = fixture("anonymous");
  ExecutableIdentity identity = identity_of(path);
  ASSERT_TRUE(identity.build_id.empty());
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  identity.device = device_number(status.st_dev);
  identity.inode = status.st_ino;
  identity.file_bytes = static_cast<uint64_t>(status.st_size);
  identity.time_unix_ns = to_ns(status.st_mtim);
  EXPECT_EQ(Symbolizer::open(identity)->problem(), "");
  for (uint64_t ExecutableIdentity::*field :
       {&ExecutableIdentity::device, &ExecutableIdentity::inode, &ExecutableIdentity::file_bytes,
        &ExecutableIdentity::time_unix_ns}) {
    ExecutableIdentity other = identity;
    other.*field += 1;
    EXPECT_THAT(Symbolizer::open(other)->problem(), testing::HasSubstr("not the file that ran"));
  }
  identity.path += " (deleted)";
  EXPECT_THAT(Symbolizer::open(identity)->problem(), testing::HasSubstr("deleted"));
}

TEST(Symbolizer, AFileThatIsGoneIsNamedByItsDebugFile) {
  const std::string libc = output_of("gcc -print-file-name=libc.so.6").at(0);
  ExecutableIdentity identity = identity_of(libc);
  if (DebugFinder().find(identity.build_id) == nullptr) GTEST_SKIP() << "no debug file of " << libc;
  const uint64_t qsort = position_of(libc, listed_symbol(libc, "qsort").value);
  identity.path = "/usr/lib/not_here.so (deleted)";
  const auto symbolizer = Symbolizer::open(identity);
  EXPECT_TRUE(symbolizer->has_other_names());
  EXPECT_EQ(name_of(*symbolizer, qsort), "qsort");
  EXPECT_FALSE(symbolizer->frames({&qsort, 1}).at(0).empty());
  EXPECT_THAT(symbolizer->problem(), testing::HasSubstr("deleted"));
}

TEST(Symbolizer, SymbolsThatWereTakenOutOfTheTableAreInTheDebugFile) {
  const std::string path = fixture("symbols_reduced");
  const auto symbolizer = Symbolizer::open(identity_of(path));
  EXPECT_TRUE(symbolizer->has_other_names());
  EXPECT_FALSE(Symbolizer::open(identity_of(fixture("layout")))->has_other_names());
  const auto symbols = listed_symbols(path);
  EXPECT_EQ(std::ranges::count(symbols, "FUNC", &ListedSymbol::type), 1);
  for (const ListedSymbol& symbol : listed_symbols(fixture("symbols_whole"))) {
    if (symbol.type != "FUNC") continue;
    const std::string name = name_at(fixture("symbols_whole"), symbol.value).function;
    EXPECT_EQ(name_of(*symbolizer, position_of(path, symbol.value)), name);
  }
}

TEST(Symbolizer, SymbolsThatArePackedInTheFileAreItsOwn) {
  const std::string path = fixture("packed_symbols");
  if (!exists(path)) GTEST_SKIP() << "no xz";
  const ListedSymbol main = listed_symbol(fixture("symbols_whole"), "main");
  EXPECT_EQ(name_at(path, main.value).function, "main");
  const auto file = open_elf(path);
  const ElfSection* packed = file->section(".gnu_debugdata");
  ASSERT_NE(packed, nullptr);
  TemporaryDirectory directory;
  std::string bytes = read_file(path);
  bytes[packed->offset + packed->size / 2] ^= 1;
  write_file(directory / "damaged", bytes);
  const auto symbolizer = Symbolizer::open(identity_of(directory / "damaged"));
  EXPECT_THAT(name_of(*symbolizer, position_of(path, main.value)), testing::StartsWith("[damaged"));
  EXPECT_THAT(symbolizer->problem(), testing::HasSubstr(".gnu_debugdata"));
}

TEST(Symbolizer, PositionsThatAreNotLoadedHaveTheObjectsName) {
  const auto symbolizer = Symbolizer::open(identity_of(fixture("layout")));
  EXPECT_EQ(name_of(*symbolizer, UINT64_MAX), "[layout]");
  EXPECT_EQ(symbolizer->problem(), "");
}

TEST(Symbolizer, RangesAreInTheUnitOfThePositions) {
  const std::string path = "/usr/bin/python3.11";
  if (!exists(path)) GTEST_SKIP() << "no program linked away from address 0";
  const auto file = open_elf(path);
  const uint64_t address = file->text().back().address;
  const uint64_t position = file->offset(ObjectAddress{address})->value;
  const NamedRange range = name_at(path, address);
  EXPECT_LE(range.start, position);
  EXPECT_GT(range.end, position);
}

TEST(Symbolizer, TheVdsoNamesItsFunctions) {
  const auto image = own_vdso();
  if (!image) GTEST_SKIP() << image.error().text;
  ExecutableIdentity identity;
  identity.kind = ExecutableIdentity::Kind::kVdso;
  identity.path = "[vdso]";
  identity.build_id.assign(image->build_id().begin(), image->build_id().end());
  const auto symbolizer = Symbolizer::open(identity);
  EXPECT_EQ(symbolizer->object_name(), "[vdso]");
  std::vector<std::string> names;
  for (const ElfSection& section : image->text()) {
    for (uint64_t i = 0; i < section.size; i += 4) names.push_back(name_of(*symbolizer, section.offset + i));
  }
  EXPECT_THAT(names, testing::Contains(testing::HasSubstr("clock_gettime")));
  EXPECT_EQ(symbolizer->problem(), "");
}

TEST(Symbolizer, AnotherKernelsVdsoNamesNothing) {
  ExecutableIdentity identity;
  identity.kind = ExecutableIdentity::Kind::kVdso;
  identity.build_id.assign(20, 7);
  const auto symbolizer = Symbolizer::open(identity);
  EXPECT_EQ(name_of(*symbolizer, 0x900), "[vdso]");
  EXPECT_NE(symbolizer->problem(), "");
}

TEST(Symbolizer, TheVdsoOf32BitProgramsHasNoNamesOfAnother) {
  ExecutableIdentity identity;
  identity.kind = ExecutableIdentity::Kind::kVdso;
  identity.path = "[vdso32]";
  identity.boot_id = parse_uuid(read_file("/proc/sys/kernel/random/boot_id"));
  const auto symbolizer = Symbolizer::open(identity);
  EXPECT_EQ(symbolizer->object_name(), "[vdso32]");
  EXPECT_EQ(name_of(*symbolizer, 0x900), "[vdso32]");
  EXPECT_NE(symbolizer->problem(), "");
}

/// The engines outside programs do not see its build id.
TEST(Symbolizer, WithoutABuildIdTheVdsoIsThatOfTheBoot) {
  if (const auto image = own_vdso(); !image) GTEST_SKIP() << image.error().text;
  ExecutableIdentity identity;
  identity.kind = ExecutableIdentity::Kind::kVdso;
  identity.boot_id = parse_uuid(read_file("/proc/sys/kernel/random/boot_id"));
  EXPECT_EQ(Symbolizer::open(identity)->problem(), "");
  identity.boot_id[0] ^= 1;
  const auto symbolizer = Symbolizer::open(identity);
  EXPECT_EQ(name_of(*symbolizer, 0x900), "[vdso]");
  EXPECT_THAT(symbolizer->problem(), testing::HasSubstr("another boot"));
}

TEST(Symbolizer, PrivateTextWithoutAMapIsTheJits) {
  ExecutableIdentity identity;
  identity.kind = ExecutableIdentity::Kind::kPrivate;
  identity.owner = 0x7fffffff;
  const auto symbolizer = Symbolizer::open(identity);
  EXPECT_EQ(symbolizer->object_name(), "[jit]");
  EXPECT_EQ(name_of(*symbolizer, 0x7f0000001000), "[jit]");
  EXPECT_NE(symbolizer->problem(), "");
}

/// A map with the number of a process names nothing of the process that had this number in another boot, or
/// on another machine.
TEST(Symbolizer, PrivateTextOfAnotherBootHasNoMapHere) {
  ExecutableIdentity identity;
  identity.kind = ExecutableIdentity::Kind::kPrivate;
  identity.owner = getpid();
  identity.boot_id = parse_uuid(read_file("/proc/sys/kernel/random/boot_id"));
  const std::string map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  write_file(map, "7f0000001000 100 compiled\n");
  EXPECT_EQ(name_of(*Symbolizer::open(identity), 0x7f0000001000), "compiled");
  identity.boot_id[0] ^= 1;
  const auto symbolizer = Symbolizer::open(identity);
  EXPECT_EQ(name_of(*symbolizer, 0x7f0000001000), "[jit]");
  EXPECT_NE(symbolizer->problem().find("another machine"), std::string::npos);
  std::filesystem::remove(map);
}

TEST(Symbolizer, NoPositionsNoNames) {
  const auto symbolizer = Symbolizer::open(identity_of(fixture("layout")));
  EXPECT_TRUE(symbolizer->name({}).empty());
  EXPECT_TRUE(symbolizer->frames({}).empty());
}

}  // namespace
}  // namespace pctally
