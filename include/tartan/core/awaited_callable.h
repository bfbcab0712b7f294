#pragma once
/// A callable that is handed over inside an awaiting expression: whether this compiler destroys it once. Library code.

#include <type_traits>

namespace tartan::detail {

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
inline constexpr bool destroys_temporaries_twice = true;
#else
inline constexpr bool destroys_temporaries_twice = false;
#endif

/// Whether F, as deduced for a parameter F&&, may be a temporary closure or aggregate that owns something.
///
/// In an expression that awaits, gcc before 13 gives each member of such a temporary an object of its own in the frame, copies that bit by bit
/// into the temporary, and destroys both. The fault lies in the caller's expression, before the library sees the callable, so only a refusal
/// helps. std::move(named) is sound, but has the same type, and is refused too.
/// A closure with captures has no move assignment; a class with constructors, such as std::function, is sound.
template <class F>
inline constexpr bool owning_temporary = !std::is_reference_v<F> && !std::is_trivially_destructible_v<F> &&
                                         (std::is_aggregate_v<F> || !std::is_move_assignable_v<F>);

/// The same for a value. One that cannot be assigned is no closure here, but a class with constructors.
template <class T>
inline constexpr bool owning_aggregate = !std::is_reference_v<T> && !std::is_trivially_destructible_v<T> && std::is_aggregate_v<T>;

/// Refuses at compile time what would be destroyed twice at run time. F: as deduced for a parameter F&&.
template <class F>
constexpr void check_awaited_callable() noexcept {
  static_assert(!destroys_temporaries_twice || !owning_temporary<F>,
                "gcc before 13 destroys twice what this temporary owns, if it stands in an expression that awaits. Capture by reference: "
                "co_await in(c, [&] {...}) keeps what it refers to. Or name it first: auto f = [s] {...}; co_await in(c, f). "
                "See docs/guide/coroutines.md, \"Mistakes\"");
  static_assert(std::is_constructible_v<std::decay_t<F>, F>,
                "this callable cannot be copied: pass std::ref(f), and keep f until the co_await ends");
}

/// The same for a callable that must own what it uses, so that a capture by reference is no way out.
template <class F>
constexpr void check_awaited_owner() noexcept {
  static_assert(!destroys_temporaries_twice || !owning_temporary<F>,
                "gcc before 13 destroys twice what this temporary owns, if it stands in an expression that awaits. Name it first: "
                "auto f = [s] {...}; co_await with_timeout(1s, abandonable_blocking(f)). See docs/guide/coroutines.md, \"Mistakes\"");
}

/// The same for a value that is sent, or used as a key.
template <class T>
constexpr void check_awaited_value() noexcept {
  static_assert(!destroys_temporaries_twice || !owning_aggregate<T>,
                "gcc before 13 destroys twice what this aggregate owns, if it is made in an expression that awaits. Name it first: "
                "job next{...}; co_await jobs.send(next). Or give its class a constructor, so that it can be moved. "
                "See docs/guide/coroutines.md, \"Mistakes\"");
}

/// The same for a handle that is awaited in the expression that spawned its coroutine.
template <class Handle>
constexpr void check_awaited_handle() noexcept {
  static_assert(!destroys_temporaries_twice || !std::is_same_v<Handle, Handle>,
                "gcc before 13 may destroy twice what spawn was given, if one expression spawns and awaits. Name the handle first: "
                "auto handle = spawn(...); co_await handle.join(). See docs/guide/coroutines.md, \"Mistakes\"");
}

}  // namespace tartan::detail
