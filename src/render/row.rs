//! A message in a list, in one line. Deliberately absent: the other columns of the list.

use crate::render::{Label, Line};

/// What stands between a call and how its result begins.
const BETWEEN: &str = " → ";
/// What is said of a message that says nothing.
const NOTHING: &str = "(empty)";

/// How a message begins, after the call that it answers, if it answers one: as much of both as
/// `room` columns hold, where there is a limit. Both texts are hostile until they are here.
pub fn said(call: Option<&str>, preview: &str, room: Option<usize>) -> Line {
    let text = match (preview.is_empty(), call) {
        (true, _) => Label::Dim.of(NOTHING),
        (false, None) => Line::from(preview),
        (false, Some(_)) => Label::Dim.of(preview),
    };
    let Some(call) = call else {
        return within(text, room);
    };
    let mut line = Line::from(call);
    if let Some(room) = room {
        // The call says more; but something of what came of it is to be seen.
        let rest = BETWEEN.chars().count() + text.width_cols();
        line = line.cut((room * 2 / 3).max(room.saturating_sub(rest)));
    }
    within(line + Label::Dim.of(BETWEEN) + text, room)
}

fn within(line: Line, room: Option<usize>) -> Line {
    match room {
        Some(room) => line.cut(room),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_told_with_its_call_however_little_room_there_is() {
        let call = "Read file_path=\"src/a/long/way/down/lib.rs\"";
        let of = |room| said(Some(call), "//! The library", room).text();
        assert_eq!(of(None), format!("{call} → //! The library"));
        assert_eq!(of(Some(70)), format!("{call} → //! The library"));
        assert_eq!(of(Some(40)), "Read file_path=\"src/a/lon… → //! The li…");
        assert_eq!(said(Some("Bash"), "", None).text(), "Bash → (empty)");
        assert_eq!(said(None, "", Some(9)).text(), "(empty)");
        assert_eq!(said(None, "one two", Some(5)).text(), "one…");
        for room in 0..70 {
            let line = said(Some(call), "//! The library", Some(room));
            assert!(line.width_cols() <= room, "{room}");
        }
        assert_eq!(said(Some("\u{1b}"), "\u{1b}", None).text(), "␛ → ␛");
    }
}
