//! W7 by tokio: a task spawned with a channel of its own, three events, and the handle is dropped.
//! The number is not that of tokio::spawn alone: the channel and its block of messages are half of it; and it holds one count that all
//! tasks share, by which the end is seen.

use crate::lanes::{channels, leak, runtime, serve, serve_all, Event, Lane, Latch};
use crate::report::{Report, Request};
use std::time::Instant;
use tokio::sync::mpsc::unbounded_channel;

const AT_ONCE: usize = 16;

struct Run {
    maker: Lane<Brief>,
    ran: &'static Latch,
}

/// The maker, or one of the three.
#[derive(Clone, Copy)]
struct Brief {
    run: &'static Run,
    left: usize, // to be made by the maker; 0: one of the three
    ends: bool,
    _payload: [usize; 2],
}
const _: () = assert!(std::mem::size_of::<Brief>() == 40);

impl Event for Brief {
    fn run(self) {
        if self.left != 0 {
            self.make();
        }
    }
    fn is_end(&self) -> bool {
        self.ends
    }
}

impl Brief {
    fn make(self) {
        for _ in 0..AT_ONCE {
            let (fresh, events) = unbounded_channel();
            tokio::spawn(serve(events, self.run.ran));
            for _ in 0..3 {
                let _ = fresh.send(Brief { left: 0, ..self });
            }
        }
        // The maker's lane ends with it, for its own events are counted then.
        let next = if self.left > AT_ONCE { Brief { left: self.left - AT_ONCE, ..self } } else { Brief { ends: true, ..self } };
        let _ = self.run.maker.send(next);
    }
}

pub fn measure(asked: &Request) {
    let colors = asked.size(1_000_000, AT_ONCE);
    let (mut lanes, receivers) = channels(1);
    let ran = leak(Latch::new(3 * colors + colors / AT_ONCE));
    let run: &'static Run = leak(Run { maker: lanes.remove(0), ran });
    let on = runtime(asked.workers);
    serve_all(&on, receivers, ran);
    let mut out = Report::new(asked);
    let started = Instant::now();
    let _ = run.maker.send(Brief { run, left: colors, ends: false, _payload: [0; 2] });
    ran.wait();
    let took_ns = started.elapsed().as_nanos() as f64;
    out.add("colors", colors as f64);
    out.add("ns_per_color", took_ns / colors as f64);
    out.print();
}
