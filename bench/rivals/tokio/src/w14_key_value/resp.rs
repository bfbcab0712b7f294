//! RESP, as bench/w14_key_value/resp.h reads it, with the same limits.

use std::ops::Range;

pub const MOST_WORDS: usize = 16;
const MOST_WORD_BYTES: usize = 512 * 1024;
const MOST_LINE_BYTES: usize = 4096;
const MOST_DIGITS: usize = 7;

pub enum Parsed {
    /// So many bytes of a command whose words are in the vector.
    Whole(usize),
    Partial,
    Bad(&'static str),
}

enum Length {
    Whole { value: usize, next: usize },
    Partial,
    Bad,
}

fn length_at(text: &[u8], at: usize, most: usize) -> Length {
    let line = &text[at..text.len().min(at + MOST_DIGITS + 2)];
    let end = match line.iter().position(|byte| *byte == b'\r') {
        Some(end) => end,
        None => return if line.len() > MOST_DIGITS { Length::Bad } else { Length::Partial },
    };
    if end == 0 || end > MOST_DIGITS {
        return Length::Bad;
    }
    if end + 1 == line.len() {
        return Length::Partial;
    }
    let digits = &line[..end];
    if line[end + 1] != b'\n' || !digits.iter().all(u8::is_ascii_digit) {
        return Length::Bad;
    }
    let value = digits.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
    if value > most {
        return Length::Bad;
    }
    Length::Whole { value, next: at + end + 2 }
}

fn array(text: &[u8], words: &mut Vec<Range<usize>>) -> Parsed {
    let (count, mut at) = match length_at(text, 1, MOST_WORDS) {
        Length::Whole { value, next } => (value, next),
        Length::Partial => return Parsed::Partial,
        Length::Bad => return Parsed::Bad("ERR Protocol error: invalid multibulk length"),
    };
    for _ in 0..count {
        match text.get(at) {
            None => return Parsed::Partial,
            Some(b'$') => {}
            Some(_) => return Parsed::Bad("ERR Protocol error: expected '$'"),
        }
        let (length, begin) = match length_at(text, at + 1, MOST_WORD_BYTES) {
            Length::Whole { value, next } => (value, next),
            Length::Partial => return Parsed::Partial,
            Length::Bad => return Parsed::Bad("ERR Protocol error: invalid bulk length"),
        };
        if text.len() < begin + length + 2 {
            return Parsed::Partial;
        }
        if &text[begin + length..begin + length + 2] != b"\r\n" {
            return Parsed::Bad("ERR Protocol error: a bulk string does not end with its line");
        }
        words.push(begin..begin + length);
        at = begin + length + 2;
    }
    Parsed::Whole(at)
}

fn line(text: &[u8], words: &mut Vec<Range<usize>>) -> Parsed {
    let end = match text[..text.len().min(MOST_LINE_BYTES)].iter().position(|byte| *byte == b'\n') {
        Some(end) => end,
        None if text.len() < MOST_LINE_BYTES => return Parsed::Partial,
        None => return Parsed::Bad("ERR Protocol error: too big inline request"),
    };
    let last = if end != 0 && text[end - 1] == b'\r' { end - 1 } else { end };
    let mut at = 0;
    while at < last {
        let stop = text[at..last].iter().position(|byte| *byte == b' ').map_or(last, |length| at + length);
        if stop > at {
            if words.len() == MOST_WORDS {
                return Parsed::Bad("ERR Protocol error: too many words");
            }
            words.push(at..stop);
        }
        at = stop + 1;
    }
    Parsed::Whole(end + 1)
}

/// The command that the text begins with; its words as places in the text.
pub fn parse(text: &[u8], words: &mut Vec<Range<usize>>) -> Parsed {
    words.clear();
    match text.first() {
        None => Parsed::Partial,
        Some(b'*') => array(text, words),
        Some(_) => line(text, words),
    }
}
