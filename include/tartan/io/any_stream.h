#pragma once
/// A byte stream whose kind is chosen at run time.

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <tartan/buf/chain.h>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/stream.h>
#include <tartan/io/stream_reads.h>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace tartan {

namespace detail {

using byte_parts = std::span<const std::span<const std::byte>>;

/// The virtual calls behind any_stream.
class stream_body {
 public:
  stream_body() = default;
  stream_body(const stream_body&) = delete;
  stream_body& operator=(const stream_body&) = delete;
  virtual ~stream_body() = default;

  [[nodiscard]] virtual task<result<std::size_t>> read_some(mutable_bytes into) = 0;
  [[nodiscard]] virtual task<result<>> readable() = 0;
  [[nodiscard]] virtual result<std::size_t> try_read_some(mutable_bytes into, std::source_location site) = 0;
  [[nodiscard]] virtual task<result<std::size_t>> write(const_bytes all) = 0;
  [[nodiscard]] virtual task<result<std::size_t>> write(byte_parts parts) = 0;
  [[nodiscard]] virtual task<result<>> writable() = 0;
  [[nodiscard]] virtual result<std::size_t> try_write(byte_parts parts, std::source_location site) = 0;
  [[nodiscard]] virtual task<result<>> shutdown_send() = 0;
  virtual void close(std::source_location site) = 0;
  virtual void cancel(std::source_location site) = 0;
  [[nodiscard]] virtual bool is_open() const noexcept = 0;
  [[nodiscard]] virtual tartan::color color() const noexcept = 0;
  [[nodiscard]] virtual const std::type_info& type() const noexcept = 0;
  [[nodiscard]] virtual void* get() noexcept = 0;
  /// The stream in it, as its destructor would.
  virtual void destroy() noexcept = 0;
};

template <class S>
class stream_body_of final : public stream_body {
 public:
  explicit stream_body_of(S&& under) : under_{std::in_place, std::move(under)} {}

  task<result<std::size_t>> read_some(mutable_bytes into) override {
    if (!under_) co_return errc::closed;  // its any_stream was destroyed; a coroutine that reads on has kept this
    co_return co_await under_->read_some(into);
  }
  task<result<>> readable() override { co_return co_await under_->readable(); }
  result<std::size_t> try_read_some(mutable_bytes into, std::source_location site) override {
    if constexpr (requires { under_->try_read_some(into, site); }) {
      return under_->try_read_some(into, site);
    } else {
      return under_->try_read_some(into);
    }
  }
  task<result<std::size_t>> write(const_bytes all) override { co_return co_await under_->write(all); }
  task<result<std::size_t>> write(byte_parts parts) override { co_return co_await under_->write(parts); }
  task<result<>> writable() override { co_return co_await under_->writable(); }
  result<std::size_t> try_write(byte_parts parts, std::source_location site) override {
    if constexpr (requires { under_->try_write(parts, site); }) {
      return under_->try_write(parts, site);
    } else {
      return under_->try_write(parts);
    }
  }
  task<result<>> shutdown_send() override { co_return co_await under_->shutdown_send(); }
  void close(std::source_location site) override {
    if constexpr (requires { under_->close(site); }) {
      under_->close(site);
    } else {
      under_->close();
    }
  }
  void cancel(std::source_location site) override {
    if constexpr (requires { under_->cancel(site); }) {
      under_->cancel(site);
    } else {
      under_->cancel();
    }
  }
  void destroy() noexcept override { under_.reset(); }
  bool is_open() const noexcept override { return under_->is_open(); }
  tartan::color color() const noexcept override { return under_->color(); }
  const std::type_info& type() const noexcept override { return typeid(S); }
  void* get() noexcept override { return &*under_; }

 private:
  std::optional<S> under_;
};

/// What stream_reads reads from.
struct body_handle {
  std::shared_ptr<stream_body> of;

  [[nodiscard]] task<result<std::size_t>> read_some(mutable_bytes into) const { return of->read_some(into); }
};

}  // namespace detail

/// Any stream_of_bytes behind one type, so that functions that take one need not be templates: `any_stream peer{std::move(accepted)}`.
///
/// byte_stream documents the operations. with_timeout limits one; cancel() ends all that are pending.
/// Color, threads: those of the stream inside.
/// Lifetime: owns the stream inside. Pending operations survive a move; if the object is destroyed or closed, they end with errc::closed.
/// Errors: those of the stream inside; errc::closed if there is none. std::bad_alloc from the constructor.
/// Cost: an allocation by the constructor; for each operation a virtual call and a coroutine frame from the worker's pool; try_* need no frame.
class any_stream {
  using reads = detail::stream_reads<detail::body_handle>;

 public:
  /// Closed.
  any_stream() noexcept = default;
  template <class S>
    requires(!std::same_as<S, any_stream> && !std::is_reference_v<S>) && stream_of_bytes<S>
  any_stream(S&& under) : body_{std::make_shared<detail::stream_body_of<S>>(std::move(under))} {}
  any_stream(any_stream&& other) noexcept : body_{std::exchange(other.body_, nullptr)} {}
  any_stream& operator=(any_stream&& other) noexcept {
    if (this != &other) {
      drop();
      body_ = std::exchange(other.body_, nullptr);
    }
    return *this;
  }
  ~any_stream() { drop(); }

  [[nodiscard]] task<result<std::size_t>> read_some(mutable_bytes into) {
    return body_ != nullptr ? body_->read_some(into) : closed<std::size_t>();
  }
  [[nodiscard]] task<result<std::size_t>> read_exactly(mutable_bytes into) {
    return body_ != nullptr ? reads::read_exactly({body_}, into) : closed<std::size_t>();
  }
  [[nodiscard]] task<result<std::size_t>> read_until(std::string& into, std::string_view delimiter, std::size_t most) {
    return body_ != nullptr ? reads::read_until({body_}, into, delimiter, most) : closed<std::size_t>();
  }
  [[nodiscard]] task<result<std::size_t>> read_some(buf::chain& into, std::size_t most) {
    return body_ != nullptr ? reads::read_some({body_}, into, most) : closed<std::size_t>();
  }
  [[nodiscard]] task<result<buf::line>> read_line(buf::chain& into, std::size_t most) {
    return body_ != nullptr ? reads::read_line({body_}, into, most) : closed<buf::line>();
  }
  [[nodiscard]] task<result<std::size_t>> read_until(buf::chain& into, std::string_view delimiter, std::size_t most) {
    return body_ != nullptr ? reads::read_until({body_}, into, delimiter, most) : closed<std::size_t>();
  }
  [[nodiscard]] task<result<>> readable() { return body_ != nullptr ? body_->readable() : closed<void>(); }
  [[nodiscard]] result<std::size_t> try_read_some(mutable_bytes into, std::source_location site = std::source_location::current()) {
    return body_ != nullptr ? body_->try_read_some(into, site) : errc::closed;
  }

  [[nodiscard]] task<result<std::size_t>> write(const_bytes all) { return body_ != nullptr ? body_->write(all) : closed<std::size_t>(); }
  [[nodiscard]] task<result<std::size_t>> write(detail::byte_parts parts) {
    return body_ != nullptr ? body_->write(parts) : closed<std::size_t>();
  }
  [[nodiscard]] task<result<>> writable() { return body_ != nullptr ? body_->writable() : closed<void>(); }
  [[nodiscard]] result<std::size_t> try_write(const_bytes all, std::source_location site = std::source_location::current()) {
    const std::span<const std::byte> one{all};
    return try_write(detail::byte_parts{&one, 1}, site);
  }
  [[nodiscard]] result<std::size_t> try_write(detail::byte_parts parts, std::source_location site = std::source_location::current()) {
    return body_ != nullptr ? body_->try_write(parts, site) : errc::closed;
  }
  [[nodiscard]] task<result<>> shutdown_send() { return body_ != nullptr ? body_->shutdown_send() : closed<void>(); }

  void close(std::source_location site = std::source_location::current()) {
    if (body_ != nullptr) body_->close(site);
  }
  void cancel(std::source_location site = std::source_location::current()) {
    if (body_ != nullptr) body_->cancel(site);
  }
  [[nodiscard]] bool is_open() const noexcept { return body_ != nullptr && body_->is_open(); }
  /// color{} where there is no stream.
  [[nodiscard]] tartan::color color() const noexcept { return body_ != nullptr ? body_->color() : tartan::color{}; }

  /// The stream inside, for operations that only its kind has: `if (auto* tcp = peer.as<tcp::stream>()) co_await tcp->send_file(...)`. Null: the stream is
  /// of another kind.
  template <stream_of_bytes S>
  [[nodiscard]] S* as() noexcept {
    return body_ != nullptr && body_->type() == typeid(S) ? static_cast<S*>(body_->get()) : nullptr;
  }

 private:
  template <class T>
  static task<result<T>> closed() {
    co_return errc::closed;
  }

  void drop() noexcept {
    if (body_ != nullptr) std::exchange(body_, nullptr)->destroy();
  }

  std::shared_ptr<detail::stream_body> body_;
};

}  // namespace tartan
