// An Annotation as a listing for people, and as JSON. Every name and every source line
// passes through escaped().
#pragma once
#include <string>

#include "report/annotate/annotation.h"
#include "report/annotate/source_files.h"
#include "report/names/shown_names.h"

namespace pctally {

struct ListingOptions {
  bool color = false;
  bool all = false;          ///< every instruction; else the hot ones and what stands around them
  double min_share = 0.005;  ///< of the function: instructions with less are not hot
  NameStyle names = NameStyle::kShort;
  size_t width = 0;  ///< of the terminal; 0: nothing is cut
};

/// Lines with most ticks, then the instructions between their source lines, then how to read it.
std::string annotation_text(const Profile& profile, Annotator& annotator, SourceFiles& sources,
                            const ListingOptions& options);

/// All lines with ticks, all instructions.
std::string annotation_json(const Profile& profile, Annotator& annotator, SourceFiles& sources);

}  // namespace pctally
