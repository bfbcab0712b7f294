//! Work whose length is calibrated once, see bench/harness/churn.h.

use std::arch::asm;
use std::time::Instant;

const FACTOR: u64 = 6364136223846793005;
const TERM: u64 = 1442695040888963407;

/// Nothing, but the compiler does not know: it would make one step of two, and move a step behind the look at the clock that ends it.
fn opaque(mut x: u64) -> u64 {
    // No instruction.
    unsafe { asm!("/* {0} */", inout(reg) x, options(nomem, nostack, preserves_flags)) };
    x
}

/// Each step waits for the multiplication of the one before.
pub fn churn(mut x: u64, steps: usize) -> u64 {
    for _ in 0..steps {
        x = opaque(x.wrapping_mul(FACTOR).wrapping_add(TERM));
    }
    x
}

/// The same, and nothing after it begins before it has ended.
pub fn churn_alone(x: u64, steps: usize) -> u64 {
    let mut x = churn(x, steps);
    // Waits for what stands before it, and changes nothing.
    unsafe { asm!("lfence /* {0} */", inout(reg) x, options(nostack, preserves_flags)) };
    x
}

/// What `churn` gives, by repeated squaring of x -> factor * x + term.
pub fn churn_result(mut x: u64, mut steps: usize) -> u64 {
    let (mut factor, mut term) = (FACTOR, TERM);
    while steps != 0 {
        if steps & 1 != 0 {
            x = x.wrapping_mul(factor).wrapping_add(term);
        }
        term = term.wrapping_mul(factor).wrapping_add(term);
        factor = factor.wrapping_mul(factor);
        steps >>= 1;
    }
    x
}

/// How many steps take so long, by the fastest of some rounds.
pub fn churn_steps_in(ns: f64) -> usize {
    const STEPS: usize = 100_000;
    let mut fastest_ns = f64::MAX;
    let mut x = 1;
    for _ in 0..30 {
        let start = Instant::now();
        x = opaque(churn(x, STEPS));
        fastest_ns = fastest_ns.min(start.elapsed().as_nanos() as f64);
    }
    (ns * STEPS as f64 / fastest_ns) as usize
}
