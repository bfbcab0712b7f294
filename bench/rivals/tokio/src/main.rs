//! The questions of bench/ by tokio: a task and an unbounded channel per color, on a multi_thread runtime.

mod chains;
mod churn;
mod ideal_schedule;
mod lanes;
mod report;
mod rounds;
mod w10_table_2;
mod w11_timers;
mod w14_key_value;
mod w1_event_cost;
mod w2_post_from_outside;
mod w3_hop;
mod w4_unbalanced;
mod w5_idle_color;
mod w6_hot_color;
mod w7_short_lived;
mod w8_penalty;
mod w9_locality;

type Question = (&'static str, fn(&report::Request));
const QUESTIONS: [Question; 12] = [
    ("w1", w1_event_cost::measure),
    ("w2", w2_post_from_outside::measure),
    ("w3", w3_hop::measure),
    ("w4", w4_unbalanced::measure),
    ("w5", w5_idle_color::measure),
    ("w6", w6_hot_color::measure),
    ("w7", w7_short_lived::measure),
    ("w8", w8_penalty::measure),
    ("w9", w9_locality::measure),
    ("w10", w10_table_2::measure),
    ("w11", w11_timers::measure),
    ("w14", w14_key_value::serve_until_killed), // the port for a variant; its load is bench/w14_key_value
];

fn main() {
    let asked = report::Request::from_command_line();
    let found = asked.as_ref().and_then(|asked| QUESTIONS.iter().find(|(key, _)| *key == asked.question));
    match (asked.as_ref(), found) {
        (Some(asked), Some((_, measure))) => measure(asked),
        _ => {
            eprintln!("usage: tokio_task <{}> <workers> [scale = 1] [variant]", QUESTIONS.map(|(key, _)| key).join("|"));
            std::process::exit(2);
        }
    }
}
