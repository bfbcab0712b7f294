//! W3 by tokio: 64 pairs of tasks, an event of one sends to the other.
//! The number is not that of a wake-up on another worker: the woken task is the next one of the same worker, by tokio's LIFO slot.

use crate::chains::Chains;
use crate::lanes::{channels, leak, post, runtime, serve_only, Event, Lane};
use crate::report::{Report, Request};

const PAIRS: usize = 64;

struct Run {
    lanes: Vec<Lane<Hop>>,
    pairs: Chains,
}

#[derive(Clone, Copy)]
struct Hop {
    run: &'static Run,
    lane: usize,
    left: usize,
    _payload: [usize; 2],
}

impl Event for Hop {
    fn run(mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.run.pairs.one_ended();
        } else {
            self.lane ^= 1;
            post(&self.run.lanes[self.lane], self);
        }
    }
}

pub fn measure(asked: &Request) {
    let events = asked.size(5_000_000, PAIRS);
    let (lanes, receivers) = channels(2 * PAIRS);
    let run: &'static Run = leak(Run { lanes, pairs: Chains::new(PAIRS) });
    let on = runtime(asked.workers);
    let served = serve_only(&on, receivers);
    let mut out = Report::new(asked);
    on.spawn(async move {
        run.pairs.start();
        for lane in (0..2 * PAIRS).step_by(2) {
            post(&run.lanes[lane], Hop { run, lane, left: events / PAIRS, _payload: [0; 2] });
        }
    });
    run.pairs.wait();
    served.end_and_check(&run.lanes, events);
    out.add("events", events as f64);
    out.add("ns_per_event", run.pairs.took_ns() / events as f64);
    run.pairs.tell(&mut out);
    out.print();
}
