//! W10 by tokio: 16 tasks, each computes a little and sends to its own channel.
//! The number is not about a worker that starts empty: all are woken by one task, and taken from its worker. A task goes on with its next event up
//! to tokio's budget of 128.

use crate::chains::Chains;
use crate::churn::{churn_alone, churn_result};
use crate::lanes::{channels, leak, post, runtime, serve_only, Event, Lane};
use crate::report::{Report, Request};
use std::sync::atomic::{AtomicU64, Ordering};

const COLORS: usize = 16;
const STEPS: usize = 64;

struct Run {
    lanes: Vec<Lane<Small>>,
    chains: Chains,
    results: AtomicU64,
}

#[derive(Clone, Copy)]
struct Small {
    run: &'static Run,
    lane: usize,
    left: usize,
    x: u64,
    _payload: usize,
}

impl Event for Small {
    fn run(mut self) {
        self.x = churn_alone(self.x, STEPS);
        self.left -= 1;
        if self.left == 0 {
            self.run.results.fetch_add(self.x, Ordering::Relaxed);
            self.run.chains.one_ended();
        } else {
            post(&self.run.lanes[self.lane], self);
        }
    }
}

pub fn measure(asked: &Request) {
    let tasks = asked.size(2_000_000, COLORS);
    let left = tasks / COLORS;
    let (lanes, receivers) = channels(COLORS);
    let run: &'static Run = leak(Run { lanes, chains: Chains::new(COLORS), results: AtomicU64::new(0) });
    let on = runtime(asked.workers);
    let served = serve_only(&on, receivers);
    let mut out = Report::new(asked);
    on.spawn(async move {
        run.chains.start();
        for lane in 0..COLORS {
            post(&run.lanes[lane], Small { run, lane, left, x: lane as u64, _payload: 0 });
        }
    });
    run.chains.wait();
    served.end_and_check(&run.lanes, tasks);
    let expected = (0..COLORS).fold(0u64, |sum, i| sum.wrapping_add(churn_result(i as u64, left * STEPS)));
    assert_eq!(run.results.load(Ordering::Relaxed), expected, "not every task ran once");
    let took_ns = run.chains.took_ns();
    out.add("tasks", tasks as f64);
    out.add("tasks_per_s", tasks as f64 / took_ns * 1e9);
    out.add("ns_per_task", took_ns / tasks as f64);
    run.chains.tell(&mut out);
    out.print();
}
