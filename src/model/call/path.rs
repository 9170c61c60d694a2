//! Paths as people read them: from the directory at work on, and with the file's name whole.

use std::borrow::Cow;
use std::path::Path;

/// A path from `directory` on, where it lies there; else as it is.
pub fn relative<'a>(path: &'a str, directory: Option<&str>) -> &'a str {
    let Some(directory) = directory.map(|directory| directory.trim_end_matches(['/', '\\'])) else {
        return path;
    };
    if directory.is_empty() {
        return path;
    }
    match path.strip_prefix(directory) {
        Some("" | "/" | "\\") => ".",
        Some(rest) => rest.strip_prefix(['/', '\\']).unwrap_or(path),
        None => path,
    }
}

/// A text with each path in it as if only `/` stood between names: Windows writes `\\`, and JSON two of them.
pub fn plain_path(text: &str) -> Cow<'_, str> {
    if text.contains('\\') {
        Cow::Owned(text.replace("\\\\", "/").replace('\\', "/"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a path is another one, or ends in it by whole names. A path of Windows has either separator, and no case.
pub fn ends_in(path: &str, end: &str) -> bool {
    let is_windows = path.contains('\\') || path.as_bytes().get(1) == Some(&b':');
    let plain = |text: &str| {
        let text = plain_path(text);
        let text = text.trim_start_matches("./");
        if is_windows {
            text.to_lowercase()
        } else {
            text.to_owned()
        }
    };
    let (path, end) = (plain(path), plain(end));
    let before = path.strip_suffix(&end);
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// The last name of a path, in any system's spelling.
pub fn last_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether a session that ran in `cwd` ran in a directory or below it. Windows knows both slashes, and no case.
pub fn is_below(cwd: &str, directory: &Path) -> bool {
    if Path::new(cwd).starts_with(directory) {
        return true;
    }
    if !cwd.contains('\\') {
        return false;
    }
    let plain = |path: &str| plain_path(path).to_lowercase();
    let (cwd, directory) = (plain(cwd), plain(&directory.to_string_lossy()));
    let rest = cwd.strip_prefix(directory.trim_end_matches('/'));
    !directory.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What all spellings of one directory have in common. Windows knows both slashes and no case, writes a drive in either
/// case, and may put `\\\\?\\` before it; WSL has the drives below `/mnt`, and Windows what is in WSL below `\\\\wsl$`.
///
/// ```
/// use tract::model::call::one_spelling;
///
/// let all = [r"C:\Users\mara\shop", r"c:/users/mara/Shop/", r"\\?\C:\Users\mara\shop", "/mnt/c/Users/mara/shop"];
/// assert!(all.iter().all(|it| one_spelling(it) == "c:/users/mara/shop"));
/// assert_eq!(one_spelling(r"\\wsl.localhost\Ubuntu\home\mara"), "/home/mara");
/// assert_eq!(one_spelling("/home/mara/Shop/"), "/home/mara/Shop");
/// ```
pub fn one_spelling(path: &str) -> String {
    let slashed = path.replace('\\', "/");
    let plain = slashed.strip_prefix("//?/").unwrap_or(&slashed);
    let plain = plain.trim_end_matches('/');
    let lower = plain.to_ascii_lowercase();
    let in_wsl = ["//wsl$/", "//wsl.localhost/"].iter().find_map(|front| {
        lower.starts_with(front).then_some(())?;
        let (_, path) = plain[front.len()..].split_once('/')?;
        Some(format!("/{path}"))
    });
    if let Some(path) = in_wsl {
        return path;
    }
    let is_drive =
        |drive: &str| matches!(drive.as_bytes(), [letter] if letter.is_ascii_alphabetic());
    let mounted = lower
        .strip_prefix("/mnt/")
        .map(|it| it.split_once('/').unwrap_or((it, "")));
    match (mounted, lower.split_once(':')) {
        (Some((drive, rest)), _) if is_drive(drive) => format!(
            "{drive}:/{}",
            plain[plain.len() - rest.len()..].to_lowercase()
        )
        .trim_end_matches('/')
        .to_owned(),
        (_, Some((drive, _))) if is_drive(drive) => plain.to_lowercase(),
        _ if plain.is_empty() => path.to_owned(),
        _ => plain.to_owned(),
    }
}

/// A path in at most so many characters: what is cut stands in the middle, and the file's name is
/// never cut.
///
/// ```
/// use tract::model::call::within;
///
/// assert_eq!(within("src/render/chat/tool.rs", 20), "src/…/chat/tool.rs");
/// assert_eq!(within("src/render/chat/tool.rs", 8), "…/tool.rs");
/// ```
pub fn within(path: &str, chars: usize) -> String {
    let count = |text: &str| text.chars().count();
    if count(path) <= chars {
        return path.to_owned();
    }
    let parts: Vec<&str> = path.split_inclusive(['/', '\\']).collect();
    let Some((name, folders)) = parts.split_last() else {
        return path.to_owned();
    };
    if folders.is_empty() {
        return path.to_owned();
    }
    // The first folder, if it fits beside the name; then as many of the last ones as fit.
    let first = match folders {
        ["/", first, ..] => format!("/{first}"),
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    };
    let taken = if first.starts_with('/') { 2 } else { 1 };
    let is_kept = folders.len() > taken && count(&first) + 2 + count(name) <= chars;
    let (head, rest) = if is_kept {
        (first, &folders[taken..])
    } else {
        (String::new(), folders)
    };
    let mut tail = (*name).to_owned();
    for folder in rest.iter().skip(1).rev() {
        if count(&head) + 2 + count(folder) + count(&tail) > chars {
            break;
        }
        tail.insert_str(0, folder);
    }
    format!("{head}…/{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_in_whole_names() {
        assert!(ends_in("/home/me/src/lib.rs", "src/lib.rs"));
        assert!(ends_in("/home/me/src/lib.rs", "./lib.rs"));
        assert!(!ends_in("/home/me/src/lib.rs", "b.rs"));
        assert!(!ends_in("/home/me/src/lib.rs", "Lib.rs"));
        let windows = r"C:\Users\mara\shop\a.rs";
        for end in [
            r"shop\a.rs",
            "shop/a.rs",
            windows,
            r"c:\users\mara\shop\a.rs",
            "a.rs",
        ] {
            assert!(ends_in(windows, end), "{end}");
        }
        assert!(!ends_in(windows, r"hop\a.rs"));
    }

    #[test]
    fn a_path_begins_at_the_directory_at_work() {
        let of = |path| relative(path, Some("/home/me/work/"));
        assert_eq!(of("/home/me/work/src/lib.rs"), "src/lib.rs");
        assert_eq!(of("/home/me/work"), ".");
        assert_eq!(of("/home/me/workshop/a"), "/home/me/workshop/a");
        assert_eq!(of("a.rs"), "a.rs");
        assert_eq!(relative(r"C:\work\a.rs", Some(r"C:\work")), "a.rs");
        assert_eq!(relative("/a", None), "/a");
        assert_eq!(relative("/a", Some("/")), "/a");
    }

    #[test]
    fn a_path_is_cut_in_its_middle_and_never_in_its_name() {
        let path = "/Users/somebody/work/project/src/render/chat/tool.rs";
        for chars in 0..60 {
            let cut = within(path, chars);
            assert!(cut.ends_with("tool.rs"), "{chars}: {cut}");
            assert!(
                cut.chars().count() <= chars.max("…/tool.rs".chars().count()),
                "{chars}: {cut}"
            );
        }
        assert_eq!(within(path, 30), "/Users/…/render/chat/tool.rs");
        assert_eq!(within("a_very_long_name.rs", 4), "a_very_long_name.rs");
        assert_eq!(within("ä/ö/ü/x.rs", 8), "ä/…/x.rs");
    }
}
