#include "report/print/json_value.h"

#include <nlohmann/json.hpp>

namespace pctally {
namespace {

/// A value that holds no others, as the library writes it.
template <class T>
std::string leaf(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

void start_line(int indent, int depth, std::string* out) {
  if (indent < 0) return;
  *out += '\n';
  out->append(static_cast<size_t>(indent) * static_cast<size_t>(depth), ' ');
}

}  // namespace

Json::Json() = default;
Json::Json(bool value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(Signed value) : value_(value.value) {}
Json::Json(Unsigned value) : value_(value.value) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> values) {
  bool pairs = true;
  for (const Json& value : values) {
    const Array* pair = std::get_if<Array>(&value.value_);
    pairs = pairs && pair != nullptr && pair->size() == 2 &&
            std::holds_alternative<std::string>(pair->front().value_);
  }
  if (!pairs) {
    value_ = Array(values);
    return;
  }
  Object& members = value_.emplace<Object>();
  for (const Json& value : values) {
    const Array& pair = std::get<Array>(value.value_);
    members.push_back({std::get<std::string>(pair[0].value_), pair[1]});
  }
}

Json Json::array(std::initializer_list<Json> values) {
  Json result;
  result.value_ = Array(values);
  return result;
}

Json Json::object() {
  Json result;
  result.value_ = Object();
  return result;
}

Json& Json::operator[](std::string_view key) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Object();
  Object& members = std::get<Object>(value_);
  for (Member& member : members)
    if (member.key == key) return member.value;
  members.push_back({std::string(key), Json()});
  return members.back().value;
}

void Json::add(std::string key, Json value) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Object();
  std::get<Object>(value_).push_back({std::move(key), std::move(value)});
}

void Json::push_back(Json value) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Array();
  std::get<Array>(value_).push_back(std::move(value));
}

size_t Json::size() const {
  if (const Array* values = std::get_if<Array>(&value_)) return values->size();
  const Object* members = std::get_if<Object>(&value_);
  return members != nullptr ? members->size() : 0;
}

std::string Json::dump(int indent) const {
  std::string text;
  write(indent, 0, &text);
  return text;
}

void Json::write(int indent, int depth, std::string* out) const {
  if (const Array* values = std::get_if<Array>(&value_))
    write_array(*values, indent, depth, out);
  else if (const Object* members = std::get_if<Object>(&value_))
    write_object(*members, indent, depth, out);
  else if (const bool* flag = std::get_if<bool>(&value_))
    *out += leaf(*flag);
  else if (const int64_t* number = std::get_if<int64_t>(&value_))
    *out += std::to_string(*number);
  else if (const uint64_t* count = std::get_if<uint64_t>(&value_))
    *out += std::to_string(*count);
  else if (const double* real = std::get_if<double>(&value_))
    *out += leaf(*real);
  else if (const std::string* text = std::get_if<std::string>(&value_))
    *out += leaf(*text);
  else
    *out += "null";
}

void Json::write_array(const Array& values, int indent, int depth, std::string* out) const {
  *out += '[';
  for (const Json& value : values) {
    if (&value != values.data()) *out += ',';
    start_line(indent, depth + 1, out);
    value.write(indent, depth + 1, out);
  }
  if (!values.empty()) start_line(indent, depth, out);
  *out += ']';
}

void Json::write_object(const Object& members, int indent, int depth, std::string* out) const {
  *out += '{';
  for (const Member& member : members) {
    if (&member != members.data()) *out += ',';
    start_line(indent, depth + 1, out);
    *out += leaf(member.key) + (indent < 0 ? ":" : ": ");
    member.value.write(indent, depth + 1, out);
  }
  if (!members.empty()) start_line(indent, depth, out);
  *out += '}';
}

}  // namespace pctally
