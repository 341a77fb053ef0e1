// Annotated code for a page: the instructions with ticks of the functions it is asked for, and the lines of
// source around them.
//
// Refuses to put in a line of a file that not everybody may read, unless the file is the reader's own; root
// has none of its own, for what root may read is no sign of what others may.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/annotate/source_files.h"
#include "report/html/parts.h"
#include "report/print/escape.h"

namespace pctally {

class SourceParts {
 public:
  /// REQUIRES: all outlive this. `with_sources`: lines of files are read.
  SourceParts(const Profile& profile, ObjectNames& names, Texts* texts, bool with_sources, KeptSources kept,
              FetchSource fetch)
      : profile_(profile),
        names_(names),
        texts_(texts),
        with_sources_(with_sources),
        sources_({}, std::move(kept), with_sources ? std::move(fetch) : FetchSource()) {}

  /// `number`: of the function in the page.
  void add(const HotFunction& function, int64_t number);

  /// In its place the page says why it is not there.
  void leave_out(int64_t number, const std::string& problem);

  /// Writes "sources" and "files": those the lines are from.
  std::vector<std::string> take(HtmlJson* data);

 private:
  HtmlJson file_json(const std::string& path, const std::set<uint32_t>& lines);

  const Profile& profile_;
  ObjectNames& names_;
  Texts* texts_;
  bool with_sources_;
  SourceFiles sources_;
  HtmlJson functions_ = HtmlJson::array();
  std::map<std::string, std::set<uint32_t>> used_;  ///< lines with code, by file
  std::map<std::string, SourceChange> changes_;     ///< the worst of the functions with code of a file
  std::vector<std::string> files_;
};

}  // namespace pctally
