//! The schedule that W6's delays are compared with, see bench/w6_hot_color/ideal_schedule.h. All events are equally long, so it goes in steps.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Ordered by when it was posted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Posted {
    number: usize,
    at: usize,
    chain: usize,
    step: usize,
}

struct Schedule<C> {
    workers: usize,
    color_of: C,
    waiting: Vec<VecDeque<Posted>>, // by color, the one that runs or is runnable first
    runnable: BinaryHeap<Reverse<Posted>>,
    running: VecDeque<Posted>,
}

impl<C: Fn(usize, usize) -> usize> Schedule<C> {
    fn accept(&mut self, posted: Posted) {
        let of_color = &mut self.waiting[(self.color_of)(posted.chain, posted.step)];
        of_color.push_back(posted);
        if of_color.len() == 1 {
            self.runnable.push(Reverse(posted));
        }
    }
    fn start(&mut self) {
        while self.running.len() < self.workers {
            match self.runnable.pop() {
                Some(Reverse(first)) => self.running.push_back(first),
                None => return,
            }
        }
    }
    fn finish_first(&mut self) -> Posted {
        let done = self.running.pop_front().expect("one that runs");
        let of_color = &mut self.waiting[(self.color_of)(done.chain, done.step)];
        of_color.pop_front();
        if let Some(next) = of_color.front() {
            self.runnable.push(Reverse(*next));
        }
        done
    }
}

/// (chain, delay in lengths of an event) of each event, if each chain posts its next event when the one before has ended.
pub fn ideal_delays<C: Fn(usize, usize) -> usize>(workers: usize, colors: usize, chains: usize, steps: usize, color_of: C) -> Vec<(usize, usize)> {
    let waiting = vec![VecDeque::new(); colors];
    let mut ideal = Schedule { workers, color_of, waiting, runnable: BinaryHeap::new(), running: VecDeque::new() };
    let mut posts: Vec<Posted> = (0..chains).map(|chain| Posted { number: chain, at: 0, chain, step: 0 }).collect();
    let mut number = chains;
    let mut delays = Vec::new();
    for now in 1.. {
        for posted in std::mem::take(&mut posts) {
            ideal.accept(posted);
            ideal.start();
        }
        for _ in 0..ideal.running.len() {
            let done = ideal.finish_first();
            delays.push((done.chain, now - done.at));
            if done.step + 1 < steps {
                posts.push(Posted { number, at: now, step: done.step + 1, ..done });
                number += 1;
            }
            ideal.start();
        }
        if posts.is_empty() && ideal.running.is_empty() {
            break;
        }
    }
    delays
}
