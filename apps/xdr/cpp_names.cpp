#include "xdr/cpp_names.h"

#include <algorithm>
#include <set>

namespace xdr_compiler {

namespace {

const std::set<std::string_view>& taken_names() {
  static const std::set<std::string_view> all{
      // keywords
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
      "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
      "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
      "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
      "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
      "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
      "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual",
      "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
      // namespaces that the generated code names
      "std", "tartan",
      // macros
      "BUFSIZ", "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "DOMAIN", "EOF", "EXIT_FAILURE", "EXIT_SUCCESS", "FALSE",
      "FILENAME_MAX", "FOPEN_MAX", "HUGE_VAL", "INFINITY", "INT_MAX", "INT_MIN", "INT8_MAX", "INT8_MIN", "INT16_MAX",
      "INT16_MIN", "INT32_MAX", "INT32_MIN", "INT64_MAX", "INT64_MIN", "LONG_MAX", "LONG_MIN", "NAN", "NULL",
      "OVERFLOW", "PATH_MAX", "NAME_MAX", "RAND_MAX", "SEEK_CUR", "SEEK_END", "SEEK_SET", "SIZE_MAX", "TRUE",
      "UINT8_MAX", "UINT16_MAX", "UINT32_MAX", "UINT64_MAX", "UINT_MAX", "ULONG_MAX", "UNDERFLOW", "assert", "errno",
      "linux", "offsetof", "setjmp", "signals", "stderr", "stdin", "stdout", "unix", "va_arg", "va_copy", "va_end",
      "va_start",
      // errno.h
      "E2BIG", "EACCES", "EADDRINUSE", "EADDRNOTAVAIL", "EAFNOSUPPORT", "EAGAIN", "EALREADY", "EBADF", "EBADMSG",
      "EBUSY", "ECANCELED", "ECHILD", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EDEADLK", "EDESTADDRREQ", "EDOM",
      "EDQUOT", "EEXIST", "EFAULT", "EFBIG", "EHOSTDOWN", "EHOSTUNREACH", "EIDRM", "EILSEQ", "EINPROGRESS", "EINTR",
      "EINVAL", "EIO", "EISCONN", "EISDIR", "ELOOP", "EMFILE", "EMLINK", "EMSGSIZE", "EMULTIHOP", "ENAMETOOLONG",
      "ENETDOWN", "ENETRESET", "ENETUNREACH", "ENFILE", "ENOBUFS", "ENODATA", "ENODEV", "ENOENT", "ENOEXEC", "ENOLCK",
      "ENOLINK", "ENOMEM", "ENOMSG", "ENOPROTOOPT", "ENOSPC", "ENOSR", "ENOSTR", "ENOSYS", "ENOTBLK", "ENOTCONN",
      "ENOTDIR", "ENOTEMPTY", "ENOTRECOVERABLE", "ENOTSOCK", "ENOTSUP", "ENOTTY", "ENXIO", "EOPNOTSUPP", "EOVERFLOW",
      "EOWNERDEAD", "EPERM", "EPFNOSUPPORT", "EPIPE", "EPROTO", "EPROTONOSUPPORT", "EPROTOTYPE", "ERANGE", "EREMOTE",
      "EROFS", "ESHUTDOWN", "ESOCKTNOSUPPORT", "ESPIPE", "ESRCH", "ESTALE", "ETIME", "ETIMEDOUT", "ETOOMANYREFS",
      "ETXTBSY", "EUSERS", "EWOULDBLOCK", "EXDEV"};
  return all;
}

bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string cpp_name(const std::string& name) {
  return taken_names().contains(name) ? name + "_" : name;
}

std::string namespace_of_file(std::string_view path) {
  std::string name{without_suffix(base_name(path))};
  std::replace_if(name.begin(), name.end(), [](char c) { return !is_letter_or_digit(c); }, '_');
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) name.insert(0, "x_");
  return cpp_name(name);
}

std::string lower_case(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return name;
}

std::string upper_case(std::string name) {
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
  return name;
}

std::string_view base_name(std::string_view path) noexcept {
  return path.substr(path.find_last_of('/') + 1);
}

std::string_view without_suffix(std::string_view path) noexcept {
  return path.ends_with(".x") ? path.substr(0, path.size() - 2) : path;
}

}  // namespace xdr_compiler
