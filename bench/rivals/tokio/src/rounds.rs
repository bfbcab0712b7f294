//! Rounds, each of which begins when the last part of the one before has ended, until the time is up.

use crate::lanes::Latch;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// In a cache line of its own.
#[repr(align(64))]
pub struct Countdown(AtomicUsize);

impl Countdown {
    pub fn new(left: usize) -> Countdown {
        Countdown(AtomicUsize::new(left))
    }
    pub fn set(&self, left: usize) {
        self.0.store(left, Ordering::Relaxed);
    }
    pub fn is_last(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == 1 // pairs with itself
    }
}

pub struct Rounds {
    parts: usize,
    for_ns: u64,
    began: Instant,
    started_ns: AtomicU64,
    ended_ns: AtomicU64,
    count: AtomicUsize,
    left: Countdown,
    all_ended: Latch,
}

impl Rounds {
    pub fn new(parts: usize, for_ns: u64) -> Rounds {
        Rounds {
            parts,
            for_ns,
            began: Instant::now(),
            started_ns: AtomicU64::new(0),
            ended_ns: AtomicU64::new(0),
            count: AtomicUsize::new(0),
            left: Countdown::new(0),
            all_ended: Latch::new(1),
        }
    }
    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }
    /// Before a round is posted.
    pub fn start(&self) {
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            self.started_ns.store(self.now_ns(), Ordering::Relaxed);
        }
        self.left.set(self.parts);
    }
    /// Whether the caller has to post the next round.
    pub fn part_ended(&self) -> bool {
        if !self.left.is_last() {
            return false;
        }
        self.ended_ns.store(self.now_ns(), Ordering::Relaxed);
        let goes_on = self.took_ns() < self.for_ns as f64;
        if !goes_on {
            self.all_ended.count();
        }
        goes_on
    }
    pub fn wait(&self) {
        self.all_ended.wait();
    }
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
    pub fn parts(&self) -> usize {
        self.count() * self.parts
    }
    pub fn took_ns(&self) -> f64 {
        (self.ended_ns.load(Ordering::Relaxed) - self.started_ns.load(Ordering::Relaxed)) as f64
    }
}
