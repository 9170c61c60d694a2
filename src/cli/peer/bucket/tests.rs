use object_store::memory::InMemory;
use tract::hash::CommitHash;
use tract::history::sync::PeerRef;

use super::*;

/// What several who look at the same bucket have in common.
fn seen_by(store: &Arc<InMemory>) -> Bucket {
    let prefix = Path::parse("team/tract").expect("a prefix");
    let mut bucket =
        Bucket::new(Arc::clone(store) as _, prefix, "s3://b".to_owned()).expect("made");
    bucket.list().expect("it can be seen");
    bucket
}

fn keys(bucket: &Bucket) -> Vec<String> {
    let all = bucket.all(bucket.store.list(None)).expect("listed");
    let mut keys: Vec<String> = all.into_iter().map(|it| it.location.to_string()).collect();
    keys.sort();
    keys
}

fn at(name: &str, ends: &[u8]) -> Shelved {
    let commit = |end: &u8| -> CommitHash {
        let text = format!("{end:02x}").repeat(32);
        text.parse().expect("a hash")
    };
    let ends: Vec<CommitHash> = ends.iter().map(commit).collect();
    Shelved {
        row: PeerRef {
            name: name.parse().expect("a name"),
            commit: *ends.last().expect("there is one"),
            depth: 7,
            beside: Default::default(),
        },
        ends,
        files: Vec::new(),
        erased: Vec::new(),
    }
}

const MAIN: &str = "refs/heads/main";

fn is_moved<T: std::fmt::Debug>(done: Result<T, Error>) {
    assert!(matches!(done, Err(Error::RefMoved { .. })), "{done:?}");
}

#[test]
fn what_is_put_is_there_for_whoever_looks() {
    let store = Arc::new(InMemory::new());
    let mut mine = seen_by(&store);
    let (one, two) = (at(MAIN, &[1]), at(MAIN, &[1, 2]));
    mine.put(None, &one, Some(b"first")).expect("put");
    mine.put(Some(&one), &two, Some(b"second")).expect("put");
    // A name may stand below another's folder, and have what keys should not.
    for name in ["refs/heads/main.tract/ref.json", "refs/tags/日本{1}%41"] {
        mine.put(None, &at(name, &[3]), Some(b"third"))
            .expect("put");
    }
    let mut yours = seen_by(&store);
    let rows = yours.list().expect("listed").rows;
    assert_eq!(rows.len(), 3);
    assert!(rows.contains(&two));
    assert_eq!(yours.read(&two, 0).expect("read"), b"first");
    assert_eq!(yours.read(&two, 1).expect("read"), b"second");
    let at_tag = rows
        .iter()
        .find(|row| row.row.name.as_str().starts_with("refs/tags"));
    assert_eq!(
        yours.read(at_tag.expect("it is there"), 0).expect("read"),
        b"third"
    );
    assert!(keys(&mine).iter().all(|key| key.starts_with("team/tract/")));
}

#[test]
fn who_comes_second_is_told_and_leaves_nothing() {
    let store = Arc::new(InMemory::new());
    let (mut mine, mut yours) = (seen_by(&store), seen_by(&store));
    let (one, other) = (at(MAIN, &[1]), at(MAIN, &[2]));
    mine.put(None, &one, Some(b"mine")).expect("put");
    let before = keys(&mine);
    is_moved(yours.put(None, &other, Some(b"yours")));
    assert_eq!(keys(&mine), before);
    let (mut yours, longer) = (seen_by(&store), at(MAIN, &[1, 3]));
    mine.put(Some(&one), &longer, Some(b"mine")).expect("put");
    let before = keys(&mine);
    is_moved(yours.put(Some(&one), &at(MAIN, &[1, 4]), Some(b"yours")));
    is_moved(yours.remove(&one));
    assert_eq!(keys(&mine), before);
    assert_eq!(seen_by(&store).list().expect("listed").rows, [longer]);
}

#[test]
fn what_a_ref_names_no_more_is_taken_away_and_its_reader_is_told() {
    let store = Arc::new(InMemory::new());
    let (mut mine, one) = (seen_by(&store), at(MAIN, &[1]));
    let (two, other) = (at(MAIN, &[1, 2]), at(MAIN, &[1, 3]));
    mine.put(None, &one, Some(b"shared")).expect("put");
    mine.put(Some(&one), &two, Some(b"secret")).expect("put");
    let mut reader = seen_by(&store);
    mine.put(Some(&two), &other, Some(b"clean")).expect("put");
    assert_eq!(
        keys(&mine).len(),
        4,
        "the marker, the ref, and its two bundles"
    );
    assert_eq!(reader.read(&two, 0).expect("it has stayed"), b"shared");
    is_moved(reader.read(&two, 1));
    let mut reader = seen_by(&store);
    mine.remove(&other).expect("removed");
    assert_eq!(
        keys(&mine).len(),
        2,
        "the marker, and that the ref was taken away"
    );
    is_moved(reader.read(&other, 0));
    assert_eq!(seen_by(&store).list().expect("listed").rows, []);
    // Who had seen it there cannot bring it back unawares; who sees that it is gone can.
    is_moved(reader.put(Some(&other), &at(MAIN, &[1, 3, 4]), Some(b"more")));
    let mut yours = seen_by(&store);
    yours.put(None, &one, Some(b"again")).expect("put");
    assert_eq!(seen_by(&store).read(&one, 0).expect("read"), b"again");
    is_moved(mine.put(None, &two, Some(b"late")));
}

#[test]
fn what_is_no_ref_is_said_to_be_none() {
    let store = Arc::new(InMemory::new());
    let (mut mine, one) = (seen_by(&store), at(MAIN, &[1]));
    mine.put(None, &one, Some(b"one")).expect("put");
    let other = at("refs/heads/other-one", &[2]);
    mine.put(None, &other, Some(b"two")).expect("put");
    let head = mine.folder(&one.row.name).join(HEAD);
    let (text, _) = mine.look(&head).expect("looked").expect("it is there");
    let text = String::from_utf8(text).expect("text");
    let put = |path: &Path, text: &str| {
        let put = mine.store.put(path, PutPayload::from(text.to_owned()));
        mine.wait(0, put).expect("put");
    };
    let listed = || {
        let prefix = Path::parse("team/tract").expect("a prefix");
        let mut bucket =
            Bucket::new(Arc::clone(&store) as _, prefix, "s3://b".to_owned()).expect("made");
        match bucket.list() {
            Err(Error::BrokenPeer { detail }) => detail,
            Ok(listed) => {
                assert_eq!(listed.rows, std::slice::from_ref(&other), "the others come");
                assert_eq!(listed.left_out.len(), 1);
                // Nobody has seen what it is, so nobody moves it.
                let moved = bucket.put(None, &one, Some(b"more"));
                assert!(matches!(moved, Err(Error::BrokenPeer { .. })), "{moved:?}");
                listed.left_out[0].why.clone()
            }
            other => panic!("{other:?}"),
        }
    };
    let number = text.split_once("\"bundles\":[\"").expect("it has one").1[..32].to_owned();
    for (from, to) in [
        (&number[..], "../../../secrets"),
        (&format!("[\"{number}\"]")[..], "[]"),
        (MAIN, "refs/heads/other"),
        ("{", "<"),
    ] {
        put(&head, &text.replace(from, to));
        assert!(
            listed().starts_with("it has ") || listed().starts_with("it says "),
            "{}",
            listed()
        );
    }
    put(&head, &text);
    put(&Path::from("team/tract/tract.json"), "{\"format\":2}");
    assert_eq!(listed(), "has layout 2; this tract knows up to 1");
    put(&Path::from("team/tract/tract.json"), "[]");
    assert_eq!(
        listed(),
        "has a tract.json that is not tract's: another prefix"
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
