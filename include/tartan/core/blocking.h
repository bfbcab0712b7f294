#pragma once
/// Work that blocks, off the workers; the callback form. Coroutines use blocking(f) of await_blocking.h.

#include <exception>
#include <new>
#include <optional>
#include <source_location>
#include <system_error>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <tartan/core/result.h>
#include <tartan/core/runtime.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

/// One call for the pool of blocking threads; its owner keeps it alive until run or drop was entered, not longer.
struct blocking_job {
  blocking_job* next = nullptr;
  void (*run)(blocking_job&) noexcept = nullptr;   ///< on a blocking thread: calls, then posts its own completion
  void (*drop)(blocking_job&) noexcept = nullptr;  ///< instead of run, if the runtime ends first; null: nothing to do
  std::source_location site;                       ///< for reports, as is `where`
  color where{};                                   ///< where its result goes
};

/// Hands a job to the pool. No error: run or drop will be called. An error: neither will, and the job was not kept.
///
/// Errors: errc::busy if the queue is full, errc::canceled after stop; what the system says if not even one thread can be started.
[[nodiscard]] std::error_code start_blocking(runtime_state& rt, blocking_job& job) noexcept;

/// What a call off the workers gives: results stay as they are, other types become one.
template <class R>
struct blocking_result {
  using type = result<std::decay_t<R>>;
};
template <class T>
struct blocking_result<result<T>> {
  using type = result<T>;
};
template <class F>
using blocking_result_t = typename blocking_result<std::invoke_result_t<F>>::type;

/// Takes result<R>, where R is what f gives.
template <class Done, class F>
concept takes_result_of =
    std::is_invocable_v<std::decay_t<F>> && std::is_invocable_v<std::decay_t<Done>, blocking_result_t<std::decay_t<F>>>;

/// A job, its callables, its result and the event that brings the result back, in one allocation.
template <class F, class Done>
struct callback_job final : blocking_job {
  using outcome = blocking_result_t<F>;

  template <class G, class H>
  callback_job(runtime_state& in, color c, G&& g, H&& h, std::source_location at)
      : rt{&in}, call{std::in_place, std::forward<G>(g)}, done{std::forward<H>(h)} {
    run = &run_off_workers;
    drop = &drop_job;
    site = at;
    where = c;
    completion.ops = &ops;
    completion.site = at;
    ::new (static_cast<void*>(completion.storage)) callback_job*(this);
  }

  /// Takes the outcome to the color. False, and the job is destroyed: the runtime has been drained.
  bool complete() noexcept { return submit_completion(*rt, where, completion); }

  static void run_off_workers(blocking_job& job) noexcept {
    auto& self = static_cast<callback_job&>(job);
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
        std::move (*self.call)();
        self.gives.emplace();
      } else {
        self.gives.emplace(std::move(*self.call)());
      }
    } catch (...) {
      self.thrown = std::current_exception();
    }
    self.call.reset();
    static_cast<void>(self.complete());
  }
  static void drop_job(blocking_job& job) noexcept { delete static_cast<callback_job*>(&job); }

  static callback_job& of(event& e) noexcept { return **std::launder(reinterpret_cast<callback_job**>(e.storage)); }
  static void drop_event(event& e) noexcept { delete &of(e); }
  static void run_event(event& e) {
    struct at_end {
      callback_job* job;
      ~at_end() { delete job; }
    } owner{&of(e)};
    if (owner.job->thrown) std::rethrow_exception(std::move(owner.job->thrown));
    std::move(owner.job->done)(std::move(*owner.job->gives));
  }
  static constexpr event_ops ops{&run_event, &drop_event, origin::post, false, false};

  event completion;
  runtime_state* rt;
  std::optional<F> call;
  Done done;
  std::optional<outcome> gives;
  std::exception_ptr thrown;
};

template <class F, class Done>
bool blocking_call(runtime_state& rt, color c, F&& f, Done&& done, std::source_location site) {
  using job_type = callback_job<std::decay_t<F>, std::decay_t<Done>>;
  refuse_task<std::decay_t<F>>();
  refuse_task<std::decay_t<Done>, typename job_type::outcome>();
  auto* job = new job_type(rt, c, std::forward<F>(f), std::forward<Done>(done), site);
  const std::error_code refused = start_blocking(rt, *job);
  if (!refused) return true;
  job->call.reset();
  job->gives.emplace(refused);
  return job->complete();
}

}  // namespace detail

/// Calls f off the workers, where it may block, then done(result<R>) in a color; R is what f gives, a result<T> stays as it is.
///
/// Gives false if done will never be called, because the runtime has been drained; f and done are destroyed then.
/// Color: done runs, and is destroyed, in `c`; f runs, and is destroyed, on a blocking thread, in no color.
/// Threads: inside an event; outside, give the runtime.
/// Errors: done gets errc::busy if options.blocking_queue jobs wait already, errc::canceled after stop, or what the system says
/// if it lets no thread start; f is not called then. An exception in f leaves the event that done would have run in: it reaches
/// options.on_exception with c and the place of this call, and done is not called. std::bad_alloc.
/// Limits: options.blocking_threads at a time; once started, f cannot be cut short.
/// Order: jobs start in the order of these calls; done is never called from inside this call.
/// Cost: one allocation; two hops between threads.
template <class F, detail::takes_result_of<F> Done>
bool blocking(color c, F&& f, Done&& done, std::source_location site = std::source_location::current()) {
  detail::runtime_state& rt = detail::required_runtime("tartan::blocking", site);
  return detail::blocking_call(rt, c, std::forward<F>(f), std::forward<Done>(done), site);
}
template <class F, detail::takes_result_of<F> Done>
bool blocking(runtime& rt, color c, F&& f, Done&& done, std::source_location site = std::source_location::current()) {
  return detail::blocking_call(rt.state(), c, std::forward<F>(f), std::forward<Done>(done), site);
}
template <class F, class Done>
  requires(!detail::takes_result_of<Done, F> && !detail::place_of_call<Done>)
detail::needs_a_callable_without_arguments_and_one_that_takes_its_result blocking(color c, F&& f, Done&& done) = delete;
template <class F, class Done>
  requires(!detail::takes_result_of<Done, F> && !detail::place_of_call<Done>)
detail::needs_a_callable_without_arguments_and_one_that_takes_its_result blocking(runtime& rt, color c, F&& f,
                                                                                  Done&& done) = delete;

}  // namespace tartan
