#pragma once
/// For tests: types as tartan-xdr makes them.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tartan/xdr/types.h>
#include <type_traits>

namespace tartan::xdr::test {

enum class mood : std::int32_t { calm = 0, busy = 5, sour = -1 };
constexpr const char* xdr_name(mood value) noexcept {
  switch (value) {
    case mood::calm:
      return "calm";
    case mood::busy:
      return "busy";
    case mood::sour:
      return "sour";
  }
  return nullptr;
}

struct seat {
  text<64> who;
  std::uint32_t row = 0;
  std::int64_t at = 0;
  std::array<std::byte, 5> tag{};
  data<> blob;
  list<std::int32_t, 8> marks;
  std::array<std::uint32_t, 3> grid{};
  optional<seat> next;
  mood how = mood::calm;
  bool is_taken = false;

  bool operator==(const seat&) const = default;
};

template <class Archive, class Value>
  requires std::same_as<std::remove_const_t<Value>, seat>
bool xdr_traverse(Archive& a, Value& x) {
  return a("who", x.who) && a("row", x.row) && a("at", x.at) && a("tag", x.tag) && a("blob", x.blob) &&
         a("marks", x.marks) && a("grid", x.grid) && a("next", x.next) && a("how", x.how) && a("is_taken", x.is_taken);
}

/// A struct that nests through a list.
struct tree {
  list<tree> children;
  bool operator==(const tree&) const = default;
};

template <class Archive, class Value>
  requires std::same_as<std::remove_const_t<Value>, tree>
bool xdr_traverse(Archive& a, Value& x) {
  return a("children", x.children);
}

/// One word on the wire, much memory.
struct large {
  optional<tree> first;
  std::array<optional<tree>, 0> none{};
  std::array<bool, 1> is{};
  std::array<char, 4096> never_sent{};
};

template <class Archive, class Value>
  requires std::same_as<std::remove_const_t<Value>, large>
bool xdr_traverse(Archive& a, Value& x) {
  return a("first", x.first);
}

}  // namespace tartan::xdr::test
