//! One run's command line and figures, as bench/harness/request.h and report.h have them.

use crate::rounds::Rounds;
use std::mem::MaybeUninit;
use std::time::Instant;

pub struct Request {
    pub question: String,
    pub workers: usize,
    pub scale: f64,
    pub variant: String,
}

impl Request {
    /// Command line: <question> <workers> [scale] [variant].
    pub fn from_command_line() -> Option<Request> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        if words.len() < 2 || words.len() > 4 {
            return None;
        }
        let workers = words[1].parse().ok().filter(|n| *n > 0)?;
        let scale = words.get(2).map_or(Some(1.0), |word| word.parse().ok()).filter(|s| *s > 0.0)?;
        let variant = words.get(3).cloned().unwrap_or_default();
        Some(Request { question: words[0].clone(), workers, scale, variant })
    }

    /// The size at scale 1, scaled, and a multiple of `unit`.
    pub fn size(&self, at_scale_1: usize, unit: usize) -> usize {
        let scaled = (at_scale_1 as f64 * self.scale) as usize / unit * unit;
        scaled.max(unit)
    }
}

struct Usage {
    user_s: f64,
    system_s: f64,
    voluntary: f64,
    involuntary: f64,
}

impl Usage {
    fn now() -> Usage {
        let mut used = MaybeUninit::<libc::rusage>::zeroed();
        // Fills the whole structure; it fails for no argument of ours.
        let used = unsafe {
            libc::getrusage(libc::RUSAGE_SELF, used.as_mut_ptr());
            used.assume_init()
        };
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
        Usage {
            user_s: seconds(used.ru_utime),
            system_s: seconds(used.ru_stime),
            voluntary: used.ru_nvcsw as f64,
            involuntary: used.ru_nivcsw as f64,
        }
    }
}

/// Processor time of this process so far.
pub fn cpu_ns() -> u64 {
    let used = Usage::now();
    ((used.user_s + used.system_s) * 1e9) as u64
}

/// Collects figures from its construction on; `print` adds what the process used meanwhile.
pub struct Report {
    line: String,
    before: Usage,
    began: Instant,
}

impl Report {
    pub fn new(asked: &Request) -> Report {
        let plus = if asked.variant.is_empty() { "" } else { "+" };
        let line = format!(
            "{{\"question\": \"{}\", \"contender\": \"tokio_task{}{}\", \"workers\": {}",
            asked.question, plus, asked.variant, asked.workers
        );
        Report { line, before: Usage::now(), began: Instant::now() }
    }

    /// With six digits.
    pub fn add(&mut self, name: &str, value: f64) {
        let rounded: f64 = format!("{:.5e}", value).parse().unwrap_or(value);
        self.line += &format!(", \"{}\": {}", name, rounded);
    }

    /// What W8 and W9 tell of their rounds.
    pub fn add_rounds(&mut self, of: &Rounds, events_per_part: usize) {
        let events = (of.parts() * events_per_part) as f64;
        self.add("events", events);
        self.add("rounds", of.count() as f64);
        self.add("ns_per_a", of.took_ns() / of.parts() as f64);
        self.add("kilo_events_per_s", events / of.took_ns() * 1e6);
    }

    pub fn print(mut self) {
        let wall_s = self.began.elapsed().as_secs_f64();
        let used = Usage::now();
        self.add("wall_s", wall_s);
        self.add("user_s", used.user_s - self.before.user_s);
        self.add("system_s", used.system_s - self.before.system_s);
        self.add("voluntary_switches", used.voluntary - self.before.voluntary);
        self.add("involuntary_switches", used.involuntary - self.before.involuntary);
        println!("{}}}", self.line);
    }
}

/// Bytes of this process in memory.
pub fn resident_bytes() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("/proc/self/statm");
    let pages: f64 = statm.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("statm");
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as f64
}
