use object_store::memory::InMemory;
use tract::hash::CommitHash;
use tract::sync::{PeerRef, ShelvedBundle};

use super::*;

/// What several who look at the same bucket have in common.
fn seen_by(store: &Arc<InMemory>) -> Bucket {
    let mut bucket = unseen_by(store);
    bucket.look().expect("it can be seen");
    bucket
}

fn unseen_by(store: &Arc<InMemory>) -> Bucket {
    let prefix = Path::parse("team/tract").expect("a prefix");
    Bucket::new(Arc::clone(store) as _, prefix, "s3://b".to_owned()).expect("made")
}

fn keys(bucket: &Bucket) -> Vec<String> {
    let all = bucket.all(bucket.store.list(None)).expect("listed");
    let mut keys: Vec<String> = all.into_iter().map(|it| it.location.to_string()).collect();
    keys.sort();
    keys
}

fn put_at(bucket: &Bucket, path: &str, body: &[u8]) {
    let path = Path::parse(path).expect("a path");
    let put = bucket.store.put(&path, PutPayload::from(body.to_vec()));
    bucket.wait(0, put).expect("put");
}

fn commit(end: u8) -> CommitHash {
    let text = format!("{end:02x}").repeat(32);
    text.parse().expect("a hash")
}

fn row(name: &str, end: u8) -> PeerRef {
    PeerRef {
        name: name.parse().expect("a name"),
        commit: commit(end),
        depth: 7,
        beside: Default::default(),
    }
}

/// What is there once a ref went on, and the bundle that goes with it.
fn on(
    bucket: &mut Bucket,
    was: &Shelved,
    end: u8,
    bytes: &[u8],
) -> (Shelved, Vec<(String, Vec<u8>)>) {
    let mut is = was.clone();
    is.put = bucket.name().expect("drawn");
    is.refs = vec![row(MAIN, end)];
    let name = bucket.name().expect("drawn");
    is.bundles.push(ShelvedBundle {
        name: name.clone(),
        size_bytes: bytes.len() as u64,
        commits: 1,
        ends: vec![commit(end)],
        marks: Vec::new(),
        files: Vec::new(),
    });
    (is, vec![(name, bytes.to_vec())])
}

const MAIN: &str = "refs/heads/main";

#[test]
fn what_is_put_is_there_for_whoever_looks() {
    let store = Arc::new(InMemory::new());
    let mut mine = seen_by(&store);
    let (one, new) = on(&mut mine, &Shelved::default(), 1, b"first");
    assert!(mine.put(&one, &new).expect("put"));
    let (two, more) = on(&mut mine, &one, 2, b"second");
    assert!(mine.put(&two, &more).expect("put"));
    let mut yours = unseen_by(&store);
    assert_eq!(yours.look().expect("looked"), two);
    let read = |bucket: &mut Bucket, name: &str| bucket.read(name).expect("read");
    assert_eq!(read(&mut yours, &new[0].0).as_deref(), Some(&b"first"[..]));
    assert_eq!(
        read(&mut yours, &more[0].0).as_deref(),
        Some(&b"second"[..])
    );
    assert_eq!(read(&mut yours, &"0".repeat(32)), None);
    assert!(yours.read("../../../secrets").is_err());
    assert!(keys(&mine).iter().all(|key| key.starts_with("team/tract/")));
    assert_eq!(
        keys(&mine).len(),
        4,
        "the marker, the index, and two bundles"
    );
}

#[test]
fn who_comes_second_is_told_and_leaves_nothing() {
    let store = Arc::new(InMemory::new());
    let (mut mine, mut yours) = (seen_by(&store), seen_by(&store));
    let (one, new) = on(&mut mine, &Shelved::default(), 1, b"mine");
    let (other, late) = on(&mut yours, &Shelved::default(), 2, b"yours");
    assert!(mine.put(&one, &new).expect("put"));
    let before = keys(&mine);
    assert!(!yours.put(&other, &late).expect("told"));
    assert_eq!(keys(&mine), before);
    // Who has looked again goes on from there; who has not is too late again.
    let is = yours.look().expect("looked");
    let (two, new) = on(&mut yours, &is, 3, b"yours");
    assert!(yours.put(&two, &new).expect("put"));
    let (late, new) = on(&mut mine, &one, 4, b"mine");
    assert!(!mine.put(&late, &new).expect("told"));
    assert_eq!(seen_by(&store).look().expect("looked"), two);
}

#[test]
fn what_the_index_names_no_more_is_taken_away_and_what_nobody_came_to_name() {
    let store = Arc::new(InMemory::new());
    let mut mine = seen_by(&store);
    let (one, new) = on(&mut mine, &Shelved::default(), 1, b"secret");
    assert!(mine.put(&one, &new).expect("put"));
    let stale = format!("team/tract/bundles/{}.tract", "7".repeat(32));
    put_at(&mine, &stale, b"of a push that was killed");
    for strange in ["team/tract/bundles/notes.txt", "team/tract/heads.txt"] {
        put_at(&mine, strange, b"somebody else's");
    }
    let mut reader = seen_by(&store);
    let mut is = one.clone();
    is.bundles.clear();
    let (two, _) = on(&mut mine, &is, 2, b"clean");
    let clean = vec![(two.bundles[0].name.clone(), b"clean".to_vec())];
    assert!(mine.put(&two, &clean).expect("put"));
    assert!(!keys(&mine).contains(&stale));
    assert_eq!(keys(&mine).len(), 5, "{:?}", keys(&mine));
    assert_eq!(reader.read(&new[0].0).expect("asked"), None);
    assert_eq!(reader.beside.hint.get(), Some(MEANWHILE));
}

#[test]
fn what_is_no_index_is_said_to_be_none() {
    let store = Arc::new(InMemory::new());
    let mut mine = seen_by(&store);
    let (one, new) = on(&mut mine, &Shelved::default(), 1, b"one");
    assert!(mine.put(&one, &new).expect("put"));
    let index = "team/tract/index.json";
    let (text, _) = mine
        .look_at(&Path::from(index))
        .expect("looked")
        .expect("it is there");
    let text = String::from_utf8(text).expect("text");
    let looked = || unseen_by(&store).look();
    put_at(&mine, index, b"<");
    let said = looked().expect_err("none").to_string();
    assert!(said.contains("has an index that is none"), "{said}");
    // A ref that is none is named, and stays as it is.
    put_at(
        &mine,
        index,
        text.replace(MAIN, "refs/heads/HEAD").as_bytes(),
    );
    let is = looked().expect("looked");
    assert_eq!((is.refs.len(), is.left_out.len(), is.odd.len()), (0, 1, 1));
    let again = Shelved::from_json(&is.to_json().expect("spelled")).expect("read");
    assert_eq!(again, is);
    put_at(&mine, index, text.as_bytes());
    for other in [1, 3] {
        let marker = format!("{{\"format\":{other}}}");
        put_at(&mine, "team/tract/tract.json", marker.as_bytes());
        let said = looked().expect_err("another").to_string();
        let wanted = format!("it has layout {other}; this tract knows 2 alone");
        assert!(said.ends_with(&wanted), "{said}");
    }
    put_at(&mine, "team/tract/tract.json", b"[]");
    let said = looked().expect_err("none").to_string();
    assert!(
        said.ends_with("has a tract.json that is not tract's: another prefix"),
        "{said}"
    );
}

#[test]
fn an_answer_that_no_s3_gives_is_called_so() {
    for what in [
        "Content-Length Header missing from response",
        "Got invalid list response: unexpected `html`",
    ] {
        let source = what.into();
        let said = Said::Generic {
            store: "S3",
            source,
        };
        assert_eq!(
            meaning(&said).reason,
            "what answers there does not speak S3"
        );
    }
}
