//! Holds the code to the test vectors in `docs/object-format.md`.

use crate::model::{Commit, Message, Sealed};

const PAGE: &str = include_str!("../../docs/object-format.md");

/// The blocks of one language: canonical bytes and hash.
fn vectors(language: &str) -> Vec<(&'static str, &'static str)> {
    PAGE.split(&format!("```{language}\n"))
        .skip(1)
        .map(|block| {
            let mut lines = block.lines();
            (
                lines.next().expect("canonical bytes"),
                lines.next().expect("a hash"),
            )
        })
        .collect()
}

#[test]
fn contents_are_what_the_page_says() {
    let vectors = vectors("content");
    assert_eq!(vectors.len(), 12);
    for (canonical, hash) in vectors {
        let message = Message::from_canonical(canonical).expect(canonical);
        let again = canonical.strip_prefix("{\"again\":");
        let Some((times, plain)) = again.and_then(|rest| rest.split_once(',')) else {
            assert_eq!(message.canonical(), canonical);
            assert_eq!(message.hash().to_string(), hash);
            continue;
        };
        assert_eq!(message.canonical(), format!("{{{plain}"));
        let again = Sealed::new(message).again(times.parse().expect("a number"));
        assert_eq!(again.canonical(), canonical);
        assert_eq!(again.hash().to_string(), hash);
    }
}

#[test]
fn commits_are_what_the_page_says() {
    let vectors = vectors("commit");
    assert_eq!(vectors.len(), 13);
    for (canonical, hash) in vectors {
        let commit = Commit::from_canonical(canonical).expect(canonical);
        assert_eq!(commit.canonical(), canonical);
        assert_eq!(commit.hash().to_string(), hash);
    }
}
