//! Chains of events that run until their ends, and when that was.

use crate::lanes::Latch;
use crate::report::Report;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

pub struct Chains {
    count: usize,
    began: Instant,
    started_ns: AtomicU64,
    first_end_ns: AtomicU64,
    last_end_ns: AtomicU64,
    ended: AtomicUsize,
    all_ended: Latch,
}

impl Chains {
    pub fn new(count: usize) -> Chains {
        Chains {
            count,
            began: Instant::now(),
            started_ns: AtomicU64::new(0),
            first_end_ns: AtomicU64::new(0),
            last_end_ns: AtomicU64::new(0),
            ended: AtomicUsize::new(0),
            all_ended: Latch::new(count),
        }
    }
    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }
    /// Before the first event is posted.
    pub fn start(&self) {
        self.started_ns.store(self.now_ns(), Ordering::Relaxed);
    }
    pub fn one_ended(&self) {
        let before = self.ended.fetch_add(1, Ordering::Relaxed);
        if before == 0 {
            self.first_end_ns.store(self.now_ns(), Ordering::Relaxed);
        }
        if before == self.count - 1 {
            self.last_end_ns.store(self.now_ns(), Ordering::Relaxed);
        }
        self.all_ended.count();
    }
    pub fn wait(&self) {
        self.all_ended.wait();
    }
    fn since_start(&self, end: &AtomicU64) -> f64 {
        (end.load(Ordering::Relaxed) - self.started_ns.load(Ordering::Relaxed)) as f64
    }
    pub fn took_ns(&self) -> f64 {
        self.since_start(&self.last_end_ns)
    }
    /// Fairness: the chains are equal, so in turn they would end together, at 1.
    pub fn tell(&self, to: &mut Report) {
        to.add("first_chain_ends_at", self.since_start(&self.first_end_ns) / self.took_ns());
    }
}
