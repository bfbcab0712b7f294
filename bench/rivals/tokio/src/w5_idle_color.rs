//! W5 by tokio: a task that waits for its channel; the handle lies in a vector and counts.
//! The number is not the least that tokio could do: a channel keeps a block of 32 messages, most of the weight, and the JoinHandle is dropped.

use crate::lanes::{channels, leak, post, runtime, serve_all, Event, Lane, Latch, Served};
use crate::report::{resident_bytes, Report, Request};

const AT_ONCE: usize = 1000;

#[derive(Clone, Copy)]
struct Touch {
    touched: &'static Latch,
    _payload: [usize; 4],
}

impl Event for Touch {
    fn run(self) {
        self.touched.count();
    }
}

/// Sends one event to each, a thousand at a time.
fn touch(lanes: &[Lane<Touch>]) {
    for some in lanes.chunks(AT_ONCE) {
        let touched = leak(Latch::new(some.len()));
        for lane in some {
            post(lane, Touch { touched, _payload: [0; 4] });
        }
        touched.wait();
    }
}

pub fn measure(asked: &Request) {
    let colors = asked.size(1_000_000, AT_ONCE);
    let served = leak(Served::new(AT_ONCE + colors));
    let on = runtime(asked.workers);
    let mut out = Report::new(asked);
    // What the first thousand need is not counted, nor is what everything else needs.
    let (first, receivers) = channels(AT_ONCE);
    serve_all(&on, receivers, served);
    touch(&first);
    let before = resident_bytes();
    let mut lanes = Vec::with_capacity(colors);
    for _ in 0..colors / AT_ONCE {
        let (some, receivers) = channels(AT_ONCE);
        serve_all(&on, receivers, served);
        lanes.extend(some);
    }
    touch(&lanes);
    let after = resident_bytes();
    drop((first, lanes));
    served.check(AT_ONCE + colors);
    out.add("colors", colors as f64);
    out.add("bytes_per_color", (after - before).max(0.0) / colors as f64);
    out.print();
}
