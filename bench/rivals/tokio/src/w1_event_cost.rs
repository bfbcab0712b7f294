//! W1 by tokio: 64 tasks, each sends to its own channel.
//! The number is not that of type-erased events: the channel knows its type. Nor is it that of a task that is woken for each event: a task
//! that finds its next event in the channel goes on, up to tokio's budget of 128, before another task has its turn.

use crate::chains::Chains;
use crate::lanes::{channels, leak, post, runtime, serve_only, Event, Lane};
use crate::report::{Report, Request};

const CHAINS: usize = 64;

struct Run {
    lanes: Vec<Lane<Chain>>,
    chains: Chains,
}

#[derive(Clone, Copy)]
struct Chain {
    run: &'static Run,
    lane: usize,
    left: usize,
    _payload: [usize; 2],
}

impl Event for Chain {
    fn run(mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.run.chains.one_ended();
        } else {
            post(&self.run.lanes[self.lane], self);
        }
    }
}

pub fn measure(asked: &Request) {
    let events = asked.size(5_000_000, CHAINS);
    let (lanes, receivers) = channels(CHAINS);
    let run: &'static Run = leak(Run { lanes, chains: Chains::new(CHAINS) });
    let on = runtime(asked.workers);
    let served = serve_only(&on, receivers);
    let mut out = Report::new(asked);
    on.spawn(async move {
        run.chains.start();
        for lane in 0..CHAINS {
            post(&run.lanes[lane], Chain { run, lane, left: events / CHAINS, _payload: [0; 2] });
        }
    });
    run.chains.wait();
    served.end_and_check(&run.lanes, events);
    out.add("events", events as f64);
    out.add("ns_per_event", run.chains.took_ns() / events as f64);
    run.chains.tell(&mut out);
    out.print();
}
