// Runs a small concurrent program again and again until it has gone every way that the memory model allows
// (docs/design/model-checking.md). Tests use explore() here and the types in model_memory.h; the class is their engine.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arena.h"
#include "decisions.h"
#include "fiber.h"
#include "gate.h"
#include "nondeterminism.h"
#include "options.h"
#include "plain_cells.h"
#include "state_set.h"
#include "view.h"
#include "weak_memory.h"

namespace tartan::model {

class explorer;

/// The program of one execution, while it is being built.
class program {
 public:
  /// An object that lives until the end of the execution; its address is the same in all of them.
  template <class T, class... Arguments>
  T* make(Arguments&&... arguments);
  /// A thread of the program; the name is for reports.
  void thread(std::string name, std::function<void()> body);
  /// Runs when all threads have ended, and knows all that they did.
  void finally(std::function<void()> check);

 private:
  friend class explorer;
  explicit program(explorer& owner) : owner_{&owner} {}
  explorer* owner_;
};

/// Explores the program that `build` makes afresh for every execution, prints one line of figures, and returns what it found.
result explore(const options& bounds, const std::function<void(program&)>& build);

/// When a wait with a timeout may give up.
enum class timeout : std::uint8_t {
  never,
  when_quiet,  // only when no other thread can go on: time passes when nothing else happens
  any_time,
};

/// Everything of one exploration.
class explorer final : private nondeterminism {
 public:
  explorer(const options& bounds, std::function<void(program&)> build);
  ~explorer();
  explorer(const explorer&) = delete;
  explorer& operator=(const explorer&) = delete;

  result run();

  /// The exploration whose execution is running; null outside of one.
  static explorer* active() { return active_; }
  /// The same, for what cannot work outside of one.
  static explorer& here();

  // What threads of the program do. Atomics and waits:
  location_id add_atomic(std::uint64_t value, const location_traits& traits);
  void drop_atomic(location_id location) { memory_.retire(current_, location); }
  void name_atomic(location_id location, const char* name) { memory_.rename(location, name); }
  std::uint64_t load(location_id location, std::memory_order order);
  void store(location_id location, std::uint64_t value, std::memory_order order);
  std::uint64_t modify(location_id location, operation what, std::uint64_t operand, std::memory_order order);
  bool compare_exchange(location_id location, std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                        std::memory_order failure, bool weak);
  std::uint64_t wait_until(location_id location, std::memory_order order, const value_filter& filter);
  void signal(location_id token);
  bool wait(location_id token, timeout patience);
  void full_barrier();
  void light_barrier();
  void heavy_barrier();
  void pause();

  // Plain data:
  cell_id add_plain(std::uint64_t value, const void* address, const char* name, bool ghost);
  void drop_plain(cell_id cell) { cells_.retire(current_, memory_.clock(current_), cell); }
  void name_plain(cell_id cell, const char* name) { cells_.rename(cell, name); }
  void read_plain(cell_id cell, std::uint64_t value);
  void write_plain(cell_id cell, std::uint64_t value);
  /// Everything of ours within these bytes is dead from now on.
  void poison(const void* from, std::size_t bytes);

  // The test itself:
  void yield_point();
  unsigned choose_value(unsigned count);
  void check(bool holds, const char* invariant);
  void note(const std::string& text);
  void forget(std::uint64_t still_known);
  [[nodiscard]] thread_id current() const { return current_; }
  arena& objects() { return objects_; }

 private:
  friend class program;
  enum class outcome : std::uint8_t { running, ended, merged, failed };
  struct thread_record {
    explorer* owner;
    thread_id id;
    std::string name;
    std::function<void()> body;
    std::unique_ptr<fiber> stack;
    std::uint64_t history;  // a digest of every value that it was given: with its code, this is its local state
    const gate* waits_for;
    std::vector<seen_value> recently_read;  // since its last pause
    bool started;
    bool finished;
  };

  // nondeterminism
  unsigned choose(unsigned count) override;
  [[noreturn]] void fail(std::string what) override;

  void run_once();
  void explain_failure(result& found);
  void replay(result& found, const std::string& choices);
  [[noreturn]] void leave(outcome how);
  static void run_main(void* argument);
  static void run_thread(void* argument);
  thread_record& add_thread(std::string name, std::function<void()> body);

  thread_record& self() { return threads_[current_]; }
  void remember(std::uint64_t value);
  void note_read(location_id location);
  void step(const gate* waits_for = nullptr);
  void dispatch();
  bool start_next();
  void collect_ready();
  void apply_preemption_bound();
  [[nodiscard]] std::string deadlock_text() const;
  [[nodiscard]] static std::string main_blocks_text(const gate& waits_for);
  void switch_to(thread_id next);
  [[nodiscard]] std::uint64_t digest() const;

  void trace(const std::string& text);
  template <class Text>
  void trace_if(const Text& text) {
    if (tracing_) {
      trace(text());
    }
  }
  [[nodiscard]] std::string read_text(location_id location, const access_result& access) const;

  static inline explorer* active_ = nullptr;

  options bounds_;
  std::function<void(program&)> build_;
  std::function<void()> finally_;
  weak_memory memory_;
  plain_cells cells_;
  arena objects_;
  decisions path_;
  state_set states_;

  fiber driver_;
  std::array<thread_record, max_threads> threads_;
  unsigned thread_count_ = 1;
  std::vector<thread_id> ready_;
  thread_id current_ = main_thread;
  thread_id stepped_last_ = main_thread;  // nobody yet
  unsigned steps_ = 0;
  int preemptions_ = 0;
  unsigned spurious_left_ = 0;
  bool preemption_bound_hit_ = false;
  outcome outcome_ = outcome::running;
  std::string failure_;
  bool tracing_ = false;
  std::string trace_;
};

template <class T, class... Arguments>
T* program::make(Arguments&&... arguments) {
  return owner_->objects().make<T>(main_thread, std::forward<Arguments>(arguments)...);
}

}  // namespace tartan::model
