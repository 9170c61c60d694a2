//! What a shell's command is about: its gist, and the files that it names.

/// A command without what is no part of its meaning: white space, the directory that it changes to, where its
/// output goes, how much of that is shown.
pub(super) fn gist(command: &str) -> &str {
    let mut rest = command.trim();
    while let Some(after) = rest.strip_prefix("cd ").and_then(|rest| {
        let at = rest.find("&&").map(|at| at + 2);
        at.or_else(|| rest.find(['\n', ';']).map(|at| at + 1))
            .map(|at| &rest[at..])
    }) {
        rest = after.trim_start();
    }
    let line = rest.lines().next().unwrap_or_default();
    let ends = [
        "2>&1",
        "2>/dev/null",
        "| tail",
        "| head",
        ">/dev/null",
        "> /dev/null",
    ];
    let end = ends.iter().filter_map(|end| line.find(end)).min();
    line[..end.unwrap_or(line.len())].trim_end()
}

/// The files that a command names, as far as a name looks like one: it has an ending.
pub(super) fn files(command: &str) -> Vec<&str> {
    let is_between = |c: char| c.is_whitespace() || "\"'`;|&()<>{}=,:".contains(c);
    let mut found: Vec<&str> = Vec::new();
    // What a here-document holds is no part of the command.
    let command = command.split("<<").next().unwrap_or_default();
    for word in command.split(is_between) {
        if is_path(word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// Whether a word looks like a file: a name with an ending of letters.
fn is_path(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    let is_ending = (1..=5).contains(&ending.len())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.chars().all(|c| c.is_ascii_alphanumeric());
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@~[]".contains(c);
    let is_made = word.starts_with('-') || word.contains("...") || word.contains('*');
    is_ending && !stem.is_empty() && !is_made && word.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commands_gist_is_what_it_runs() {
        assert_eq!(
            gist("cd /w/app && cargo test parser 2>&1 | tail -5"),
            "cargo test parser"
        );
        assert_eq!(gist("  ls -la\npwd"), "ls -la");
        assert_eq!(gist("cd /w"), "cd /w");
    }

    #[test]
    fn the_files_of_a_command_are_those_with_an_ending() {
        assert_eq!(
            files("sed -n '1,20p' src/a.rs | grep x --color=auto"),
            ["src/a.rs"]
        );
        assert_eq!(files("cat a/b.toml b.md b.md"), ["a/b.toml", "b.md"]);
        assert!(files("python3 - <<'E'\nopen('a.txt')\nE").is_empty());
        assert!(files("go test ./... -run 1.25").is_empty());
    }
}
