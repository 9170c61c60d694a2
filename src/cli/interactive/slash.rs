//! What can be typed after a slash: the commands of the program that fit beside a conversation.
//!
//! Deliberately absent: what they do. They are the program's own, with its own arguments.

use tract::render::shell_words;

/// A command that was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slash {
    /// The program's command with these arguments.
    Run(Vec<String>),
    /// A summary is wanted first.
    Summary,
    /// To go back to this message, or before it where the user said it.
    Rewind(String),
    /// A message is to be picked for it first.
    Pick(&'static str),
    /// A file's name is wanted first.
    File,
    /// Enough.
    Quit,
}

/// All of them.
pub const WORDS: [&str; 11] = [
    "/clear",
    "/compact",
    "/truncate",
    "/undo",
    "/redo",
    "/rewind",
    "/restore",
    "/drop",
    "/resume",
    "/export",
    "/quit",
];

/// What there is where somebody answers, besides.
pub const SAVE: &str = "/save";

/// What a line that begins with a slash asks for; none if it is no command. A summariser makes
/// summaries where one is set.
pub fn parse(line: &str, summariser: Option<&str>) -> Option<Slash> {
    let (word, rest) = match line.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (line, ""),
    };
    if !WORDS.contains(&word) {
        return None;
    }
    let name = &word[1..];
    let words = shell_words(rest);
    let run = |before: &[&str], after: Vec<String>| {
        let before = before.iter().map(|word| (*word).to_owned());
        Slash::Run(before.chain(after).collect())
    };
    Some(match name {
        "quit" => Slash::Quit,
        "compact" if rest.is_empty() => match summariser {
            Some(command) => run(&["compact", "--exec", command], Vec::new()),
            None => Slash::Summary,
        },
        // What is no option is the summary itself.
        "compact" if !rest.starts_with('-') => run(&["compact", "-m"], vec![rest.to_owned()]),
        "rewind" if rest.is_empty() => Slash::Pick("reset"),
        "rewind" if words.len() == 1 && !rest.starts_with('-') => Slash::Rewind(rest.to_owned()),
        "rewind" => run(&["reset"], words),
        "restore" if rest.is_empty() => Slash::Pick("restore"),
        "drop" if rest.is_empty() => Slash::Pick("drop"),
        "export" if rest.is_empty() => Slash::File,
        // What is no option is the file.
        "export" if !rest.starts_with('-') => run(&["export", "-o"], words),
        "truncate" if rest.bytes().all(|b| b.is_ascii_digit()) && !rest.is_empty() => {
            run(&["truncate", "--keep"], words)
        }
        name => run(&[name], words),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Option<Slash> {
        Some(Slash::Run(
            words.iter().map(|word| (*word).to_owned()).collect(),
        ))
    }

    #[test]
    fn a_slash_word_is_the_programs_own_command() {
        assert_eq!(parse("/clear", None), run(&["clear"]));
        assert_eq!(parse("/clear --all", None), run(&["clear", "--all"]));
        assert_eq!(
            parse("/truncate 9", None),
            run(&["truncate", "--keep", "9"])
        );
        assert_eq!(
            parse("/truncate --marker 'it was long'", None),
            run(&["truncate", "--marker", "it was long"])
        );
        assert_eq!(parse("/undo 12", None), run(&["undo", "12"]));
        assert_eq!(
            parse("/rewind :12", None),
            Some(Slash::Rewind(":12".into()))
        );
        assert_eq!(
            parse("/rewind --hard :12", None),
            run(&["reset", "--hard", ":12"])
        );
        assert_eq!(parse("/rewind", None), Some(Slash::Pick("reset")));
        assert_eq!(parse("/restore", None), Some(Slash::Pick("restore")));
        assert_eq!(parse("/drop", None), Some(Slash::Pick("drop")));
        assert_eq!(parse("/drop :7 :9", None), run(&["drop", ":7", ":9"]));
        assert_eq!(parse("/export", None), Some(Slash::File));
        assert_eq!(
            parse("/export 'a b.html' --redact", None),
            run(&["export", "-o", "a b.html", "--redact"])
        );
        assert_eq!(parse("/quit", None), Some(Slash::Quit));
        assert_eq!(parse("/cleared", None), None);
        assert_eq!(parse("/etc/passwd", None), None);
    }

    #[test]
    fn a_summary_is_given_made_or_asked_for() {
        assert_eq!(parse("/compact", None), Some(Slash::Summary));
        assert_eq!(
            parse("/compact", Some("sum it")),
            run(&["compact", "--exec", "sum it"])
        );
        assert_eq!(
            parse("/compact it was 'about' sheds", None),
            run(&["compact", "-m", "it was 'about' sheds"])
        );
        assert_eq!(
            parse("/compact --keep 2 -m \"a b\"", None),
            run(&["compact", "--keep", "2", "-m", "a b"])
        );
    }
}
