//! W2 by tokio: a thread that is no worker sends over 10 000 channels, round robin.
//! The number is not a latency, and holds the waking of a task for nearly each event: a channel's task has run empty when its turn comes again.

use crate::lanes::{channels, leak, post, runtime, serve_only, Event, Latch};
use crate::report::{Report, Request};
use std::time::Instant;

const LANES: usize = 10_000;

/// A lane's last event tells the latch, so that none is shared by the others.
#[derive(Clone, Copy)]
struct Empty {
    lasts: &'static Latch,
    is_last: bool,
    _payload: [usize; 3],
}

impl Event for Empty {
    fn run(self) {
        if self.is_last {
            self.lasts.count();
        }
    }
}

pub fn measure(asked: &Request) {
    let events = asked.size(1_000_000, LANES);
    let (lanes, receivers) = channels(LANES);
    let lasts = leak(Latch::new(LANES));
    let on = runtime(asked.workers);
    let served = serve_only(&on, receivers);
    let mut out = Report::new(asked);
    let started = Instant::now();
    for n in 1..=events / LANES {
        for lane in &lanes {
            post(lane, Empty { lasts, is_last: n == events / LANES, _payload: [0; 3] });
        }
    }
    let posted_ns = started.elapsed().as_nanos() as f64;
    lasts.wait();
    let ended_ns = started.elapsed().as_nanos() as f64;
    served.end_and_check(&lanes, events);
    out.add("events", events as f64);
    out.add("ns_per_event", ended_ns / events as f64);
    out.add("ns_per_post", posted_ns / events as f64);
    out.print();
}
