#pragma once
/// The rest of the stand-in: printing, tables, calls. Included by xdrmisc.h.

// --- printing

template <class T>
struct rpc_type2str;
#define RPC_TYPE2STR_DECL(T)    \
  template <>                   \
  struct rpc_type2str<T> {      \
    static const char* type() { \
      return #T;                \
    }                           \
  };
#define RPC_PRINT_TYPE_DECL(T) \
  void print_##T(const void*, const strbuf*, int = RPC_INFINITY, const char* = "", const char* = "");
#define RPC_PRINT_DECL(T) \
  const strbuf& rpc_print(const strbuf&, const T&, int = RPC_INFINITY, const char* = "", const char* = "");
#define RPC_STRUCT_DECL(T) RPC_TYPE2STR_DECL(T) RPC_PRINT_TYPE_DECL(T) RPC_PRINT_DECL(T)
#define RPC_UNION_DECL RPC_STRUCT_DECL
#define RPC_ENUM_DECL RPC_STRUCT_DECL
#define RPC_TYPEDEF_DECL RPC_PRINT_TYPE_DECL
#define RPC_PRINT_DEFINE(T)                                                                                 \
  void print_##T(const void* object, const strbuf* into, int depth, const char* name, const char* prefix) { \
    static const strbuf unread;                                                                             \
    rpc_print(into != nullptr ? *into : unread, *static_cast<const T*>(object), depth, name, prefix);       \
  }
#define TYPE2STRUCT(arguments, T)

inline void print_head(const strbuf& sb, const char* name, const char* prefix) {
  if (name == nullptr) return;
  if (prefix != nullptr) sb << prefix;
  sb << name << " = ";
}
inline const strbuf& print_tail(const strbuf& sb, const char* prefix) {
  if (prefix != nullptr) sb << ";\n";
  return sb;
}
template <class V>
  requires std::is_arithmetic_v<V>
const strbuf& rpc_print(const strbuf& sb, const V& value, int = 0, const char* name = "", const char* prefix = "") {
  print_head(sb, name, prefix);
  sb << value;
  return print_tail(sb, prefix);
}
template <unsigned max>
const strbuf& rpc_print(const strbuf& sb, const rpc_str<max>& value, int = 0, const char* name = nullptr,
                        const char* prefix = nullptr) {
  print_head(sb, name, prefix);
  sb << "\"" << static_cast<const std::string&>(value) << "\"";
  return print_tail(sb, prefix);
}
template <class All>
const strbuf& print_all(const strbuf& sb, const All& all, const char* name, const char* prefix) {
  print_head(sb, name, prefix);
  sb << "[";
  for (const auto& each : all) rpc_print(sb, each, 0, nullptr, nullptr) << ",";
  sb << "]";
  return print_tail(sb, prefix);
}
template <class E, unsigned max>
const strbuf& rpc_print(const strbuf& sb, const rpc_vec<E, max>& all, int = 0, const char* name = nullptr,
                        const char* prefix = nullptr) {
  return print_all(sb, all, name, prefix);
}
template <class E, std::size_t n>
const strbuf& rpc_print(const strbuf& sb, const array<E, n>& all, int = 0, const char* name = nullptr,
                        const char* prefix = nullptr) {
  return print_all(sb, all, name, prefix);
}
template <class E>
const strbuf& rpc_print(const strbuf& sb, const rpc_ptr<E>& to, int depth = 0, const char* name = nullptr,
                        const char* prefix = nullptr) {
  if (to != nullptr) return rpc_print(sb, *to.operator->(), depth, name, prefix);
  print_head(sb, name, prefix);
  sb << "NULL";
  return print_tail(sb, prefix);
}

// --- tables

using xdr_alloc_t = void* (*)();
using xdrproc_t = bool_t (*)(XDR*, void*);
using print_t = void (*)(const void*, const strbuf*, int, const char*, const char*);

struct rpcgen_table {
  const char* name;
  const std::type_info* type_arg;
  xdr_alloc_t alloc_arg;
  xdrproc_t xdr_arg;
  print_t print_arg;
  const std::type_info* type_res;
  xdr_alloc_t alloc_res;
  xdrproc_t xdr_res;
  print_t print_res;
};
struct rpc_program {
  u_int32_t progno;
  u_int32_t versno;
  const rpcgen_table* tbl;
  std::size_t nproc;
  const char* name;
};
#define XDRTBL_DECL(proc, arg, res) \
  {#proc, &typeid(arg), arg##_alloc, xdr_##arg, print_##arg, &typeid(res), res##_alloc, xdr_##res, print_##res},

inline void* void_alloc() {
  return nullptr;
}
inline void* false_alloc() {
  return nullptr;
}
inline void* bool_alloc() {
  return new bool;
}
inline bool_t xdr_void(XDR*, void*) {
  return true;
}
inline bool_t xdr_false(XDR*, void*) {
  return false;
}
inline bool_t xdr_bool(XDR* x, void* value) {
  return rpc_traverse(x, *static_cast<bool*>(value));
}
inline constexpr print_t print_void = nullptr;
inline constexpr print_t print_false = nullptr;
inline constexpr print_t print_bool = nullptr;

// --- calls

enum auth_stat { AUTH_OK, AUTH_TOOWEAK = 5 };
enum accept_stat { SUCCESS, PROG_UNAVAIL, PROG_MISMATCH, PROC_UNAVAIL };

template <class T>
class ptr : public std::shared_ptr<T> {
 public:
  ptr(T* object) : std::shared_ptr<T>{object} {}
};
template <class T>
class refcounted : public T {
 public:
  using T::T;
  refcounted() = default;
  refcounted(const T& from) : T{from} {}
};
template <class R, class... A>
class callback {
 public:
  using ref = R (**)(A...);
};
class rpc_bundle_t {
 public:
  rpc_bundle_t(u_int32_t proc, const void* arg, void* res) : proc_{proc}, arg_{arg}, res_{res} {}
  u_int32_t proc() const { return proc_; }
  const void* arg() const { return arg_; }
  void* res() const { return res_; }

 private:
  u_int32_t proc_;
  const void* arg_;
  void* res_;
};
