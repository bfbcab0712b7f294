//! W8 by tokio: 48 tasks, all woken by one; each makes an array and reads it in a chain of messages to itself.
//! The number is not about penalties: a task keeps its worker for up to 128 messages, and only then may another worker take it.

use crate::churn::churn_alone;
use crate::lanes::{channels, leak, post, runtime, serve_only, Event, Lane};
use crate::report::{Report, Request};
use crate::rounds::Rounds;
use std::sync::atomic::{AtomicUsize, Ordering};

const ARRAY: u32 = 8192;
const PIECE: usize = 16;
const PIECES: usize = ARRAY as usize / PIECE;
const STEPS: usize = 64;
const MAKERS: usize = 48;
const EVENTS_PER_MAKER: usize = 1 + PIECES;

struct Run {
    lanes: Vec<Lane<Reading>>,
    rounds: Rounds,
    expected: Vec<u64>,
    right: AtomicUsize,
}

/// A as long as it has no array, then B.
struct Reading {
    run: &'static Run,
    array: Option<Box<[u32]>>,
    x: u64,
    index: u16,
    piece: u16,
}

fn numbers(index: u16) -> Box<[u32]> {
    (u32::from(index)..u32::from(index) + ARRAY).collect()
}

fn read_piece(array: &[u32], piece: usize, x: u64) -> u64 {
    let sum = array[piece * PIECE..(piece + 1) * PIECE].iter().fold(x, |sum, n| sum.wrapping_add(u64::from(*n)));
    churn_alone(sum, STEPS)
}

impl Event for Reading {
    fn run(mut self) {
        match &self.array {
            None => self.array = Some(numbers(self.index)),
            Some(array) => {
                self.x = read_piece(array, usize::from(self.piece), self.x);
                self.piece += 1;
            }
        }
        let run = self.run;
        if usize::from(self.piece) < PIECES {
            return post(&run.lanes[usize::from(self.index)], self);
        }
        drop(self.array);
        run.right.fetch_add(usize::from(self.x == run.expected[usize::from(self.index)]), Ordering::Relaxed);
        if run.rounds.part_ended() {
            run.start_round();
        }
    }
}

impl Run {
    fn start_round(&'static self) {
        self.rounds.start();
        for (index, lane) in self.lanes.iter().enumerate() {
            post(lane, Reading { run: self, array: None, x: 0, index: index as u16, piece: 0 });
        }
    }
}

pub fn measure(asked: &Request) {
    let for_ns = asked.size(1_000_000_000, 1) as u64;
    let (lanes, receivers) = channels(MAKERS);
    let expected = (0..MAKERS).map(|i| (0..PIECES).fold(0, |x, piece| read_piece(&numbers(i as u16), piece, x))).collect();
    let run: &'static Run = leak(Run { lanes, rounds: Rounds::new(MAKERS, for_ns), expected, right: AtomicUsize::new(0) });
    let on = runtime(asked.workers);
    let served = serve_only(&on, receivers);
    let mut out = Report::new(asked);
    on.spawn(async move { run.start_round() });
    run.rounds.wait();
    served.end_and_check(&run.lanes, run.rounds.parts() * EVENTS_PER_MAKER);
    assert_eq!(run.right.load(Ordering::Relaxed), run.rounds.parts(), "not every array was read once, in order and by one");
    out.add_rounds(&run.rounds, EVENTS_PER_MAKER);
    out.print();
}
