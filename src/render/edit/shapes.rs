//! The shapes of arguments that edit files: the one place where a new tool is added.
//!
//! # Source
//!
//! The tools of Claude Code (`Edit`, `MultiEdit`, `Write`, `NotebookEdit`), Codex (`apply_patch`, also
//! inside a shell's command), Roo Code and Cline (`apply_diff`, `replace_in_file`, `search_and_replace`,
//! `write_to_file`, `insert_content`), Gemini CLI (`replace`, `write_file`), opencode, pi, Copilot,
//! VS Code and `str_replace_editor`, as they stand in sessions of theirs.

use serde_json::{Map, Value};

use super::{Edits, FileEdit, blocks, patch};

/// The file.
const PATHS: [&str; 10] = [
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "filename",
    "fileName",
    "target_file",
    "targetFile",
    "TargetFile",
    "file",
];

/// What went, and what stands in its place.
const PAIRS: [(&str, &str); 8] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("oldContent", "newContent"),
    ("search", "replace"),
    ("TargetContent", "ReplacementContent"),
];

/// All of a file, or all that is put into it, where the call says that it writes.
const WHOLE: [&str; 8] = [
    "content",
    "contents",
    "file_text",
    "fileContent",
    "CodeContent",
    "new_source",
    "insert_text",
    "new_str",
];

/// A patch: `*** Begin Patch`, a unified diff, or blocks of what is searched and what replaces it.
const PATCHES: [&str; 5] = ["patchText", "patch_text", "patch", "diff", "input"];

/// Several edits of the same file or of several ones.
const LISTS: [&str; 7] = [
    "edits",
    "replacements",
    "operations",
    "changes",
    "files",
    "args",
    "ReplacementChunks",
];

/// What a tool that writes files is called, or is told to do.
const WRITES: [&str; 6] = ["write", "create", "insert", "save", "notebook", "append"];

/// What a tool that edits files without naming one is called.
const EDITS: [&str; 4] = ["edit", "replace", "diff", "patch"];

pub(super) fn edits(name: &str, arguments: &str) -> Option<Edits> {
    if let Some(files) = patch::whole(arguments) {
        return Some(Edits {
            files,
            ..Edits::default()
        });
    }
    // Most calls are no edits, and many are long.
    let Ok(Value::Object(mut rest)) = serde_json::from_str(arguments) else {
        return None;
    };
    let says = |words: &[&str], text: &str| {
        let text = text.to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    let told = rest.get("command").and_then(Value::as_str);
    let call = Call {
        writes: says(&WRITES, name) || told.is_some_and(|told| WRITES.contains(&told)),
        edits: says(&EDITS, name),
    };
    let files = call.object(&mut rest, None, 0)?;
    let named = PATHS.iter().any(|key| rest.contains_key(*key));
    let is_named = named && files.iter().all(|file| file.path == files[0].path);
    Some(Edits {
        is_named,
        files,
        rest,
    })
}

/// What the call's name says of it.
#[derive(Clone, Copy)]
struct Call {
    writes: bool,
    edits: bool,
}

impl Call {
    /// The edits of an object, whose members that say them are taken out.
    fn object(
        self,
        object: &mut Map<String, Value>,
        above: Option<&str>,
        depth: usize,
    ) -> Option<Vec<FileEdit>> {
        let own = PATHS.iter().find_map(|key| object.get(*key)?.as_str());
        let own = own.or(above).map(str::to_owned);
        let path = own.as_deref();
        if let Some(edit) = self.pair(object, path) {
            return Some(vec![edit]);
        }
        for key in PATCHES {
            let text = object.get(key).and_then(Value::as_str);
            let found = text.and_then(|text| {
                let blocks = || blocks::edit(path, text).map(|edit| vec![edit]);
                patch::whole(text)
                    .or_else(|| patch::unified(path, text))
                    .or_else(blocks)
            });
            if found.is_some() {
                object.shift_remove(key);
                return found;
            }
        }
        for key in LISTS {
            let list = object.get_mut(key).and_then(Value::as_array_mut);
            let Some(list) = list.filter(|_| depth < 3) else {
                continue;
            };
            let items = list.iter_mut().filter_map(Value::as_object_mut);
            let found = items.filter_map(|item| self.object(item, path, depth + 1));
            let found: Vec<FileEdit> = found.flatten().collect();
            if !found.is_empty() {
                object.shift_remove(key);
                return Some(found);
            }
        }
        self.whole(object, path).or_else(|| shell(object))
    }

    fn pair(self, object: &mut Map<String, Value>, path: Option<&str>) -> Option<FileEdit> {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let (old, new) = PAIRS
            .iter()
            .find(|(old, new)| text(old).is_some() && text(new).is_some())?;
        if path.is_none() && !self.edits {
            return None;
        }
        let edit = FileEdit::replaced(path, text(old)?, text(new)?);
        object.shift_remove(*old);
        object.shift_remove(*new);
        Some(edit)
    }

    fn whole(self, object: &mut Map<String, Value>, path: Option<&str>) -> Option<Vec<FileEdit>> {
        let path = path.filter(|_| self.writes)?;
        let key = WHOLE
            .iter()
            .find(|key| object.get(**key).is_some_and(Value::is_string))?;
        let edit = FileEdit::written(Some(path), object.get(*key)?.as_str()?);
        object.shift_remove(*key);
        Some(vec![edit])
    }
}

/// A patch inside a command. The command stays, without the patch.
fn shell(object: &mut Map<String, Value>) -> Option<Vec<FileEdit>> {
    for value in object.values_mut() {
        let words = match value {
            Value::Array(words) => words.iter_mut().filter(|word| word.is_string()).collect(),
            Value::String(_) => vec![value],
            _ => continue,
        };
        for word in words {
            let text = word.as_str().unwrap_or_default();
            if let Some((left, files)) = patch::inside(text) {
                *word = left.into();
                return Some(files);
            }
        }
    }
    None
}
