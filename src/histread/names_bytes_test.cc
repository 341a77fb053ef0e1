#include "histread/names_bytes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/file/write_all.h"
#include "base/unique_fd.h"
#include "histfile/names_layout.h"
#include "histread/file_builder_for_test.h"
#include "histread/reader.h"

namespace pctally {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes section_of(const std::string& text) {
  Bytes bytes(sizeof(NamesHead) + text.size());
  NamesHead head{};
  memcpy(head.magic, kNamesMagic, sizeof head.magic);
  head.version = kNamesVersion;
  head.bytes = bytes.size();
  memcpy(bytes.data(), &head, sizeof head);
  memcpy(bytes.data() + sizeof head, text.data(), text.size());
  return bytes;
}

Bytes profile_bytes() {
  FileBuilder file;
  file.count(file.segment(file.object("/a", "id"), 4096, 1 << 20), 4100, 7);
  return file.bytes();
}

/// As the recorder leaves it: its pool ends with the file.
Bytes closed_bytes() {
  Bytes bytes = profile_bytes();
  FileHeader header;
  memcpy(&header, bytes.data(), sizeof header);
  header.pool.limit = header.pool.used;
  memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

class NamesBytes : public testing::Test {
 protected:
  NamesBytes() { write(profile_bytes()); }
  void write(const Bytes& bytes) {
    ASSERT_EQ(ftruncate(fd_.get(), 0), 0);
    ASSERT_EQ(lseek(fd_.get(), 0, SEEK_SET), 0);
    ASSERT_TRUE(write_all(fd_.get(), bytes.data(), bytes.size()));
  }
  [[nodiscard]] Bytes whole() const {
    struct stat status;
    EXPECT_EQ(fstat(fd_.get(), &status), 0);
    Bytes bytes(static_cast<size_t>(status.st_size));
    EXPECT_EQ(pread(fd_.get(), bytes.data(), bytes.size(), 0), status.st_size);
    return bytes;
  }
  [[nodiscard]] uint64_t cells() const {
    uint64_t sum = 0;
    const Result<FileContents> contents = read_file_contents(whole());
    EXPECT_TRUE(contents && contents->damage.empty());
    if (contents)
      for (const WeightedPosition& cell : contents->cells) sum += cell.ticks;
    return sum;
  }

  UniqueFd fd_{memfd_create("profile", MFD_CLOEXEC)};
};

TEST_F(NamesBytes, LieBehindThePoolOfAFileThatReadsAsBefore) {
  EXPECT_TRUE(read_names_bytes(fd_.get())->empty());
  const Bytes section = section_of("names");
  ASSERT_TRUE(write_names_bytes(fd_.get(), section));
  EXPECT_EQ(*read_names_bytes(fd_.get()), section);
  EXPECT_EQ(cells(), 7u);
  Bytes in_memory = profile_bytes();
  append_names_bytes(section, &in_memory);
  EXPECT_EQ(in_memory, whole());
}

TEST_F(NamesBytes, AreWrittenOnceAndIntoAClosedFileAlone) {
  ASSERT_TRUE(write_names_bytes(fd_.get(), section_of("a")));
  EXPECT_EQ(write_names_bytes(fd_.get(), section_of("b")).error().code, EEXIST);
  FileBuilder recording;
  recording.header().state = FileState::kRecording;
  write(recording.bytes());
  EXPECT_EQ(write_names_bytes(fd_.get(), section_of("a")).error().code, EBUSY);
}

TEST_F(NamesBytes, LieBehindWhatAPoolMayStillGrowTo) {
  FileBuilder file;
  file.header().pool.limit = 100'000;
  Bytes bytes = file.bytes();
  append_names_bytes(section_of("a"), &bytes);
  FileHeader header;
  memcpy(&header, bytes.data(), sizeof header);
  EXPECT_GE(header.names, header.pool.limit);
}

/// A recorder of another version may have more behind the pool, or end within a unit.
TEST_F(NamesBytes, LieBehindAllThatTheFileHas) {
  for (const size_t more : {1, 40}) {
    Bytes file = closed_bytes();
    file.resize(file.size() + more, 0x5a);
    const Bytes before = file;
    ASSERT_TRUE(append_names_bytes(section_of("a"), &file));
    EXPECT_TRUE(std::equal(before.end() - static_cast<ptrdiff_t>(more), before.end(),
                           file.begin() + static_cast<ptrdiff_t>(before.size() - more)));
    write(before);
    ASSERT_TRUE(write_names_bytes(fd_.get(), section_of("a")));
    EXPECT_EQ(whole(), file);
  }
}

TEST_F(NamesBytes, WithoutRoomTheFileStaysAsLongAsItWas) {
  const Bytes before = closed_bytes();
  write(before);
  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{before.size() + 60, old.rlim_max};
  auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const auto written = write_names_bytes(fd_.get(), section_of(std::string(1000, 'x')));
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  EXPECT_FALSE(written);
  EXPECT_EQ(whole(), before);
}

// A program that maps the file may write anything there: no file of hundreds of GiB for it.
TEST_F(NamesBytes, AreNotPutBehindAPoolThatCannotBe) {
  for (const bool used : {false, true}) {
    FileBuilder file;
    Bytes bytes = file.bytes();
    FileHeader header;
    memcpy(&header, bytes.data(), sizeof header);
    (used ? header.pool.used : header.pool.limit) = 0xfffffff0;
    memcpy(bytes.data(), &header, sizeof header);
    write(bytes);
    EXPECT_FALSE(write_names_bytes(fd_.get(), section_of("a")));
    EXPECT_EQ(whole(), bytes);
    Bytes copy = bytes;
    EXPECT_FALSE(append_names_bytes(section_of("a"), &copy));
    EXPECT_EQ(copy, bytes);
  }
}

/// As a copy that a reader made who knew no names.
TEST_F(NamesBytes, ThatWereLeftOutOfACopyAreNone) {
  const Bytes before = whole();
  ASSERT_TRUE(write_names_bytes(fd_.get(), section_of("a")));
  ASSERT_EQ(ftruncate(fd_.get(), static_cast<off_t>(before.size())), 0);
  EXPECT_TRUE(read_names_bytes(fd_.get())->empty());
}

TEST_F(NamesBytes, ThatEndTooEarlyOrAreNoneAreAnError) {
  ASSERT_TRUE(write_names_bytes(fd_.get(), section_of("names")));
  const Bytes sound = whole();
  ASSERT_EQ(ftruncate(fd_.get(), static_cast<off_t>(sound.size() - 1)), 0);
  EXPECT_FALSE(read_names_bytes(fd_.get()));
  Bytes other = sound;
  other[other.size() - section_of("names").size()] = 'X';
  write(other);
  EXPECT_FALSE(read_names_bytes(fd_.get()));
}

}  // namespace
}  // namespace pctally
