//! W3 by tokio: 64 pairs of tasks, an event of one sends to the other.
//! The number is not that of a wake-up on another worker: the woken task is the next one of the same worker, by tokio's LIFO slot.

use crate::lanes::{channels, leak, runtime, serve_all, Event, Lane, Latch};
use crate::report::{Report, Request};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

const PAIRS: usize = 64;

struct Run {
    lanes: Vec<Lane<Hop>>,
    began: Instant,
    started_ns: AtomicU64,
    last_end_ns: AtomicU64,
    ended: AtomicUsize,
    all_ended: Latch,
}

#[derive(Clone, Copy)]
struct Hop {
    run: &'static Run,
    lane: usize,
    left: usize,
    _payload: [usize; 2],
}
const _: () = assert!(std::mem::size_of::<Hop>() == 40);

impl Event for Hop {
    fn run(mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.run.pair_ended();
        } else {
            self.lane ^= 1;
            let _ = self.run.lanes[self.lane].send(self);
        }
    }
    fn is_end(&self) -> bool {
        self.left == 0
    }
}

impl Run {
    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }
    fn post(&'static self, lane: usize, left: usize) {
        let _ = self.lanes[lane].send(Hop { run: self, lane, left, _payload: [0; 2] });
    }
    fn pair_ended(&self) {
        if self.ended.fetch_add(1, Ordering::Relaxed) == PAIRS - 1 {
            self.last_end_ns.store(self.now_ns(), Ordering::Relaxed);
        }
        self.all_ended.count(1);
    }
}

pub fn measure(asked: &Request) {
    let events = asked.size(5_000_000, PAIRS);
    let (lanes, receivers) = channels(2 * PAIRS);
    let run: &'static Run = leak(Run {
        lanes,
        began: Instant::now(),
        started_ns: AtomicU64::new(0),
        last_end_ns: AtomicU64::new(0),
        ended: AtomicUsize::new(0),
        all_ended: Latch::new(PAIRS),
    });
    let ran = leak(Latch::new(events));
    let on = runtime(asked.workers);
    serve_all(&on, receivers, ran);
    let mut out = Report::new(asked);
    on.spawn(async move {
        run.started_ns.store(run.now_ns(), Ordering::Relaxed);
        for pair in 0..PAIRS {
            run.post(2 * pair, events / PAIRS);
        }
    });
    run.all_ended.wait();
    for lane in 0..2 * PAIRS {
        run.post(lane, 0);
    }
    ran.wait();
    let took_ns = run.last_end_ns.load(Ordering::Relaxed) - run.started_ns.load(Ordering::Relaxed);
    out.add("events", events as f64);
    out.add("ns_per_event", took_ns as f64 / events as f64);
    out.print();
}
