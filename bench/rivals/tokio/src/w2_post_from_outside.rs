//! W2 by tokio: a thread that is no worker sends over 10 000 channels, round robin.
//! The number is not a latency, and holds the waking of a task for nearly each event: a channel's task has run empty when its turn comes again.

use crate::lanes::{channels, leak, runtime, serve_all, Event, Latch};
use crate::report::{Report, Request};
use std::time::Instant;

const LANES: usize = 10_000;

/// A lane's last event tells the latch, so that none is shared by the others.
#[derive(Clone, Copy)]
struct Empty {
    last_of: Option<&'static Latch>,
    _payload: [usize; 4],
}
const _: () = assert!(std::mem::size_of::<Empty>() == 40);

impl Event for Empty {
    fn run(self) {
        if let Some(latch) = self.last_of {
            latch.count(1);
        }
    }
}

pub fn measure(asked: &Request) {
    let events = asked.size(1_000_000, LANES);
    let (lanes, receivers) = channels(LANES);
    let ran = leak(Latch::new(events));
    let lasts = leak(Latch::new(LANES));
    let on = runtime(asked.workers);
    serve_all(&on, receivers, ran);
    let mut out = Report::new(asked);
    let started = Instant::now();
    for n in 0..events / LANES {
        let last_of = if n + 1 == events / LANES { Some(lasts) } else { None };
        for lane in &lanes {
            let _ = lane.send(Empty { last_of, _payload: [0; 4] });
        }
    }
    let posted_ns = started.elapsed().as_nanos() as f64;
    lasts.wait();
    let ended_ns = started.elapsed().as_nanos() as f64;
    drop(lanes);
    ran.wait();
    out.add("events", events as f64);
    out.add("ns_per_event", ended_ns / events as f64);
    out.add("ns_per_post", posted_ns / events as f64);
    out.print();
}
