//! A lane is a task that serves an unbounded channel: what it receives, it runs, one by one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};

/// 40 bytes, as many as events have elsewhere.
pub trait Event: Send + 'static {
    fn run(self);
    /// Whether it only ends its lane.
    fn is_end(&self) -> bool {
        false
    }
}

/// Opens when so much was counted, which happens once.
pub struct Latch {
    left: AtomicUsize,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Latch {
    pub fn new(left: usize) -> Latch {
        Latch { left: AtomicUsize::new(left), open: Mutex::new(false), opened: Condvar::new() }
    }
    /// Ends the program if it is more than was expected.
    pub fn count(&self, n: usize) {
        let before = self.left.fetch_sub(n, Ordering::AcqRel); // pairs with itself
        assert!(before >= n, "more was counted than there is");
        if before == n {
            *self.open.lock().unwrap() = true;
            self.opened.notify_all();
        }
    }
    pub fn wait(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }
}

pub fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub type Lane<E> = UnboundedSender<E>;

pub fn channels<E>(count: usize) -> (Vec<UnboundedSender<E>>, Vec<UnboundedReceiver<E>>) {
    (0..count).map(|_| unbounded_channel()).unzip()
}

/// Without an I/O driver and timers: there is nothing to wait for.
pub fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).build().expect("a runtime")
}

/// Until all handles are gone or an end comes; then tells `ran` how many events it was.
pub async fn serve<E: Event>(mut events: UnboundedReceiver<E>, ran: &'static Latch) {
    let mut count = 0;
    while let Some(event) = events.recv().await {
        if event.is_end() {
            break;
        }
        event.run();
        count += 1;
    }
    ran.count(count);
}

/// Starts a task for each, and waits until all of them wait for events.
pub fn serve_all<E: Event>(on: &Runtime, all: Vec<UnboundedReceiver<E>>, ran: &'static Latch) {
    let begun = leak(Latch::new(all.len()));
    for events in all {
        on.spawn(async move {
            begun.count(1);
            serve(events, ran).await
        });
    }
    begun.wait();
}
