//! Settings in JSON, as people write it: with comments, and with commas at the end of lists.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstContainerNode, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::{Broken, Entry, at, covers, not_an_object};

/// What some editors put in front.
const BOM: &str = "\u{feff}";

fn parse(text: &str) -> Result<(&str, CstRootNode), Broken> {
    let (bom, text) = match text.strip_prefix(BOM) {
        Some(rest) => (BOM, rest),
        None => ("", text),
    };
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root = CstRootNode::parse(text, &options).map_err(|error| {
        let (line, column) = (error.line_display(), error.column_display());
        format!("not valid JSON, line {line}, column {column}")
    })?;
    match root.value() {
        Some(value) if value.as_object().is_none() => Err("not an object of JSON".to_owned()),
        _ => Ok((bom, root)),
    }
}

pub fn read(text: &str) -> Result<Value, Broken> {
    let (_, root) = parse(text)?;
    match root.value() {
        None => Ok(Value::Object(Map::new())),
        Some(value) => {
            let value = value.to_serde_value();
            value.ok_or_else(|| "not valid JSON: a number or a string of it".to_owned())
        }
    }
}

pub fn add(text: &str, entries: &[Entry]) -> Result<String, Broken> {
    let (bom, root) = parse(text)?;
    for entry in entries {
        let (name, around) = entry.names();
        let object = root.object_value_or_create();
        let mut object = object.ok_or_else(|| not_an_object(name))?;
        for name in around {
            once(&object, name)?;
            let inner = object.object_value_or_create(name);
            object = inner.ok_or_else(|| not_an_object(name))?;
        }
        once(&object, name)?;
        let value = input(&entry.value);
        if entry.is_item {
            let list = object.array_value_or_create(name);
            list.ok_or_else(|| not_an_object(name))?.append(value);
        } else {
            object.append(name, value);
        }
    }
    let line = if text.is_empty() { "\n" } else { "" };
    Ok(format!("{bom}{root}{line}"))
}

pub fn remove(text: &str, entries: &[Entry], before: &Value) -> Result<String, Broken> {
    let (bom, root) = parse(text)?;
    for entry in entries.iter().rev() {
        let (name, around) = entry.names();
        let Some(object) = inside(&root, around) else {
            continue;
        };
        let Some(found) = object.get(name) else {
            continue;
        };
        if entry.is_item {
            let list = found.array_value();
            let Some(list) = list else { continue };
            let wanted = super::hooks(&entry.value).next();
            for group in list.elements() {
                take(&group, &entry.value, wanted);
            }
            let is_left = is_bare(&list.clone().into()) && at(before, &entry.at).is_none();
            if !is_left {
                continue;
            }
            found.remove();
        } else {
            let value = found.to_serde_value();
            if !value.is_some_and(|value| covers(&value, &entry.value)) {
                continue;
            }
            found.remove();
        }
        for depth in (1..=around.len()).rev() {
            let at = &around[..depth];
            let is_left = |object: &CstObject| is_bare(&object.clone().into());
            if inside(&root, at).is_some_and(|object| is_left(&object))
                && super::at(before, at).is_none()
            {
                let (name, around) = at.split_last().expect("one at least");
                let property = inside(&root, around).and_then(|object| object.get(name));
                property.into_iter().for_each(|property| property.remove());
            }
        }
    }
    Ok(format!("{bom}{root}"))
}

/// Takes our hook out of a group, and the group with it where it has no other.
fn take(group: &CstNode, whole: &Value, hook: Option<&Value>) {
    let is = |node: &CstNode, wanted: &Value| {
        let value = node.to_serde_value();
        value.is_some_and(|value| covers(&value, wanted))
    };
    let list = group
        .as_object()
        .and_then(|object| object.array_value("hooks"));
    let (Some(hook), Some(list)) = (hook, list) else {
        if is(group, whole) {
            group.clone().remove();
        }
        return;
    };
    let ours: Vec<CstNode> = list
        .elements()
        .into_iter()
        .filter(|node| is(node, hook))
        .collect();
    if ours.is_empty() {
        return;
    }
    if ours.len() == list.elements().len() {
        group.clone().remove();
    } else {
        ours.into_iter().for_each(CstNode::remove);
    }
}

/// Whether nothing is in it, not even a remark.
fn is_bare(node: &CstContainerNode) -> bool {
    let mut children = node.children().into_iter();
    children.all(|child| child.is_token() || (child.is_trivia() && !child.is_comment()))
}

/// The object within these names.
fn inside(root: &CstRootNode, names: &[String]) -> Option<CstObject> {
    let mut object = root.object_value()?;
    for name in names {
        object = object.object_value(name)?;
    }
    Some(object)
}

/// Refuses a name that stands there twice: programs disagree which of the two counts.
fn once(object: &CstObject, name: &str) -> Result<(), Broken> {
    let named = |property: &jsonc_parser::cst::CstObjectProp| {
        property.decoded_name().is_some_and(|found| found == name)
    };
    match object
        .properties()
        .iter()
        .filter(|property| named(property))
        .count()
    {
        0 | 1 => Ok(()),
        _ => Err(format!("'{name}' stands there twice")),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(*is),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            let members = members.iter();
            CstInputValue::Object(
                members
                    .map(|(name, value)| (name.clone(), input(value)))
                    .collect(),
            )
        }
    }
}
