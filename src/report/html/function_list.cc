#include "report/html/function_list.h"

namespace pctally {

FunctionList::FunctionList(const Report& report, NameStyle names) : names_(names) {
  for (const Row& row : report.rows) {
    const auto number = static_cast<int64_t>(entries_.size());
    Entry entry{.name = shown_name(names, row.short_function, row.function, row.linkage),
                .full = row.function,
                .object = row.object,
                .file = {},
                .ticks = row.ticks,
                .has_total = row.total.high != 0,
                .total = row.total};
    if (entry.name == entry.full) entry.full.clear();
    entries_.push_back(std::move(entry));
    rows_.try_emplace({row.object, row.function, row.address}, number);
    by_name_.try_emplace({row.object, row.function, {}}, number);
  }
}

int64_t FunctionList::number(const HotFunction& function) const {
  const uint64_t address = function.range.object_address();
  const auto row = rows_.find({function.object, function.range.function, address});
  if (row != rows_.end()) return row->second;
  // A JIT's functions of one name are one row, without an address.
  return by_name_.at({function.object, function.range.function, {}});
}

int64_t FunctionList::number(const StackFrame& frame) {
  const auto row = rows_.find({frame.object, frame.function, frame.address});
  if (frame.address != 0 && row != rows_.end()) return row->second;
  const auto [known, fresh] = by_name_.try_emplace(
      {frame.object, frame.function, frame.address == 0 ? frame.declared : std::string()},
      static_cast<int64_t>(entries_.size()));
  if (!fresh) {
    Entry& entry = entries_[static_cast<size_t>(known->second)];
    if (entry.file.empty()) entry.file = frame.file;  // of a call in it
    return known->second;
  }
  Entry entry{.name = shown_name(names_, frame),
              .full = frame.function,
              .object = frame.object,
              .file = frame.file,
              .inlined = true,
              .total = {}};
  if (entry.name == entry.full) entry.full.clear();
  entries_.push_back(std::move(entry));
  return known->second;
}

std::vector<std::pair<std::string, std::string>> FunctionList::full_names() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const Entry& entry : entries_)
    names.emplace_back(entry.full.empty() ? entry.name : entry.full, entry.object);
  return names;
}

void FunctionList::set_place(int64_t function, const std::string& file, uint32_t line) {
  Entry& entry = entries_[static_cast<size_t>(function)];
  entry.file = file;
  entry.line = line;
}

Json FunctionList::json(Texts* texts) const {
  Json list = Json::array();
  for (const Entry& entry : entries_)
    list.push_back(
        Json::array({texts->number(entry.name), texts->number(entry.full),
                     texts->number_of_path(entry.object), texts->number_of_path(entry.file), entry.line,
                     entry.ticks, entry.has_total ? static_cast<int64_t>(entry.total.low) : -1,
                     entry.total.high, entry.total.cut, entry.inlined ? 1 : 0}));
  return list;
}

}  // namespace pctally
