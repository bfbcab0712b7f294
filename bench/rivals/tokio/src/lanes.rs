//! A lane is a task that serves an unbounded channel: what it receives, it runs, one by one.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};

/// At most 40 bytes, as many as events have elsewhere, with a reference in it, so that an Option takes no more.
pub trait Event: Send + Sized + 'static {
    fn run(self);
    const FITS: () = assert!(std::mem::size_of::<Option<Self>>() <= 40);
}

/// Opens once.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
    fn wait(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }
}

/// Opens when so much was counted, which happens once.
pub struct Latch {
    left: AtomicUsize,
    gate: Gate,
}

impl Latch {
    pub fn new(left: usize) -> Latch {
        Latch { left: AtomicUsize::new(left), gate: Gate::default() }
    }
    pub fn count(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.gate.open(); // pairs with itself
        }
    }
    pub fn wait(&self) {
        self.gate.wait();
    }
}

pub fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Nothing: the lane's end.
pub type Lane<E> = UnboundedSender<Option<E>>;
pub type Receiver<E> = UnboundedReceiver<Option<E>>;

pub fn channels<E>(count: usize) -> (Vec<Lane<E>>, Vec<Receiver<E>>) {
    (0..count).map(|_| unbounded_channel()).unzip()
}

pub fn post<E>(to: &Lane<E>, event: E) {
    let _ = to.send(Some(event)); // it is served until its end
}

/// Without an I/O driver and timers: there is nothing to wait for.
pub fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).build().expect("a runtime")
}

pub fn runtime_with_timers(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_time().build().expect("a runtime")
}

/// How many lanes serve, and how many events those have run that do no longer: one word, so that an end is one count.
pub struct Served {
    word: AtomicU64,
    gate: Gate,
}

const ONE_LANE: u64 = 1 << 40;

impl Served {
    pub fn new(lanes: usize) -> Served {
        Served { word: AtomicU64::new(lanes as u64 * ONE_LANE), gate: Gate::default() }
    }
    fn ended(&self, ran: usize) {
        let change = (ran as u64).wrapping_sub(ONE_LANE);
        let word = self.word.fetch_add(change, Ordering::AcqRel).wrapping_add(change); // pairs with itself
        if word < ONE_LANE {
            self.gate.open();
        }
    }
    /// Ends the program if not all of what the workload posted has run.
    pub fn check(&self, expected: usize) {
        self.gate.wait();
        assert_eq!(self.word.load(Ordering::Acquire) as usize, expected, "events ran");
    }
    pub fn end_and_check<E>(&self, lanes: &[Lane<E>], expected: usize) {
        for lane in lanes {
            let _ = lane.send(None);
        }
        self.check(expected);
    }
}

/// Until the end comes, or all handles are gone.
pub async fn serve<E: Event>(mut events: Receiver<E>, served: &'static Served) {
    let () = E::FITS;
    let mut count = 0;
    while let Some(Some(event)) = events.recv().await {
        event.run();
        count += 1;
    }
    served.ended(count);
}

/// Starts a task for each, and waits until all of them wait for events.
pub fn serve_all<E: Event>(on: &Runtime, all: Vec<Receiver<E>>, served: &'static Served) {
    let begun = leak(Latch::new(all.len()));
    for events in all {
        on.spawn(async move {
            begun.count();
            serve(events, served).await
        });
    }
    begun.wait();
}

/// The same, and nothing else is served.
pub fn serve_only<E: Event>(on: &Runtime, all: Vec<Receiver<E>>) -> &'static Served {
    let served = leak(Served::new(all.len()));
    serve_all(on, all, served);
    served
}
