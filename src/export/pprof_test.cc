#include "export/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string.h>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "export/profiles_for_test.h"

namespace pctally {
namespace {

TEST(Pprof, IsGzip) {
  Profile profile = sample_profile();
  std::string bytes = pprof_export(profile, samples_of(profile, &FakeSymbolizer::open, true));
  ASSERT_GT(bytes.size(), 20u);
  EXPECT_EQ(bytes.substr(0, 2), "\x1f\x8b");
}

std::string gunzipped(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 31), Z_OK);
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

/// What a reader of a profile.proto finds.
class PprofFile {
 public:
  PprofFile(const Profile& profile, const Samples& samples)
      : bytes_(gunzipped(pprof_export(profile, samples))) {
    protozero::pbf_reader file(bytes_);
    while (file.next()) switch (file.tag()) {
        case 2:
          read_sample(file.get_message());
          break;
        case 3:
          mapping_files_.push_back(number_in(file.get_message(), 5));
          break;
        case 4:
          read_location(file.get_message());
          break;
        case 5:
          read_function(file.get_message());
          break;
        case 6:
          strings_.push_back(file.get_string());
          break;
        case 13:
          for (const int64_t number : file.get_packed_int64()) comment_ = static_cast<size_t>(number);
          break;
        default:
          file.skip();
      }
  }
  /// Of each sample its functions, innermost first, and its values.
  [[nodiscard]] std::map<std::string, std::vector<int64_t>> samples() const {
    std::map<std::string, std::vector<int64_t>> result;
    for (const auto& [locations, values] : samples_) {
      std::string stack;
      for (const uint64_t location : locations)
        for (const uint64_t function : lines_.at(location)) stack += name_of(function) + ";";
      result[stack] = values;
    }
    return result;
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> files;
    for (const uint64_t number : mapping_files_) files.push_back(strings_.at(number));
    return files;
  }
  [[nodiscard]] std::string comment() const { return strings_.at(comment_); }
  [[nodiscard]] size_t functions() const { return functions_.size(); }
  [[nodiscard]] const std::map<uint64_t, uint64_t>& addresses() const { return addresses_; }

 private:
  static uint64_t number_in(protozero::pbf_reader message, uint32_t field) {
    uint64_t number = 0;
    while (message.next()) {
      if (message.tag() == field)
        number = message.get_uint64();
      else
        message.skip();
    }
    return number;
  }
  void read_sample(protozero::pbf_reader message) {
    auto& [locations, values] = samples_.emplace_back();
    while (message.next()) switch (message.tag()) {
        case 1:
          for (const uint64_t id : message.get_packed_uint64()) locations.push_back(id);
          break;
        case 2:
          for (const int64_t value : message.get_packed_int64()) values.push_back(value);
          break;
        default:
          message.skip();
      }
  }
  void read_location(protozero::pbf_reader message) {
    const uint64_t id = number_in(message, 1);
    addresses_[id] = number_in(message, 3);
    while (message.next(4)) lines_[id].push_back(number_in(message.get_message(), 1));
  }
  void read_function(protozero::pbf_reader message) {
    functions_[number_in(message, 1)] = number_in(message, 2);
  }
  [[nodiscard]] const std::string& name_of(uint64_t function) const {
    return strings_.at(functions_.at(function));
  }

  std::string bytes_;
  std::vector<std::string> strings_;
  std::vector<uint64_t> mapping_files_;
  std::map<uint64_t, uint64_t> functions_, addresses_;
  std::map<uint64_t, std::vector<uint64_t>> lines_;
  std::vector<std::pair<std::vector<uint64_t>, std::vector<int64_t>>> samples_;
  size_t comment_ = 0;
};

TEST(Pprof, HasTicksAndNanosecondsOfEachPath) {
  const Profile profile = profile_with_callers();
  const PprofFile file(profile, stacks_of(profile, &FakeSymbolizer::open, true));
  const auto samples = file.samples();
  EXPECT_EQ(samples.at("f3;f2;inlined;f1;prog;"), (std::vector<int64_t>{12, 12'000'000}));
  std::vector<int64_t> sums(2);
  for (const auto& [stack, values] : samples)
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += values.at(i);
  EXPECT_EQ(sums, (std::vector<int64_t>{22, 22'000'000}));
}

TEST(Pprof, SaysHowManyEffectiveSamplesThereAre) {
  Profile profile = sample_profile();
  profile.ledger.lost = 0;
  EXPECT_EQ(PprofFile(profile, samples_of(profile, &FakeSymbolizer::open, true)).comment(), "")
      << "each tick is one";
  profile.ledger.weight_squares = 36;
  EXPECT_EQ(PprofFile(profile, samples_of(profile, &FakeSymbolizer::open, true)).comment(),
            "pctally: 9.00 effective samples in 18000000 cpu nanoseconds");
}

/// A tick of this sum is a nanosecond.
TEST(Pprof, OfRunsOfOtherPeriodsHasTheTicksThatWereRecorded) {
  Profile profile = sample_profile();
  profile.period_ns = 1;
  profile.ledger.full = profile.ledger.lost = 0;
  profile.ledger.outside = 6;
  profile.runs.resize(1);
  profile.runs[0].period_ns = profile.runs[0].period_asked_ns = 2;
  profile.runs[0].ledger.counted = 10;
  const auto samples = PprofFile(profile, samples_of(profile, &FakeSymbolizer::open, false)).samples();
  int64_t ticks = 0;
  for (const auto& [stack, values] : samples) ticks += values.at(0);
  EXPECT_EQ(ticks, 10);
  EXPECT_GE(samples.at("f1;").at(0), 3);
}

TEST(Pprof, HasTheProgramFirst) {
  Profile profile = sample_profile();
  profile.executables[1].path = "/bin/prog";
  EXPECT_EQ(PprofFile(profile, samples_of(profile, &FakeSymbolizer::open, true)).files(),
            (std::vector<std::string>{"/bin/prog", "/x/y"}));
}

/// Their positions are numbers for names, which a reader would look up in the file.
TEST(Pprof, OfAnImportHasNoAddresses) {
  const Profile profile = sample_profile();
  for (const bool imported : {false, true}) {
    const IsImported all_are = [](const Executable&) { return true; };
    const Samples samples =
        samples_of(profile, &FakeSymbolizer::open, true, NameStyle::kFull, imported ? all_are : nullptr);
    const PprofFile file(profile, samples);
    uint64_t all = 0;
    for (const auto& [id, address] : file.addresses()) all |= address;
    EXPECT_EQ(all == 0, imported);
  }
}

TEST(Pprof, OverloadsAreFunctionsOfTheirOwn) {
  const Profile profile = sample_profile();
  Samples samples;
  samples.objects = {"y"};
  for (const char* linkage : {"_Z1fi", "_Z1fl"}) {
    samples.samples.push_back({{static_cast<uint32_t>(samples.locations.size())}, 5, ""});
    samples.locations.push_back({.executable = 0, .frames = {{"f", "", 0, linkage}}});
  }
  EXPECT_EQ(PprofFile(profile, samples).functions(), 2u);
}

}  // namespace
}  // namespace pctally
