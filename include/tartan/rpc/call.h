#pragma once
/// A call that came, and the right to answer it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <system_error>
#include <tartan/buf/chain.h>
#include <tartan/core/semaphore.h>
#include <tartan/io/file_descriptor.h>
#include <tartan/rpc/accept_status.h>
#include <tartan/rpc/auth.h>
#include <tartan/rpc/error.h>
#include <tartan/rpc/settings.h>
#include <tartan/xdr/codec.h>
#include <utility>
#include <vector>

namespace tartan::rpc {

class connection;

/// Descriptors that travel with a message. A vector that is destroyed closes those that it still has.
using descriptors = std::vector<tartan::detail::file_descriptor>;

namespace detail {

class connection_state;
struct remembered_call;

/// Where a reply goes.
struct reply_path {
  std::shared_ptr<connection_state> of;
  std::uint32_t xid = 0;
  address to;
  opaque_auth verifier;
  semaphore::permit permit{};                           ///< one of settings::most_calls
  std::shared_ptr<const remembered_call> remembered{};  ///< the reply is kept for this
};

/// What the reply says when it is no success.
struct refusal_reply {
  accept_status status = accept_status::system_error;
  std::optional<auth_status> denied{};
  std::uint32_t low = 0;  ///< of a version mismatch
  std::uint32_t high = 0;
};

/// Color: any. They take the path.
void send_success(std::unique_ptr<reply_path> path, buf::chain&& result, descriptors&& with);
void send_refusal(std::unique_ptr<reply_path> path, const refusal_reply& why);
void send_failure(std::unique_ptr<reply_path> path);
void send_nothing(std::unique_ptr<reply_path> path);
/// Whether the caller runs in the connection's color, so that a reply may be written in place.
[[nodiscard]] bool is_here(const reply_path& path) noexcept;
/// Begins a successful reply with so many bytes of result, which the caller writes to the chain at once. Null: this kind of
/// connection cannot.
///
/// Color: the connection's.
[[nodiscard]] buf::chain* begin_success(const reply_path& path, std::size_t result_bytes);
void end_success(std::unique_ptr<reply_path> path, std::size_t result_bytes);

}  // namespace detail

/// The right to answer a call, once, at any time, from any color. If it is dropped, the call is answered with SYSTEM_ERR.
///
/// Threads: any, one at a time.
/// Lifetime: independent of the connection's: an answer to a connection that has ended is dropped. Must not outlive the
/// runtime.
/// Limits: each counts against settings::most_calls until it has answered.
class reply_token {
 public:
  reply_token() noexcept = default;
  explicit reply_token(std::unique_ptr<detail::reply_path> path) noexcept : path_{std::move(path)} {}
  reply_token(reply_token&&) noexcept = default;
  reply_token& operator=(reply_token&& other) noexcept {
    if (this != &other) {
      drop();
      path_ = std::move(other.path_);
    }
    return *this;
  }
  ~reply_token() { drop(); }

  /// Whether it can still answer.
  explicit operator bool() const noexcept { return path_ != nullptr; }

  /// Answers with a result in XDR. After an answer, further ones do nothing.
  void success(buf::chain result, descriptors with = {}) {
    if (*this) detail::send_success(std::move(path_), std::move(result), std::move(with));
  }
  /// Answers with a value. If it cannot be encoded, the answer is SYSTEM_ERR, and this gives why.
  template <class T>
  std::error_code success(const T& value) {
    if (!*this) return errc::already_answered;
    const result<std::size_t> size = xdr::encoded_size(value);
    if (!size) {
      fail(accept_status::system_error);
      return size.error();
    }
    buf::chain* const place = detail::is_here(*path_) ? detail::begin_success(*path_, *size) : nullptr;
    if (place != nullptr) {
      write(*place, value);
      detail::end_success(std::move(path_), *size);
    } else {
      buf::chain made;
      write(made, value);
      success(std::move(made));
    }
    return {};
  }

  /// Answers a procedure without a result.
  void success() {
    if (!*this) return;
    if (detail::is_here(*path_) && detail::begin_success(*path_, 0) != nullptr) {
      detail::end_success(std::move(path_), 0);
    } else {
      success(buf::chain{});
    }
  }

  /// Answers with an error: accept_status::garbage_arguments, system_error and so on.
  void fail(accept_status why) {
    if (*this) detail::send_refusal(std::move(path_), {.status = why});
  }
  /// Answers that the credentials will not do.
  void deny(auth_status why) {
    if (*this) detail::send_refusal(std::move(path_), {.denied = why});
  }
  /// Gives no answer at all: the client waits, or sends again.
  void ignore() {
    if (*this) detail::send_nothing(std::move(path_));
  }

  /// Library code. Null: it was answered.
  [[nodiscard]] const detail::reply_path* path() const noexcept { return path_.get(); }

 private:
  template <class T>
  static void write(buf::chain& into, const T& value) {
    xdr::encoder out{into};
    out.put(value);
    out.finish();
  }
  void drop() noexcept;

  std::unique_ptr<detail::reply_path> path_;
};

/// A reply_token for results of one type: what a procedure gets that answers later.
template <class T>
class reply {
 public:
  explicit reply(reply_token to) noexcept : to_{std::move(to)} {}

  /// Answers. See reply_token::success.
  std::error_code operator()(const T& value) { return to_.success(value); }
  void fail(accept_status why) { to_.fail(why); }
  void deny(auth_status why) { to_.deny(why); }
  [[nodiscard]] reply_token& token() noexcept { return to_; }

 private:
  reply_token to_;
};

template <>
class reply<void> {
 public:
  explicit reply(reply_token to) noexcept : to_{std::move(to)} {}
  void operator()() { to_.success(); }
  void fail(accept_status why) { to_.fail(why); }
  void deny(auth_status why) { to_.deny(why); }
  [[nodiscard]] reply_token& token() noexcept { return to_; }

 private:
  reply_token to_;
};

/// A call that came, with its arguments in XDR.
class call {
 public:
  call(call_info info, buf::chain arguments, descriptors passed, reply_token answer,
       const xdr::limits& decoding) noexcept
      : info_{std::move(info)},
        arguments_{std::move(arguments)},
        passed_{std::move(passed)},
        answer_{std::move(answer)},
        decoding_{decoding} {}

  [[nodiscard]] const call_info& info() const noexcept { return info_; }
  [[nodiscard]] call_info take_info() noexcept { return std::move(info_); }
  [[nodiscard]] std::uint32_t procedure() const noexcept { return info_.procedure; }
  [[nodiscard]] const buf::chain& arguments() const noexcept { return arguments_; }
  /// Those that came with the call; take what is wanted.
  [[nodiscard]] descriptors& passed() noexcept { return passed_; }
  [[nodiscard]] reply_token& answer() noexcept { return answer_; }
  [[nodiscard]] reply_token take_answer() noexcept { return std::move(answer_); }

  /// What the connection's settings say about decoding.
  [[nodiscard]] const xdr::limits& decoding() const noexcept { return decoding_; }

  /// Answers with PROC_UNAVAIL.
  void no_such_procedure() && { answer_.fail(accept_status::procedure_unavailable); }

 private:
  call_info info_;
  buf::chain arguments_;
  descriptors passed_;
  reply_token answer_;
  xdr::limits decoding_;
};

}  // namespace tartan::rpc
