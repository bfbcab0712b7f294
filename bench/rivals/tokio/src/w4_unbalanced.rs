//! W4 by tokio: rounds of 50 000 events of different tasks, all sent by one handler.
//! The number is not that of work that is spread well from the start, and most of what is sent goes through the queue that all workers share,
//! for a worker's own holds 256 tasks.

use crate::lanes::{channels, leak, runtime, serve_all, Event, Lane, Latch};
use crate::report::{Report, Request};
use std::arch::x86_64::_rdtsc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

const ROUND: usize = 50_000;
const GROUP: usize = 1000;
const GROUPS: usize = ROUND / GROUP;
const END: usize = usize::MAX;

fn spin_cycles(cycles: u64) {
    // Has no precondition.
    let now = || unsafe { _rdtsc() };
    let start = now();
    while now().wrapping_sub(start) < cycles {}
}

/// The same spins for every contender, see bench/w4_unbalanced/workload.h.
fn spin_lengths() -> Vec<u32> {
    let mut x: u64 = 0x9e3779b97f4a7c15;
    let mut next = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x >> 11
    };
    (0..ROUND).map(|_| if next() % 50 == 0 { (10_000 + next() % 40_001) as u32 } else { 100 }).collect()
}

/// Events per ns of the same spins in a plain loop on one thread: the fastest of the rounds that fit into this time.
fn ideal_rate(cycles: &[u32], for_ns: u64) -> f64 {
    let start = Instant::now();
    let mut fastest_ns = u128::MAX;
    while start.elapsed().as_nanos() < u128::from(for_ns) {
        let round = Instant::now();
        cycles.iter().for_each(|c| spin_cycles(u64::from(*c)));
        fastest_ns = fastest_ns.min(round.elapsed().as_nanos());
    }
    cycles.len() as f64 / fastest_ns as f64
}

#[repr(align(64))]
struct Countdown(AtomicUsize);

impl Countdown {
    fn new(left: usize) -> Countdown {
        Countdown(AtomicUsize::new(left))
    }
    fn is_last(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == 1 // pairs with itself
    }
}

struct Run {
    lanes: Vec<Lane<Spin>>,
    cycles: Vec<u32>,
    for_ns: u64,
    began: Instant,
    started_ns: AtomicU64,
    ended_ns: AtomicU64,
    rounds: AtomicUsize,
    in_group: Vec<Countdown>,
    groups_left: Countdown,
    all_ended: Latch,
}

#[derive(Clone, Copy)]
struct Spin {
    run: &'static Run,
    index: usize,
    _payload: [usize; 3],
}
const _: () = assert!(std::mem::size_of::<Spin>() == 40);

impl Event for Spin {
    fn run(self) {
        spin_cycles(u64::from(self.run.cycles[self.index]));
        self.run.event_ended(self.index);
    }
    fn is_end(&self) -> bool {
        self.index == END
    }
}

impl Run {
    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }
    fn start_round(&'static self) {
        if self.rounds.fetch_add(1, Ordering::Relaxed) == 0 {
            self.started_ns.store(self.now_ns(), Ordering::Relaxed);
        }
        self.in_group.iter().for_each(|c| c.0.store(GROUP, Ordering::Relaxed));
        self.groups_left.0.store(GROUPS, Ordering::Relaxed);
        for (index, lane) in self.lanes.iter().enumerate() {
            let _ = lane.send(Spin { run: self, index, _payload: [0; 3] });
        }
    }
    fn event_ended(&'static self, index: usize) {
        if !self.in_group[index / GROUP].is_last() || !self.groups_left.is_last() {
            return;
        }
        let now = self.now_ns();
        self.ended_ns.store(now, Ordering::Relaxed);
        if now - self.started_ns.load(Ordering::Relaxed) >= self.for_ns {
            self.all_ended.count(1);
        } else {
            self.start_round();
        }
    }
}

fn prepare(lanes: Vec<Lane<Spin>>, for_ns: u64) -> &'static Run {
    leak(Run {
        lanes,
        cycles: spin_lengths(),
        for_ns,
        began: Instant::now(),
        started_ns: AtomicU64::new(0),
        ended_ns: AtomicU64::new(0),
        rounds: AtomicUsize::new(0),
        in_group: (0..GROUPS).map(|_| Countdown::new(GROUP)).collect(),
        groups_left: Countdown::new(GROUPS),
        all_ended: Latch::new(1),
    })
}

pub fn measure(asked: &Request) {
    let for_ns = asked.size(1_000_000_000, 1) as u64;
    let (lanes, receivers) = channels(ROUND);
    let run = prepare(lanes, for_ns);
    let ran = leak(Latch::new(usize::MAX));
    let on = runtime(asked.workers);
    serve_all(&on, receivers, ran);
    let ideal = ideal_rate(&run.cycles, for_ns / 5) * asked.workers as f64;
    let mut out = Report::new(asked);
    on.spawn(async move { run.start_round() });
    run.all_ended.wait();
    let events = run.rounds.load(Ordering::Relaxed) * ROUND;
    // How many there are was not known before: what is not expected is counted here, and the rest by the tasks.
    ran.count(usize::MAX - events);
    for lane in &run.lanes {
        let _ = lane.send(Spin { run, index: END, _payload: [0; 3] });
    }
    ran.wait();
    let took_ns = run.ended_ns.load(Ordering::Relaxed) - run.started_ns.load(Ordering::Relaxed);
    let rate = events as f64 / took_ns as f64;
    out.add("events", events as f64);
    out.add("ns_per_event", 1.0 / rate);
    out.add("kilo_events_per_s", rate * 1e6);
    out.add("ideal_kilo_events_per_s", ideal * 1e6);
    out.add("share_of_ideal", rate / ideal);
    out.print();
}
