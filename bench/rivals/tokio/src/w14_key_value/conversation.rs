//! What one client asks and is told, as bench/w14_key_value/conversation.h has it.

use super::resp::{parse, Parsed};
use super::shard::{integer, Shard};
use std::ops::Range;

const READ_AT_ONCE: usize = 16 * 1024;
const WRITE_AT_ONCE: usize = 64 * 1024;

#[derive(PartialEq, Clone, Copy)]
pub enum Step {
    Shard,
    More,
    Full,
    Over,
}

#[derive(Clone, Copy)]
enum Verb {
    Get,
    Set,
    Increment,
    Expire,
    Remove,
}

const WITH_A_KEY: [(&[u8], Verb, usize, usize); 5] = [
    (b"GET", Verb::Get, 2, 2),
    (b"SET", Verb::Set, 3, 3),
    (b"INCR", Verb::Increment, 2, 2),
    (b"EXPIRE", Verb::Expire, 3, 3),
    (b"DEL", Verb::Remove, 2, super::resp::MOST_WORDS),
];

pub struct Conversation {
    input: Vec<u8>,
    begin: usize,
    end: usize,
    output: Vec<u8>,
    words: Vec<Range<usize>>, // of what begins at `base`
    base: usize,
    verb: Verb,
    key_at: usize,
    seconds: i64,
    removed: i64,
}

impl Conversation {
    pub fn new() -> Conversation {
        Conversation {
            input: vec![0; READ_AT_ONCE],
            begin: 0,
            end: 0,
            output: Vec::new(),
            words: Vec::new(),
            base: 0,
            verb: Verb::Get,
            key_at: 0,
            seconds: 0,
            removed: 0,
        }
    }

    pub fn room(&mut self) -> &mut [u8] {
        self.input.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        self.input.resize(self.end + READ_AT_ONCE, 0);
        &mut self.input[self.end..]
    }

    pub fn add(&mut self, bytes: usize) {
        self.end += bytes;
    }

    pub fn output(&self) -> &[u8] {
        &self.output
    }

    pub fn clear_output(&mut self) {
        self.output.clear();
    }

    fn word(&self, n: usize) -> &[u8] {
        &self.input[self.base..][self.words[n].clone()]
    }

    pub fn key(&self) -> &[u8] {
        self.word(self.key_at)
    }

    pub fn next(&mut self) -> Step {
        loop {
            if self.key_at != 0 {
                return Step::Shard;
            }
            if self.output.len() >= WRITE_AT_ONCE {
                return Step::Full;
            }
            match parse(&self.input[self.begin..self.end], &mut self.words) {
                Parsed::Partial => return Step::More,
                Parsed::Bad(error) => {
                    self.error(error);
                    return Step::Over;
                }
                Parsed::Whole(used) => {
                    self.base = self.begin;
                    self.begin += used;
                    self.begin_command();
                }
            }
        }
    }

    fn begin_command(&mut self) {
        let count = self.words.len();
        if count == 0 {
            return;
        }
        let found = WITH_A_KEY.iter().find(|(name, ..)| self.word(0).eq_ignore_ascii_case(name));
        if let Some((_, verb, least, most)) = found {
            if count < *least || count > *most {
                return self.error("ERR wrong number of arguments");
            }
            if matches!(verb, Verb::Expire) {
                match integer(self.word(2)) {
                    Some(seconds) => self.seconds = seconds,
                    None => return self.error("ERR value is not an integer or out of range"),
                }
            }
            self.verb = *verb;
            self.removed = 0;
            self.key_at = 1;
        } else if self.word(0).eq_ignore_ascii_case(b"PING") && count == 1 {
            self.output.extend_from_slice(b"+PONG\r\n");
        } else if self.word(0).eq_ignore_ascii_case(b"CONFIG") && count == 3 && self.word(1).eq_ignore_ascii_case(b"GET") {
            let name = self.word(2).to_vec();
            self.output.extend_from_slice(b"*2\r\n");
            append_bulk(&mut self.output, &name);
            append_bulk(&mut self.output, if name.eq_ignore_ascii_case(b"appendonly") { b"no" } else { b"" });
        } else {
            self.error("ERR unknown command");
        }
    }

    /// The command, on the shard of its key.
    pub fn run(&mut self, on: &mut Shard) {
        let key = &self.input[self.base..][self.words[self.key_at].clone()];
        match self.verb {
            Verb::Get => match on.get(key) {
                Some(value) => append_bulk(&mut self.output, value),
                None => self.output.extend_from_slice(b"$-1\r\n"),
            },
            Verb::Set => {
                on.set(key, &self.input[self.base..][self.words[2].clone()]);
                self.output.extend_from_slice(b"+OK\r\n");
            }
            Verb::Increment => match on.increment(key) {
                Some(value) => append_integer(&mut self.output, value),
                None => self.output.extend_from_slice(b"-ERR value is not an integer or out of range\r\n"),
            },
            Verb::Expire => {
                let was_there = on.expire(key, self.seconds);
                append_integer(&mut self.output, i64::from(was_there));
            }
            Verb::Remove => {
                self.removed += i64::from(on.remove(key));
                if self.key_at + 1 < self.words.len() {
                    self.key_at += 1;
                    return;
                }
                append_integer(&mut self.output, self.removed);
            }
        }
        self.key_at = 0;
    }

    fn error(&mut self, words: &str) {
        self.output.push(b'-');
        self.output.extend_from_slice(words.as_bytes());
        self.output.extend_from_slice(b"\r\n");
    }
}

fn append_integer(to: &mut Vec<u8>, value: i64) {
    to.extend_from_slice(format!(":{}\r\n", value).as_bytes());
}

fn append_bulk(to: &mut Vec<u8>, word: &[u8]) {
    to.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
    to.extend_from_slice(word);
    to.extend_from_slice(b"\r\n");
}
