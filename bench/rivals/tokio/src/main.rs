//! The questions of bench/ by tokio: a task and an unbounded channel per color, on a multi_thread runtime.

mod lanes;
mod report;
mod w1_event_cost;
mod w2_post_from_outside;
mod w3_hop;
mod w4_unbalanced;
mod w5_idle_color;
mod w7_short_lived;

fn main() {
    let asked = report::Request::from_command_line();
    match asked.as_ref().map(|asked| (asked, asked.question.as_str())) {
        Some((asked, "w1")) => w1_event_cost::measure(asked),
        Some((asked, "w2")) => w2_post_from_outside::measure(asked),
        Some((asked, "w3")) => w3_hop::measure(asked),
        Some((asked, "w4")) => w4_unbalanced::measure(asked),
        Some((asked, "w5")) => w5_idle_color::measure(asked),
        Some((asked, "w7")) => w7_short_lived::measure(asked),
        _ => {
            eprintln!("usage: tokio_task <w1|w2|w3|w4|w5|w7> <workers> [scale = 1] [variant]");
            std::process::exit(2);
        }
    }
}
