#pragma once
/// A stand-in for libasync's xdrmisc.h: of what classic headers need, as much as tests do.

#include <sys/types.h>

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <typeinfo>
#include <vector>

#define New new

// --- text

class str : public std::string {
 public:
  using std::string::string;
  str() = default;
  str(const class strbuf& from);
  const char* cstr() const { return c_str(); }
};

class strbuf {
 public:
  const std::string& text() const { return text_; }
  template <class V>
  const strbuf& operator<<(const V& value) const {
    if constexpr (std::is_same_v<V, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<V>) {
      text_ += std::to_string(value);
    } else {
      text_ += value;
    }
    return *this;
  }

 private:
  mutable std::string text_;
};
inline str::str(const strbuf& from) : std::string{from.text()} {}

// --- types

enum { RPC_INFINITY = 0x7fffffff };

template <unsigned max = RPC_INFINITY>
class rpc_str : public str {
 public:
  using str::str;
};
template <class T, std::size_t n>
class array : public std::array<T, n> {};
template <std::size_t n>
class rpc_opaque : public array<char, n> {};
template <class T, unsigned max>
class rpc_vec : public std::vector<T> {};
template <unsigned n = RPC_INFINITY>
class rpc_bytes : public rpc_vec<char, n> {};

template <class T>
class rpc_ptr {
 public:
  rpc_ptr() = default;
  rpc_ptr(const rpc_ptr& other) : to_{other.to_ ? new T(*other.to_) : nullptr} {}
  rpc_ptr& operator=(const rpc_ptr& other) {
    to_.reset(other.to_ ? new T(*other.to_) : nullptr);
    return *this;
  }
  rpc_ptr& alloc() {
    if (!to_) to_.reset(new T);
    return *this;
  }
  void clear() { to_.reset(); }
  T* operator->() const { return to_.get(); }
  operator T*() const { return to_.get(); }

 private:
  std::unique_ptr<T> to_;
};

class union_entry_base {
 public:
  struct operations {
    void* (*copy)(const void*);
    void (*destroy)(void*);
  };

  void init() {
    with_ = nullptr;
    arm_ = nullptr;
  }
  void init(const union_entry_base& other) {
    with_ = other.with_;
    arm_ = with_ != nullptr ? with_->copy(other.arm_) : nullptr;
  }
  void destroy() {
    if (with_ != nullptr) with_->destroy(arm_);
    init();
  }
  void assign(const union_entry_base& other) {
    if (this == &other) return;
    destroy();
    init(other);
  }

 protected:
  const operations* with_;
  void* arm_;
};

template <class T>
class union_entry : public union_entry_base {
 public:
  void select() {
    destroy();
    arm_ = new T();
    with_ = &operations_of;
  }
  T* addr() const {
    assert(with_ == &operations_of);
    return static_cast<T*>(arm_);
  }
  T& operator*() const { return *addr(); }
  T* operator->() const { return addr(); }
  operator T*() const { return addr(); }

 private:
  static constexpr operations operations_of{
      [](const void* from) -> void* { return new T(*static_cast<const T*>(from)); },
      [](void* arm) { delete static_cast<T*>(arm); }};
};

// --- XDR in memory

using bool_t = int;
enum xdr_op { XDR_ENCODE, XDR_DECODE, XDR_FREE };
struct XDR {
  xdr_op x_op;
  std::string bytes;
  std::size_t at = 0;
};

/// Leaves.
bool rpc_traverse(XDR*& x, u_int32_t& value, const char* field = nullptr);
bool rpc_traverse(XDR*& x, rpc_str<>& value, const char* field = nullptr);
bool traverse_bytes(XDR* x, char* bytes, std::size_t size);

template <class T, class X>
bool rpc_traverse_field(T& t, X& value, const char* field) {
  if constexpr (requires { rpc_traverse(t, value, field); }) {
    return rpc_traverse(t, value, field);
  } else {
    return rpc_traverse(t, value);
  }
}
template <class T>
void rpc_enter_field(T&, const char*) {}
template <class T>
void rpc_exit_field(T&, const char*) {}

template <class T>
bool rpc_traverse(T& t, int32_t& value, const char* field = nullptr) {
  return rpc_traverse(t, reinterpret_cast<u_int32_t&>(value), field);
}
template <class T>
bool rpc_traverse(T& t, int64_t& value, const char* field = nullptr) {
  auto high = static_cast<u_int32_t>(value >> 32);
  auto low = static_cast<u_int32_t>(value);
  if (!rpc_traverse(t, high, field) || !rpc_traverse(t, low, field)) return false;
  value = static_cast<int64_t>(std::uint64_t{high} << 32 | low);
  return true;
}
template <class T>
bool rpc_traverse(T& t, bool& value, const char* field = nullptr) {
  u_int32_t word = value ? 1 : 0;
  if (!rpc_traverse(t, word, field)) return false;
  value = word != 0;
  return true;
}
template <unsigned max>
bool rpc_traverse(XDR*& x, rpc_str<max>& value, const char* field = nullptr) {
  return value.size() <= max && rpc_traverse(x, reinterpret_cast<rpc_str<>&>(value), field) && value.size() <= max;
}
template <std::size_t n>
bool rpc_traverse(XDR*& x, rpc_opaque<n>& value, const char* = nullptr) {
  return traverse_bytes(x, value.data(), n);
}
template <unsigned n>
bool rpc_traverse(XDR*& x, rpc_bytes<n>& value, const char* field = nullptr) {
  auto size = static_cast<u_int32_t>(value.size());
  if (!rpc_traverse(x, size, field) || size > n || (x->x_op == XDR_DECODE && size > x->bytes.size())) return false;
  value.resize(size);
  return traverse_bytes(x, value.data(), size);
}
template <class T, class E, std::size_t n>
bool rpc_traverse(T& t, array<E, n>& value, const char* = nullptr) {
  for (E& each : value) {
    if (!rpc_traverse(t, each)) return false;
  }
  return true;
}
template <class E, unsigned max>
bool rpc_traverse(XDR*& x, rpc_vec<E, max>& value, const char* field = nullptr) {
  auto size = static_cast<u_int32_t>(value.size());
  if (!rpc_traverse(x, size, field) || size > max || (x->x_op == XDR_DECODE && size > x->bytes.size())) return false;
  value.resize(size);
  for (E& each : value) {
    if (!rpc_traverse(x, each)) return false;
  }
  return true;
}
template <class T, class E>
bool rpc_traverse(T& t, rpc_ptr<E>& value, const char* field = nullptr) {
  bool is_there = value != nullptr;
  if (!rpc_traverse(t, is_there, field)) return false;
  if (!is_there) {
    value.clear();
    return true;
  }
  return rpc_traverse(t, *value.alloc());
}
template <class T>
void rpc_destruct(T* object) {
  object->~T();
}

#include "rpctypes.h"
