//! Settings in TOML.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

use super::{Broken, Entry, covers, not_an_object};

fn parse(text: &str) -> Result<DocumentMut, Broken> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        format!("not valid TOML, line {line}")
    })
}

pub fn read(text: &str) -> Result<Value, Broken> {
    Ok(value(parse(text)?.as_item()))
}

pub fn add(text: &str, entries: &[Entry]) -> Result<String, Broken> {
    let mut document = parse(text)?;
    for entry in entries {
        let (name, around) = entry.names();
        let mut table: &mut dyn TableLike = document.as_table_mut();
        for name in around {
            let mut implicit = Table::new();
            implicit.set_implicit(true);
            let inner = table.entry(name).or_insert(Item::Table(implicit));
            let inner = inner.as_table_like_mut();
            table = inner.ok_or_else(|| not_an_object(name))?;
        }
        table.insert(name, item(&entry.value));
    }
    Ok(document.to_string())
}

pub fn remove(text: &str, entries: &[Entry], before: &Value) -> Result<String, Broken> {
    let mut document = parse(text)?;
    for entry in entries.iter().rev() {
        let (name, around) = entry.names();
        let Some(table) = inside(&mut document, around) else {
            continue;
        };
        let is_ours = |found: &Item| covers(&value(found), &entry.value);
        if !table.get(name).is_some_and(is_ours) {
            continue;
        }
        table.remove(name);
        for depth in (1..=around.len()).rev() {
            let at = &around[..depth];
            let is_left = inside(&mut document, at).is_some_and(|table| table.is_empty());
            if is_left && super::at(before, at).is_none() {
                let (name, around) = at.split_last().expect("one at least");
                inside(&mut document, around).and_then(|table| table.remove(name));
            }
        }
    }
    Ok(document.to_string())
}

/// The table within these names.
fn inside<'a>(document: &'a mut DocumentMut, names: &[String]) -> Option<&'a mut dyn TableLike> {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for name in names {
        table = table.get_mut(name)?.as_table_like_mut()?;
    }
    Some(table)
}

/// What of it is told as JSON; times are texts.
fn value(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let members = table
            .iter()
            .map(|(name, item)| (name.to_owned(), value(item)));
        return Value::Object(members.collect::<Map<_, _>>());
    }
    if let Some(tables) = item.as_array_of_tables() {
        let tables = tables
            .iter()
            .map(|table| value(&Item::Table(table.clone())));
        return Value::Array(tables.collect());
    }
    match item.as_value() {
        None => Value::Null,
        Some(toml_edit::Value::String(text)) => Value::String(text.value().clone()),
        Some(toml_edit::Value::Integer(number)) => (*number.value()).into(),
        Some(toml_edit::Value::Float(number)) => (*number.value()).into(),
        Some(toml_edit::Value::Boolean(is)) => (*is.value()).into(),
        Some(toml_edit::Value::Datetime(time)) => Value::String(time.value().to_string()),
        Some(toml_edit::Value::Array(items)) => {
            let items = items.iter().map(|item| value(&Item::Value(item.clone())));
            Value::Array(items.collect())
        }
        Some(toml_edit::Value::InlineTable(table)) => {
            value(&Item::Table(table.clone().into_table()))
        }
    }
}

/// An object as a table; what else a setting of ours may be as a value.
pub(super) fn item(value: &Value) -> Item {
    match value {
        Value::Object(members) => {
            let mut table = Table::new();
            for (name, value) in members {
                table.insert(name, item(value));
            }
            Item::Table(table)
        }
        Value::Array(items) => {
            let items = items
                .iter()
                .filter_map(|value| item(value).into_value().ok());
            toml_edit::value(items.collect::<Array>())
        }
        Value::Bool(is) => toml_edit::value(*is),
        Value::Number(number) => toml_edit::value(number.as_i64().unwrap_or_default()),
        Value::String(text) => toml_edit::value(text),
        Value::Null => Item::None,
    }
}
