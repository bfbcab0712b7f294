// What a thread of a model test does to shared data: each is a step, then the memory model's answer, then a line of trace.

#include <array>
#include <cstddef>
#include <functional>

#include "explorer.h"
#include "hashing.h"

namespace tartan::model {

namespace {

const char* text_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

const char* text_of(operation what) {
  static constexpr std::array<const char*, 6> names{"exchange",  "fetch_add", "fetch_sub",
                                                    "fetch_and", "fetch_or",  "fetch_xor"};
  return names[static_cast<std::size_t>(what)];
}

// A wait for a value that a load could return.
class value_gate final : public gate {
 public:
  value_gate(const weak_memory& memory, thread_id thread, location_id location, std::memory_order order,
             const value_filter& filter)
      : memory_{&memory}, thread_{thread}, location_{location}, order_{order}, filter_{&filter} {}
  [[nodiscard]] bool open() const override { return memory_->readable(thread_, location_, order_, *filter_); }
  [[nodiscard]] std::string text() const override {
    return std::string{memory_->name(location_)} + " to change from " +
           memory_->value_text(location_, memory_->newest(location_));
  }

 private:
  const weak_memory* memory_;
  thread_id thread_;
  location_id location_;
  std::memory_order order_;
  const value_filter* filter_;
};

// A wait for a token; the kernel keeps it, so nobody sees an old value of it.
class token_gate final : public gate {
 public:
  token_gate(const weak_memory& memory, location_id location, timeout patience)
      : memory_{&memory}, location_{location}, patience_{patience} {}
  [[nodiscard]] bool open() const override { return patience_ == timeout::any_time || memory_->newest(location_) != 0; }
  [[nodiscard]] bool gives_up() const override { return patience_ == timeout::when_quiet; }
  [[nodiscard]] std::string text() const override { return std::string{"a signal of "} + memory_->name(location_); }

 private:
  const weak_memory* memory_;
  location_id location_;
  timeout patience_;
};

// One turn of a waiting loop: nothing can change for it before something that it read does.
class change_gate final : public gate {
 public:
  change_gate(const weak_memory& memory, thread_id thread, const std::vector<seen_value>& read)
      : memory_{&memory}, thread_{thread}, read_{&read} {}
  [[nodiscard]] bool open() const override {
    bool any = read_->empty();
    for (const seen_value& each : *read_) {
      any = any || memory_->changed(thread_, each.location, each.value);
    }
    return any;
  }
  [[nodiscard]] std::string text() const override {
    std::string names = "a change of";
    for (const seen_value& each : *read_) {
      names += std::string{" "} + memory_->name(each.location);
    }
    return names;
  }

 private:
  const weak_memory* memory_;
  thread_id thread_;
  const std::vector<seen_value>* read_;
};

}  // namespace

std::string explorer::read_text(location_id location, const access_result& access) const {
  return " = " + memory_.value_text(location, access.value) + " (by " + threads_[access.writer].name +
         (access.newest ? ")" : ", stale)");
}

location_id explorer::add_atomic(std::uint64_t value, const location_traits& traits) {
  return memory_.add(current_, value, traits);
}

// The value, not what the thread's view says: that may pass a store which the thread has not read, by a barrier of another.
void explorer::note_read(location_id location) {
  const std::uint64_t value = memory_.value_seen(current_, location);
  for (seen_value& each : self().recently_read) {
    if (each.location == location) {
      each.value = value;
      return;
    }
  }
  self().recently_read.push_back({location, value});
}

std::uint64_t explorer::load(location_id location, std::memory_order order) {
  step();
  const access_result access = memory_.load(current_, location, order);
  remember(access.value);
  note_read(location);
  trace_if([&] {
    return std::string{"load "} + memory_.name(location) + " " + text_of(order) + read_text(location, access);
  });
  return access.value;
}

void explorer::store(location_id location, std::uint64_t value, std::memory_order order) {
  step();
  memory_.store(current_, location, value, order);
  trace_if([&] {
    return std::string{"store "} + memory_.name(location) + " " + text_of(order) +
           " := " + memory_.value_text(location, value) +
           (memory_.sees_newest(current_, location) ? "" : " (before stores that ran earlier)");
  });
}

std::uint64_t explorer::modify(location_id location, operation what, std::uint64_t operand, std::memory_order order) {
  step();
  const access_result access = memory_.modify(current_, location, what, operand, order);
  remember(access.value);
  note_read(location);
  trace_if([&] {
    return std::string{text_of(what)} + " " + memory_.name(location) + " " + text_of(order) + " " +
           memory_.value_text(location, operand) + read_text(location, access);
  });
  return access.value;
}

bool explorer::compare_exchange(location_id location, std::uint64_t& expected, std::uint64_t desired,
                                std::memory_order success, std::memory_order failure, bool weak) {
  step();
  const std::uint64_t wanted = expected;
  access_result access;
  if (weak && spurious_left_ > 0 && choose(2) == 1) {
    --spurious_left_;
    const std::memory_order order = failure;
    access = memory_.load(current_, location, order);
  } else {
    access = memory_.compare_exchange(current_, location, wanted, desired, success, failure);
  }
  remember(mix(access.value, access.written ? 1 : 0));
  note_read(location);
  expected = access.value;
  trace_if([&] {
    return std::string{"compare_exchange "} + memory_.name(location) + " " +
           text_of(access.written ? success : failure) + " " + memory_.value_text(location, wanted) + " -> " +
           memory_.value_text(location, desired) + (access.written ? ": done" : ": failed") +
           read_text(location, access);
  });
  return access.written;
}

std::uint64_t explorer::wait_until(location_id location, std::memory_order order, const value_filter& filter) {
  const value_gate waits_for{memory_, current_, location, order, filter};
  step(&waits_for);
  const access_result access = memory_.load(current_, location, order, &filter);
  remember(access.value);
  trace_if([&] {
    return std::string{"waited for "} + memory_.name(location) + " " + text_of(order) + read_text(location, access);
  });
  return access.value;
}

void explorer::signal(location_id token) {
  step();
  memory_.modify(current_, token, operation::exchange, 1, std::memory_order_acq_rel, true);
  trace_if([&] { return std::string{"signal "} + memory_.name(token); });
}

bool explorer::wait(location_id token, timeout patience) {
  const token_gate waits_for{memory_, token, patience};
  step(&waits_for);
  const access_result access = memory_.modify(current_, token, operation::exchange, 0, std::memory_order_acq_rel, true);
  remember(access.value);
  trace_if([&] {
    return std::string{access.value != 0 ? "was woken by " : "timed out waiting for "} + memory_.name(token);
  });
  return access.value != 0;
}

void explorer::full_barrier() {
  step();
  memory_.fence(current_, std::memory_order_seq_cst);
  trace_if([] { return std::string{"full barrier"}; });
}

void explorer::light_barrier() {
  if (bounds_.symmetric_barriers) {
    full_barrier();
  }
}

// The kernel makes every other thread run a fence at some moment between the call and its return, each at its own: so each
// is a step, in any order, between two fences of the caller. A thread that has ended was switched out, which is a fence too.
void explorer::heavy_barrier() {
  if (bounds_.symmetric_barriers) {
    full_barrier();
    return;
  }
  step();
  std::array<thread_id, max_threads> others{};
  unsigned left = 0;
  memory_.fence(current_, std::memory_order_seq_cst);
  for (thread_id thread = 1; thread < thread_count_; ++thread) {
    if (thread != current_ && threads_[thread].finished) {
      memory_.fence(thread, std::memory_order_seq_cst);
    } else if (thread != current_ && current_ != main_thread) {
      others[left++] = thread;
    }
  }
  while (left > 0) {
    const unsigned index = left == 1 ? 0 : choose(left);
    remember(index);
    memory_.fence(others[index], std::memory_order_seq_cst);
    trace_if([&] { return "heavy barrier: fence in " + threads_[others[index]].name; });
    others[index] = others[--left];
    if (left > 0) {
      step();
    }
  }
  memory_.fence(current_, std::memory_order_seq_cst);
  trace_if([] { return std::string{"heavy barrier: done"}; });
}

void explorer::pause() {
  const change_gate waits_for{memory_, current_, self().recently_read};
  step(&waits_for);
  for (const seen_value& each : self().recently_read) {
    memory_.see_change(current_, each.location, each.value);
  }
  self().recently_read.clear();
  trace_if([] { return std::string{"pause"}; });
}

void explorer::yield_point() {
  step();
}

unsigned explorer::choose_value(unsigned count) {
  const unsigned value = count > 1 && current_ != main_thread ? choose(count) : 0;
  remember(value);
  trace_if([&] { return "chose " + std::to_string(value); });
  return value;
}

cell_id explorer::add_plain(std::uint64_t value, const void* address, const char* name, bool ghost) {
  return cells_.add(current_, memory_.clock(current_), value, address, name, ghost);
}

void explorer::read_plain(cell_id cell, std::uint64_t value) {
  cells_.read(current_, memory_.clock(current_), cell);
  remember(value);
  trace_if([&] { return std::string{"read "} + cells_.name(cell); });
}

void explorer::write_plain(cell_id cell, std::uint64_t value) {
  cells_.write(current_, memory_.clock(current_), cell, value);
  trace_if([&] { return std::string{"write "} + cells_.name(cell); });
}

void explorer::poison(const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  const auto inside = [begin, bytes](const void* address) {
    const std::less<const std::byte*> before;
    const auto* at = static_cast<const std::byte*>(address);
    return !before(at, begin) && before(at, begin + bytes);
  };
  for (location_id location = 0; location < memory_.count(); ++location) {
    if (memory_.alive(location) && inside(memory_.address(location))) {
      memory_.retire(current_, location);
    }
  }
  for (cell_id cell = 0; cell < cells_.count(); ++cell) {
    if (cells_.alive(cell) && inside(cells_.address(cell))) {
      cells_.retire(current_, memory_.clock(current_), cell);
    }
  }
}

}  // namespace tartan::model
