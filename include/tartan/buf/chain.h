#pragma once
/// A sequence of slices, read at its front and filled at its end: the papers' suio.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <tartan/buf/slice.h>
#include <tartan/core/event.h>
#include <type_traits>
#include <utility>
#include <vector>

namespace tartan::buf {

namespace detail {

struct storage;

/// What is called when the bytes before a position have left.
struct mark {
  virtual ~mark() = default;
  virtual void call() = 0;

  std::uint64_t at = 0;  ///< counted as chain::left_ is, of the chain that holds it
  bool is_due = false;   ///< it was reached: `at` means nothing any more
  std::unique_ptr<mark> next;
};

template <class F>
struct mark_of final : mark {
  template <class G>
  explicit mark_of(G&& g) : f(std::forward<G>(g)) {}
  void call() override { f(); }

  F f;
};

}  // namespace detail

/// A number that print() writes in base 16.
struct hex {
  std::uint64_t value;
};

/// Where a line ends.
struct line {
  std::size_t length;  ///< without its end
  std::size_t whole;   ///< with its end: LF or CRLF
};

/// What print() takes: text, a character, an integer of any type but bool and the wide characters, hex{n}, a slice.
template <class T>
concept printable = std::convertible_to<const T&, std::string_view> || std::same_as<T, slice> || std::same_as<T, hex> ||
                    (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                     !std::same_as<T, char16_t> && !std::same_as<T, char32_t>);

/// A sequence of bytes, in slices and in memory of its own: what is queued to be sent, or was received and not yet used up.
///
/// Bytes are appended, by copy, by reference or by writing them in place, and leave at the front, dropped or taken. A slice of what
/// was taken stays as it is, whatever happens to the chain.
/// Threads: one at a time, as a std::string; what was taken out goes where it likes.
/// Errors: std::bad_alloc; then the chain is as it was, except after print. Misuse, as dropping more than there is, ends the program.
/// Limits: bounded by memory only: whoever appends asks first (gate.h, or `most` of the calls that read).
/// Cost: appending copies into blocks of 4 KiB, and of as much as the chain holds, up to 64 KiB; when everything has left, the last
/// block is filled anew, without an allocation. 96 bytes if it never held any.
class chain {
 public:
  static constexpr std::size_t first_block_bytes = 4096;
  static constexpr std::size_t largest_block_bytes = 65536;

  chain() noexcept = default;
  chain(chain&& other) noexcept { swap(other); }
  chain& operator=(chain&& other) noexcept {
    chain{std::move(other)}.swap(*this);
    return *this;
  }
  ~chain();

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// The bytes, in order; none is empty. Valid until the chain changes.
  [[nodiscard]] std::span<const slice> slices() const noexcept { return std::span{parts_}.subspan(first_); }

  // Filling.

  /// A copy of the bytes.
  void append(const_bytes bytes);
  /// No copy.
  void append(slice piece);
  /// No copy. All of another chain, its marks too; that one is empty then.
  void append(chain&& all);

  /// Each value's text, one after the other: `out.print("HTTP/1.1 ", status, " OK\r\n")`. Integers in base 10; slices without a copy.
  ///
  /// There is no format text: nothing to parse at run time, and nothing that could disagree with the values' types.
  /// Errors: std::bad_alloc; the values before that one are there.
  template <printable... Values>
  chain& print(const Values&... values) {
    (put(values), ...);
    return *this;
  }

  /// Room to write to in place: `least` bytes or more, behind the end. commit() makes the first of them part of the chain.
  ///
  /// Lifetime: until the chain is filled otherwise or has been emptied.
  /// Limits: a block of the chain's, or `least` if that is more.
  [[nodiscard]] std::span<std::byte> prepare(std::size_t least);
  void commit(std::size_t bytes, std::source_location site = std::source_location::current());

  /// Gives back the memory that is kept to be filled, if nothing refers to it: for a chain that will be empty for long.
  void release_room() noexcept;

  // Using up.

  /// The first bytes leave. Marks that they reach are called.
  void drop(std::size_t bytes, std::source_location site = std::source_location::current());

  /// The first bytes, and the marks up to there, as a chain of their own. No copy.
  [[nodiscard]] chain take(std::size_t bytes, std::source_location site = std::source_location::current());

  /// The first bytes as one slice; then they are dropped.
  ///
  /// Cost: no copy if they lie in one slice; else one.
  [[nodiscard]] slice take_slice(std::size_t bytes, std::source_location site = std::source_location::current());

  /// Calls f, once, when everything that is in the chain now has left at its front: in drop(), or in take_slice(). If there is
  /// nothing, in the next of these.
  ///
  /// f may fill the chain, drop from it and assign to it, but not destroy it. What it throws leaves drop(), or take_slice(), whose slice
  /// is lost; the marks behind it are called by the next, or by that of the chain that they go to with bytes. A chain that is destroyed or
  /// assigned to does not call.
  /// Order: of the marks.
  /// Source: libasync, suio::breakcb.
  template <std::invocable F>
  void mark(F&& f) {
    tartan::detail::refuse_task<std::decay_t<F>&>();
    add_mark(std::make_unique<detail::mark_of<std::decay_t<F>>>(std::forward<F>(f)));
  }

  // Looking.

  /// The end of the first line, if it lies within the first `most` bytes. Goes on where the last call stopped.
  [[nodiscard]] std::optional<line> find_line(std::size_t most) noexcept;

  /// The first line without its end; all of it is dropped.
  ///
  /// Cost: see take_slice.
  [[nodiscard]] std::optional<slice> take_line(std::size_t most);

  /// Where the text begins at or behind `from`.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view text, std::size_t from = 0) const noexcept;

  /// Copies bytes from `from` on, and gives how many there were.
  std::size_t copy_to(mutable_bytes into, std::size_t from = 0) const noexcept;
  [[nodiscard]] std::string to_string() const;

  /// Fills in the first parts, for a gathered write, of `most` bytes at most; gives how many. Valid as slices() are.
  std::size_t gather(std::span<std::span<const std::byte>> into, std::size_t most = std::string_view::npos) const noexcept;

 private:
  struct position {
    std::size_t part;
    std::size_t offset;
  };

  void swap(chain& other) noexcept;
  void put(std::string_view text) { append(text); }
  void put(char c) { append(std::string_view{&c, 1}); }
  void put(const slice& piece) { append(piece); }
  void put(hex number) { put_number(number.value, 16); }
  template <std::integral N>
  void put(N number) {
    if constexpr (std::is_signed_v<N>) {
      put_signed(number);
    } else {
      put_number(number, 10);
    }
  }
  void put_number(std::uint64_t number, int base);
  void put_signed(std::int64_t number);

  void add_mark(std::unique_ptr<detail::mark> one) noexcept;
  void call_marks();
  void move_marks(chain& to) noexcept;
  void need_parts(std::size_t more);
  void push(slice&& piece) noexcept;
  void grow(std::size_t bytes) noexcept;
  void use_room_again() noexcept;
  [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(room_end_ - room_); }
  [[nodiscard]] detail::storage* new_block(std::size_t least) const;
  void set_block(detail::storage* fresh) noexcept;
  void skip(std::size_t bytes) noexcept;
  [[nodiscard]] position place_of(std::size_t offset) const noexcept;
  [[nodiscard]] std::byte at(std::size_t offset) const noexcept;
  [[nodiscard]] bool holds(std::string_view text, position from) const noexcept;

  std::vector<slice> parts_;  ///< those before first_ have left
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::size_t searched_ = 0;            ///< bytes in which find_line has seen no LF
  std::uint64_t left_ = 0;              ///< bytes that have left since the chain was made
  detail::storage* block_ = nullptr;    ///< the one that is being filled: the chain's own use of it
  std::byte* room_ = nullptr;           ///< the rest of it
  std::byte* room_end_ = nullptr;
  std::unique_ptr<detail::mark> marks_;
  detail::mark* last_mark_ = nullptr;
};
static_assert(sizeof(chain) == 96);

}  // namespace tartan::buf
