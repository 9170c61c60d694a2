//! What a text of the model's refers to: results of a search, or pages of a document.
//!
//! A provider that made the references wants them back with the text. A message does not have them; the
//! client's record of it has.

use serde::Deserialize;

use super::super::json::Raw;

/// Blocks to which a text may refer, as their types end.
const SOURCES: [&str; 4] = [
    r#"search_tool_result""#,
    r#"web_fetch_tool_result""#,
    r#""search_result""#,
    r#""document""#,
];

/// Whether texts of a request may refer to something in it. Looks for types of blocks alone.
pub fn may_cite(request: &str) -> bool {
    SOURCES.iter().any(|source| request.contains(source))
}

/// The blocks of a content whose text refers to something: the text, and the references as JSON.
pub fn cited(content: &str) -> Vec<(String, &str)> {
    #[derive(Deserialize)]
    struct Block<'a> {
        text: Option<String>,
        #[serde(borrow)]
        citations: Raw<'a>,
    }
    if !content.contains(r#""citations""#) {
        return Vec::new();
    }
    let blocks: Vec<Block<'_>> = serde_json::from_str(content).unwrap_or_default();
    let cited = blocks.into_iter().filter_map(|block| {
        let citations = block.citations?.get();
        let is_list = citations.starts_with('[') && citations != "[]";
        Some((block.text?, citations)).filter(|_| is_list)
    });
    cited.collect()
}
