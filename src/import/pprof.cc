#include <errno.h>
#include <string.h>

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <unordered_map>

#include "base/hex.h"
#include "import/formats.h"
#include "import/pprof_value.h"
#include "import/stack_sum.h"
#include "object/elf/demangle.h"
#include "profile/effective_comment.h"
#include "profile/path_cut.h"
#include "profile/scope_marks.h"

namespace pctally {
namespace {

/// Thrown and caught in this file: what profile.proto does not allow.
struct Malformed {
  const char* what;
};

constexpr char kTooMuchText[] = "its names take more than 512 MiB, each as often as it is used";

struct ValueType {
  int64_t type = 0, unit = 0;
};
struct Mapping {
  uint64_t start = 0, limit = 0, offset = 0;
  int64_t file = 0, build_id = 0;
};
struct Line {
  uint64_t function = 0;
  int64_t line = 0;
};
struct Location {
  uint64_t mapping = 0, address = 0;
  std::vector<Line> lines;
};
struct Function {
  int64_t name = 0, system_name = 0, file = 0, start_line = 0;
};

/// A field of a message with the wire type that profile.proto gives it; one of another type is skipped.
constexpr uint32_t number(uint32_t tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::varint);
}
constexpr uint32_t part(uint32_t tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::length_delimited);
}

/// Empty where the text is no build id in hexadecimal, as Go's is not.
std::vector<uint8_t> build_id_of(const std::string& text) {
  if (text.size() % 2 != 0 || text.size() > 64) return {};
  std::vector<uint8_t> id(text.size() / 2);
  if (from_hex(text.data(), text.size(), id.data(), id.size()) != id.size()) return {};
  return id;
}

class PprofReader {
 public:
  PprofReader(ImportedBytes bytes, const std::string& name, ImportedNames* names, const std::string& kind)
      : bytes_(bytes), sum_(names, name), kind_(kind) {}
  Result<Profile> run();

 private:
  void read_message();
  void read_mapping(protozero::pbf_reader message);
  static void read_line(protozero::pbf_reader message, Line* line);
  void read_location(protozero::pbf_reader message);
  void read_function(protozero::pbf_reader message);
  static ValueType value_type(protozero::pbf_reader message);
  std::vector<bool> used_types() const;
  Result<void> choose_value();
  uint64_t samples_of(uint64_t amount, const std::vector<int64_t>& values) const;
  Result<void> add_sample(protozero::pbf_reader message);
  const PathScope& scope_at(uint64_t location);
  std::optional<PathEnd> cut_at(uint64_t location);
  std::optional<PathEnd> cut_of(const Location& location) const;
  PathScope scope_of(const Location& location);
  ImportedPlace place_of(uint64_t location);
  Frame frame_of(const Line& line);
  uint32_t object_of(uint64_t mapping);
  void count(uint64_t rows) {
    if (!sum_.add_rows(rows)) throw Malformed{"it has more than 10,000,000 rows"};
  }
  std::string_view view(int64_t index) const {
    if (index < 0 || static_cast<uint64_t>(index) >= strings_.size())
      throw Malformed{"a text is not in its table"};
    return strings_[static_cast<size_t>(index)];
  }
  std::string text(int64_t index) {
    const std::string_view bytes = view(index);
    if (!sum_.add_text(bytes.size() + 1)) throw Malformed{kTooMuchText};
    return std::string(bytes);
  }

  ImportedBytes bytes_;
  StackSum sum_;
  std::string kind_;  ///< of value that is asked for
  std::vector<std::string_view> strings_;
  std::vector<ValueType> types_;
  std::vector<protozero::data_view> samples_;
  std::vector<int64_t> comments_;
  std::vector<uint64_t> mapping_order_;
  std::unordered_map<uint64_t, Mapping> mappings_;
  std::unordered_map<uint64_t, Location> locations_;
  std::unordered_map<uint64_t, Function> functions_;
  std::unordered_map<uint64_t, ImportedPlace> places_;
  std::unordered_map<uint64_t, uint32_t> objects_;             ///< by mapping
  std::unordered_map<uint64_t, PathScope> scopes_;             ///< of outermost locations
  std::unordered_map<uint64_t, std::optional<PathEnd>> cuts_;  ///< the same below scopes
  ValueType period_type_;
  int64_t period_ = 0, default_type_ = 0, time_ns_ = 0, duration_ns_ = 0;
  PprofValue value_;
};

ValueType PprofReader::value_type(protozero::pbf_reader message) {
  ValueType type;
  while (message.next()) switch (message.tag_and_type()) {
      case number(1):
        type.type = message.get_int64();
        break;
      case number(2):
        type.unit = message.get_int64();
        break;
      default:
        message.skip();
    }
  return type;
}

void PprofReader::read_mapping(protozero::pbf_reader message) {
  count(1);
  uint64_t id = 0;
  Mapping mapping;
  while (message.next()) switch (message.tag_and_type()) {
      case number(1):
        id = message.get_uint64();
        break;
      case number(2):
        mapping.start = message.get_uint64();
        break;
      case number(3):
        mapping.limit = message.get_uint64();
        break;
      case number(4):
        mapping.offset = message.get_uint64();
        break;
      case number(5):
        mapping.file = message.get_int64();
        break;
      case number(6):
        mapping.build_id = message.get_int64();
        break;
      default:
        message.skip();
    }
  if (mappings_.emplace(id, mapping).second) mapping_order_.push_back(id);
}

void PprofReader::read_line(protozero::pbf_reader message, Line* line) {
  while (message.next()) switch (message.tag_and_type()) {
      case number(1):
        line->function = message.get_uint64();
        break;
      case number(2):
        line->line = message.get_int64();
        break;
      default:
        message.skip();
    }
}

void PprofReader::read_location(protozero::pbf_reader message) {
  count(1);
  uint64_t id = 0;
  Location location;
  while (message.next()) switch (message.tag_and_type()) {
      case number(1):
        id = message.get_uint64();
        break;
      case number(2):
        location.mapping = message.get_uint64();
        break;
      case number(3):
        location.address = message.get_uint64();
        break;
      case part(4): {
        count(1);
        Line line;
        read_line(message.get_message(), &line);
        location.lines.push_back(line);
        break;
      }
      default:
        message.skip();
    }
  locations_.emplace(id, std::move(location));
}

void PprofReader::read_function(protozero::pbf_reader message) {
  count(1);
  uint64_t id = 0;
  Function function;
  while (message.next()) switch (message.tag_and_type()) {
      case number(1):
        id = message.get_uint64();
        break;
      case number(2):
        function.name = message.get_int64();
        break;
      case number(3):
        function.system_name = message.get_int64();
        break;
      case number(4):
        function.file = message.get_int64();
        break;
      case number(5):
        function.start_line = message.get_int64();
        break;
      default:
        message.skip();
    }
  functions_.emplace(id, function);
}

void PprofReader::read_message() {
  protozero::pbf_reader message(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  while (message.next()) switch (message.tag_and_type()) {
      case part(1):
        count(1);
        types_.push_back(value_type(message.get_message()));
        break;
      case part(2):
        count(1);
        samples_.push_back(message.get_view());
        break;
      case part(3):
        read_mapping(message.get_message());
        break;
      case part(4):
        read_location(message.get_message());
        break;
      case part(5):
        read_function(message.get_message());
        break;
      case part(6): {
        count(1);
        const protozero::data_view view = message.get_view();
        strings_.emplace_back(view.data(), view.size());
        break;
      }
      case number(9):
        time_ns_ = message.get_int64();
        break;
      case number(10):
        duration_ns_ = message.get_int64();
        break;
      case part(11):
        period_type_ = value_type(message.get_message());
        break;
      case number(12):
        period_ = message.get_int64();
        break;
      case part(13):
        for (const int64_t comment : message.get_packed_int64()) count(1), comments_.push_back(comment);
        break;
      case number(13):
        count(1);
        comments_.push_back(message.get_int64());
        break;
      case number(14):
        default_type_ = message.get_int64();
        break;
      default:
        message.skip();
    }
}

/// Whether each kind of value is other than 0 in a sample.
std::vector<bool> PprofReader::used_types() const {
  std::vector<bool> used(types_.size());
  for (const protozero::data_view& sample : samples_) {
    size_t at = 0;
    const auto add = [&](int64_t value) {
      if (at < used.size() && value != 0) used[at] = true;
      ++at;
    };
    protozero::pbf_reader message(sample);
    while (message.next()) switch (message.tag_and_type()) {
        case part(2):
          for (const int64_t value : message.get_packed_int64()) add(value);
          break;
        case number(2):
          add(message.get_int64());
          break;
        default:
          message.skip();
      }
  }
  return used;
}

Result<void> PprofReader::choose_value() {
  if (types_.empty()) throw Malformed{"it does not say what its values are"};
  const auto named = [this](const ValueType& type) { return PprofType{view(type.type), view(type.unit)}; };
  std::vector<PprofType> types;
  for (const ValueType& type : types_) types.push_back(named(type));
  auto value =
      choose_pprof_value(types, used_types(), kind_, view(default_type_), named(period_type_), period_);
  if (!value) return std::unexpected(value.error());
  value_ = std::move(*value);
  return {};
}

uint64_t PprofReader::samples_of(uint64_t amount, const std::vector<int64_t>& values) const {
  if (value_.samples != PprofValue::kNone) return static_cast<uint64_t>(values[value_.samples]);
  return value_.period == 0 ? 1 : std::max<uint64_t>(1, amount / value_.period);
}

uint32_t PprofReader::object_of(uint64_t mapping) {
  const auto [entry, fresh] = objects_.try_emplace(mapping, 0);
  if (!fresh) return entry->second;
  const auto found = mappings_.find(mapping);
  const std::string file = found == mappings_.end() ? "" : text(found->second.file);
  const std::string build_id = found == mappings_.end() ? "" : text(found->second.build_id);
  return entry->second = sum_.named_object(file.empty() ? kNoObject : file, build_id_of(build_id));
}

Frame PprofReader::frame_of(const Line& line) {
  const auto found = functions_.find(line.function);
  if (found == functions_.end()) throw Malformed{"a function is not in its table"};
  const Function& function = found->second;
  Frame frame;
  frame.linkage = text(function.system_name);
  frame.function = text(function.name);
  if (frame.function.empty()) frame.function = demangle(frame.linkage);
  if (frame.function.empty()) frame.function = "[no name]";
  if (frame.linkage == frame.function) frame.linkage.clear();
  frame.file = text(function.file);
  if (line.line > 0 && line.line <= INT32_MAX) frame.line = static_cast<uint32_t>(line.line);
  if (function.start_line > 0 && function.start_line <= INT32_MAX)
    frame.start_line = static_cast<uint32_t>(function.start_line);
  return frame;
}

/// Places without names are looked up in their files.
ImportedPlace PprofReader::place_of(uint64_t id) {
  if (const auto known = places_.find(id); known != places_.end()) return known->second;
  const auto found = locations_.find(id);
  if (found == locations_.end()) throw Malformed{"a location is not in its table"};
  const Location& location = found->second;
  ImportedPlace place;
  const auto mapping = mappings_.find(location.mapping);
  const bool in_file = mapping != mappings_.end() && view(mapping->second.file).starts_with('/') &&
                       location.address >= mapping->second.start;
  if (!location.lines.empty()) {
    std::vector<Frame> frames;
    for (const Line& line : location.lines) frames.push_back(frame_of(line));
    place = sum_.place(object_of(location.mapping), frames);
  } else if (in_file) {
    place = {sum_.file_object(text(mapping->second.file), ExecutableKind::kFile,
                              build_id_of(text(mapping->second.build_id))),
             location.address - mapping->second.start + mapping->second.offset};
  } else {
    place = sum_.place(object_of(location.mapping), {{address_name(location.address), "", 0}});
  }
  return places_[id] = place;
}

/// What a location stands for that we have written; without a name: it is code.
PathScope PprofReader::scope_of(const Location& location) {
  PathScope scope;
  if (location.mapping != 0 || location.lines.empty() || location.lines.size() > 2) return scope;
  const auto function = [&](const Line& line) {
    const auto found = functions_.find(line.function);
    return found == functions_.end() ? Function{} : found->second;
  };
  const Function outer = function(location.lines.back()), inner = function(location.lines.front());
  const std::string_view mark = view(outer.system_name);
  if (mark != kProgramMark && mark != kGroupMark) return scope;
  scope.name = text(outer.name);
  if (mark == kGroupMark) scope.kind = PathScopeKind::kGroup;
  if (location.lines.size() == 2 && view(inner.system_name) == kThreadMark) {
    scope.kind = PathScopeKind::kThread;
    scope.thread = text(inner.name);
  }
  return scope;
}

/// The same of a location's number.
const PathScope& PprofReader::scope_at(uint64_t id) {
  const auto [entry, fresh] = scopes_.try_emplace(id);
  const auto found = locations_.find(id);
  if (fresh && found != locations_.end()) entry->second = scope_of(found->second);
  return entry->second;
}

/// Why a path is cut at a location that we have written for it; none: it is code.
std::optional<PathEnd> PprofReader::cut_of(const Location& location) const {
  if (location.mapping != 0 || location.lines.size() != 1) return std::nullopt;
  const auto function = functions_.find(location.lines[0].function);
  return function == functions_.end() ? std::nullopt : cut_named(view(function->second.name));
}

/// The same of a location's number.
std::optional<PathEnd> PprofReader::cut_at(uint64_t id) {
  const auto [entry, fresh] = cuts_.try_emplace(id);
  const auto found = fresh ? locations_.find(id) : locations_.end();
  if (found != locations_.end()) entry->second = cut_of(found->second);
  return entry->second;
}

Result<void> PprofReader::add_sample(protozero::pbf_reader message) {
  std::vector<uint64_t> locations;
  std::vector<int64_t> values;
  while (message.next()) switch (message.tag_and_type()) {
      case part(1):
        for (const uint64_t id : message.get_packed_uint64()) count(1), locations.push_back(id);
        break;
      case number(1):
        count(1);
        locations.push_back(message.get_uint64());
        break;
      case part(2):
        for (const int64_t value : message.get_packed_int64()) count(1), values.push_back(value);
        break;
      case number(2):
        count(1);
        values.push_back(message.get_int64());
        break;
      default:
        message.skip();
    }
  if (values.size() != types_.size()) throw Malformed{"a sample has not one value of each kind"};
  const int64_t value = values[value_.number];
  if (value < 0 || (value_.samples != PprofValue::kNone && values[value_.samples] < 0))
    return fail(EINVAL, "it has values below 0: a difference is no profile; export the two profiles");
  uint64_t amount = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(value), value_.scale, &amount)) amount = UINT64_MAX;
  const uint64_t samples = samples_of(amount, values);
  const PathScope scope = locations.empty() ? PathScope{} : scope_at(locations.back());
  if (!scope.name.empty()) {
    if (!sum_.add_text(scope.name.size() + scope.thread.size())) throw Malformed{kTooMuchText};
    sum_.keep_scopes();
    locations.pop_back();
  }
  const std::optional<PathEnd> cut = locations.empty() ? std::nullopt : cut_at(locations.back());
  if (cut && locations.size() > 1) locations.pop_back();  // Of a path without code it is what ran.
  std::vector<ImportedPlace> stack;
  for (const uint64_t location : locations) stack.push_back(place_of(location));
  if (stack.empty())
    sum_.add_outside(amount, samples, scope);
  else
    sum_.add(stack, amount, samples, scope, cut.value_or(PathEnd::kComplete));
  return {};
}

Result<Profile> PprofReader::run() {
  read_message();
  if (strings_.empty() || !strings_[0].empty())
    throw Malformed{"its table of texts does not begin with an empty one"};
  if (auto chosen = choose_value(); !chosen) return std::unexpected(chosen.error());
  Profile profile;
  profile.engine = "pprof";
  if (!mapping_order_.empty())
    if (const std::string program = text(mappings_[mapping_order_[0]].file); !program.empty())
      profile.command = {program};
  profile.started_unix_ns = static_cast<uint64_t>(std::max<int64_t>(time_ns_, 0));
  profile.duration_ns = static_cast<uint64_t>(std::max<int64_t>(duration_ns_, 0));
  for (const protozero::data_view& sample : samples_)
    if (auto added = add_sample(protozero::pbf_reader(sample)); !added) return std::unexpected(added.error());
  for (const int64_t comment : comments_)
    if (const auto samples = effective_samples_in(view(comment), sum_.amount()))
      sum_.set_effective_samples(*samples);
  return sum_.take(value_.unit, std::move(profile));
}

}  // namespace

Result<Profile> import_pprof(ImportedBytes bytes, const std::string& name, ImportedNames* names,
                             const std::string& kind) {
  try {
    return PprofReader(bytes, name, names, kind).run();
  } catch (const Malformed& malformed) {
    return fail(EINVAL, "damaged: %s", malformed.what);
  } catch (const std::exception&) {
    return fail(EINVAL, "damaged: it ends within a field, or a field is not what profile.proto has");
  }
}

}  // namespace pctally
