//! A log of an evaluation in an archive, as inspect_ai writes it: the object that its members are parts of.
//!
//! The archive is a ZIP. Its members are packed with zstd, in older logs with deflate. A run that was cut has no header; its
//! samples are whole. Deliberately absent: other archives, and members that are packed otherwise, which are named.
//!
//! # Source
//!
//! APPNOTE.TXT of PKWARE, 6.3.9; `src/inspect_ai/log/_recorders/eval.py` of
//! <https://github.com/UKGovernmentBEIS/inspect_ai>.

use std::io::{self, Read};

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

use crate::formats::{Input, Problem};
use crate::ingest::plain::{PlainFile, cut};
use crate::model::expansion::most_expanded;

/// With what a ZIP begins.
const MAGIC: &[u8] = b"PK\x03\x04";
/// With what an entry of its list begins, and the end of the list.
const ENTRY: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
/// How long these are, but for what they name.
const LOCAL_BYTES: u64 = 30;
const ENTRY_BYTES: usize = 46;
const END_BYTES: usize = 22;
/// How long the remark behind the end may be.
const REMARK_BYTES: u64 = 1 << 16;
/// How members are packed.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ZSTD: u16 = 93;

/// What is known of a whole run, and of one that was cut.
const HEADERS: [&str; 2] = ["header.json", "_journal/start.json"];
const SAMPLES: &str = "samples/";
/// What stands for a header that cannot be read.
const UNKNOWN: &[u8] = br#"{"eval":{"task":""}}"#;

/// A log as one object.
pub(super) struct EvalArchive {
    text: Vec<u8>,
    pub(super) problems: Vec<Problem>,
    pub(super) is_too_much: bool,
}

/// A member of the archive.
struct Entry {
    name: String,
    method: u16,
    /// Of what it holds, by CRC-32; 0 where that is not told.
    sum: u32,
    packed_bytes: u64,
    at: u64,
}

impl EvalArchive {
    /// The log in a file that begins so; none where it is no such archive.
    pub(super) fn open(file: &PlainFile, front: &[u8]) -> io::Result<Option<Self>> {
        if front != MAGIC {
            return Ok(None);
        }
        let Some(entries) = entries(file)? else {
            return Ok(None);
        };
        let headers = HEADERS
            .iter()
            .filter_map(|name| entries.iter().find(|entry| entry.name == *name));
        let headers: Vec<&Entry> = headers.collect();
        if headers.is_empty() {
            return Ok(None);
        }
        let mut archive = Self {
            text: Vec::new(),
            problems: Vec::new(),
            is_too_much: false,
        };
        let mut head = None;
        for header in headers {
            if head.is_none() {
                head = archive.member(file, header)?;
            }
        }
        let head = head.unwrap_or_else(|| UNKNOWN.to_vec());
        let head = head.trim_ascii_end();
        let head = head.strip_suffix(b"}").unwrap_or(b"{");
        archive.text.extend_from_slice(head.trim_ascii_end());
        let glue: &[u8] = if archive.text.ends_with(b"{") {
            b""
        } else {
            b","
        };
        archive.text.extend_from_slice(glue);
        archive.text.extend_from_slice(b"\"samples\":[");
        let is_sample =
            |entry: &&Entry| entry.name.starts_with(SAMPLES) && entry.name.ends_with(".json");
        let mut is_first = true;
        for entry in entries.iter().filter(is_sample) {
            let Some(sample) = archive.member(file, entry)? else {
                continue;
            };
            if !std::mem::take(&mut is_first) {
                archive.text.push(b',');
            }
            archive.text.push(b'\n');
            archive.text.extend_from_slice(sample.trim_ascii());
        }
        archive.text.extend_from_slice(b"]}");
        Ok(Some(archive))
    }

    /// The text of a member; none where it cannot be had, which is said.
    fn member(&mut self, file: &PlainFile, entry: &Entry) -> io::Result<Option<Vec<u8>>> {
        let mut local = [0; LOCAL_BYTES as usize];
        let is_there = read_all(file, entry.at, &mut local)? && local.starts_with(MAGIC);
        let names = u64::from(number16(&local, 26)) + u64::from(number16(&local, 28));
        let mut packed = Vec::new();
        let reason = if !is_there {
            "is not where the archive says"
        } else if ![STORED, DEFLATED, ZSTD].contains(&entry.method) {
            "is packed in a way that is not read"
        } else {
            let most = file.size_bytes().min(entry.packed_bytes);
            packed = vec![0; usize::try_from(most).unwrap_or(usize::MAX)];
            if read_all(file, entry.at + LOCAL_BYTES + names, &mut packed)? {
                ""
            } else {
                "is cut"
            }
        };
        let left = most_expanded(file.size_bytes()).saturating_sub(self.text.len() as u64);
        let text = match entry.method {
            _ if !reason.is_empty() => Err(reason.to_owned()),
            STORED => Ok(packed),
            DEFLATED => inflated(&packed, left),
            _ => unpacked(&packed, left),
        };
        let text = text.and_then(|text| match text.len() as u64 <= left {
            true => whole(text, entry.sum),
            false => Ok(text),
        });
        match text {
            Ok(text) if text.len() as u64 <= left => Ok(Some(text)),
            Ok(_) => {
                self.is_too_much = true;
                Ok(None)
            }
            Err(reason) => {
                let reason = format!("{} {reason}", entry.name);
                self.problems.push(Problem::new(0, reason));
                Ok(None)
            }
        }
    }
}

/// A member as it was put in: what was unpacked may be another text, where nothing else shows damage.
fn whole(text: Vec<u8>, sum: u32) -> Result<Vec<u8>, String> {
    if sum != 0 && sum != crc32fast::hash(&text) {
        return Err("is damaged (it is not what was packed)".to_owned());
    }
    let parsed = serde_json::from_slice::<serde::de::IgnoredAny>(&text);
    parsed
        .map(|_| text)
        .map_err(|error| format!("is no JSON ({error})"))
}

/// What packed bytes become: of more than may be, one more.
fn unpacked(packed: &[u8], most_bytes: u64) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let read = zstd::Decoder::new(packed).and_then(|decoder| {
        let mut decoder = decoder.take(most_bytes.saturating_add(1));
        decoder.read_to_end(&mut text)
    });
    read.map(|_| text)
        .map_err(|error| format!("is damaged ({error})"))
}

/// The same of what deflate has packed.
fn inflated(packed: &[u8], most_bytes: u64) -> Result<Vec<u8>, String> {
    let most = usize::try_from(most_bytes.saturating_add(1)).unwrap_or(usize::MAX);
    match decompress_to_vec_with_limit(packed, most) {
        Ok(text) => Ok(text),
        Err(error) if error.status == TINFLStatus::HasMoreOutput => Ok(error.output),
        Err(error) => Err(format!("is damaged ({error})")),
    }
}

/// The members of a ZIP in the order of its list; none where it has no such list.
fn entries(file: &PlainFile) -> io::Result<Option<Vec<Entry>>> {
    let size = file.size_bytes();
    let tail_bytes = size.min(REMARK_BYTES + END_BYTES as u64);
    let mut tail = vec![0; tail_bytes as usize];
    if !read_all(file, size - tail_bytes, &mut tail)? {
        return Ok(None);
    }
    let Some(end) = memchr::memmem::rfind(&tail, END).filter(|at| at + END_BYTES <= tail.len())
    else {
        return Ok(None);
    };
    let (list_bytes, at) = (number32(&tail, end + 12), number32(&tail, end + 16));
    let mut list = vec![0; u64::from(list_bytes).min(size) as usize];
    if !read_all(file, u64::from(at), &mut list)? {
        return Ok(None);
    }
    let mut entries = Vec::new();
    let mut rest = &list[..];
    while rest.starts_with(ENTRY) && rest.len() >= ENTRY_BYTES {
        let [name, extra, remark] = [28, 30, 32].map(|at| usize::from(number16(rest, at)));
        let Some(bytes) = rest.get(ENTRY_BYTES..ENTRY_BYTES + name) else {
            break;
        };
        entries.push(Entry {
            name: String::from_utf8_lossy(bytes).into_owned(),
            method: number16(rest, 10),
            sum: number32(rest, 16),
            packed_bytes: u64::from(number32(rest, 20)),
            at: u64::from(number32(rest, 42)),
        });
        let next = ENTRY_BYTES + name + extra + remark;
        rest = rest.get(next..).unwrap_or_default();
    }
    Ok(Some(entries))
}

/// Fills a buffer from a place on; gives whether there was as much.
fn read_all(file: &PlainFile, at: u64, buffer: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(at + filled as u64, &mut buffer[filled..])? {
            0 => return Ok(false),
            got => filled += got,
        }
    }
    Ok(true)
}

fn number16(bytes: &[u8], at: usize) -> u16 {
    let bytes = bytes.get(at..at + 2).and_then(|it| it.try_into().ok());
    bytes.map(u16::from_le_bytes).unwrap_or_default()
}

fn number32(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes.get(at..at + 4).and_then(|it| it.try_into().ok());
    bytes.map(u32::from_le_bytes).unwrap_or_default()
}

impl Input for EvalArchive {
    fn size_bytes(&self) -> u64 {
        self.text.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = cut(buffer, self.size_bytes(), offset);
        self.text.as_slice().read_at(offset, wanted)
    }
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec;

    use super::*;
    use crate::error::Error;
    use crate::ingest::FileInput;

    const LOG: &str = include_str!("../../../tests/data/inspect/log.json");

    /// A ZIP of these members, each by its name, how it is packed, and its bytes as they stand there.
    fn zip(members: &[(&str, u16, Vec<u8>)]) -> Vec<u8> {
        summed(members, |_| 0)
    }

    /// The same with what each member's sum is said to be; 0: nothing is said.
    fn summed(members: &[(&str, u16, Vec<u8>)], sum: impl Fn(&str) -> u32) -> Vec<u8> {
        let (mut bytes, mut list) = (Vec::new(), Vec::new());
        for (name, method, packed) in members {
            let at = bytes.len() as u32;
            let [name_bytes, packed_bytes] = [name.len(), packed.len()].map(|it| it as u32);
            bytes.extend_from_slice(MAGIC);
            bytes.extend_from_slice(&[0; 14]);
            bytes.extend_from_slice(&packed_bytes.to_le_bytes());
            bytes.extend_from_slice(&[0; 4]);
            bytes.extend_from_slice(&(name_bytes as u16).to_le_bytes());
            // A field of the writer's own, as wide as it says.
            bytes.extend_from_slice(&3_u16.to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b"own");
            bytes.extend_from_slice(packed);
            list.extend_from_slice(ENTRY);
            list.extend_from_slice(&[0; 6]);
            list.extend_from_slice(&method.to_le_bytes());
            list.extend_from_slice(&[0; 4]);
            list.extend_from_slice(&sum(name).to_le_bytes());
            list.extend_from_slice(&packed_bytes.to_le_bytes());
            list.extend_from_slice(&[0; 4]);
            list.extend_from_slice(&(name_bytes as u16).to_le_bytes());
            list.extend_from_slice(&[0; 12]);
            list.extend_from_slice(&at.to_le_bytes());
            list.extend_from_slice(name.as_bytes());
        }
        let [at, length] = [bytes.len(), list.len()].map(|it| (it as u32).to_le_bytes());
        bytes.extend(list);
        bytes.extend_from_slice(END);
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&length);
        bytes.extend_from_slice(&at);
        bytes.extend_from_slice(&[0; 2]);
        bytes
    }

    fn open(bytes: &[u8]) -> crate::error::Result<FileInput> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log.eval");
        std::fs::write(&path, bytes).expect("written");
        FileInput::open(&path)
    }

    /// The members that a log is kept as.
    fn members(log: &serde_json::Value, headers: &str) -> Vec<(String, Vec<u8>)> {
        let mut log = log.clone();
        let samples = log.as_object_mut().expect("an object").remove("samples");
        let mut found = vec![("summaries.json".to_owned(), b"[]".to_vec())];
        for (number, sample) in samples
            .expect("samples")
            .as_array()
            .expect("a list")
            .iter()
            .enumerate()
        {
            found.push((
                format!("samples/s/{number}_epoch_1.json"),
                sample.to_string().into_bytes(),
            ));
        }
        found.push((headers.to_owned(), log.to_string().into_bytes()));
        found
    }

    #[test]
    fn an_archive_is_the_object_that_its_members_are_parts_of() {
        let log: serde_json::Value = serde_json::from_str(LOG).expect("JSON");
        for header in HEADERS {
            let parts = members(&log, header);
            let packed = parts
                .iter()
                .zip(0..)
                .map(|((name, text), at)| match at % 3 {
                    0 => (name.as_str(), STORED, text.clone()),
                    1 => (name.as_str(), DEFLATED, compress_to_vec(text, 6)),
                    _ => (
                        name.as_str(),
                        ZSTD,
                        zstd::encode_all(&text[..], 3).expect("packed"),
                    ),
                });
            let input = open(&zip(&packed.collect::<Vec<_>>())).expect("it is opened");
            assert!(input.problems.is_empty(), "{:?}", input.problems);
            let text = input.front(u64::MAX).expect("read");
            assert_eq!(
                serde_json::from_slice::<serde_json::Value>(&text).expect("JSON"),
                log
            );
            let mut piece = [0; 5];
            assert_eq!(input.read_at(7, &mut piece).expect("read"), 5);
            assert_eq!(piece, text[7..12]);
        }
    }

    #[test]
    fn a_member_that_is_not_what_was_packed_is_named_and_the_rest_is_a_log() {
        let log: serde_json::Value = serde_json::from_str(LOG).expect("JSON");
        let mut parts = members(&log, HEADERS[0]);
        parts.push((
            HEADERS[1].to_owned(),
            b"{\"eval\":{\"task\":\"mill\"}}".to_vec(),
        ));
        let sums: Vec<(String, u32)> = parts
            .iter()
            .map(|(name, text)| (name.clone(), crc32fast::hash(text)))
            .collect();
        let sum = |name: &str| sums.iter().find(|it| it.0 == name).map_or(0, |it| it.1);
        let damaged = |spoilt: &dyn Fn(&str) -> bool, by: &[u8]| {
            let packed = parts.iter().map(|(name, text)| {
                let text = if spoilt(name) { by } else { text };
                (name.as_str(), STORED, text.to_vec())
            });
            open(&summed(&packed.collect::<Vec<_>>(), sum)).expect("it is opened")
        };
        let is_header = |name: &str| name == HEADERS[0];
        for by in [&b"{\"eval\":1}"[..], b"[[", b""] {
            let input = damaged(&is_header, by);
            assert_eq!(input.problems.len(), 1, "{:?}", input.problems);
            let text = input.front(u64::MAX).expect("read");
            let found: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(
                (&found["eval"]["task"], &found["samples"]),
                (&"mill".into(), &log["samples"])
            );
        }
        // Without any header, it is a log all the same.
        let input = damaged(&|name| HEADERS.contains(&name), b"{}");
        assert_eq!(input.problems.len(), 2, "{:?}", input.problems);
        let text = input.front(u64::MAX).expect("read");
        let format = crate::formats::sniff::sniff(&&text[..]).expect("readable");
        assert_eq!(format.map(|format| format.name), Some("inspect"));
        let input = damaged(&|name| name.starts_with(SAMPLES), b"{}");
        assert!(!input.problems.is_empty());
        let text = input.front(u64::MAX).expect("read");
        let found: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(found["samples"], serde_json::json!([]));
    }

    #[test]
    fn what_is_damaged_or_too_much_is_named_and_other_archives_are_files() {
        let header = ("header.json", STORED, b"{}".to_vec());
        let bad = [
            ("samples/1.json", ZSTD, b"none".to_vec()),
            ("samples/2.json", 14, b"x".to_vec()),
            ("samples/4.json", DEFLATED, b"\xff\xff".to_vec()),
            ("samples/3.json", STORED, b"{\"id\":3}".to_vec()),
            header.clone(),
        ];
        let input = open(&zip(&bad)).expect("it is opened");
        let text = input.front(u64::MAX).expect("read");
        assert_eq!(text, b"{\"samples\":[\n{\"id\":3}]}");
        let reasons: Vec<&str> = input.problems.iter().map(|it| &*it.reason).collect();
        assert!(
            reasons[0].starts_with("samples/1.json is damaged ("),
            "{reasons:?}"
        );
        assert_eq!(
            reasons[1],
            "samples/2.json is packed in a way that is not read"
        );
        assert!(
            reasons[2].starts_with("samples/4.json is damaged ("),
            "{reasons:?}"
        );
        let spaces = vec![b' '; 60 << 20];
        let bombs = [
            (ZSTD, zstd::encode_all(&spaces[..], 3).expect("packed")),
            (DEFLATED, compress_to_vec(&spaces, 6)),
        ];
        for (method, bomb) in bombs {
            let opened = open(&zip(&[("samples/1.json", method, bomb), header.clone()]));
            assert!(matches!(opened, Err(Error::ExpandsTooFar { .. })));
        }
        for other in [
            zip(&[("a.txt", STORED, b"a".to_vec())]),
            b"PK\x03\x04...".to_vec(),
        ] {
            let input = open(&other).expect("it is opened");
            assert_eq!(input.front(u64::MAX).expect("read"), other);
        }
    }
}
