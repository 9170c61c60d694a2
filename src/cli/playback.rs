//! A stored conversation on the screen as it was when it happened.

use std::time::Duration;

use tract::deeds::page::numbered;
use tract::ingest::{Conversation, Player, Start};
use tract::model::Millis;

use super::conversation::{self, Form, Which};
use super::live::Live;
use super::machine::pause::{Over, Pause};
use super::{App, Failure, Result};

/// The longest pause: nobody waits for what the user thought about.
const PAUSE_MAX: Duration = Duration::from_secs(3);
/// The shortest pause: what is shorter is no pause.
const PAUSE_MIN: Duration = Duration::from_millis(5);

/// Plays what stands at a commit, so many times as fast as it was. A signal ends it.
pub fn play(what: &str, which: Which, speed: f64, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let tip = repo.resolve(&app.on()?, what)?;
    let conversation = Conversation::open(&repo, &tip, which.scope(Form::Plain, &repo)?)?;
    let conversation = conversation.going_on(repo.is_under_way(&tip, app.now())?);
    conversation::header(&conversation, app)?;
    app.ui.flush()?;
    let range = conversation.first()..conversation.len();
    let times = conversation.times(&repo, range.clone())?;
    let player = conversation.player(&repo, range, Start::Alone)?;
    run(player, &times, speed, app)
}

/// Plays it; `times` are those of its messages, for records that have none.
fn run(mut player: Player, times: &[Option<Millis>], speed: f64, app: &mut App) -> Result<()> {
    let pause = Pause::begin()?;
    let mut live = Live::default();
    let (mut last, mut owed) = (None, Duration::ZERO);
    while let Some((time, at)) = player.next() {
        let time = time.or_else(|| times.get(at).copied().flatten());
        if let (Some(time), Some(last)) = (time, last) {
            owed += between(last, time, speed);
        }
        last = time.or(last);
        if owed >= PAUSE_MIN {
            draw(&mut player, &mut live, app)?;
            match pause.wait(owed.min(PAUSE_MAX)) {
                Some(Over::Closed) => return Err(Failure::ClosedPipe),
                Some(Over::Asked) => return pause.obey(),
                None => owed = Duration::ZERO,
            }
        }
        player.step();
    }
    let found = player.finish();
    let number = |node| found.entry_of(node).map(numbered);
    Ok(live.finish(&found.tree, &number, &mut app.ui)?)
}

fn draw(player: &mut Player, live: &mut Live, app: &mut App) -> Result<()> {
    player.mark();
    let number = |node| player.entry_of(node).map(numbered);
    Ok(live.draw_numbered(player.tree(), &number, &mut app.ui)?)
}

/// How long to wait between two times.
fn between(from: Millis, to: Millis, speed: f64) -> Duration {
    let millis = to.0.saturating_sub(from.0).max(0);
    let seconds = millis as f64 / 1_000.0 / speed;
    Duration::try_from_secs_f64(seconds).map_or(PAUSE_MAX, |pause| pause.min(PAUSE_MAX))
}

/// A speed as it was typed: 0 is at once.
pub fn speed(text: &str) -> Result<f64, String> {
    let speed = text.trim_end_matches(['x', '×']).parse::<f64>().ok();
    let speed = speed.filter(|speed| speed.is_finite() && *speed >= 0.0);
    speed.ok_or_else(|| "a number such as 2 or 0.5; 0 is at once".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_scaled_and_have_an_end() {
        let pause = |millis, speed| between(Millis(0), Millis(millis), speed);
        assert_eq!(pause(500, 1.0), Duration::from_millis(500));
        assert_eq!(pause(500, 2.0), Duration::from_millis(250));
        assert_eq!(pause(500, 0.5), Duration::from_secs(1));
        assert_eq!(pause(86_400_000, 1.0), PAUSE_MAX);
        assert_eq!(pause(i64::MAX, 1e-300), PAUSE_MAX);
        assert_eq!(pause(-5, 1.0), Duration::ZERO);
    }

    #[test]
    fn a_speed_is_a_number() {
        assert_eq!(speed("2"), Ok(2.0));
        assert_eq!(speed("0.5x"), Ok(0.5));
        for wrong in ["", "-1", "inf", "NaN", "fast"] {
            speed(wrong).expect_err(wrong);
        }
    }
}
