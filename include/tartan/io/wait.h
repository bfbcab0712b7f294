#pragma once
/// An operation on a descriptor, as a coroutine's and as a callback's. Library code; programs use tcp.h, udp.h and the like.

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <source_location>
#include <system_error>
#include <tartan/core/chain.h>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <tartan/core/frame.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan::detail {

class io_slot;

/// What runs in the descriptor's event from now on was begun there: so reports of this event say. Color: the descriptor's.
void stands_at(std::source_location site) noexcept;

/// Directions of a descriptor; each has its own line of waiting operations.
enum class flow : std::uint8_t { in, out };

/// An open descriptor, from outside: it may have been closed since, and the slot may be another's, in another color.
struct slot_key {
  io_slot* slot = nullptr;
  std::uint32_t generation = 0;
  color where{};
};

/// One operation: it tries a system call, and waits in its descriptor's line until that no longer would block.
///
/// Color: the descriptor's.
/// Lifetime: from begin until it is done, it stays where it is; it may be moved before.
class io_wait : public operation {
 public:
  /// Asked by its chain: leaves the line.
  bool cancel() noexcept final;

  [[nodiscard]] const char* name() const noexcept override { return way_ == flow::in ? "input of a descriptor" : "room for output of a descriptor"; }

 protected:
  /// `looks_first`: needs_no_call() is to be asked.
  io_wait(const slot_key& on, flow way, bool looks_first = false) noexcept
      : slot_{on.slot}, generation_{on.generation}, way_{way}, looks_first_{looks_first} {}
  io_wait(io_wait&& before_it_begins) noexcept
      : operation{before_it_begins}, slot_{before_it_begins.slot_}, generation_{before_it_begins.generation_},
        way_{before_it_begins.way_}, looks_first_{before_it_begins.looks_first_} {}
  io_wait& operator=(io_wait&&) = delete;
  ~io_wait() = default;

  /// For a coroutine, which suspends if this gives true: tries it, and puts it in line if it would block.
  ///
  /// Errors: ends the program if the running event has not the descriptor's color.
  [[nodiscard]] bool suspend(std::coroutine_handle<> self, chain& waiter) noexcept;

  /// The same for a callback. True: it is done, with a result or an error; nothing will be called.
  [[nodiscard]] bool begin(color caller, std::source_location site) noexcept;

  /// It goes on in an event of its own.
  void sent() noexcept;
  /// The same for one that calls back, and posts its event.
  static void send(runtime_state& rt, color where, event& own, io_wait& self) noexcept;
  /// It goes on now.
  void arrives() noexcept {
    if (sent_) [[unlikely]] uncount();
  }

  /// What one try has come to.
  enum class step : std::uint8_t {
    done,
    would_block,  ///< goes on at the next edge
    elsewhere,    ///< goes on when the slot is told to try again, by whoever does something for it; its direction itself is free
    goes_on,      ///< goes on behind the events that wait meanwhile: one event moves a bounded number of bytes
  };

  [[nodiscard]] step fail(std::error_code error) noexcept {
    ends_with(error);
    return step::done;
  }
  /// For the errno of a system call that has failed.
  [[nodiscard]] step fail(int error) noexcept { return fail(std::error_code{error, std::system_category()}); }
  [[nodiscard]] bool failed() const noexcept { return error_ != 0; }
  [[nodiscard]] std::error_code error() const noexcept { return failed() ? std::error_code{error_, *category_} : std::error_code{}; }

 private:
  friend class io_slot;

  [[nodiscard]] virtual step attempt(io_slot& on) noexcept = 0;

  /// Whether an attempt would be done without a system call: then it is made even if there is nothing to read or no room. Asked only of
  /// those that were made to look first.
  [[nodiscard]] virtual bool needs_no_call() noexcept { return false; }

  /// It is done, after it has waited. `last`: nothing of the descriptor's is done after this call in this event, so that what goes on
  /// may do so in it; only then it throws.
  void complete(bool last);
  /// The same for one that calls back.
  virtual void call_back(bool /*last*/) {}

  /// The place that an operation with a callback was begun at; null: a coroutine's.
  [[nodiscard]] virtual const std::source_location* callback_site() const noexcept { return nullptr; }
  /// No worker runs: an operation with a callback destroys itself, and will not be completed.
  virtual void drop() noexcept {}

  void ends_with(std::error_code error) noexcept {
    error_ = error.value();
    category_ = &error.category();
  }
  [[nodiscard]] bool is_current() const noexcept;
  [[nodiscard]] bool is_first() const noexcept;
  [[nodiscard]] step try_now(bool canceled, color caller, std::source_location site) noexcept;
  [[nodiscard]] bool begin_to_wait(step now) noexcept;
  [[nodiscard]] bool suspend_in_line(std::coroutine_handle<> self, step now) noexcept;
  [[nodiscard]] bool suspend_on_its_way(std::coroutine_handle<> self) noexcept;
  void uncount() noexcept;

  // One cache line; its last four bytes are left to what derives from this.
  io_slot* slot_;
  std::uint32_t generation_;
  flow way_;
  bool looks_first_;
  bool in_line_ = false;
  bool sent_ = false;
  chain* waiter_ = nullptr;  ///< the coroutine's; null: it calls back
  io_wait* next_;            ///< while it is in line, as previous_
  io_wait* previous_;
  const std::error_category* category_;  ///< of an error
  int error_ = 0;
};

/// An operation that can be awaited.
///
/// Op: derives from io_wait; has value_type and `result<value_type> take()`, and can be moved before it begins. Made of what Op is made of.
template <class Op>
class [[nodiscard]] io_awaitable final : public Op {
 public:
  using value_type = result<typename Op::value_type>;

  template <class... Args>
  explicit io_awaitable(std::in_place_t /*tag*/, Args&&... args) noexcept : Op{std::forward<Args>(args)...} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return this->suspend(self, self.promise().in());
  }
  value_type await_resume() {
    this->arrives();
    return this->take();
  }
};

/// Gets the result of an operation.
template <class F, class Op>
concept completion_of = std::is_invocable_v<std::decay_t<F>&, result<typename Op::value_type>>;

/// What the event of an operation that calls back needs besides: the same, with hints in front; null if it has its own.
struct io_callback_ops : event_ops {
  const event_ops* told;
};

/// An operation that calls back.
///
/// Lifetime: its own, until it has called back or was dropped.
template <class Op, class F>
class io_callback final : public Op, public pooled {
 public:
  template <class G, class... Args>
  io_callback(runtime_state& rt, color where, G&& f, std::source_location site, Args&&... args)
      : Op{std::forward<Args>(args)...}, f_{std::forward<G>(f)}, rt_{&rt}, where_{where} {
    event_.ops = &ops;
    event_.site = site;
    put_hints(event_, f_);
    put_self(event_, this);
  }

  void start() noexcept {
    if (this->begin(where_, event_.site)) call_back(false);
  }

 private:
  void call_back(bool last) override {
    if (last) {
      stands_at(event_.site);
      run(event_);
    } else {
      io_wait::send(*rt_, where_, event_, *this);
    }
  }
  [[nodiscard]] const std::source_location* callback_site() const noexcept override { return &event_.site; }
  void drop() noexcept override { delete this; }

  static io_callback& of(event& e) noexcept { return self_in<io_callback>(e); }
  static void run(event& e) {
    const std::unique_ptr<io_callback> self{&of(e)};
    self->arrives();
    self->f_(self->take());
  }
  static void drop_event(event& e) noexcept { delete &of(e); }
  static constexpr event_ops told{.run = &run, .drop = &drop_event, .from = origin::io, .pooled = false, .hinted = true};
  static constexpr io_callback_ops ops{{&run, &drop_event, origin::io, false, is_hinted<F>}, is_hinted<F> ? nullptr : &told};

  event event_;
  F f_;
  runtime_state* rt_;
  color where_;
};

/// Starts an operation that calls back.
///
/// Color: the running event's, which must be the descriptor's; f is called, and destroyed, there.
/// Errors: std::bad_alloc, and what the callback's constructor throws: then nothing has begun.
template <class Op, completion_of<Op> F, class... Args>
void start_io(F&& f, std::source_location site, Args&&... args) {
  refuse_task<std::decay_t<F>&, result<typename Op::value_type>>();
  runtime_state& rt = required_runtime("an operation on a descriptor", site);
  using callback = io_callback<Op, std::decay_t<F>>;
  (new callback(rt, here_now()->running, std::forward<F>(f), site, std::forward<Args>(args)...))->start();
}

}  // namespace tartan::detail
