#pragma once
/// The pending events of one color. See docs/design/color-queue.md.

#include <cstdint>
#include <tartan/core/color.h>

#include "core/memory.h"
#include "core/sched/annotation.h"
#include "core/sched/inbox.h"
#include "core/tuning.h"

namespace tartan::detail {

enum class queue_state : std::uint8_t { idle, queued, running };

/// Why a color queue exists, and so how it ends.
enum class queue_kind : std::uint8_t {
  free,       ///< it does not
  by_value,   ///< has events; removed from the table when it has none
  strand,     ///< a strand pins it
  unordered,  ///< one event of color::unordered, in a queue of its own
  permanent,  ///< the default color
};

/// The number of no worker, in linked_by and sender.
inline constexpr std::uint16_t no_worker = 0xffff;

/// One color's events: the owner's list, and the inbox for everybody else. 64 bytes.
///
/// "Owner's" below: touched only by who holds the owner's biased lock, or by the runner.
template <class Memory, class Node>
struct alignas(64) color_queue_of {
  typename Memory::template plain<Node*> head;  ///< owner's: oldest event
  typename Memory::template plain<Node*> tail;  ///< owner's
  inbox<Memory, Node> in;                       ///< anyone's
  typename Memory::template plain<color_queue_of*> linked_next;  ///< of who owes the link, then of who took the chain
  std::uint64_t color_value = 0;                                 ///< constant while the color queue exists
  /// Written under the old owner's lock; release, for the owner's part goes over with it: pairs with home_of::append and take_incoming.
  typename Memory::template atomic<std::uint32_t> owner{0, "owner"};
  typename Memory::template plain<queue_state> state;                 ///< owner's
  queue_kind kind = queue_kind::free;                                 ///< constant while the color queue exists
  typename Memory::template plain<bool> closing;  ///< owner's: the strand's handle is gone; others say so in the inbox
  typename Memory::template plain<annotation> told;  ///< owner's: what was told of the event that made it runnable
  /// Of who owes the link, then of who took the chain: the worker that linked it.
  typename Memory::template plain<std::uint16_t> linked_by;
  typename Memory::template plain<std::uint16_t> sender;  ///< owner's: the worker that the last visit came from
  typename Memory::template plain<std::uint8_t> visits;   ///< owner's: short visits from the same worker in a row
  typename Memory::template plain<bool> was_sent;         ///< owner's: it is runnable because another worker linked it
  bool named = false;               ///< constant while the color queue exists: the runtime's table of names has it
  color_queue_of* chain = nullptr;  ///< by value: next in the bucket, under the bucket's lock

  /// Owner's. Appends one event that was posted after everything in the list.
  void append(Node& event) noexcept {
    event.next = nullptr;
    if (head == nullptr) {
      head = &event;
    } else {
      Node* last = tail;
      last->next = &event;
    }
    tail = &event;
  }

  /// The runner's. Appends an event that is posted now; false, and nothing is done, if others wait in the inbox, which were
  /// posted before it (first-posted-first-run).
  [[nodiscard, gnu::always_inline]] bool append_unless_others_came(Node& event) noexcept {
    if (!in.empty()) [[unlikely]] return false;
    append(event);
    return true;
  }

  /// Owner's. Appends what an inbox held, newest first, in the order of its posts.
  void absorb(Node* newest) noexcept {
    if (newest == nullptr) return;
    Node* const last = newest;
    Node* oldest = nullptr;
    while (newest != nullptr) {
      Node* const older = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = older;
    }
    if (head == nullptr) {
      head = oldest;
    } else {
      Node* end = tail;
      end->next = oldest;
    }
    tail = last;
  }

  /// Owner's. first-posted-first-run: whatever came by the inbox came before what is appended next.
  void absorb_inbox() noexcept {
    if (!in.empty()) absorb(in.drain());
  }

  /// Owner's. The oldest event, or null.
  [[nodiscard]] Node* take() noexcept {
    if (head == nullptr) {
      absorb_inbox();
      if (head == nullptr) return nullptr;
    }
    Node* first = head;
    head = static_cast<Node*>(first->next);
    return first;
  }

  /// The runner's. The event that was posted last, or null.
  [[nodiscard]] const Node* newest() const noexcept {
    if (const Node* const posted = in.newest()) return posted;
    return head != nullptr ? static_cast<const Node*>(tail) : nullptr;
  }

  /// Owner's. The oldest event of its list; without one, the newest of the inbox, which most often is the only one; or null.
  [[nodiscard]] Node* first() const noexcept {
    Node* const oldest = head;
    return oldest != nullptr ? oldest : in.newest();
  }

  [[nodiscard]] bool has_events() const noexcept { return head != nullptr || !in.empty(); }

  /// Owner's. Whether it has no more than one event, as far as its list tells.
  [[nodiscard]] bool is_short() const noexcept { return head == nullptr || head == tail; }

  /// The runner's: whether this was a strand's, whose handle is gone, and has ended now; then it is not to be touched again.
  [[nodiscard]] bool retire_if_closed() noexcept {
    return (closing || in.look().is_closing()) && !has_events() && in.retire();
  }

  /// Owner's. It becomes runnable on account of a link.
  void note_link() noexcept {
    const std::uint16_t from = linked_by;
    if (from != sender) visits = 0;
    sender = from;
    was_sent = from != no_worker;
  }

  /// The runner's, after a visit: events that another worker posted.
  void note_visit(bool was_short) noexcept {
    was_sent = false;
    visits = was_short ? static_cast<std::uint8_t>(visits + 1) : std::uint8_t{0};
  }

  /// Owner's, number `home`: the worker that it should move to now that it is idle: some short visits in a row came from there.
  [[nodiscard]] std::uint16_t wants_to_move(std::uint32_t home) noexcept {
    if (visits < home_least_visits) [[likely]] return no_worker;
    if (visits < visits_to_move(sender < home)) return no_worker;
    visits = 0;
    return sender;
  }

  /// How many short visits move it. Two colors that visit each other must not swap places for ever, so one of them is more
  /// patient: by its color's hash, and not by its worker's number, or most of what works together would end on worker 0. Of two
  /// that are equally patient, the one moves that goes to the lower number.
  [[nodiscard]] unsigned visits_to_move(bool to_lower_worker) const noexcept {
    const auto patience = static_cast<unsigned>(mix(color_value) >> 61);
    return home_least_visits + 2 * patience + (to_lower_worker ? 0 : 1);
  }

  /// The runner's: whether it has to have a turn even if it has no events. A link that is still to come brings one anyway.
  [[nodiscard]] bool needs_turn() const noexcept {
    if (head != nullptr) return true;
    const auto seen = in.look();
    if (seen.has_events()) return true;
    if (seen.is_linked() || kind == queue_kind::permanent) return false;
    return kind != queue_kind::strand || closing || seen.is_closing();  // no-leftover: another turn ends it
  }
};

}  // namespace tartan::detail
