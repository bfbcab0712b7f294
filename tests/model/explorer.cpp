#include "explorer.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "hashing.h"

namespace tartan::model {

namespace {

constexpr std::size_t stack_bytes = std::size_t{256} * 1024;

// "name:1,0,2" in TARTAN_MODEL_REPLAY asks for one execution of the exploration of that name.
std::string replay_wanted(const std::string& name) {
  const char* variable = std::getenv("TARTAN_MODEL_REPLAY");
  const std::string_view wanted = variable != nullptr ? variable : "";
  const bool ours = !name.empty() && wanted.starts_with(name) && wanted.substr(name.size()).starts_with(':');
  return ours ? std::string{wanted.substr(name.size() + 1)} : std::string{};
}

void print_figures(const options& bounds, const result& found) {
  std::string line = "[ model    ] " + bounds.name + ": " + std::to_string(found.executions) + " executions, " +
                     std::to_string(found.states) + " states";
  if (!found.passed) {
    line += ", failed: " + found.failure;
  } else if (!found.complete) {
    line += ", STOPPED at the maximum of executions";
  } else if (found.preemption_bound_hit) {
    line += ", all with at most " + std::to_string(bounds.preemption_bound) + " preemptions; more were possible";
  } else {
    line += ", all";
  }
  std::printf("%s\n", line.c_str());
}

}  // namespace

void program::thread(std::string name, std::function<void()> body) {
  owner_->add_thread(std::move(name), std::move(body));
}

void program::finally(std::function<void()> check) {
  owner_->finally_ = std::move(check);
}

result explore(const options& bounds, const std::function<void(program&)>& build) {
  return explorer{bounds, build}.run();
}

explorer::explorer(const options& bounds, std::function<void(program&)> build)
    : bounds_{bounds}, build_{std::move(build)}, memory_{*this, bounds.reorder_stores}, cells_{*this}, threads_{} {
  for (thread_id id = 0; id < max_threads; ++id) {
    threads_[id].owner = this;
    threads_[id].id = id;
  }
  add_thread("main", nullptr);
}

explorer::~explorer() = default;

explorer& explorer::here() {
  if (active_ == nullptr) {
    std::fputs("model: model_memory works only inside explore()\n", stderr);
    std::abort();
  }
  return *active_;
}

explorer::thread_record& explorer::add_thread(std::string name, std::function<void()> body) {
  const bool is_main = body == nullptr;
  if (!is_main && thread_count_ == max_threads) {
    fail("more than " + std::to_string(max_threads - 1) + " threads");
  }
  thread_record& added = threads_[is_main ? main_thread : thread_count_++];
  added.name = std::move(name);
  added.body = std::move(body);
  if (added.stack == nullptr) {
    added.stack = std::make_unique<fiber>(stack_bytes);
  }
  return added;
}

result explorer::run() {
  result found;
  if (const std::string choices = replay_wanted(bounds_.name); !choices.empty()) {
    replay(found, choices);
    return found;
  }
  for (;;) {
    path_.rewind();
    run_once();
    ++found.executions;
    if (outcome_ == outcome::failed) {
      explain_failure(found);
      break;
    }
    if (!path_.advance()) {
      found.passed = true;
      found.complete = true;
      break;
    }
    if (found.executions == bounds_.max_executions) {
      found.passed = true;
      break;
    }
  }
  found.states = states_.size();
  found.preemption_bound_hit = preemption_bound_hit_;
  if (bounds_.print) {
    print_figures(bounds_, found);
  }
  return found;
}

// The execution that failed is run once more, now writing down its steps.
void explorer::explain_failure(result& found) {
  const std::string first_failure = failure_;
  const std::string choices = path_.text();
  replay(found, choices);
  found.failure = first_failure;
  if (found.passed || failure_ != first_failure) {
    found.report += "The second run of this execution did not end in the same way (\"" + failure_ +
                    "\"): the program depends on something that the checker does not control.\n";
  }
  found.passed = false;
}

void explorer::replay(result& found, const std::string& choices) {
  path_.parse(choices);
  path_.rewind();
  tracing_ = true;
  trace_.clear();
  run_once();
  tracing_ = false;
  found.passed = outcome_ == outcome::ended;
  found.failure = found.passed ? "" : failure_;
  found.report = (found.passed ? "passed" : failure_) + "\n" + trace_ + "replay: TARTAN_MODEL_REPLAY='" + bounds_.name +
                 ":" + choices + "'\n";
  if (!replay_wanted(bounds_.name).empty()) {
    std::printf("%s", found.report.c_str());
  }
}

void explorer::run_once() {
  memory_.reset();
  cells_.reset();
  for (thread_record& each : threads_) {
    each.history = 0;
    each.waits_for = nullptr;
    each.recently_read.clear();
    each.started = false;
    each.finished = false;
  }
  thread_count_ = 1;
  current_ = main_thread;
  stepped_last_ = main_thread;
  steps_ = 0;
  preemptions_ = 0;
  spurious_left_ = bounds_.spurious_failures;
  outcome_ = outcome::running;
  failure_.clear();

  active_ = this;
  threads_[main_thread].stack->start(&explorer::run_main, this);
  fiber::switch_to(driver_, *threads_[main_thread].stack);
  active_ = nullptr;

  finally_ = nullptr;
  objects_.clear();
  for (thread_record& each : threads_) {
    each.body = nullptr;
  }
}

void explorer::leave(outcome how) {
  outcome_ = how;
  fiber::switch_to(*self().stack, driver_);
  std::abort();  // nobody comes back to an execution that was left
}

unsigned explorer::choose(unsigned count) {
  const unsigned taken = path_.choose(count);
  if (taken == count) {
    fail("the program is not deterministic: a replayed execution met another choice");
  }
  return taken;
}

void explorer::fail(std::string what) {
  failure_ = std::move(what);
  std::string{}.swap(what);  // an assignment may swap buffers, and this frame is never unwound
  trace("FAILED: " + failure_);
  leave(outcome::failed);
}

void explorer::run_main(void* argument) {
  auto& owner = *static_cast<explorer*>(argument);
  program built{owner};
  owner.build_(built);
  for (unsigned thread = 1; thread < owner.thread_count_; ++thread) {
    owner.memory_.spawn(static_cast<thread_id>(thread));
    owner.threads_[thread].stack->start(&explorer::run_thread, &owner.threads_[thread]);
  }
  if (owner.thread_count_ > 1) {
    owner.dispatch();  // comes back when all have finished
  }
  owner.memory_.join_all(owner.thread_count_);
  if (owner.finally_ != nullptr) {
    owner.finally_();
  }
  owner.leave(outcome::ended);
}

void explorer::run_thread(void* argument) {
  auto& self = *static_cast<thread_record*>(argument);
  std::string thrown;
  try {
    self.body();
  } catch (const std::exception& error) {
    thrown = std::string{"an exception left the thread: "} + error.what();
  } catch (...) {
    thrown = "an exception of an unknown type left the thread";
  }
  if (!thrown.empty()) {
    self.owner->fail(std::move(thrown));
  }
  self.finished = true;
  self.owner->trace("ends");
  self.owner->dispatch();
  std::abort();
}

void explorer::remember(std::uint64_t value) {
  self().history = mix(self().history, value);
}

// The point just before an operation that others can see: whoever can go on may run first.
void explorer::step(const gate* waits_for) {
  if (current_ == main_thread) {
    if (waits_for != nullptr && !waits_for->open()) {
      fail(main_blocks_text(*waits_for));
    }
    return;
  }
  if (++steps_ > bounds_.max_steps) {
    fail("more than " + std::to_string(bounds_.max_steps) +
         " steps: a loop that does not end, or one that waits without pause()");
  }
  remember(0x5e);  // so that no state is mistaken for the one before it
  self().waits_for = waits_for;
  dispatch();
  self().waits_for = nullptr;
}

void explorer::dispatch() {
  if (start_next()) {
    return;
  }
  collect_ready();
  if (ready_.empty()) {
    for (unsigned thread = 1; thread < thread_count_; ++thread) {
      if (!threads_[thread].finished) {
        fail(deadlock_text());
      }
    }
    switch_to(main_thread);
    return;
  }
  apply_preemption_bound();
  if (bounds_.merge_states && !tracing_ && !path_.replaying() && !states_.insert(digest())) {
    leave(outcome::merged);
  }
  const thread_id next = ready_[ready_.size() == 1 ? 0 : choose(static_cast<unsigned>(ready_.size()))];
  if (next != stepped_last_ && ready_.front() == stepped_last_) {
    ++preemptions_;
  }
  stepped_last_ = next;
  switch_to(next);
}

// Up to its first step a thread touches nothing that others see, so all of them get there before anybody goes on.
bool explorer::start_next() {
  for (unsigned thread = 1; thread < thread_count_; ++thread) {
    if (!threads_[thread].started) {
      threads_[thread].started = true;
      switch_to(static_cast<thread_id>(thread));
      return true;
    }
  }
  return false;
}

// The thread that stepped last comes first: the first execution switches as little as possible.
void explorer::collect_ready() {
  ready_.clear();
  const auto is_ready = [this](unsigned thread) {
    const thread_record& each = threads_[thread];
    return !each.finished && (each.waits_for == nullptr || each.waits_for->open());
  };
  if (stepped_last_ != main_thread && is_ready(stepped_last_)) {
    ready_.push_back(stepped_last_);
  }
  for (unsigned thread = 1; thread < thread_count_; ++thread) {
    if (thread != stepped_last_ && is_ready(thread)) {
      ready_.push_back(static_cast<thread_id>(thread));
    }
  }
  for (unsigned thread = 1; thread < thread_count_ && ready_.empty(); ++thread) {
    if (!threads_[thread].finished && threads_[thread].waits_for->gives_up()) {
      ready_.push_back(static_cast<thread_id>(thread));
    }
  }
}

void explorer::apply_preemption_bound() {
  if (bounds_.preemption_bound >= 0 && preemptions_ >= bounds_.preemption_bound && ready_.size() > 1 &&
      ready_.front() == stepped_last_) {
    preemption_bound_hit_ = true;
    ready_.resize(1);
  }
}

std::string explorer::deadlock_text() const {
  std::string text = "deadlock (a wake-up was lost):";
  for (unsigned thread = 1; thread < thread_count_; ++thread) {
    const thread_record& each = threads_[thread];
    if (!each.finished) {
      text += " " + each.name + " waits for " + each.waits_for->text() + ";";
    }
  }
  text.back() = '.';
  return text;
}

std::string explorer::main_blocks_text(const gate& waits_for) {
  return "the set-up or the final check waits for " + waits_for.text();
}

void explorer::switch_to(thread_id next) {
  if (next == current_) {
    return;
  }
  fiber& from = *self().stack;
  current_ = next;
  fiber::switch_to(from, *threads_[next].stack);
}

std::uint64_t explorer::digest() const {
  std::uint32_t running = 0;
  for (unsigned thread = 1; thread < thread_count_; ++thread) {
    running |= threads_[thread].finished ? 0 : 1U << thread;
  }
  const horizon past = memory_.common_past(thread_count_, running);
  std::uint64_t word = mix(memory_.digest(thread_count_, past), cells_.digest(past));
  for (unsigned thread = 1; thread < thread_count_; ++thread) {
    word = mix(word, threads_[thread].history * 2 + (threads_[thread].finished ? 1 : 0));
  }
  word = mix(word, spurious_left_);
  if (bounds_.preemption_bound >= 0) {
    word = mix(word, static_cast<std::uint64_t>(preemptions_) * max_threads + stepped_last_);
  }
  return word;
}

void explorer::trace(const std::string& text) {
  if (!tracing_) {
    return;
  }
  std::string line = std::to_string(steps_);
  line.insert(0, line.size() < 4 ? 4 - line.size() : 0, ' ');
  trace_ += line + " " + self().name + ": " + text + "\n";
}

void explorer::forget(std::uint64_t still_known) {
  self().history = mix(0xf0, still_known);
  self().recently_read.clear();
}

void explorer::note(const std::string& text) {
  trace(text);
}

void explorer::check(bool holds, const char* invariant) {
  if (!holds) {
    fail(std::string{"broken: "} + invariant);
  }
}

}  // namespace tartan::model
