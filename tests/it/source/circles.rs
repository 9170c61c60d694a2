//! No two files need each other, but a module and those inside it; and no two types share a name.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

use crate::source::tokens::{Code, Token, library, module_of, program, tokens};

/// A path as it is written, from the root: `["model", "Role"]`.
type Names = Vec<String>;

/// The files of one crate and what each of them names.
struct Files {
    files: Vec<(PathBuf, Names)>,
    /// The file of each module.
    modules: BTreeMap<Names, usize>,
    /// What stands for another path where: the module, and the name there.
    imports: BTreeMap<(Names, String), Names>,
    /// The paths that each file names.
    named: Vec<Vec<Names>>,
}

impl Files {
    fn read(sources: &[(PathBuf, Code)]) -> Self {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Names>();
        let files: Vec<(PathBuf, Names)> = sources
            .iter()
            .map(|(file, _)| (file.clone(), owned(module_of(file))))
            .collect();
        let modules = files.iter().enumerate();
        let mut read = Self {
            modules: modules
                .map(|(at, (_, module))| (module.clone(), at))
                .collect(),
            files,
            imports: BTreeMap::new(),
            named: Vec::new(),
        };
        for (at, (_, code)) in sources.iter().enumerate() {
            let module = read.files[at].1.clone();
            let tokens: Vec<Token> = tokens(&code.text).collect();
            let mut named = Vec::new();
            let mut next = 0;
            while next < tokens.len() {
                let begins = next == 0 || tokens[next - 1].text != "::";
                let leads = tokens.get(next + 1).is_some_and(|token| token.text == "::");
                if tokens[next].text == "use" {
                    next += 1;
                    let mut found = Vec::new();
                    tree(&tokens, &mut next, &[], &mut found);
                    for (path, name) in found {
                        if let Some(path) = read.rooted(&module, &path) {
                            read.imports.insert((module.clone(), name), path.clone());
                            named.push(path);
                        }
                    }
                } else if begins && leads {
                    let mut path = vec![tokens[next].text.to_owned()];
                    while tokens.get(next + 1).is_some_and(|token| token.text == "::") {
                        next += 2;
                        path.extend(tokens.get(next).map(|token| token.text.to_owned()));
                    }
                    named.extend(read.rooted(&module, &path));
                }
                next += 1;
            }
            read.named.push(named);
        }
        read
    }

    /// A path of `module` from the root; none if it leads out of the crate.
    fn rooted(&self, module: &[String], path: &[String]) -> Option<Names> {
        let (first, rest) = path.split_first()?;
        let mut base = module.to_vec();
        match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" => base.extend_from_slice(rest),
            "super" => {
                base.pop()?;
                return match rest.first().map(String::as_str) {
                    Some("super") => self.rooted(&base, rest),
                    _ => Some([base, rest.to_vec()].concat()),
                };
            }
            child => {
                base.push(child.to_owned());
                self.modules.get(&base)?;
                base.extend_from_slice(rest);
            }
        }
        Some(base)
    }

    /// The file in which a path ends, where what others hand on is followed to where it stands.
    fn file_of(&self, path: &[String]) -> Option<usize> {
        let mut path = path.to_vec();
        for _ in 0..8 {
            let mut known = 0;
            while known < path.len() && self.modules.contains_key(&path[..=known]) {
                known += 1;
            }
            let handed_on = path.get(known).and_then(|name| {
                let key = (path[..known].to_vec(), name.clone());
                self.imports.get(&key)
            });
            match handed_on {
                Some(target) if target[..] != path[..=known] => {
                    path = [target, &path[known + 1..]].concat();
                }
                _ => return self.modules.get(&path[..known]).copied(),
            }
        }
        None
    }

    /// The files that each file needs, without the modules that it is inside of.
    fn needs(&self) -> Vec<BTreeSet<usize>> {
        let one = |(at, named): (usize, &Vec<Names>)| {
            let module = &self.files[at].1;
            let files = named.iter().filter_map(|path| self.file_of(path));
            files
                .filter(|other| !module.starts_with(&self.files[*other].1))
                .collect()
        };
        self.named.iter().enumerate().map(one).collect()
    }

    /// The shortest way from each file back to itself, each circle once.
    fn circles(&self) -> Vec<String> {
        let needs = self.needs();
        let mut found = BTreeSet::new();
        for start in 0..needs.len() {
            let mut from = BTreeMap::new();
            let mut queue = VecDeque::from([start]);
            while let Some(at) = queue.pop_front() {
                for next in &needs[at] {
                    if from.contains_key(next) {
                        continue;
                    }
                    from.insert(*next, at);
                    queue.push_back(*next);
                }
            }
            let Some(mut at) = from.get(&start).copied() else {
                continue;
            };
            let mut circle = vec![start];
            while at != start {
                circle.push(at);
                at = from[&at];
            }
            circle.sort_unstable_by_key(|at| &self.files[*at].0);
            found.insert(circle);
        }
        let name = |at: &usize| self.files[*at].0.display().to_string();
        let told = |circle: Vec<usize>| circle.iter().map(name).collect::<Vec<_>>().join(", ");
        found.into_iter().map(told).collect()
    }
}

/// Reads a tree of paths behind a `use`, each with the name that it has here.
fn tree(tokens: &[Token], at: &mut usize, prefix: &[String], found: &mut Vec<(Names, String)>) {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(*at) {
        *at += 1;
        match token.text {
            "{" => {
                while tokens.get(*at).is_some_and(|token| token.text != "}") {
                    match tokens[*at].text {
                        "," => *at += 1,
                        _ => tree(tokens, at, &path, found),
                    }
                }
                *at += 1;
                return;
            }
            "::" => {}
            // A module that is named inside its own braces.
            "self" if !path.is_empty() => {}
            name => path.push(name.to_owned()),
        }
        match tokens.get(*at).map(|token| token.text) {
            Some("::" | "{") => {}
            Some("as") => {
                let name = tokens.get(*at + 1).map_or("_", |token| token.text);
                found.push((path, name.to_owned()));
                *at += 2;
                return;
            }
            _ if token.text == "::" => {}
            _ => {
                let name = path.last().cloned().unwrap_or_default();
                found.push((path, name));
                return;
            }
        }
    }
}

fn circles(sources: &[(&str, &str)]) -> Vec<String> {
    let read = |(file, text): &(&str, &str)| (PathBuf::from(file), Code::of(text));
    Files::read(&sources.iter().map(read).collect::<Vec<_>>()).circles()
}

#[test]
fn no_files_need_each_other() {
    for crate_ in [library(), program()] {
        let circles = Files::read(&crate_).circles();
        assert!(circles.is_empty(), "{}", circles.join("\n"));
    }
}

/// The public types that a user of the library can name, each with the files that it stands in.
fn public_types(sources: &[(PathBuf, Code)]) -> BTreeMap<String, Vec<String>> {
    let files = Files::read(sources);
    let mut open = BTreeSet::new();
    let mut types = Vec::new();
    for (at, (_, code)) in sources.iter().enumerate() {
        let module = &files.files[at].1;
        let tokens: Vec<Token> = tokens(&code.text).collect();
        for (pub_, next) in tokens.iter().zip(1..) {
            let (Some(kind), Some(name)) = (tokens.get(next), tokens.get(next + 1)) else {
                break;
            };
            let named = || [&module[..], &[name.text.to_owned()]].concat();
            match (pub_.text, kind.text) {
                ("pub", "mod") => {
                    open.insert(named());
                }
                ("pub", "struct" | "enum" | "trait" | "type" | "union") => {
                    types.push((at, named()));
                }
                ("pub", "use") => {
                    let mut found = Vec::new();
                    tree(&tokens, &mut (next + 1), &[], &mut found);
                    let paths = found.iter().map(|(path, _)| path);
                    open.extend(paths.filter_map(|path| files.rooted(module, path)));
                }
                _ => {}
            }
        }
    }
    let reached = |path: &[String]| {
        let whole = (1..path.len()).all(|length| open.contains(&path[..length]));
        whole || open.contains(path)
    };
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (at, path) in types {
        if let Some(name) = path.last().filter(|_| reached(&path)) {
            let file = files.files[at].0.display().to_string();
            places.entry(name.clone()).or_default().push(file);
        }
    }
    places
}

#[test]
fn no_two_types_of_the_library_share_a_name() {
    let places = public_types(&library());
    assert!(places.len() > 150, "only {} types were found", places.len());
    let twice = places.iter().filter(|(_, files)| files.len() > 1);
    let told: Vec<String> = twice
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn a_planted_name_is_seen_where_it_can_be_reached() {
    let twice = |lib: &str| {
        let sources = [
            ("lib.rs", lib),
            ("a.rs", "pub struct T;"),
            ("b.rs", "pub enum T {}"),
        ];
        let read = |(file, text): &(&str, &str)| (PathBuf::from(file), Code::of(text));
        let places = public_types(&sources.iter().map(read).collect::<Vec<_>>());
        places.get("T").map_or(0, Vec::len)
    };
    assert_eq!(twice("pub mod a; pub mod b;"), 2);
    assert_eq!(twice("pub mod a; mod b; pub use b::T as U;"), 2);
    assert_eq!(twice("pub mod a; mod b; pub(crate) use b::T;"), 1);
}

#[test]
fn a_planted_circle_is_seen() {
    let lib = ("lib.rs", "pub mod a; pub mod b; pub use a::A;");
    let a = ("a.rs", "use crate::b::{self, B};\npub struct A;");
    let b = ("b.rs", "pub struct B;\nfn f() -> crate::a::A {}");
    assert_eq!(circles(&[lib, a, b]), ["a.rs, b.rs"]);
    // What is handed on stands where it stands.
    let b = ("b.rs", "pub struct B;\nuse super::A;");
    assert_eq!(circles(&[lib, a, b]), ["a.rs, b.rs"]);
    let b = ("b.rs", "pub struct B; #[cfg(test)] use super::A;");
    assert_eq!(circles(&[lib, a, b]), Vec::<String>::new());
}

#[test]
fn a_module_and_those_inside_it_are_no_circle_but_through_another() {
    let lib = ("lib.rs", "mod a; mod b;");
    let parent = ("a/mod.rs", "mod child; pub use child::Child; pub struct A;");
    let child = ("a/child.rs", "use super::A; pub struct Child;");
    let b = ("b.rs", "use crate::a::A;");
    assert_eq!(circles(&[lib, parent, child, b]), Vec::<String>::new());
    let child = ("a/child.rs", "use crate::b::B; pub struct Child;");
    assert_eq!(
        circles(&[lib, parent, child, b]),
        ["a/child.rs, a/mod.rs, b.rs"]
    );
}
