//! Tools as requests offer them, whichever provider's form that is.
//!
//! Deliberately absent: requests; a provider's own form of a tool is in [`crate::wire`].

use serde_json::value::RawValue;

use crate::formats::shared::parts;
use crate::wire::json::{Object, decode, string, tight};

lazy! {
    struct Tool {
        r#type, function, name, description, parameters, input_schema, in_gemini = "functionDeclarations",
    }
}

/// One tool.
pub(crate) struct Offered {
    name: String,
    description: Option<String>,
    /// The schema of its arguments, as JSON; none: the provider has the tool itself.
    schema: Option<String>,
    kind: Option<String>,
}

impl Offered {
    /// Those of a setting `tools`; none where it is no list.
    pub(crate) fn all(tools: &str) -> Option<Vec<Self>> {
        let tools: Vec<&RawValue> = serde_json::from_str(tools).ok()?;
        Some(tools.into_iter().flat_map(Self::of).collect())
    }

    fn of(raw: &RawValue) -> Vec<Self> {
        let outer: Tool<'_> = decode(Some(raw)).unwrap_or_default();
        if let Some(declared) = decode::<Vec<&RawValue>>(outer.in_gemini) {
            return declared.into_iter().flat_map(Self::of).collect();
        }
        let inner: Option<Tool<'_>> = decode(outer.function);
        let tool = inner.as_ref().unwrap_or(&outer);
        let kind = string(outer.r#type);
        let Some(name) = string(tool.name).or_else(|| kind.clone()) else {
            return Vec::new();
        };
        let schema = tool.parameters.or(tool.input_schema);
        vec![Self {
            name,
            description: string(tool.description),
            schema: schema.map(|schema| tight(schema.get())),
            kind,
        }]
    }

    /// As OpenAI's Chat Completions take it.
    pub(crate) fn nested(&self) -> String {
        let schema = self.schema.as_deref().unwrap_or("{}");
        parts::tool(&self.name, self.description.as_deref(), schema)
    }

    /// With all members side by side.
    pub(crate) fn flat(&self) -> String {
        let Some(schema) = &self.schema else {
            let kind = self.kind.as_deref().unwrap_or("function");
            return Object::typed(kind).string("name", &self.name).finish();
        };
        Object::typed("function")
            .string("name", &self.name)
            .optional("description", self.description.as_deref())
            .raw("parameters", schema)
            .finish()
    }
}
