//! W7 by tokio: a task spawned with a channel of its own, three events, and the handle is dropped.
//! The number is not that of tokio::spawn alone: the channel and its block of messages are half of it; and it holds one count that all
//! tasks share, by which the end is seen.

use crate::lanes::{channels, leak, post, runtime, serve, serve_all, Event, Lane, Served};
use crate::report::{Report, Request};
use std::time::Instant;
use tokio::sync::mpsc::unbounded_channel;

const AT_ONCE: usize = 16;

struct Run {
    maker: Lane<Brief>,
    served: &'static Served,
}

/// The maker, or one of the three.
#[derive(Clone, Copy)]
struct Brief {
    run: &'static Run,
    left: usize, // to be made by the maker; 0: one of the three
    _payload: [usize; 3],
}

impl Event for Brief {
    fn run(self) {
        if self.left != 0 {
            self.make();
        }
    }
}

impl Brief {
    fn make(self) {
        for _ in 0..AT_ONCE {
            let (fresh, events) = unbounded_channel();
            tokio::spawn(serve(events, self.run.served));
            for _ in 0..3 {
                post(&fresh, Brief { left: 0, ..self });
            }
        }
        // The maker's lane ends with it, for its own events are counted then.
        let next = if self.left > AT_ONCE { Some(Brief { left: self.left - AT_ONCE, ..self }) } else { None };
        let _ = self.run.maker.send(next);
    }
}

pub fn measure(asked: &Request) {
    let colors = asked.size(1_000_000, AT_ONCE);
    let (mut lanes, receivers) = channels(1);
    let served = leak(Served::new(1 + colors));
    let run: &'static Run = leak(Run { maker: lanes.remove(0), served });
    let on = runtime(asked.workers);
    serve_all(&on, receivers, served);
    let mut out = Report::new(asked);
    let started = Instant::now();
    post(&run.maker, Brief { run, left: colors, _payload: [0; 3] });
    served.check(3 * colors + colors / AT_ONCE);
    let took_ns = started.elapsed().as_nanos() as f64;
    out.add("colors", colors as f64);
    out.add("ns_per_color", took_ns / colors as f64);
    out.print();
}
