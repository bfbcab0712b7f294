//! W6 by tokio: 256 chains of messages, half of them to one task, half spread over 1000 others.
//! The number is not that of service in order: a task keeps its worker for up to 128 messages, and who is woken by a worker is its next one.

use crate::chains::Chains;
use crate::churn::{churn, churn_result, churn_steps_in};
use crate::ideal_schedule::ideal_delays;
use crate::lanes::{channels, leak, post, runtime, serve_only, Event, Lane};
use crate::report::{Report, Request};
use std::arch::x86_64::_rdtsc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CHAINS: usize = 256;
const COLORS: usize = 1001;
const SHARE_OF_HOTTEST: f64 = 0.5;
const SPIN_NS: f64 = 2000.0;

#[derive(Default)]
#[repr(align(64))]
struct Color {
    events: AtomicUsize, // only its own task writes
    entered_by: AtomicUsize,
}

struct Run {
    lanes: Vec<Lane<Busy>>,
    chains: Chains,
    steps: usize,
    churn_steps: usize,
    in_color: Vec<Color>,
    ended: Vec<AtomicU64>, // by the cycle counter; also when the chain's next event was posted
    started: AtomicU64,
    results: AtomicU64,
    disturbed: AtomicBool,
}

/// One of a chain; chains with an even number stay in the hot color, the others visit the cold ones.
#[derive(Clone, Copy)]
struct Busy {
    run: &'static Run,
    chain: u32,
    step: u32,
    x: u64,
    _payload: [usize; 2],
}

fn cycles() -> u64 {
    unsafe { _rdtsc() } // has no precondition
}

fn is_hot(chain: usize) -> bool {
    chain % 2 == 0
}

fn color_of(chain: usize, step: usize) -> usize {
    if is_hot(chain) {
        return 0;
    }
    1 + (churn(((chain as u64) << 32) + step as u64, 2) >> 32) as usize % (COLORS - 1)
}

impl Event for Busy {
    fn run(mut self) {
        self.x = self.run.work(self.chain as usize, self.step as usize, self.x);
        self.step += 1;
        if self.step as usize == self.run.steps {
            self.run.results.fetch_add(self.x, Ordering::Relaxed);
            self.run.chains.one_ended();
        } else {
            post(&self.run.lanes[color_of(self.chain as usize, self.step as usize)], self);
        }
    }
}

impl Run {
    /// The spin and what is kept of it. Each chain has one event under way, so who enters a color meanwhile writes another number.
    fn work(&self, chain: usize, step: usize, x: u64) -> u64 {
        let color = &self.in_color[color_of(chain, step)];
        color.entered_by.store(chain, Ordering::Relaxed);
        let x = churn(x, self.churn_steps);
        color.events.store(color.events.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        if color.entered_by.load(Ordering::Relaxed) != chain {
            self.disturbed.store(true, Ordering::Relaxed);
        }
        self.ended[chain * self.steps + step].store(cycles(), Ordering::Relaxed);
        x
    }

    /// ns per event of the same spins in a plain loop: the fastest of the rounds that fit into this time.
    fn loop_ns(&self, within: Duration) -> f64 {
        let events = self.steps.min(500);
        let start = Instant::now();
        let mut fastest = Duration::MAX;
        let mut x = 0;
        while start.elapsed() < within {
            let round = Instant::now();
            for i in 0..events {
                x = self.work(i % CHAINS, i, x);
            }
            fastest = fastest.min(round.elapsed());
        }
        self.in_color.iter().for_each(|color| color.events.store(0, Ordering::Relaxed));
        fastest.as_nanos() as f64 / events as f64
    }

    fn start(&'static self) {
        self.chains.start();
        self.started.store(cycles(), Ordering::Relaxed);
        for chain in 0..CHAINS {
            post(&self.lanes[color_of(chain, 0)], Busy { run: self, chain: chain as u32, step: 0, x: chain as u64, _payload: [0; 2] });
        }
    }

    fn check(&self) {
        let mut events = vec![0; COLORS];
        (0..CHAINS).for_each(|chain| (0..self.steps).for_each(|step| events[color_of(chain, step)] += 1));
        let sum = (0..CHAINS).fold(0u64, |sum, i| sum.wrapping_add(churn_result(i as u64, self.steps * self.churn_steps)));
        assert!(!self.disturbed.load(Ordering::Relaxed), "two events were in one color");
        assert!(self.in_color.iter().map(|color| color.events.load(Ordering::Relaxed)).eq(events), "not every event ran once");
        assert_eq!(self.results.load(Ordering::Relaxed), sum, "not every event ran once");
    }

    /// Of the cold chains, in cycles, sorted.
    fn cold_delays(&self) -> Vec<u64> {
        let mut all = Vec::new();
        for chain in (0..CHAINS).filter(|chain| !is_hot(*chain)) {
            let mut posted = self.started.load(Ordering::Relaxed);
            for ended in &self.ended[chain * self.steps..(chain + 1) * self.steps] {
                let ended = ended.load(Ordering::Relaxed);
                all.push(ended - posted);
                posted = ended;
            }
        }
        all.sort_unstable();
        all
    }
}

fn quantile<T: Copy>(sorted: &[T], q: f64) -> T {
    sorted[(q * (sorted.len() - 1) as f64) as usize]
}

fn prepare(lanes: Vec<Lane<Busy>>, steps: usize) -> &'static Run {
    leak(Run {
        lanes,
        chains: Chains::new(CHAINS),
        steps,
        churn_steps: churn_steps_in(SPIN_NS),
        in_color: (0..COLORS).map(|_| Color::default()).collect(),
        ended: (0..CHAINS * steps).map(|_| AtomicU64::new(0)).collect(),
        started: AtomicU64::new(0),
        results: AtomicU64::new(0),
        disturbed: AtomicBool::new(false),
    })
}

pub fn measure(asked: &Request) {
    let events = asked.size(256_000, CHAINS);
    let (lanes, receivers) = channels(COLORS);
    let run = prepare(lanes, events / CHAINS);
    let loop_ns = run.loop_ns(Duration::from_nanos(asked.size(100_000_000, 1) as u64));
    let on = runtime(asked.workers);
    let served = serve_only(&on, receivers);
    let mut out = Report::new(asked);
    let (began, began_cycles) = (Instant::now(), cycles());
    on.spawn(async move { run.start() });
    run.chains.wait();
    let us_per_cycle = began.elapsed().as_nanos() as f64 / 1e3 / (cycles() - began_cycles) as f64;
    served.end_and_check(&run.lanes, events);
    run.check();

    let speed_up = events as f64 * loop_ns / run.chains.took_ns();
    let cold = run.cold_delays();
    let mut ideal = ideal_delays(asked.workers, COLORS, CHAINS, run.steps, color_of);
    ideal.retain(|(chain, _)| !is_hot(*chain));
    ideal.sort_unstable_by_key(|(_, delay)| *delay);
    let ideal_us = quantile(&ideal, 0.99).1 as f64 * loop_ns / 1e3;
    let cold_us = |q| quantile(&cold, q) as f64 * us_per_cycle;
    out.add("events", events as f64);
    out.add("speed_up", speed_up);
    out.add("share_of_bound", speed_up / (asked.workers as f64).min(1.0 / SHARE_OF_HOTTEST));
    out.add("cold_p99_vs_ideal", cold_us(0.99) / ideal_us);
    out.add("cold_us_median", cold_us(0.5));
    out.add("cold_us_p99", cold_us(0.99));
    out.add("cold_us_max", cold_us(1.0));
    out.add("ideal_cold_us_p99", ideal_us);
    out.add("spin_ns", loop_ns);
    out.print();
}
