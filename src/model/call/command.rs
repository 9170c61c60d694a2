//! The line of a command that tells what it does.

/// The telling line of a command, and whether it is all of it: comments before it, the lines behind
/// it and what a heredoc holds are left out.
pub(super) fn telling(command: &str) -> (String, bool) {
    let lines = command
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    let first = lines.iter().position(|line| !line.starts_with('#'));
    let mut line = String::new();
    for next in &lines[first.unwrap_or(0)..] {
        match next.strip_suffix('\\') {
            Some(next) => line = line + next.trim_end() + " ",
            None => {
                line += next;
                break;
            }
        }
    }
    let line = line.trim_end().to_owned();
    let is_all = command.trim() == line;
    (line, is_all)
}

/// The command among the words of a call: what a shell is told to run, or all words.
pub(super) fn of_words(words: &[&str]) -> String {
    match words {
        [shell, flags @ .., command]
            if is_shell(shell) && flags.iter().any(|flag| *flag == "-c" || *flag == "-lc") =>
        {
            (*command).to_owned()
        }
        words => {
            let word = |word: &&str| match word.contains(char::is_whitespace) || word.is_empty() {
                true => format!("'{word}'"),
                false => (*word).to_owned(),
            };
            words.iter().map(word).collect::<Vec<_>>().join(" ")
        }
    }
}

fn is_shell(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    ["sh", "bash", "zsh", "dash", "fish"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_telling_line_is_the_first_that_does_something() {
        let telling = |command| {
            let (line, is_all) = telling(command);
            format!("{line}{}", if is_all { "" } else { " …" })
        };
        assert_eq!(telling("ls -la\n"), "ls -la");
        assert_eq!(telling("# Look first\n\nls\npwd"), "ls …");
        assert_eq!(telling("# only a remark"), "# only a remark");
        assert_eq!(telling("cat > a <<'EOF'\nmuch\nEOF"), "cat > a <<'EOF' …");
        assert_eq!(telling("cargo test \\\n  --lib"), "cargo test --lib …");
        assert_eq!(telling(""), "");
    }

    #[test]
    fn a_shell_is_not_what_is_run() {
        assert_eq!(of_words(&["bash", "-lc", "cd a && ls"]), "cd a && ls");
        assert_eq!(of_words(&["/bin/zsh", "-c", "pwd"]), "pwd");
        assert_eq!(of_words(&["rg", "a b", "src"]), "rg 'a b' src");
    }
}
