#pragma once
/// The tuning constants of the default scheduler, by the part that uses them; docs/design/scheduler.md is the map.
///
/// A section names the owner of its constants, the end of a name its unit. W1 to W14 are the benchmarks of
/// bench/README.md, H4 is in docs/web-benchmarks.md. Contract 7 bounds how long a color waits while a worker is idle;
/// the sum at the end of this page keeps that bound.

#include <cstddef>
#include <cstdint>

namespace tartan::detail {

// --- Homes and color queues (home.h, core_queue.h, color_queue.h) ----------------------------------------------------

/// Slots in one segment of a core queue: a segment has some 500 bytes.
inline constexpr std::size_t home_segment_slots = 64;
/// Free segments that a core queue keeps. Beyond them segments are freed.
inline constexpr unsigned home_most_spare_segments = 64;
/// Incoming links that one hold of the lock handles at most.
inline constexpr int home_links_taken_at_once = 64;
/// One pick in so many passes by the higher levels of priority. Looking outside takes its turn at the same rate.
inline constexpr unsigned home_picks_per_bypass = 16;
/// The first event of the color queue that runs so many turns later is prefetched: a line from another core takes
/// longer than one short turn.
inline constexpr std::uint32_t home_events_ahead_turns = 2;
/// The color queue so many places behind the one that is popped is prefetched. W4 takes 6 % less time on two cores with
/// both prefetches.
inline constexpr std::uint32_t home_queues_ahead_places = 5;
/// Short visits in a row that move the least patient colors to their visitor.
inline constexpr unsigned home_least_visits = 3;

// --- The lock between a worker and a thief (biased_lock.h) -----------------------------------------------------------

/// A thief looks so often whether the owner has left: some 2 to 4 us.
inline constexpr int lock_patience_looks = 64;
/// A thief looks so often whether the owner answers: some 30 to 45 us where the processor's pause takes 40 ns, less
/// where it is shorter. That time is an idle thief's, and other thieves only lack this victim. A membarrier in a
/// virtual machine takes up to 20 us from both. But a thief that loses its CPU meanwhile keeps its victim waiting.
inline constexpr int lock_answer_patience_looks = 1000;

// --- From a color to its queue (color_table.h) -----------------------------------------------------------------------

/// Buckets of a new table.
inline constexpr std::size_t table_first_buckets = 1024;
/// Larger segments are mapped, and so are zero from the start. Clearing half a table at once, with its page faults,
/// would take a millisecond at a quarter of a million colors, and 45 ms at four million, out of one post.
inline constexpr std::size_t table_smallest_mapped_bytes = std::size_t{64} * 1024;

// --- Posting (default_poster, queue_store) ---------------------------------------------------------------------------

/// A backlog of so many colors wakes a worker although a watcher looks within a millisecond anyway.
inline constexpr std::uint32_t post_urgent_backlog_colors = 2048;
/// Links that a batch of posts leaves unpaid at most: paying them takes some 5 us, and until then nobody finds the
/// colors (contract 7).
inline constexpr std::size_t post_most_owed_links = 128;
/// Owners whose links a batch collects apart from each other.
inline constexpr std::size_t post_owed_owners = 16;
/// Workers that a post from outside asks for one that is awake, for a new color.
inline constexpr unsigned post_most_asked_workers = 4;

// --- Running (default_runner) ----------------------------------------------------------------------------------------

/// Events between two looks at the clock, timers and I/O. The papers' schedulers look as often.
inline constexpr int events_between_looks = 64;
/// Events of one color that a turn runs even if they were posted in that turn. Otherwise each step of a chain would
/// cost a turn.
inline constexpr unsigned run_shortest_batch_events = 16;
/// A color with a long backlog is served for so long at most: half of contract 7's 1 ms, which is what others wait.
inline constexpr std::uint64_t run_longest_turn_ns = 500'000;
/// A visit from another worker that is so short costs less than the way there: a few cache lines, perhaps a wake-up.
inline constexpr std::uint64_t run_short_visit_ns = 2'000;
/// A core queue with so many colors is compared with those of other workers.
inline constexpr std::uint32_t run_long_line_colors = 64;

// --- Giving (default_giver) ------------------------------------------------------------------------------------------

/// Turns of another worker are counted for so long before they say anything. A thief counts for longer: steal_count_ns.
inline constexpr std::uint64_t give_count_ns = 20'000;
/// An older count says nothing about the present. A thief's gets stale sooner: steal_stale_count_ns.
inline constexpr std::uint64_t give_stale_count_ns = 20'000'000;
/// What a gift must save in waiting time: it costs some cache lines for each color, and a look at everybody's line.
inline constexpr std::uint64_t give_least_gain_ns = 10'000;
/// Two turns of a hot color that are further apart say nothing about the present.
inline constexpr std::uint64_t give_longest_tour_ns = 4'000'000;
/// Long lines are compared so often at most: each count then has some ten or hundred turns.
inline constexpr std::uint64_t give_comparison_period_ns = 500'000;
/// A line with less waiting time is left as it is.
inline constexpr std::uint64_t give_long_wait_ns = 1'000'000;
/// The other line must be shorter by this part (an eighth): a color that moves leaves the cache that it was in.
inline constexpr std::uint64_t give_uneven_part = 8;
/// Workers in one comparison of long lines; the next comparison asks the next ones. Each costs some cache lines that
/// its worker writes in every turn, and with many workers all of them may have long lines.
inline constexpr std::size_t give_most_compared_workers = 8;

// --- Stealing (default_thief) ----------------------------------------------------------------------------------------

/// Time between two looks at the other workers: each look takes cache lines that they write in every turn.
inline constexpr std::uint64_t steal_look_period_ns = 2'000;
/// Pauses of the processor between two reads of the clock, in a loop that waits.
inline constexpr int steal_pauses_per_look = 16;
/// Turns of a victim are counted for so long before they say anything: longer than an event that makes colors usually
/// takes, whose one turn would be taken for the rule.
inline constexpr std::uint64_t steal_count_ns = 40'000;
/// If turns seem short, they are counted once more, for so long: the first count may have been one long turn of the
/// event that made the colors, or a pause.
inline constexpr std::uint64_t steal_recount_ns = 20'000;
/// Turns that seem shorter are counted once more.
inline constexpr std::uint64_t steal_short_turn_ns = 2'000;
/// Turns are counted for so long, or for a whole tour, before they foretell how long the last color in a line will
/// wait.
inline constexpr std::uint64_t steal_forecast_count_ns = 200'000;
/// An older count says nothing about the present.
inline constexpr std::uint64_t steal_stale_count_ns = 2'000'000;
/// A longer turn is a long event, and the colors behind it are stuck. Before, what its event made is better left with
/// its maker: each of the maker's next posts there would go to another worker (W7, whose maker's turn takes 25 us).
inline constexpr std::uint64_t steal_long_turn_ns = 50'000;
/// A backlog that its owner alone would need so long for is shared. With the time between two looks of a watcher
/// (longest_watch_ns), the second look and the wake-up, that is less than contract 7's 1 ms. So are two such times,
/// where the first look just misses that the victim got stuck.
inline constexpr std::uint64_t steal_longest_wait_ns = 400'000;
/// If the colors are cheap, so much of that backlog is left with its owner, who is faster alone.
inline constexpr std::uint64_t steal_left_wait_ns = steal_longest_wait_ns * 3 / 4;
/// The price of a steal, for both sides together, until it is measured: a membarrier (memory.h) unless the victim
/// answers.
inline constexpr std::uint64_t steal_first_price_ns = 20'000;
/// Whatever is measured, the price stays within these bounds.
inline constexpr std::uint64_t steal_lowest_price_ns = 5'000;
inline constexpr std::uint64_t steal_highest_price_ns = 40'000;
/// Steals in the running mean of the price: one in which the thief was preempted must not keep it off.
inline constexpr std::uint64_t steal_mean_of_prices = 8;
/// Colors that one steal takes at most. They share its price, and the victim is locked out until they are taken. Of
/// 50 000 short ones half are stolen; with 488 at once W4 was 12 % slower.
inline constexpr std::size_t steal_most_colors = 2440;
/// The price of moving one color, in cache lines: its own, its events', and their memory's way back. For less the
/// victim is faster alone.
inline constexpr std::uint64_t steal_color_price_ns = 300;
/// Stolen colors that keep the thief busy for less have not paid, however cheap the way in was: the price of a steal
/// does not include moving them.
inline constexpr std::uint64_t steal_least_paid_ns = 40'000;
/// A victim whose turns are so short is asked to answer.
inline constexpr std::uint64_t steal_longest_answer_ns = 20'000;
/// How long a thief keeps off after a steal that did not pay; doubled each time, up to the second value.
inline constexpr std::uint64_t steal_shortest_rest_ns = 100'000;
inline constexpr std::uint64_t steal_longest_rest_ns = 500'000;

// --- Sleeping and waking (lifecycle, search_budget, default_thief) --------------------------------------------------

/// An idle worker searches for so long before it sleeps, at most: about what waking it again would take.
inline constexpr std::uint64_t search_ns = 50'000;
/// The shortest budget of a search: less than one look takes, so that it is one look.
inline constexpr std::uint64_t search_least_ns = 1'000;
/// The first sleep of a watcher, a worker that has declined work: its victim has just been busy, and more work may
/// come from that at any moment (W9, whose rounds begin behind such a sleep). Each further sleep is twice as long.
inline constexpr std::uint64_t first_watch_ns = 100'000;
/// Rests for which a watcher stays one although it declined nothing more.
inline constexpr unsigned watch_rests = 8;
/// A sleeper that wakes so much after a timer's tick has ended (131 us at most after the deadline) still keeps
/// contract 11's 1 ms.
inline constexpr std::uint64_t timer_slack_ns = 500'000;
/// A worker whose line takes so long calls another one: less than contract 7's 1 ms, several times a call's cost.
inline constexpr std::uint64_t help_long_line_ns = 300'000;
/// What it takes to wake a worker and to put it to sleep again. Where a turn takes as long, an edge is worth a wake-up
/// (turns of 50 us: a fifth of the requests was lost without; turns of 10 us lost none).
inline constexpr std::uint64_t dear_turn_ns = 25'000;
/// Once a line of dear turns was too long, edges are worth a wake-up for so long.
inline constexpr std::uint64_t dear_time_ns = 30'000'000;
/// A guard that could sleep on for less gets up.
inline constexpr std::uint64_t guard_least_nap_ns = 50'000;
/// A worker that was woken, and has found more than it takes, wakes so many; each of these does the same.
inline constexpr unsigned woken_at_once = 2;

// --- What sleeping and waking take, and contract 7 (docs/design/sleeping.md has the sums) ----------------------------

/// No runnable color waits longer while a worker is idle (contract 7).
inline constexpr std::uint64_t longest_color_wait_ns = 1'000'000;
/// The kernel may extend a sleep by so much, to end several at once.
inline constexpr std::uint64_t kernel_slack_ns = 50'000;
/// From the end of a sleep, or a call, until the worker has a CPU: 17 to 33 us were measured.
inline constexpr std::uint64_t way_to_cpu_ns = 33'000;
/// From then on until the worker runs what it was woken for, and has woken others.
inline constexpr std::uint64_t rise_ns = 50'000;

/// How many steps of wake-ups it takes from the first worker that is awake until all are.
[[nodiscard]] constexpr unsigned wake_steps(unsigned workers) noexcept {
  unsigned steps = 0;
  for (std::uint64_t up = 1, newest = 1; up + 1 < workers; ++steps) up += newest *= woken_at_once;  // + 1: the busy one
  return steps;
}
/// The time of these steps.
[[nodiscard]] constexpr std::uint64_t spread_ns(unsigned workers) noexcept {
  return wake_steps(workers) * (way_to_cpu_ns + rise_ns);
}

/// What follows when the guard's alarm goes off: its way up, its search, a watcher's first sleep and look at what may be
/// stuck, and the others' way up.
[[nodiscard]] constexpr std::uint64_t after_alarm_ns(unsigned workers) noexcept {
  return way_to_cpu_ns + search_ns + first_watch_ns + kernel_slack_ns + way_to_cpu_ns + rise_ns + spread_ns(workers);
}
/// So long at most nobody looks at what is ready, or at what waits behind a long event, while a worker sleeps. From 129
/// workers on contract 7's sum is longer than 1 ms, by 83 us for each doubling.
[[nodiscard]] constexpr std::uint64_t guard_far_ns(unsigned workers) noexcept {
  constexpr std::uint64_t longest = 600'000;  // a busy worker sets the alarm every 0.35 ms then: 1 % of its time
  constexpr std::uint64_t least = 150'000;
  if (after_alarm_ns(workers) + least >= longest_color_wait_ns) return least;
  const std::uint64_t left = longest_color_wait_ns - after_alarm_ns(workers);
  return left < longest ? left : longest;
}

/// What a watcher's sleep costs besides itself: its timer's slack, its way to a CPU, a close look at another victim.
inline constexpr std::uint64_t watch_cost_ns = kernel_slack_ns + way_to_cpu_ns + steal_long_turn_ns;
/// The longest sleep of a watcher. A look may just miss that its victim gets stuck: the color then waits for two sleeps,
/// for the way up, and for the spreading. From 257 workers on the sum is longer than 1 ms.
[[nodiscard]] constexpr std::uint64_t longest_watch_ns(unsigned workers) noexcept {
  constexpr std::uint64_t longest = 340'000;
  constexpr std::uint64_t least = 50'000;
  const std::uint64_t besides = rise_ns + spread_ns(workers) + 2 * watch_cost_ns;
  if (besides + 2 * least >= longest_color_wait_ns) return least;
  const std::uint64_t left = (longest_color_wait_ns - besides) / 2;
  return left < longest ? left : longest;
}

/// The sums, for a number of workers.
[[nodiscard]] constexpr bool keeps_contract_7(unsigned workers) noexcept {
  return guard_far_ns(workers) + after_alarm_ns(workers) <= longest_color_wait_ns &&
         2 * (longest_watch_ns(workers) + watch_cost_ns) + rise_ns + spread_ns(workers) <= longest_color_wait_ns;
}
static_assert(keeps_contract_7(1) && keeps_contract_7(2) && keeps_contract_7(8) && keeps_contract_7(64) && keeps_contract_7(128));

}  // namespace tartan::detail
