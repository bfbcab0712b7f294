//! W11 by tokio: a task per timer, which sleeps until its deadline and then sends over the channel of its color; a cancel aborts the task.
//! The number is not that of exact deadlines: tokio counts whole milliseconds. Nor is it that of a Sleep alone, which somebody has to
//! poll: a set holds the making of a task and its first turn, a cancel its last one.

use crate::lanes::{channels, leak, post, runtime_with_timers, serve_only, Event, Lane, Latch};
use crate::report::{cpu_ns, Report, Request};
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

const LANES: usize = 64;
const FAR_NS: u64 = 60_000_000_000;
const NEAREST_NS: u64 = 50_000_000;
const NEAR_NS: u64 = 400_000_000;

/// The same deadlines for every contender, see bench/w11_timers/workload.h.
fn scatter(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e3779b97f4a7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
    x ^ (x >> 31)
}

struct Run {
    lanes: Vec<Lane<Timing>>,
    states: Vec<State>,
    far: usize,  // per lane
    near: usize, // per lane
    late_ns: Vec<AtomicU64>,
    lanes_left: AtomicUsize,
    all_gone: Latch,
    made: Instant,
    set_began_ns: AtomicU64,
    fire_began_ns: AtomicU64,
    cancel_began_ns: AtomicU64,
    ended_ns: AtomicU64,
    cpu_before_ns: AtomicU64,
    cpu_after_ns: AtomicU64,
}

/// Of a lane. Its tasks run after the one that makes them, and elsewhere.
#[repr(align(64))]
#[derive(Default)]
struct State {
    timers: Mutex<Vec<JoinHandle<()>>>,
    not_pending: AtomicIsize,
    left: AtomicUsize,
    fired: AtomicUsize, // only its own lane writes
    early: AtomicUsize,
}

#[derive(Clone, Copy)]
enum Step {
    SetFar,
    SetNear,
    Fired,
    CancelFar,
}

#[derive(Clone, Copy)]
struct Timing {
    run: &'static Run,
    deadline_ns: u64,
    lane: usize,
    index: u32, // of the near timer
    step: Step,
}

impl Event for Timing {
    fn run(self) {
        match self.step {
            Step::SetFar => self.run.set_far(self.lane),
            Step::SetNear => self.run.set_near(self.lane),
            Step::Fired => self.run.fired(self),
            Step::CancelFar => self.run.cancel_far(self.lane),
        }
    }
}

/// Part of a timer's task, so that it is told when that is gone.
struct Presence(&'static Run, usize);

impl Drop for Presence {
    fn drop(&mut self) {
        self.0.count_gone(self.1);
    }
}

impl Run {
    fn now_ns(&self) -> u64 {
        self.made.elapsed().as_nanos() as u64
    }
    fn in_every_lane(&'static self, step: Step) {
        self.lanes_left.store(LANES, Ordering::Relaxed);
        for lane in 0..LANES {
            post(&self.lanes[lane], Timing { run: self, deadline_ns: 0, lane, index: 0, step });
        }
    }
    /// True for the last lane of a phase.
    fn last_lane(&self) -> bool {
        self.lanes_left.fetch_sub(1, Ordering::AcqRel) == 1 // pairs with itself
    }

    fn set(&'static self, timers: &mut Vec<JoinHandle<()>>, lane: usize, index: usize, deadline_ns: u64) {
        let presence = Presence(self, lane);
        let fired = Timing { run: self, deadline_ns, lane, index: index as u32, step: Step::Fired };
        timers.push(tokio::spawn(async move {
            let _presence = presence;
            fired.run.count_pending(fired.lane, -1);
            tokio::time::sleep_until((fired.run.made + Duration::from_nanos(fired.deadline_ns)).into()).await;
            post(&fired.run.lanes[fired.lane], fired);
        }));
    }
    fn start(&'static self) {
        self.set_began_ns.store(self.now_ns(), Ordering::Relaxed);
        self.in_every_lane(Step::SetFar);
    }
    fn set_far(&'static self, lane: usize) {
        let from = self.set_began_ns.load(Ordering::Relaxed) + FAR_NS;
        {
            let mut timers = self.states[lane].timers.lock().unwrap();
            for i in 0..self.far {
                self.set(&mut timers, lane, 0, from + scatter((lane * self.far + i) as u64) % FAR_NS);
            }
        }
        self.count_pending(lane, self.far as isize);
    }
    /// What is to come is added when it is known how much, and not before; who then finds none left comes last.
    fn count_pending(&'static self, lane: usize, change: isize) {
        let before = self.states[lane].not_pending.fetch_add(change, Ordering::AcqRel); // pairs with itself
        if before + change == 0 && self.last_lane() {
            self.fire_began_ns.store(self.now_ns(), Ordering::Relaxed);
            self.cpu_before_ns.store(cpu_ns(), Ordering::Relaxed);
            self.in_every_lane(Step::SetNear);
        }
    }
    fn set_near(&'static self, lane: usize) {
        let from = self.fire_began_ns.load(Ordering::Relaxed) + NEAREST_NS;
        let mut timers = self.states[lane].timers.lock().unwrap();
        for i in 0..self.near {
            let index = lane * self.near + i;
            self.set(&mut timers, lane, index, from + scatter(!(index as u64)) % NEAR_NS);
        }
    }
    fn fired(&'static self, timer: Timing) {
        let now_ns = self.now_ns();
        let state = &self.states[timer.lane];
        if now_ns < timer.deadline_ns {
            state.early.fetch_add(1, Ordering::Relaxed);
        }
        self.late_ns[timer.index as usize].store(now_ns.saturating_sub(timer.deadline_ns), Ordering::Relaxed);
        let fired = state.fired.load(Ordering::Relaxed) + 1;
        state.fired.store(fired, Ordering::Relaxed);
        if fired != self.near || !self.last_lane() {
            return;
        }
        self.cpu_after_ns.store(cpu_ns(), Ordering::Relaxed);
        self.cancel_began_ns.store(self.now_ns(), Ordering::Relaxed);
        self.in_every_lane(Step::CancelFar);
    }
    fn cancel_far(&self, lane: usize) {
        const STRIDE: usize = 7919; // a prime: visits every slot unless it divides their number
        let step = if self.far % STRIDE == 0 { 1 } else { STRIDE };
        let timers = self.states[lane].timers.lock().unwrap();
        let mut slot = 0;
        for _ in 0..self.far {
            timers[slot].abort();
            slot = (slot + step) % self.far;
        }
    }
    fn count_gone(&self, lane: usize) {
        if self.states[lane].left.fetch_sub(1, Ordering::AcqRel) == 1 {
            // pairs with itself
            if self.last_lane() {
                self.ended_ns.store(self.now_ns(), Ordering::Relaxed);
            }
            self.all_gone.count();
        }
    }

    /// Sorted.
    fn late_us(&self) -> Vec<f64> {
        let mut all: Vec<u64> = self.late_ns.iter().map(|late| late.load(Ordering::Relaxed)).collect();
        all.sort_unstable();
        all.into_iter().map(|ns| ns as f64 / 1e3).collect()
    }
    fn check(&self) {
        let sum = |of: fn(&State) -> &AtomicUsize| self.states.iter().map(|state| of(state).load(Ordering::Relaxed)).sum::<usize>();
        assert_eq!(sum(|state| &state.fired), self.near * LANES, "timers fired");
        assert_eq!(sum(|state| &state.early), 0, "timers fired early");
    }
}

fn prepare(lanes: Vec<Lane<Timing>>, far: usize) -> &'static Run {
    let near = far / 20 + 1;
    let state = || State { timers: Mutex::new(Vec::with_capacity(far + near)), left: AtomicUsize::new(far + near), ..State::default() };
    leak(Run {
        lanes,
        states: (0..LANES).map(|_| state()).collect(),
        far,
        near,
        late_ns: (0..LANES * near).map(|_| AtomicU64::new(0)).collect(),
        lanes_left: AtomicUsize::new(0),
        all_gone: Latch::new(LANES),
        made: Instant::now(),
        set_began_ns: AtomicU64::new(0),
        fire_began_ns: AtomicU64::new(0),
        cancel_began_ns: AtomicU64::new(0),
        ended_ns: AtomicU64::new(0),
        cpu_before_ns: AtomicU64::new(0),
        cpu_after_ns: AtomicU64::new(0),
    })
}

pub fn measure(asked: &Request) {
    let timers = asked.size(1_000_000, LANES);
    let (lanes, receivers) = channels(LANES);
    let run = prepare(lanes, timers / LANES);
    let on = runtime_with_timers(asked.workers);
    let served = serve_only(&on, receivers);
    let mut out = Report::new(asked);
    on.spawn(async move { run.start() });
    run.all_gone.wait();
    let fired = run.near * LANES;
    served.end_and_check(&run.lanes, fired + 3 * LANES);
    run.check();

    let between = |from: &AtomicU64, to: &AtomicU64| (to.load(Ordering::Relaxed) - from.load(Ordering::Relaxed)) as f64;
    let late_us = run.late_us();
    let late = |share: f64| late_us[(share * (late_us.len() - 1) as f64) as usize];
    out.add("timers", timers as f64);
    out.add("fired", fired as f64);
    out.add("ns_per_set", between(&run.set_began_ns, &run.fire_began_ns) / timers as f64);
    out.add("ns_per_cancel", between(&run.cancel_began_ns, &run.ended_ns) / timers as f64);
    out.add("cpu_ns_per_fire", between(&run.cpu_before_ns, &run.cpu_after_ns) / fired as f64);
    out.add("late_us_median", late(0.5));
    out.add("late_us_p99", late(0.99));
    out.add("late_us_max", late(1.0));
    out.add("fired_early", 0.0);
    out.print();
}
