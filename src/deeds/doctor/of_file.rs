//! What is good of a file, and what is not.

use serde_json::json;

use super::{HealthCheck, HealthVerdict};
use crate::render::bytes;
use crate::repo::health::{FileHealth, Room, RoomOf};

/// From here on free pages are worth a collection: so many bytes, and this part of the file.
const FREE_BYTES: u64 = 16 << 20;
const FREE_PART: u64 = 4;
/// From here on a journal is one that nobody has folded in.
const JOURNAL_BYTES: u64 = 64 << 20;
/// `FULL` of SQLite's `synchronous`.
const FULL: u64 = 2;

pub(super) fn checks(file: &FileHealth, room: &Room) -> Vec<HealthCheck> {
    vec![locks(file), durable(file), space(room), backup()]
}

fn locks(file: &FileHealth) -> HealthCheck {
    let check = match file.is_being_written {
        Some(false) => HealthCheck::good("locks", "nobody is writing"),
        Some(true) => {
            HealthCheck::good("locks", "somebody is writing now; others wait 10 s at most")
        }
        None => HealthCheck::new(
            "locks",
            HealthVerdict::Unknown,
            "it can only be read from here",
        ),
    };
    check.with(json!({ "is_being_written": file.is_being_written }))
}

fn durable(file: &FileHealth) -> HealthCheck {
    let facts = json!({ "journal_mode": file.journal_mode, "synchronous": file.synchronous });
    let check = match (file.synchronous >= FULL, &*file.journal_mode) {
        (true, _) => HealthCheck::good(
            "durable",
            "what is acknowledged is on the disk (synchronous FULL)",
        ),
        (false, "memory") => {
            HealthCheck::good("durable", "it is in memory, and ends with this program")
        }
        (false, _) => {
            let says = format!(
                "synchronous is {}: a commit may be lost with the power",
                file.synchronous
            );
            HealthCheck::look(
                "durable",
                says,
                "this is not how tract opens a file: was SQLite built anew?",
            )
        }
    };
    check.with(facts)
}

fn space(room: &Room) -> HealthCheck {
    let of = |kind| {
        room.0
            .iter()
            .find(|(of, _)| *of == kind)
            .map_or(0, |(_, size)| *size)
    };
    let (free, journal, all) = (of(RoomOf::Free), of(RoomOf::Journal), room.size_bytes());
    let facts = json!({ "free_bytes": free, "journal_bytes": journal });
    let check = if journal >= JOURNAL_BYTES {
        let says = format!(
            "the journal has {}, and nobody has folded it in",
            bytes(journal)
        );
        let advice =
            "a reader that stays open holds it back: is tract web or a program of your own open?";
        HealthCheck::look("space", says, advice)
    } else if free >= FREE_BYTES && free > all / FREE_PART {
        let says = format!("{} of {} are free pages", bytes(free), bytes(all));
        HealthCheck::look("space", says, "tract gc gives them back")
    } else {
        HealthCheck::good("space", format!("{} of free pages", bytes(free)))
    };
    check.with(facts)
}

/// A copy of a file leaves no trace in it.
fn backup() -> HealthCheck {
    let says = "not known here: copies of a file leave no trace in it";
    HealthCheck::new("backup", HealthVerdict::Unknown, says)
        .advising("tract backup FILE makes one, checked")
}
