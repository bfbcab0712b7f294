#pragma once
/// Makes values of shared.x in C++, from a seed, as rpcgen_values.c does in C.

#include <cstddef>
#include <cstdint>

#include <shared.h>

namespace tartan::xdr::test {

/// The numbers of a seed: splitmix64.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) noexcept : state_{seed} {}

  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::int32_t word() noexcept { return static_cast<std::int32_t>(next()); }
  std::uint32_t below(std::uint32_t end) noexcept { return static_cast<std::uint32_t>(next() % end); }

 private:
  std::uint64_t state_;
};

template <class Text>
void make_text(numbers& from, Text& to, std::uint32_t most) {
  to.resize(from.below(most + 1));
  for (char& each : to) each = static_cast<char>('a' + from.below(26));
}

template <class Bytes>
void fill(numbers& from, Bytes& to) {
  for (std::byte& each : to) each = static_cast<std::byte>(from.below(256));
}

inline std::string make_bytes(numbers& from, std::uint32_t most) {
  std::string bytes(from.below(most + 1), ' ');
  for (char& each : bytes) each = static_cast<char>(from.below(256));
  return bytes;
}

inline void make(numbers& from, shared::shared_mood& to) {
  using enum shared::shared_mood;
  constexpr shared::shared_mood all[] = {SHARED_CALM, SHARED_BUSY, SHARED_LATE, SHARED_SOUR};
  to = all[from.below(4)];
}

inline void make(numbers& from, shared::shared_scalars& to) {
  to.i = from.word();
  to.u = static_cast<std::uint32_t>(from.next());
  to.h = static_cast<std::int64_t>(from.next());
  to.uh = from.next();
  to.f = static_cast<float>(from.word()) / 8;
  to.d = static_cast<double>(static_cast<std::int64_t>(from.next())) / 1024;
  to.b = from.below(2) != 0;
  make(from, to.m);
}

inline void make(numbers& from, shared::shared_label& to) {
  make_text(from, to, shared::SHARED_NAME);
}

inline void make(numbers& from, shared::shared_grid& to) {
  for (std::int32_t& each : to) each = from.word();
}

inline void make(numbers& from, shared::shared_times& to) {
  to.resize(from.below(5));
  for (std::int64_t& each : to) each = static_cast<std::int64_t>(from.next());
}

inline void make(numbers& from, shared::shared_arrays& to) {
  make(from, to.label);
  make_text(from, to.line, 100);
  fill(from, to.tag);
  to.note.resize(from.below(10));
  fill(from, to.note);
  to.blob = make_bytes(from, 5000);
  fill(from, to.digest);
  make(from, to.grid);
  make(from, to.times);
  to.names.resize(from.below(5));
  for (shared::shared_label& each : to.names) make(from, each);
  for (shared::shared_mood& each : to.moods) make(from, each);
  for (std::uint32_t left = from.below(6); left > 0; --left) to.flags.push_back(from.below(2) != 0);
  to.shares.resize(from.below(3));
  for (double& each : to.shares) each = static_cast<double>(static_cast<std::int64_t>(from.next())) / 1024;
  for (std::uint64_t& each : to.counts) each = from.next();
}

inline void make(numbers& from, shared::shared_answer& to) {
  using enum shared::shared_mood;
  shared::shared_mood which{};
  make(from, which);
  if (which == SHARED_CALM) {
    make(from, to.set_scalars());
  } else if (which == SHARED_SOUR) {
    to.set_void(which);
  } else {
    to.set_wait(which, static_cast<std::uint32_t>(from.next()));
  }
}

inline void make(numbers& from, shared::shared_reply& to) {
  switch (from.below(3)) {
    case 0:
      to.set_yes();
      if (from.below(2) != 0) make(from, to.yes()->emplace());
      break;
    case 1:
      make(from, to.set_why());
      break;
    default:
      to.set_void(3);
  }
}

inline void make(numbers& from, shared::shared_number& to) {
  switch (from.below(3)) {
    case 0:
      to.set_word(from.word());
      break;
    case 1:
      to.set_wide(static_cast<std::int64_t>(from.next()));
      break;
    default:
      to.set_raw(17) = make_bytes(from, 40);
  }
}

inline void make(numbers& from, shared::shared_maybe& to) {
  if (from.below(2) != 0) {
    make_text(from, to.set_text(), 50);
  } else {
    to.set_void(false);
  }
}

inline void make(numbers& from, xdr::linked_list<shared::shared_link>& to) {
  for (std::uint32_t left = from.below(5); left > 0; --left) {
    shared::shared_link& now = to.emplace_back();
    now.value = from.word();
    make(from, now.name);
  }
}

inline void make(numbers& from, shared::shared_links& to) {
  make(from, to.first);
  to.between = static_cast<std::uint32_t>(from.next());
  make(from, to.second);
}

inline void make(numbers& from, shared::shared_tree& to, int depth = 4) {
  to.value = from.word();
  if (depth > 0 && from.below(3) != 0) make(from, to.left.emplace(), depth - 1);
  if (depth > 0 && from.below(3) != 0) make(from, to.right.emplace(), depth - 1);
}

inline void make(numbers& from, shared::shared_all& to) {
  to.answers.resize(from.below(4));
  for (shared::shared_answer& each : to.answers) make(from, each);
  make(from, to.reply);
  for (shared::shared_number& each : to.numbers) make(from, each);
  make(from, to.maybe);
  make(from, to.links);
  if (from.below(2) != 0) make(from, to.tree.emplace());
  make(from, to.arrays);
}

}  // namespace tartan::xdr::test
