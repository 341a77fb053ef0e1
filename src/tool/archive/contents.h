// Collects what an archive holds beside the ticks: names, lines and inlined functions of everything that
// was hit, code and sources of hot functions.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "names/names_writer.h"
#include "profile/profile.h"
#include "report/annotate/find_function.h"
#include "report/annotate/source_files.h"
#include "tool/archive/directories.h"
#include "tool/profile_names.h"

namespace pctally {

struct ArchiveOptions {
  bool sources = true;
  bool strip_paths = false;  ///< of paths the last part alone
};

class ArchiveContents {
 public:
  /// Reads it all, first from what is kept, then from executables and sources.
  ArchiveContents(const Profile& profile, const ArchiveOptions& options);

  /// Empty if nothing has a name. Error: as of NamesWriter::bytes().
  [[nodiscard]] const Result<std::vector<unsigned char>>& section() const { return section_; }
  /// Paths of the sources in it.
  [[nodiscard]] const std::vector<std::string>& sources() const { return in_; }
  /// The sources that are left out: "PATH: why".
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  /// Parts of one object, by position.
  struct Parts {
    std::map<uint64_t, uint32_t> places;  ///< lengths of instructions; 1 for any other position
    std::vector<uint64_t> targets;        ///< of calls and jumps
    std::map<FunctionSpan, CodeBytes> code;
  };
  void add_code(const Profile& profile, const HotFunction& function, ObjectNames& names);
  void add_object(const Profile& profile, const HitPlaces& hit, ObjectNames& names);
  void add_places(Symbolizer& symbolizer, bool made_at_run_time, const Parts& parts);
  void add_callers(const Profile& profile, ObjectNames& names);
  /// `positions`: ascending.
  void note_sources(Symbolizer& symbolizer, const std::vector<uint64_t>& positions, const BuildId& build_id);
  void add_sources();
  /// Why a source may not go in; empty if it may.
  [[nodiscard]] std::string reason_against(const std::string& path, const SourceFile& source) const;
  [[nodiscard]] bool is_proven(const std::string& path, const SourceFile& source) const;
  [[nodiscard]] std::string shown(const std::string& source);
  /// `all` are NamedRanges or Frames.
  template <class Named>
  void strip_names(bool made_at_run_time, std::vector<Named>* all) const;

  ArchiveOptions options_;
  std::map<uint32_t, Parts> parts_;
  SourceDigests digests_;        ///< what they were when they were compiled
  std::set<std::string> named_;  ///< sources of hot functions
  DistinctFiles stripped_;       ///< sources
  SourceFiles sources_;
  NamesWriter writer_;
  Result<std::vector<unsigned char>> section_;
  std::vector<std::string> in_, left_out_;
};

}  // namespace pctally
