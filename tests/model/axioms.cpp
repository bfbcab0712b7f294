// Every candidate says for each read which write it reads from and for each location in which order its writes are; the axioms
// of the standard then keep it or not. Relations are bit matrices.

#include "axioms.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tartan::model {

namespace {

constexpr std::size_t max_events = 16;

// A relation: row a has bit b set if a comes before b.
struct relation {
  std::array<std::uint32_t, max_events> rows{};

  void add(std::size_t from, std::size_t to) { rows[from] |= 1U << to; }
  [[nodiscard]] bool has(std::size_t from, std::size_t to) const { return (rows[from] >> to & 1U) != 0; }
  [[nodiscard]] bool acyclic() const {
    const relation all = closure();
    for (std::size_t event = 0; event < max_events; ++event) {
      if (all.has(event, event)) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] relation closure() const {
    relation all = *this;
    for (std::size_t middle = 0; middle < max_events; ++middle) {
      for (std::size_t from = 0; from < max_events; ++from) {
        all.rows[from] |= all.has(from, middle) ? all.rows[middle] : 0;
      }
    }
    return all;
  }
  [[nodiscard]] relation operator|(const relation& other) const {
    relation both = *this;
    for (std::size_t event = 0; event < max_events; ++event) {
      both.rows[event] |= other.rows[event];
    }
    return both;
  }
  // First this, then the other.
  [[nodiscard]] relation then(const relation& other) const {
    relation path;
    for (std::size_t from = 0; from < max_events; ++from) {
      for (std::uint32_t left = rows[from]; left != 0; left &= left - 1) {
        path.rows[from] |= other.rows[static_cast<std::size_t>(std::countr_zero(left))];
      }
    }
    return path;
  }
  [[nodiscard]] relation or_stay() const {
    relation all = *this;
    for (std::size_t event = 0; event < max_events; ++event) {
      all.add(event, event);
    }
    return all;
  }
  [[nodiscard]] relation only(std::uint32_t from, std::uint32_t to) const {
    relation some;
    for (std::size_t event = 0; event < max_events; ++event) {
      some.rows[event] = (from >> event & 1U) != 0 ? rows[event] & to : 0;
    }
    return some;
  }
};

struct event {
  instruction what;
  std::size_t thread;  // 0: the initial stores
  [[nodiscard]] bool reads() const { return thread != 0 && (what.what == instruction::kind::load || is_exchange()); }
  [[nodiscard]] bool writes() const { return what.what == instruction::kind::store || is_exchange(); }
  [[nodiscard]] bool is_exchange() const { return what.what == instruction::kind::exchange; }
  [[nodiscard]] bool is_fence() const { return what.what == instruction::kind::full_barrier; }
  [[nodiscard]] bool is_acquire() const {
    return reads() && what.order != std::memory_order_relaxed && what.order != std::memory_order_release;
  }
  [[nodiscard]] bool is_release() const {
    return writes() && what.order != std::memory_order_relaxed && what.order != std::memory_order_acquire;
  }
  [[nodiscard]] bool is_total() const { return !is_fence() && what.order == std::memory_order_seq_cst; }
};

class candidates {
 public:
  candidates(const straight_program& program, unsigned locations) : locations_{locations}, writes_(locations) {
    for (unsigned location = 0; location < locations; ++location) {
      add({{instruction::kind::store, location, std::memory_order_relaxed, 0}, 0});
    }
    for (std::size_t thread = 0; thread < program.size(); ++thread) {
      for (const instruction& each : program[thread]) {
        add({each, thread + 1});
      }
    }
    for (std::size_t from = 0; from < events_.size(); ++from) {
      for (std::size_t to = 0; to < events_.size(); ++to) {
        if (events_[from].thread == 0 ? events_[to].thread != 0
                                      : events_[from].thread == events_[to].thread && from < to) {
          program_order_.add(from, to);
        }
      }
    }
  }

  std::set<outcome_values> allowed() {
    choose_source(0);
    return std::move(found_);
  }

 private:
  void add(const event& each) {
    const std::size_t number = events_.size();
    events_.push_back(each);
    source_.push_back(number);
    if (each.writes()) {
      writes_[each.what.location].push_back(number);
    }
    total_accesses_ |= each.is_total() ? 1U << number : 0;
    fences_ |= each.is_fence() ? 1U << number : 0;
  }

  void choose_source(std::size_t number) {
    if (number == events_.size()) {
      relation no_thin_air = program_order_ | reads_from();
      if (no_thin_air.acyclic()) {
        choose_order(0);
      }
      return;
    }
    if (!events_[number].reads()) {
      choose_source(number + 1);
      return;
    }
    for (const std::size_t write : writes_[events_[number].what.location]) {
      source_[number] = write;
      choose_source(number + 1);
    }
  }

  // The initial store comes first; all orders of the others are tried.
  void choose_order(unsigned location) {
    if (location == locations_) {
      if (consistent()) {
        found_.insert(outcome());
      }
      return;
    }
    auto& writes = writes_[location];
    const std::vector<std::size_t> before = writes;  // choose_source walks this list: leave it as it was
    std::sort(writes.begin() + 1, writes.end());
    do {
      choose_order(location + 1);
    } while (std::next_permutation(writes.begin() + 1, writes.end()));
    writes = before;
  }

  [[nodiscard]] outcome_values outcome() const {
    outcome_values values;
    for (std::size_t number = 0; number < events_.size(); ++number) {
      if (events_[number].reads()) {
        values.push_back(events_[source_[number]].what.value);
      }
    }
    for (const auto& writes : writes_) {
      values.push_back(events_[writes.back()].what.value);
    }
    return values;
  }

  [[nodiscard]] relation reads_from() const {
    relation from;
    for (std::size_t number = 0; number < events_.size(); ++number) {
      if (events_[number].reads()) {
        from.add(source_[number], number);
      }
    }
    return from;
  }

  [[nodiscard]] relation modification_order() const {
    relation order;
    for (const auto& writes : writes_) {
      for (std::size_t early = 0; early < writes.size(); ++early) {
        for (std::size_t late = early + 1; late < writes.size(); ++late) {
          order.add(writes[early], writes[late]);
        }
      }
    }
    return order;
  }

  // A read comes before every write that overwrites what it read.
  [[nodiscard]] relation reads_before(const relation& order) const {
    relation before;
    for (std::size_t number = 0; number < events_.size(); ++number) {
      if (events_[number].reads()) {
        before.rows[number] = order.rows[source_[number]] & ~(1U << number);
      }
    }
    return before;
  }

  // From a release, or a fence before a store, to an acquire of a store of its release sequence, or a fence after that.
  [[nodiscard]] relation synchronizes_with() const {
    relation edges;
    for (std::size_t reader = 0; reader < events_.size(); ++reader) {
      if (!events_[reader].reads()) {
        continue;
      }
      std::uint32_t acquirers = events_[reader].is_acquire() ? 1U << reader : 0;
      acquirers |= program_order_.rows[reader] & fences_;
      for (std::size_t head = source_[reader];; head = source_[head]) {
        for (std::size_t releaser = 0; releaser < events_.size(); ++releaser) {
          const bool is_fence_before = (fences_ >> releaser & 1U) != 0 && program_order_.has(releaser, head);
          if (is_fence_before || (releaser == head && events_[head].is_release())) {
            edges.rows[releaser] |= acquirers;
          }
        }
        if (!events_[head].reads()) {
          break;
        }
      }
    }
    return edges;
  }

  [[nodiscard]] bool atomic(const relation& order) const {
    for (std::size_t number = 0; number < events_.size(); ++number) {
      if (!events_[number].is_exchange()) {
        continue;
      }
      const auto& writes = writes_[events_[number].what.location];
      const auto place = std::find(writes.begin(), writes.end(), number);
      if (!order.has(source_[number], number) || *(place - 1) != source_[number]) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool consistent() const {
    const relation order = modification_order();
    if (!atomic(order)) {
      return false;
    }
    const relation before = reads_before(order);
    const relation synchronizes = synchronizes_with();
    const relation happens_before = (program_order_ | synchronizes).closure();
    const relation coherence = (reads_from() | order | before).closure();
    if (!happens_before.acyclic() || !coherence.acyclic()) {
      return false;
    }
    const relation loop = happens_before.then(coherence);
    for (std::size_t number = 0; number < events_.size(); ++number) {
      if (loop.has(number, number)) {
        return false;
      }
    }
    return totally_ordered(synchronizes, happens_before, coherence);
  }

  // One order of all sequentially consistent operations and fences fits what strongly happens before and what is coherence
  // ordered before; and it fits the order in which this program ran, where each thread takes its instructions one by one.
  [[nodiscard]] bool totally_ordered(const relation& synchronizes, const relation& happens_before,
                                     const relation& coherence) const {
    const std::uint32_t everything = 0xffffffffU;
    const relation stay_total = relation{}.or_stay().only(total_accesses_, everything);
    const relation into = stay_total | happens_before.or_stay().only(fences_, everything);
    const relation out_of = stay_total | happens_before.or_stay().only(everything, fences_);
    const relation strong = (program_order_ | synchronizes.only(total_accesses_, total_accesses_) |
                             program_order_.then(happens_before).then(program_order_))
                                .closure();
    const std::uint32_t total = total_accesses_ | fences_;
    const relation order = strong.only(total, total) | into.then(coherence).then(out_of);
    return (order | program_order_ | reads_from()).acyclic();
  }

  unsigned locations_;
  std::vector<event> events_;
  std::vector<std::size_t> source_;               // of reads: the write that they read from
  std::vector<std::vector<std::size_t>> writes_;  // of each location, in modification order
  relation program_order_;
  std::uint32_t total_accesses_ = 0;
  std::uint32_t fences_ = 0;
  std::set<outcome_values> found_;
};

}  // namespace

std::set<outcome_values> allowed_outcomes(const straight_program& program, unsigned locations) {
  return candidates{program, locations}.allowed();
}

}  // namespace tartan::model
