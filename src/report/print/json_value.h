// A JSON value to be written: built from braces like an initializer, and printed.
//
// The library that escapes strings and formats numbers is seen by json_value.cc alone: a file that includes
// it takes three times as long to compile.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pctally {

/// Braces around pairs of a string and a value make an object, whose members keep their order; other braces
/// make an array.
class Json {
 public:
  struct Member;

  Json();  ///< null
  Json(std::nullptr_t) : Json() {}
  Json(bool value);
  Json(double value);
  Json(const char* text);
  Json(std::string text);
  Json(std::string_view text);
  Json(std::initializer_list<Json> values);
  template <std::signed_integral T>
  Json(T value) : Json(Signed{value}) {}
  template <std::unsigned_integral T>
  Json(T value) : Json(Unsigned{value}) {}
  template <class T>
  Json(const std::vector<T>& values) : Json(array()) {
    for (const T& value : values) push_back(value);
  }
  template <class T, size_t N>
  Json(const std::array<T, N>& values) : Json(array()) {
    for (const T& value : values) push_back(value);
  }
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  /// Always an array, whatever stands in the braces.
  static Json array(std::initializer_list<Json> values = {});
  static Json object();

  /// The member `key`, made if there is none. A null becomes an object.
  Json& operator[](std::string_view key);
  /// A member that is not there yet: nobody looks, so that an object of many costs no square of their number.
  void add(std::string key, Json value);
  /// A null becomes an array.
  void push_back(Json value);
  /// Members or values.
  [[nodiscard]] size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  /// `indent`: spaces a level; with -1 all stands on one line. Pure ASCII; what is no UTF-8 in a
  /// string becomes U+FFFD.
  [[nodiscard]] std::string dump(int indent) const;

 private:
  struct Signed {
    int64_t value;
  };
  struct Unsigned {
    uint64_t value;
  };
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json(Signed value);
  Json(Unsigned value);
  void write(int indent, int depth, std::string* out) const;
  void write_array(const Array& values, int indent, int depth, std::string* out) const;
  void write_object(const Object& members, int indent, int depth, std::string* out) const;

  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

}  // namespace pctally
