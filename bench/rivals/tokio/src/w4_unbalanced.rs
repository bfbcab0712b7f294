//! W4 by tokio: rounds of 50 000 events of different tasks, all sent by one handler.
//! The number is not that of work that is spread well from the start, and most of what is sent goes through the queue that all workers share,
//! for a worker's own holds 256 tasks.

use crate::lanes::{channels, leak, post, runtime, serve_only, Event, Lane};
use crate::report::{Report, Request};
use crate::rounds::{Countdown, Rounds};
use std::arch::x86_64::_rdtsc;
use std::time::Instant;

const ROUND: usize = 50_000;
const GROUP: usize = 1000;
const GROUPS: usize = ROUND / GROUP;

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

struct Run {
    lanes: Vec<Lane<Spin>>,
    cycles: Vec<u32>,
    rounds: Rounds,
    in_group: Vec<Countdown>,
}

#[derive(Clone, Copy)]
struct Spin {
    run: &'static Run,
    index: usize,
    _payload: [usize; 3],
}

impl Event for Spin {
    fn run(self) {
        spin_cycles(u64::from(self.run.cycles[self.index]));
        if self.run.in_group[self.index / GROUP].is_last() && self.run.rounds.part_ended() {
            self.run.start_round();
        }
    }
}

impl Run {
    fn start_round(&'static self) {
        self.rounds.start();
        self.in_group.iter().for_each(|c| c.set(GROUP));
        for (index, lane) in self.lanes.iter().enumerate() {
            post(lane, Spin { run: self, index, _payload: [0; 3] });
        }
    }
}

pub fn measure(asked: &Request) {
    let for_ns = asked.size(1_000_000_000, 1) as u64;
    let (lanes, receivers) = channels(ROUND);
    let in_group = (0..GROUPS).map(|_| Countdown::new(0)).collect();
    let run: &'static Run = leak(Run { lanes, cycles: spin_lengths(), rounds: Rounds::new(GROUPS, for_ns), in_group });
    let on = runtime(asked.workers);
    let served = serve_only(&on, receivers);
    let ideal = ideal_rate(&run.cycles, for_ns / 5) * asked.workers as f64;
    let mut out = Report::new(asked);
    on.spawn(async move { run.start_round() });
    run.rounds.wait();
    let events = run.rounds.count() * ROUND;
    served.end_and_check(&run.lanes, events);
    let rate = events as f64 / run.rounds.took_ns();
    out.add("events", events as f64);
    out.add("ns_per_event", 1.0 / rate);
    out.add("kilo_events_per_s", rate * 1e6);
    out.add("ideal_kilo_events_per_s", ideal * 1e6);
    out.add("share_of_ideal", rate / ideal);
    out.print();
}
