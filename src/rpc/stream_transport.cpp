// Messages over a byte stream, with record marks (RFC 5531, section 11). On Unix sockets each passed descriptor travels with
// an empty fragment of its own, in front of its message: so a descriptor belongs to a message by its place in the stream,
// however the kernel cuts the reads.

#include <algorithm>
#include <array>
#include <deque>
#include <span>
#include <system_error>
#include <tartan/io/local.h>
#include <tartan/io/tcp.h>
#include <utility>

#include "rpc/record_reader.h"
#include "rpc/transport.h"

namespace tartan::rpc::detail {

namespace {

constexpr std::size_t most_parts = 64;                               // of a gathered write
constexpr std::size_t most_written_bytes = std::size_t{256} * 1024;  // at once: others of the worker go first then
constexpr std::size_t mark_bytes = 4;
constexpr std::array<std::byte, mark_bytes> empty_fragment{};

class stream_transport final : public transport {
 public:
  stream_transport(any_stream from, const settings& with)
      : transport{with.queue},
        under_{std::move(from)},
        where_{under_.color()},
        passes_{with.passes_descriptors && under_.as<local::stream>() != nullptr},
        records_{with.most_record_bytes, passes_ ? local::max_passed_descriptors : record_reader::most_fragments} {}

  [[nodiscard]] color where() const noexcept override { return where_; }
  [[nodiscard]] bool is_reliable() const noexcept override { return true; }
  [[nodiscard]] address peer() const override {
    auto& stream = const_cast<any_stream&>(under_);
    result<address> known{address{}};
    if (auto* const tcp = stream.as<tcp::stream>()) known = tcp->peer_address();
    if (auto* const local = stream.as<local::stream>()) known = local->peer_address();
    return known ? *known : address{};
  }

  [[nodiscard]] bool passes_descriptors() const noexcept override { return passes_; }
  [[nodiscard]] result<bool> next(incoming& into) override;
  [[nodiscard]] result<bool> try_fill() override;
  [[nodiscard]] task<result<>> fill() override { return passes_ ? fill_with_descriptors() : fill_plain(); }

  void send(buf::chain message, const address& to, descriptors passed) override;
  [[nodiscard]] buf::chain* begin_place(std::size_t bytes) override;
  void end_place(std::size_t bytes) override { queued().enter(bytes + mark_bytes); }

  [[nodiscard]] result<bool> try_flush() override;
  [[nodiscard]] task<result<>> flush() override;

  [[nodiscard]] task<result<>> replace(const stream_upgrade& how) override;
  [[nodiscard]] task<> linger() override;
  void close() override { under_.close(); }

 private:
  /// Bytes to send, and a descriptor that travels with the first of those behind them.
  struct piece {
    buf::chain bytes;
    tartan::detail::file_descriptor behind;
  };

  [[nodiscard]] task<result<>> fill_plain();
  [[nodiscard]] task<result<>> fill_with_descriptors();
  [[nodiscard]] buf::chain& last() {
    if (pieces_.empty() || pieces_.back().behind.get() >= 0) pieces_.emplace_back();
    return pieces_.back().bytes;
  }
  /// Of the first piece.
  [[nodiscard]] std::size_t gather(std::array<std::span<const std::byte>, most_parts>& parts) {
    return pieces_.front().bytes.gather(parts, most_written_bytes);
  }
  void sent(std::size_t bytes) {
    pieces_.front().bytes.drop(bytes);
    queued().leave(bytes);
  }

  any_stream under_;
  const color where_;
  bool passes_;
  record_reader records_;
  std::deque<piece> pieces_;
  std::deque<tartan::detail::file_descriptor> received_;  ///< that no message has taken
};

result<bool> stream_transport::next(incoming& into) {
  result<std::optional<buf::chain>> got = records_.next();
  if (!got) return got.error();
  if (!*got) return false;
  into.message = *std::move(*got);
  into.passed.clear();
  for (std::size_t left = passes_ ? records_.descriptors() : 0; left != 0; --left) {
    if (received_.empty()) return make_error_code(errc::malformed);  // it has announced one that did not come
    into.passed.push_back(std::move(received_.front()));
    received_.pop_front();
  }
  return true;
}

result<bool> stream_transport::try_fill() {
  if (passes_) return false;
  const result<std::size_t> got = under_.try_read_some(records_.room());
  if (!got && got.error() == std::errc::operation_would_block) return false;
  if (!got) return got.error();
  records_.add(*got);
  return true;
}

task<result<>> stream_transport::fill_plain() {
  for (;;) {
    const result<bool> got = try_fill();
    if (!got) co_return got.error();
    if (*got) co_return result<>{};
    records_.release_room();
    const result<> ready = co_await under_.readable();
    if (!ready) co_return ready;
  }
}

task<result<>> stream_transport::fill_with_descriptors() {
  std::array<int, local::max_passed_descriptors> room{};
  const result<local::received> got = co_await under_.as<local::stream>()->receive_with(records_.room(), room);
  if (!got) co_return got.error();
  for (const int each : std::span{room}.first(got->descriptors)) received_.emplace_back(each);
  if (received_.size() > 4 * local::max_passed_descriptors) co_return make_error_code(errc::malformed);
  records_.add(got->bytes);
  co_return result<>{};
}

void stream_transport::send(buf::chain message, const address& /*to*/, descriptors passed) {
  if (passes_) {
    for (auto& each : passed) {
      static_cast<void>(last());
      pieces_.back().behind = std::move(each);
    }
  }
  const std::size_t bytes = message.size();
  buf::chain& out = last();
  write_mark(out, bytes);
  append_cheaply(out, std::move(message));
  queued().enter(bytes + mark_bytes);
}

buf::chain* stream_transport::begin_place(std::size_t bytes) {
  buf::chain& out = last();
  write_mark(out, bytes);
  return &out;
}

result<bool> stream_transport::try_flush() {
  std::array<std::span<const std::byte>, most_parts> parts;
  while (!pieces_.empty()) {
    piece& first = pieces_.front();
    while (!first.bytes.empty()) {
      const std::size_t count = gather(parts);
      const result<std::size_t> went = under_.try_write(tartan::detail::byte_parts{parts.data(), count});
      if (!went && went.error() == std::errc::operation_would_block) return false;
      if (!went) return went.error();
      sent(*went);
    }
    if (first.behind.get() >= 0) return false;
    if (pieces_.size() == 1) break;  // its room is filled again
    pieces_.pop_front();
  }
  return true;
}

task<result<>> stream_transport::flush() {
  std::array<std::span<const std::byte>, most_parts> parts;
  for (;;) {
    const result<bool> done = try_flush();
    if (!done) co_return done.error();
    if (*done) co_return result<>{};
    piece& first = pieces_.front();
    if (!first.bytes.empty()) {
      const std::size_t count = gather(parts);
      const result<std::size_t> went = co_await under_.write(tartan::detail::byte_parts{parts.data(), count});
      if (!went) co_return went.error();
      sent(*went);
    } else {
      const int passed = first.behind.get();
      auto* const to = under_.as<local::stream>();
      const result<std::size_t> went = co_await to->send_with(std::span{empty_fragment}, std::span{&passed, 1});
      if (!went) co_return went.error();
      pieces_.pop_front();
    }
  }
}

task<> stream_transport::linger() {
  const result<> told = co_await under_.shutdown_send();
  std::array<std::byte, 4096> room;
  bool goes_on = told.has_value();
  while (goes_on) {
    const result<std::size_t> dropped = co_await under_.read_some(room);
    goes_on = dropped.has_value();
  }
}

task<result<>> stream_transport::replace(const stream_upgrade& how) {
  if (!records_.is_between_records()) co_return make_error_code(errc::malformed);
  result<any_stream> made = co_await how(std::move(under_));
  if (!made) co_return made.error();
  under_ = *std::move(made);
  passes_ = passes_ && under_.as<local::stream>() != nullptr;
  co_return result<>{};
}

}  // namespace

void append_cheaply(buf::chain& out, buf::chain&& message) {
  if (message.size() <= most_copied_bytes) {
    for (const buf::slice& each : message.slices()) out.append(each.bytes());
  } else {
    out.append(std::move(message));
  }
}

std::unique_ptr<transport> over_stream(any_stream from, const settings& with) {
  return std::make_unique<stream_transport>(std::move(from), with);
}

}  // namespace tartan::rpc::detail
