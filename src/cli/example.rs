//! The examples below a command's help, laid out for a width: what a command does stays beside it.
//!
//! Deliberately absent: the examples themselves, which are each command's.

use tract::render::Line;

/// Less room than this beside a command, and its explanation goes below it.
const LEAST: usize = 24;

/// Where an explanation begins that stands below its command.
const BELOW: usize = 6;

/// The text in lines of `cols` columns. An explanation goes on under its beginning; a command is
/// never broken.
pub fn laid_out(text: &str, cols: usize) -> String {
    let rows = text.lines().flat_map(|line| rows(line, cols));
    rows.collect::<Vec<_>>().join("\n")
}

fn rows(line: &str, cols: usize) -> Vec<String> {
    let shown = Line::from(line);
    let said = line.trim_start();
    let indent = line.len() - said.len();
    if shown.width_cols() <= cols || indent == 0 {
        return vec![line.to_owned()];
    }
    // Two spaces part a command from what it does; where there is no command, all explains.
    let (command, told) = match said.split_once("  ") {
        Some((command, told)) => (&line[..indent + command.len()], told.trim_start()),
        None if indent > LEAST => ("", said),
        None => return vec![line.to_owned()],
    };
    let column = line.len() - told.len();
    let column = Line::from(&line[..column]).width_cols();
    let told = Line::from(told);
    let (mut head, column) = match cols.saturating_sub(column) {
        room if room >= LEAST => (format!("{command:column$}"), column),
        _ if command.is_empty() => (" ".repeat(BELOW), BELOW),
        _ => (format!("{command}\n{:BELOW$}", ""), BELOW),
    };
    let mut rows = Vec::new();
    for row in told.wrap(cols.saturating_sub(column).max(LEAST)) {
        rows.push(head + &row.text());
        head = " ".repeat(column);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_goes_on_under_its_beginning() {
        let text = "\
Example:
  tract restore a1b2c3d  undo this truncation, compaction, drop, prune or edit
  tract log --role user --since 2d --reverse
                         what was asked these two days, oldest first";
        insta::assert_snapshot!(laid_out(text, 60), @r"
        Example:
          tract restore a1b2c3d  undo this truncation, compaction,
                                 drop, prune or edit
          tract log --role user --since 2d --reverse
                                 what was asked these two days,
                                 oldest first
        ");
        insta::assert_snapshot!(laid_out(text, 44), @r"
        Example:
          tract restore a1b2c3d
              undo this truncation, compaction,
              drop, prune or edit
          tract log --role user --since 2d --reverse
              what was asked these two days, oldest
              first
        ");
        assert_eq!(laid_out(text, 80), text);
    }

    #[test]
    fn every_example_fits_80_columns() {
        for command in crate::cli::root().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string);
            for line in laid_out(&help.unwrap_or_default(), 80).lines() {
                let is_prose = !line.starts_with(' ');
                assert!(
                    is_prose || Line::from(line).width_cols() <= 80,
                    "{}: {line}",
                    command.get_name()
                );
            }
        }
    }
}
