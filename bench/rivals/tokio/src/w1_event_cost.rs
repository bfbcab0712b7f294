//! W1 by tokio: 64 tasks, each sends to its own channel.
//! The number is not that of type-erased events: the channel knows its type. Nor is it that of a task that is woken for each event: a task
//! that finds its next event in the channel goes on, up to tokio's budget of 128, before another task has its turn.

use crate::lanes::{channels, leak, runtime, serve_all, Event, Lane, Latch};
use crate::report::{Report, Request};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

const CHAINS: usize = 64;

struct Run {
    lanes: Vec<Lane<Chain>>,
    began: Instant,
    started_ns: AtomicU64,
    first_end_ns: AtomicU64,
    last_end_ns: AtomicU64,
    ended: AtomicUsize,
    all_ended: Latch,
}

#[derive(Clone, Copy)]
struct Chain {
    run: &'static Run,
    lane: usize,
    left: usize,
    _payload: [usize; 2],
}
const _: () = assert!(std::mem::size_of::<Chain>() == 40);

impl Event for Chain {
    fn run(mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.run.chain_ended();
        } else {
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
    fn post_to_all(&'static self, left: usize) {
        for lane in 0..CHAINS {
            let _ = self.lanes[lane].send(Chain { run: self, lane, left, _payload: [0; 2] });
        }
    }
    fn chain_ended(&self) {
        let before = self.ended.fetch_add(1, Ordering::Relaxed);
        if before == 0 {
            self.first_end_ns.store(self.now_ns(), Ordering::Relaxed);
        }
        if before == CHAINS - 1 {
            self.last_end_ns.store(self.now_ns(), Ordering::Relaxed);
        }
        self.all_ended.count(1);
    }
}

pub fn measure(asked: &Request) {
    let events = asked.size(5_000_000, CHAINS);
    let (lanes, receivers) = channels(CHAINS);
    let run: &'static Run = leak(Run {
        lanes,
        began: Instant::now(),
        started_ns: AtomicU64::new(0),
        first_end_ns: AtomicU64::new(0),
        last_end_ns: AtomicU64::new(0),
        ended: AtomicUsize::new(0),
        all_ended: Latch::new(CHAINS),
    });
    let ran = leak(Latch::new(events));
    let on = runtime(asked.workers);
    serve_all(&on, receivers, ran);
    let mut out = Report::new(asked);
    on.spawn(async move {
        run.started_ns.store(run.now_ns(), Ordering::Relaxed);
        run.post_to_all(events / CHAINS);
    });
    run.all_ended.wait();
    run.post_to_all(0);
    ran.wait();
    let since_start = |end: &AtomicU64| (end.load(Ordering::Relaxed) - run.started_ns.load(Ordering::Relaxed)) as f64;
    let took_ns = since_start(&run.last_end_ns);
    out.add("events", events as f64);
    out.add("ns_per_event", took_ns / events as f64);
    out.add("first_chain_ends_at", since_start(&run.first_end_ns) / took_ns);
    out.print();
}
