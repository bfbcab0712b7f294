#include "load/measure.h"

namespace load {

measure::measure(tartan::runtime& rt, std::uint64_t requests)
    : is_limited_{requests != 0}, tickets_{static_cast<std::int64_t>(requests)}, tallies_{rt} {
  tallies_.for_each([this](const tally& each) { all_.push_back(&each); });
}

measure::counted measure::count_answer(std::int64_t now, std::int64_t since, std::uint64_t bytes) noexcept {
  tally& mine = tallies_.local();
  raise(mine.seen_answers, 1);
  raise(mine.seen_bytes, bytes);
  if (now < began_at() || now >= ended_at()) return counted::no;
  counted result = counted::yes;
  if (is_limited_) {
    result = take_ticket(now);
    if (result == counted::no) return result;
  }
  mine.latency.add(static_cast<std::uint64_t>(now - since));
  mine.bytes += bytes;
  return result;
}

measure::counted measure::take_ticket(std::int64_t now) noexcept {
  const std::int64_t left = tickets_.fetch_sub(1, std::memory_order_relaxed);
  if (left > 1) return counted::yes;
  if (left < 1) return counted::no;
  end(now + 1);
  return counted::last;
}

void measure::count_unanswered(std::uint64_t ns) noexcept {
  tally& mine = tallies_.local();
  mine.latency.add(ns);
  ++mine.unanswered;
}

void measure::count_failed(std::int64_t now, std::int64_t since) noexcept {
  if (now < began_at() || now >= ended_at()) return;
  tally& mine = tallies_.local();
  mine.latency.add(static_cast<std::uint64_t>(now - since));
  ++mine.failed;
}

void measure::count_error(error_kind what) noexcept {
  tally& mine = tallies_.local();
  ++mine.errors[static_cast<std::size_t>(what)];
  raise(mine.seen_errors, 1);
}

measure::glance measure::so_far() const noexcept {
  glance sum;
  for (const tally* each : all_) {
    sum.answers += each->seen_answers.load(std::memory_order_relaxed);
    sum.bytes += each->seen_bytes.load(std::memory_order_relaxed);
    sum.errors += each->seen_errors.load(std::memory_order_relaxed);
  }
  return sum;
}

void measure::tell(load_result& to) {
  tallies_.for_each([&to](const tally& each) {
    to.latency.add(each.latency);
    to.requests += each.latency.count() - each.unanswered - each.failed;
    to.renewed += each.renewed;
    to.bytes += each.bytes;
    to.unanswered += each.unanswered;
    to.connections += each.connections;
    for (std::size_t n = 0; n < error_kinds; ++n) to.errors[n] += each.errors[n];
  });
  to.seconds = static_cast<double>(length()) / 1e9;
}

}  // namespace load
