//! Which project a directory is of: the one whose worktree it is, and the one to which a link leads.
//!
//! Deliberately absent: folders below a project's own, each of which sessions may be of.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::model::call::one_spelling;

/// Where clients make worktrees, below the project's own directory.
const WORKTREES: [&str; 3] = ["/.claude/worktrees/", "/.worktrees/", "/.git/worktrees/"];

/// The directory of a project, by that in which a session ran; its own one where it is neither a worktree nor a link.
pub fn project_of(cwd: &str) -> String {
    let plain = cwd.replace('\\', "/");
    // A worktree that is gone is known by its place alone.
    let made_in = WORKTREES.iter().find_map(|place| plain.find(place));
    let own = made_in.map_or(cwd, |at| &cwd[..at]);
    let here = fs::canonicalize(own).ok();
    let main = here.as_deref().and_then(main_of);
    match main.or(here) {
        Some(path) => path.to_string_lossy().into_owned(),
        // One that is not on this machine.
        None => one_spelling(own),
    }
}

/// The same of many, each once.
pub fn projects_of<'a>(cwds: impl IntoIterator<Item = &'a str>) -> HashMap<String, String> {
    let mut projects = HashMap::new();
    for cwd in cwds {
        if !projects.contains_key(cwd) {
            projects.insert(cwd.to_owned(), project_of(cwd));
        }
    }
    projects
}

/// The directory whose worktree this one is, or is in.
fn main_of(directory: &Path) -> Option<PathBuf> {
    let (top, git) = directory.ancestors().find_map(|it| {
        let git = it.join(".git");
        git.exists().then_some((it, git))
    })?;
    let text = fs::read_to_string(git).ok()?;
    let named = Path::new(text.trim().strip_prefix("gitdir:")?.trim());
    let named = top.join(named);
    let own = named.parent().filter(|it| it.ends_with("worktrees"))?;
    let main = fs::canonicalize(own.parent()?.parent()?).ok()?;
    let below = directory.strip_prefix(top).ok()?;
    Some(if below.as_os_str().is_empty() {
        main
    } else {
        main.join(below)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_and_links_are_of_their_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("it is there");
        let [shop, tree] = ["shop", "tree"].map(|it| root.join(it));
        fs::create_dir_all(shop.join(".git/worktrees/tree")).expect("made");
        fs::create_dir_all(tree.join("src")).expect("made");
        let gitdir = format!("gitdir: {}\n", shop.join(".git/worktrees/tree").display());
        fs::write(tree.join(".git"), gitdir).expect("written");
        let of = |path: &Path| project_of(&path.to_string_lossy());
        let name = shop.to_string_lossy().into_owned();
        assert_eq!(of(&shop), name);
        assert_eq!(of(&tree), name);
        assert_eq!(of(&tree.join("src")), format!("{name}/src"));
        assert_eq!(of(&shop.join(".claude/worktrees/gone")), name);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&shop, root.join("link")).expect("made");
            assert_eq!(of(&root.join("link")), name);
        }
        assert_eq!(project_of("/no/such/dir"), "/no/such/dir");
        assert_eq!(project_of(r"C:\no\Shop\.claude\worktrees\x"), "c:/no/shop");
    }
}
