//! The time zone that times are shown in, read from its one file.
//!
//! Whoever asks jiff for the system's zone has it list all zones first: twenty folders.

use std::ffi::OsString;
use std::path::Path;

use jiff::tz::TimeZone;

/// Where zones are, below which a file's path is the name of its zone.
const ZONES: &str = "/usr/share/zoneinfo";
/// The zone where `TZ` names none.
const LOCAL: &str = "/etc/localtime";

/// The name of the zone, as `TZ` gives it; none where it isn't set.
#[derive(Clone, Debug, Default)]
pub struct ZoneName(Option<OsString>);

impl ZoneName {
    pub fn given(name: Option<OsString>) -> Self {
        Self(name)
    }

    /// The zone. What is not one file at its usual place is left to jiff: rules in `TZ`, names in other letters, a database at
    /// another place.
    pub fn read(&self) -> TimeZone {
        self.of_file(Path::new(ZONES), Path::new(LOCAL))
            .unwrap_or_else(TimeZone::system)
    }

    fn of_file(&self, zones: &Path, local: &Path) -> Option<TimeZone> {
        let (name, file) = match &self.0 {
            None => {
                let target = std::fs::read_link(local).ok()?;
                let (_, name) = target.to_str()?.rsplit_once("zoneinfo/")?;
                (name.to_owned(), local.to_owned())
            }
            Some(name) => {
                let name = name.to_str().filter(|name| is_plain(name))?;
                (name.to_owned(), zones.join(name))
            }
        };
        TimeZone::tzif(&name, &std::fs::read(file).ok()?).ok()
    }
}

/// Whether it is an area and a city, and cannot be a rule or a path to elsewhere.
fn is_plain(name: &str) -> bool {
    let is_word = |part: &str| {
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte);
        !part.is_empty() && part.bytes().all(letters)
    };
    name.contains('/') && name.split('/').all(is_word)
}

#[cfg(all(test, unix))]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_zone_is_that_of_its_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let zones = folder.path().join("zoneinfo");
        std::fs::create_dir_all(zones.join("Area")).expect("made");
        let header = |kind: &[u8]| {
            let mut bytes = b"TZif2".to_vec();
            bytes.extend([0; 15]);
            for count in [0_u32, 0, 0, 0, 1, 4] {
                bytes.extend(count.to_be_bytes());
            }
            bytes.extend(kind);
            bytes
        };
        let mut kind = 10_800_i32.to_be_bytes().to_vec();
        kind.extend([0, 0]);
        kind.extend(b"AAA\0");
        let bytes = [header(&kind), header(&kind), b"\nAAA-3\n".to_vec()].concat();
        let city = zones.join("Area/City");
        std::fs::write(&city, bytes).expect("written");
        let local = folder.path().join("localtime");
        std::os::unix::fs::symlink(&city, &local).expect("linked");
        for name in [None, Some("Area/City")] {
            let zone = ZoneName(name.map(Into::into)).of_file(&zones, &local);
            let zone = zone.expect("it is there");
            assert_eq!(zone.iana_name(), Some("Area/City"));
            assert_eq!(zone.to_offset(Timestamp::UNIX_EPOCH).seconds(), 10_800);
        }
        for other in [
            "UTC",
            "EST5EDT",
            "Area/Nowhere",
            "Area/../Area/City",
            "<+03>-3/x",
        ] {
            assert!(
                ZoneName(Some(other.into()))
                    .of_file(&zones, &local)
                    .is_none()
            );
        }
    }
}
