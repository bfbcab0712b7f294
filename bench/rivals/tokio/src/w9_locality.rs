//! W9 by tokio: 100 tasks for each pair of workers, all woken by one; each makes an array in two halves, which two others sort.
//! The number is not about caches that cores share: a thief begins at any worker. The halves are two allocations, for each has an owner; and
//! Rust's sort is another one than C++'s, which with one worker is most of the difference.

use crate::lanes::{channels, leak, post, runtime, serve_only, Event, Lane};
use crate::report::{Report, Request};
use crate::rounds::Rounds;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

const ARRAY: usize = 512;
const MAKERS_PER_PAIR: usize = 100;
const LANES_PER_MAKER: usize = 3;
const EVENTS_PER_MAKER: usize = 5;

/// What A and its two C know of each other. They are serial, so nobody waits for the lock.
#[derive(Default)]
struct Merging {
    sum: u64,
    first: Option<Box<[u32]>>,
}

struct Run {
    lanes: Vec<Lane<Sorting>>,
    rounds: Rounds,
    states: Vec<Mutex<Merging>>,
    right: AtomicUsize,
}

enum Step {
    Make,
    Sort(Box<[u32]>),
    Merge(Box<[u32]>),
}

struct Sorting {
    run: &'static Run,
    index: usize,
    step: Step,
}

/// Numbers in no order, others for each seed.
fn numbers(seed: usize) -> impl Iterator<Item = u32> {
    let mut x = (seed as u64 + 1).wrapping_mul(0x9e3779b97f4a7c15);
    std::iter::repeat_with(move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 32) as u32
    })
}

fn sum_of(numbers: &[u32]) -> u64 {
    numbers.iter().map(|n| u64::from(*n)).sum()
}

fn merged(one: &[u32], other: &[u32]) -> [u32; ARRAY] {
    let mut all = [0; ARRAY];
    let (mut i, mut j) = (0, 0);
    for n in all.iter_mut() {
        let takes_other = i == one.len() || (j < other.len() && other[j] < one[i]);
        *n = if takes_other { other[j] } else { one[i] };
        j += usize::from(takes_other);
        i += usize::from(!takes_other);
    }
    all
}

impl Event for Sorting {
    fn run(self) {
        let Sorting { run, index, step } = self;
        let lane = index * LANES_PER_MAKER;
        match step {
            Step::Make => {
                let mut made = numbers(run.rounds.count() * run.states.len() + index);
                let halves: [Box<[u32]>; 2] = [made.by_ref().take(ARRAY / 2).collect(), made.take(ARRAY / 2).collect()];
                run.states[index].lock().unwrap().sum = sum_of(&halves[0]) + sum_of(&halves[1]);
                for (n, half) in halves.into_iter().enumerate() {
                    post(&run.lanes[lane + 1 + n], Sorting { run, index, step: Step::Sort(half) });
                }
            }
            Step::Sort(mut half) => {
                half.sort_unstable();
                post(&run.lanes[lane], Sorting { run, index, step: Step::Merge(half) });
            }
            Step::Merge(half) => run.merge(index, half),
        }
    }
}

impl Run {
    fn start_round(&'static self) {
        self.rounds.start();
        for index in 0..self.states.len() {
            post(&self.lanes[index * LANES_PER_MAKER], Sorting { run: self, index, step: Step::Make });
        }
    }
    fn merge(&'static self, index: usize, half: Box<[u32]>) {
        let mut state = self.states[index].lock().unwrap();
        match state.first.take() {
            None => state.first = Some(half),
            Some(first) => {
                let all = merged(&first, &half);
                let is_right = sum_of(&all) == state.sum && all.windows(2).all(|two| two[0] <= two[1]);
                drop((state, first, half));
                self.right.fetch_add(usize::from(is_right), Ordering::Relaxed);
                if self.rounds.part_ended() {
                    self.start_round();
                }
            }
        }
    }
}

pub fn measure(asked: &Request) {
    let for_ns = asked.size(1_000_000_000, 1) as u64;
    let makers = MAKERS_PER_PAIR * (asked.workers / 2).max(1);
    let (lanes, receivers) = channels(makers * LANES_PER_MAKER);
    let states = (0..makers).map(|_| Mutex::default()).collect();
    let run: &'static Run = leak(Run { lanes, rounds: Rounds::new(makers, for_ns), states, right: AtomicUsize::new(0) });
    let on = runtime(asked.workers);
    let served = serve_only(&on, receivers);
    let mut out = Report::new(asked);
    on.spawn(async move { run.start_round() });
    run.rounds.wait();
    served.end_and_check(&run.lanes, run.rounds.parts() * EVENTS_PER_MAKER);
    assert_eq!(run.right.load(Ordering::Relaxed), run.rounds.parts(), "not every array was sorted and merged once");
    out.add_rounds(&run.rounds, EVENTS_PER_MAKER);
    out.print();
}
