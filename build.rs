//! Lays the vocabularies out as the program looks tokens up, and has the program linked to one place, so that it has nothing to
//! load and nothing to move when it starts: what the tokens are says the `tiktoken` crate, and what kind a char is says `regex-syntax`.

#[path = "src/model/tokens/layout.rs"]
mod layout;

use std::path::{Path, PathBuf};
use std::{env, fs};

use layout::{BLOCK, NO_RANK, RANK_BITS, hash, kept_of};
use regex_syntax::hir::{Class, HirKind};

/// The vocabularies, and how many tokens each has.
const VOCABULARIES: [(&str, u32); 2] = [("o200k_base", 199_998), ("cl100k_base", 100_256)];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/model/tokens/layout.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    for (name, count) in VOCABULARIES {
        vocabulary(name, count, &folder.join(name));
    }
    kinds(&folder.join("kinds"));
    // At a place that is known when it is linked, the program has nothing to relocate: half the pages that a start touched.
    let target = |what| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    let is_shared = !target("FEATURE").contains("crt-static");
    if target("OS") == "linux" && target("ENV") == "gnu" && is_shared {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

fn write(path: &Path, what: &str, bytes: Vec<u8>) {
    fs::write(path.with_extension(what), bytes).expect("the build's folder can be written");
}

fn numbers(numbers: &[u32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// Writes the tokens of a vocabulary in the order of their ranks, where each ends, the slots in which a token's rank is found by its
/// hash, and the ranks of all pairs of bytes.
fn vocabulary(name: &str, count: u32, path: &Path) {
    let encoding = tiktoken::get_encoding(name).expect("its feature is on");
    assert_eq!(encoding.vocab_size(), count as usize);
    assert!(count < 1 << RANK_BITS);
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    let mut slots = vec![0; (count as usize * 5 / 4).next_power_of_two()];
    let mut pairs = vec![NO_RANK; 1 << 16];
    for rank in 0..count {
        let token = encoding.decode(&[rank]);
        assert!(!token.is_empty());
        if let [first, second] = token[..] {
            pairs[usize::from(u16::from_be_bytes([first, second]))] = rank;
        }
        let hash = hash(&token);
        let mut at = hash as usize % slots.len();
        while slots[at] != 0 {
            at = (at + 1) % slots.len();
        }
        slots[at] = (kept_of(hash) << RANK_BITS) | (rank + 1);
        bytes.extend(token);
        ends.push(u32::try_from(bytes.len()).expect("a few megabytes"));
    }
    write(path, "bytes", bytes);
    write(path, "ends", numbers(&ends));
    write(path, "slots", numbers(&slots));
    write(path, "pairs", numbers(&pairs));
}

/// Writes the kinds of all chars: blocks of them, each that is another one once, and which block stands where.
fn kinds(path: &Path) {
    let mut kinds = vec![layout::OTHER; char::MAX as usize + 1];
    for (pattern, kind) in [
        (r"[\p{Lu}\p{Lt}]", layout::UPPER),
        (r"\p{Ll}", layout::LOWER),
        (r"[\p{Lm}\p{Lo}]", layout::CASELESS),
        (r"\p{M}", layout::MARK),
        (r"\p{N}", layout::NUMBER),
        (r"\s", layout::SPACE),
    ] {
        let parsed = regex_syntax::parse(pattern).expect("it is a pattern");
        let HirKind::Class(Class::Unicode(class)) = parsed.kind() else {
            panic!("{pattern} is a class");
        };
        for range in class.ranges() {
            kinds[range.start() as usize..=range.end() as usize].fill(kind);
        }
    }
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut places = Vec::new();
    for block in kinds.chunks(BLOCK) {
        let known = blocks.iter().position(|known| *known == block);
        let place = known.unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        places.push(u8::try_from(place).expect("there are fewer blocks of other chars"));
    }
    write(path, "places", places);
    write(path, "blocks", blocks.concat());
}
