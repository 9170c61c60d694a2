//! How far an answer looks: in this conversation, in this project, everywhere; and under which heading what it found
//! stands.
//!
//! Without a word of the agent nothing of another project is told, whatever is named: an id, a branch, a compaction.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;
use tract::deeds::{ApiError, At, ELSEWHERE};
use tract::model::call::last_name;
use tract::model::quote::folded;

use super::asker::Asking;

/// The argument that says how far.
pub const WHERE: &[&str] = &["here", "project", "all"];

/// The errors that come of what was named. They differ by whether it is somewhere.
const NAMING: [&str; 11] = [
    NO_SUCH_MESSAGE,
    ELSEWHERE,
    "unknown_revision",
    "ambiguous_revision",
    "beyond_first",
    "not_on_path",
    "no_message",
    "no_previous_position",
    "invalid_hash",
    "invalid_ref_name",
    "unknown_name",
];
const NO_SUCH_MESSAGE: &str = "no_such_message";

/// Where an agent has ids from.
pub const IDS: &str =
    "recall, did and dropped tell ids; :7 is the seventh message of this conversation";

/// How far to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Here,
    Project,
    All,
}

impl Place {
    fn of(word: &str) -> Option<Self> {
        match word {
            "here" => Some(Self::Here),
            "project" => Some(Self::Project),
            "all" => Some(Self::All),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Here => "here",
            Self::Project => "project",
            Self::All => "all",
        }
    }
}

/// Where an answer may come from.
pub struct Reach<'a> {
    asking: &'a Asking,
    /// What the agent asked for.
    asked: Option<Place>,
    /// What the user allows.
    most: Place,
}

/// One of the places, as a deed takes it.
#[derive(Clone, Debug)]
pub struct Room {
    pub place: Place,
    /// The conversation that it is.
    pub rev: Option<String>,
    /// The directory in which its sessions ran.
    pub directory: Option<String>,
}

/// What was found under one heading.
pub struct Group<T> {
    pub heading: String,
    pub found: Vec<T>,
}

impl<'a> Reach<'a> {
    pub fn of(asking: &'a Asking, asked: Option<Place>, most: Option<&str>) -> Self {
        Self {
            asking,
            asked,
            most: most.and_then(Place::of).unwrap_or(Place::All),
        }
    }

    /// Whether another question may look further.
    pub fn has_more(&self) -> bool {
        self.asked != Some(Place::All) && self.most == Place::All
    }

    /// Whether all that was asked for is looked through, however much of it is found.
    pub fn is_whole(&self) -> bool {
        self.asked.is_some_and(|asked| asked > Place::Here)
    }

    /// The places to look in, the nearest first, as far as there is anything. Where little is here, it may be in
    /// another conversation of the project: that is looked through as well, and saves a second question.
    pub fn rooms(&self, at: &At<'_>) -> Vec<Room> {
        let asked = match self.asked {
            None | Some(Place::Here) => Place::Project,
            Some(further) => further,
        };
        let far = asked.min(self.most);
        let places = [Place::Here, Place::Project, Place::All];
        let near = |place: &Place| *place <= far;
        let rooms = places.into_iter().filter(near);
        rooms.filter_map(|place| self.room(at, place)).collect()
    }

    fn room(&self, at: &At<'_>, place: Place) -> Option<Room> {
        let asking = self.asking;
        let anywhere = Room {
            place,
            rev: None,
            directory: None,
        };
        match place {
            Place::Here => asking.tip.clone().map(|tip| Room {
                rev: Some(tip),
                ..anywhere
            }),
            Place::Project if asking.is_all_here => Some(anywhere),
            // Where no session ran there is nothing to look through; of the home itself all is below it.
            Place::Project => {
                let directory = asking.directory.clone()?;
                let is_known = at.repo.directory_named(&directory, Path::new("")).is_ok();
                (at.repo.seat().is_some() && is_known).then_some(Room {
                    directory: Some(directory),
                    ..anywhere
                })
            }
            Place::All => Some(anywhere),
        }
    }

    /// What the nearest place says that has what is meant, and which that is. That something is elsewhere is never told:
    /// it is missed as what is nowhere.
    pub fn nearest<T>(
        &self,
        at: &mut At<'_>,
        what: &str,
        mut told: impl FnMut(&mut At<'_>, Room) -> Result<T, ApiError>,
    ) -> Result<(Place, T), ApiError> {
        for room in self.rooms(at) {
            let place = room.place;
            match told(at, room).map(|said| (place, said)) {
                // A message has no such part.
                Err(error) if error.kind == "refused" => {}
                Err(error) if is_told(&error, what) => return Err(named(error, what)),
                Err(_) => {}
                said => return said,
            }
        }
        let far = match (self.asked, self.most) {
            (_, Place::Here) => IN_THIS,
            (Some(Place::All), Place::All) => "",
            _ => " in this project",
        };
        Err(match self.has_more() {
            true => missed(what, far).with_hint("where: all looks into other projects as well"),
            false => missed(what, far),
        })
    }

    /// What a deed says that looks nowhere but here.
    pub fn here<T>(what: &str, said: Result<T, ApiError>) -> Result<T, ApiError> {
        said.map_err(|error| match is_told(&error, what) {
            true => named(error, what),
            false => missed(what, IN_THIS),
        })
    }

    /// What a conversation of a place is called.
    pub const fn conversation(&self, place: Place) -> &'static str {
        match place {
            Place::Here if self.asking.is_known => "this conversation",
            Place::Here => "the conversation that is checked out here",
            Place::Project => "another conversation of this project",
            Place::All => "a conversation of another project",
        }
    }

    /// What was found in a place, under its headings: of other projects each under its own.
    pub fn groups<T>(
        &self,
        place: Place,
        found: Vec<T>,
        directory: impl Fn(&T) -> Option<&str>,
    ) -> Vec<Group<T>> {
        if place != Place::All {
            let heading = match place {
                Place::Project => "other conversations of this project",
                place => self.conversation(place),
            };
            let heading = heading.to_owned();
            return vec![Group { heading, found }];
        }
        let mut groups: Vec<(Option<String>, Vec<T>)> = Vec::new();
        for one in found {
            let of = directory(&one).map(str::to_owned);
            match groups.iter_mut().find(|(known, _)| *known == of) {
                Some((_, found)) => found.push(one),
                None => groups.push((of, vec![one])),
            }
        }
        let names = groups.iter().filter_map(|(of, _)| of.as_deref());
        let names: Vec<&str> = names.map(last_name).collect();
        let mut seen = HashSet::new();
        let twice: HashSet<String> = names
            .into_iter()
            .filter(|name| !seen.insert(*name))
            .map(str::to_owned)
            .collect();
        let headed = groups.into_iter().map(|(of, found)| {
            let heading = match of.as_deref() {
                None => "conversations of no project".to_owned(),
                Some(of) if twice.contains(last_name(of)) => format!("project {}", folded(of)),
                Some(of) => format!("project {}", folded(last_name(of))),
            };
            Group { heading, found }
        });
        headed.collect()
    }

    /// That the user's setting kept an answer from what was asked for.
    pub fn note(&self) -> Option<String> {
        let is_kept = self.asked.is_some_and(|asked| asked > self.most);
        is_kept.then(|| {
            let most = self.most.name();
            format!("(the user's setting recall.where keeps this to {most})")
        })
    }
}

/// Where the nearest place is.
const IN_THIS: &str = " in this conversation";

/// Whether all of an error is told to who named this.
fn is_told(error: &ApiError, what: &str) -> bool {
    let is_own = what.starts_with(':') && error.kind == NO_SUCH_MESSAGE;
    is_own || !NAMING.contains(&&*error.kind)
}

/// The error with what was named as it was named.
fn named(mut error: ApiError, what: &str) -> ApiError {
    if error.kind == NO_SUCH_MESSAGE {
        error.facts.insert("text".to_owned(), what.into());
    }
    error
}

/// That there is no such message, as far as is looked.
fn missed(what: &str, far: &str) -> ApiError {
    ApiError::refused(format!("there is no message '{}'{far}", folded(what))).with_hint(IDS)
}
