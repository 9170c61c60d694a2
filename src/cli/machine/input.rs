//! Text that the user hands over: in a file, on standard input, or written in an editor.

use std::io::Write;
use std::path::{Path, PathBuf};

use tract::Error;

use crate::cli::machine::shell::shell;
use crate::cli::machine::{paths, private};
use crate::cli::{App, Failure, Result};

/// The text of a file, or of standard input where the path is `-`.
pub fn read(app: &App, path: &Path) -> Result<String> {
    if path == Path::new(paths::STDIN) {
        // Whoever writes may take any time.
        app.ui.held().let_go();
        return paths::text(std::io::stdin().lock(), &paths::name(path));
    }
    paths::text(paths::open(&app.path(path)?)?, &paths::name(path))
}

/// Lets the user write the text in their editor, from `old` on.
pub fn edited(app: &App, old: &str) -> Result<String> {
    app.ui.held().let_go();
    let Some(editor) = app.env.editor.clone() else {
        let failure = Failure::usage("no text was given, and neither VISUAL nor EDITOR is set");
        return Err(failure.with_hint("tract commit -r user -m TEXT"));
    };
    let path = new_file(old)?;
    // As git does: the editor's setting is a command line, so the shell splits it.
    let mut command = shell(&format!("{editor} \"$1\""));
    let status = command.arg(&editor).arg(&path).status();
    let status = status.map_err(Error::io(&editor));
    let text = std::fs::read_to_string(&path).map_err(Error::io(&path));
    let _ = std::fs::remove_file(&path);
    if !status?.success() {
        let what = format!("'{editor}' failed; nothing was committed");
        return Err(Failure::refused(what));
    }
    let text = text?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// Keeps a text in a file, and says where.
pub fn kept(text: &str, app: &mut App) -> Result<()> {
    let path = new_file(text)?;
    app.ui.notice(format!("your text is in {}", path.display()));
    Ok(())
}

/// A new file with a text, which nobody else can read.
fn new_file(text: &str) -> Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("tract-{}.md", private::random_name::<8>()?));
    private::create(&path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(Error::io(&path))?;
    Ok(path)
}
