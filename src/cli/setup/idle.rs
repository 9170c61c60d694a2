//! Why a client may leave alone what is set up as it should be: its hooks are switched off, or wait for the user's trust.

use serde_json::Value;

use super::Part;
use super::place::Place;
use super::settings::Entry;
use super::tools::{File, Tool};

impl Tool {
    /// Why the client does nothing with a setting that is there; none where it does what it is for.
    pub fn leaves_alone(&self, file: &File, entry: &Entry, settings: &Value) -> Option<String> {
        if let Some(Value::Bool(false)) =
            entry.found(settings).and_then(|found| found.get("enabled"))
        {
            return Some("is switched off: enabled".to_owned());
        }
        if !entry.is_item {
            return None;
        }
        let first = &self.files[0];
        let place = Place::read(&first.path).ok()?;
        let settings_of_client = first.form.read(place.text().ok()?).ok()?;
        if let Some((names, off)) = self.switch {
            let found = names
                .iter()
                .try_fold(&settings_of_client, |found, name| found.get(name));
            if found == Some(&Value::Bool(off)) {
                return Some(format!("is switched off: {}", names.join(".")));
            }
        }
        let waits =
            self.part == Part::Codex && !is_trusted(&settings_of_client, file, entry, settings);
        waits.then(|| "waits for your trust; start codex, type /hooks".to_owned())
    }
}

/// Whether the user has told Codex to trust the hook.
///
/// # Source
///
/// Codex's documentation of hooks, "Review and trust hooks"; the names are those that 0.169.0 writes.
fn is_trusted(config: &Value, file: &File, entry: &Entry, hooks: &Value) -> bool {
    let (Some((group, hook)), Some(event)) = (entry.place(hooks), entry.at.last()) else {
        return false;
    };
    let mut name = String::new();
    for (at, letter) in event.char_indices() {
        if at > 0 && letter.is_uppercase() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    let key = format!("{}:{name}:{group}:{hook}", file.path.display());
    let names = ["hooks", "state", &key, "trusted_hash"];
    names
        .iter()
        .try_fold(config, |found, name| found.get(name))
        .is_some()
}
