//! A part of the keys, as bench/w14_key_value/shard.h has it: what has expired is never seen again, and each command removes up to SWEEP_AT_ONCE of
//! such keys. Without keys that expire no clock is read.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

const SWEEP_AT_ONCE: usize = 4;
const MOST_SECONDS: i64 = 1_000_000_000;

struct Entry {
    value: Vec<u8>,
    deadline: Option<Instant>,
}

#[derive(Default)]
pub struct Shard {
    keys: HashMap<Vec<u8>, Entry>,
    deadlines: BTreeSet<(Instant, Vec<u8>)>,
}

pub fn integer(text: &[u8]) -> Option<i64> {
    if text.first() == Some(&b'+') {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

impl Shard {
    pub fn new() -> Shard {
        Shard::default()
    }

    pub fn get(&mut self, key: &[u8]) -> Option<&[u8]> {
        self.make_ready(key);
        self.keys.get(key).map(|entry| entry.value.as_slice())
    }

    /// It does not expire, whatever the key did before.
    pub fn set(&mut self, key: &[u8], value: &[u8]) {
        self.make_ready(key);
        match self.keys.get_mut(key) {
            Some(entry) => {
                if let Some(deadline) = entry.deadline.take() {
                    self.deadlines.remove(&(deadline, key.to_vec()));
                }
                entry.value.clear();
                entry.value.extend_from_slice(value);
            }
            None => {
                self.keys.insert(key.to_vec(), Entry { value: value.to_vec(), deadline: None });
            }
        }
    }

    pub fn increment(&mut self, key: &[u8]) -> Option<i64> {
        self.make_ready(key);
        if !self.keys.contains_key(key) {
            self.keys.insert(key.to_vec(), Entry { value: b"0".to_vec(), deadline: None });
        }
        let entry = self.keys.get_mut(key)?;
        let value = integer(&entry.value)?.checked_add(1)?;
        entry.value = value.to_string().into_bytes();
        Some(value)
    }

    pub fn remove(&mut self, key: &[u8]) -> bool {
        self.make_ready(key);
        match self.keys.remove(key) {
            Some(entry) => {
                if let Some(deadline) = entry.deadline {
                    self.deadlines.remove(&(deadline, key.to_vec()));
                }
                true
            }
            None => false,
        }
    }

    pub fn expire(&mut self, key: &[u8], seconds: i64) -> bool {
        if seconds <= 0 {
            return self.remove(key);
        }
        self.make_ready(key);
        match self.keys.get_mut(key) {
            Some(entry) => {
                let deadline = Instant::now() + Duration::from_secs(seconds.min(MOST_SECONDS) as u64);
                if let Some(before) = entry.deadline.replace(deadline) {
                    self.deadlines.remove(&(before, key.to_vec()));
                }
                self.deadlines.insert((deadline, key.to_vec()));
                true
            }
            None => false,
        }
    }

    /// Sweeps, and removes the key if it has expired.
    fn make_ready(&mut self, key: &[u8]) {
        if self.deadlines.is_empty() {
            return;
        }
        let now = Instant::now();
        for _ in 0..SWEEP_AT_ONCE {
            let first = match self.deadlines.iter().next() {
                Some(first) if first.0 <= now => first.clone(),
                _ => break,
            };
            self.deadlines.remove(&first);
            self.keys.remove(&first.1);
        }
        if let Some(deadline) = self.keys.get(key).and_then(|entry| entry.deadline) {
            if deadline <= now {
                self.deadlines.remove(&(deadline, key.to_vec()));
                self.keys.remove(key);
            }
        }
    }
}
