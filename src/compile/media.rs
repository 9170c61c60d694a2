//! Pictures, files and opaque blocks in a provider's own spelling, where it takes them.

use crate::hash::write_string as push_string;
use crate::model::{Media, MediaSource};

/// The media types of pictures that Anthropic takes.
///
/// # Source
///
/// Anthropic's Messages API, image blocks.
pub(super) const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// What stands in place of a picture that cannot be sent.
pub(super) const IMAGE_WORD: &str = "[image]";
/// What stands in place of a file that cannot be sent.
pub(super) const FILE_WORD: &str = "[file]";

/// OpenAI's part for a picture in a user message.
pub(super) fn openai_image(media: &Media) -> Option<String> {
    let url = match &media.source {
        MediaSource::Url(url) => url.clone(),
        MediaSource::Base64(data) => format!("data:{};base64,{data}", image_type(media, data)?),
        MediaSource::FileId(_) => return None,
    };
    let mut out = String::from(r#"{"type":"image_url","image_url":{"url":"#);
    push_string(&mut out, &url);
    if let Some(detail) = media.detail.as_deref().filter(|detail| is_detail(detail)) {
        out.push_str(r#","detail":"#);
        push_string(&mut out, detail);
    }
    out.push_str("}}");
    Some(out)
}

fn is_detail(detail: &str) -> bool {
    matches!(detail, "auto" | "low" | "high")
}

/// OpenAI's part for a file in a user message.
pub(super) fn openai_file(media: &Media) -> Option<String> {
    let mut out = String::from(r#"{"type":"file","file":{"#);
    match &media.source {
        MediaSource::Base64(data) => {
            let media_type = media.media_type.as_deref().unwrap_or("application/pdf");
            out.push_str(r#""filename":"#);
            push_string(&mut out, media.name.as_deref().unwrap_or("file"));
            out.push_str(r#","file_data":"#);
            push_string(&mut out, &format!("data:{media_type};base64,{data}"));
        }
        MediaSource::FileId(id) if !is_anthropic_file(id) => {
            out.push_str(r#""file_id":"#);
            push_string(&mut out, id);
        }
        _ => return None,
    }
    out.push_str("}}");
    Some(out)
}

/// Anthropic's block for a picture in a user message or a result.
pub(super) fn anthropic_image(media: &Media) -> Option<String> {
    let source = match &media.source {
        MediaSource::Url(url) => match split_data_url(url) {
            Some((media_type, data)) => {
                let media_type = IMAGE_TYPES.iter().find(|known| **known == media_type)?;
                base64_source(media_type, data)
            }
            None => url_source(url)?,
        },
        MediaSource::Base64(data) => base64_source(image_type(media, data)?, data),
        MediaSource::FileId(id) => file_source(id)?,
    };
    Some(format!(r#"{{"type":"image","source":{source}}}"#))
}

/// Anthropic's block for a file in a user message or a result.
pub(super) fn anthropic_document(media: &Media) -> Option<String> {
    const PDF: &str = "application/pdf";
    let source = match &media.source {
        MediaSource::Url(url) => match split_data_url(url) {
            Some((PDF, data)) => base64_source(PDF, data),
            Some(_) => return None,
            None => url_source(url)?,
        },
        MediaSource::Base64(data) => match split_data_url(data) {
            Some((PDF, data)) => base64_source(PDF, data),
            None if media.media_type.as_deref() == Some(PDF) => base64_source(PDF, data),
            _ => return None,
        },
        MediaSource::FileId(id) => file_source(id)?,
    };
    let mut out = format!(r#"{{"type":"document","source":{source}"#);
    if let Some(name) = media.name.as_deref().filter(|name| !name.is_empty()) {
        out.push_str(r#","title":"#);
        push_string(&mut out, name);
    }
    out.push('}');
    Some(out)
}

fn base64_source(media_type: &str, data: &str) -> String {
    let mut out = format!(r#"{{"type":"base64","media_type":"{media_type}","data":"#);
    push_string(&mut out, data);
    out.push('}');
    out
}

fn url_source(url: &str) -> Option<String> {
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return None;
    }
    let mut out = String::from(r#"{"type":"url","url":"#);
    push_string(&mut out, url);
    out.push('}');
    Some(out)
}

fn file_source(id: &str) -> Option<String> {
    if !is_anthropic_file(id) {
        return None;
    }
    let mut out = String::from(r#"{"type":"file","file_id":"#);
    push_string(&mut out, id);
    out.push('}');
    Some(out)
}

/// Anthropic's file ids begin with `file_`, OpenAI's with `file-`.
fn is_anthropic_file(id: &str) -> bool {
    id.starts_with("file_")
}

/// Media type and data of `data:TYPE;base64,DATA`.
fn split_data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

/// The media type of a picture: as it was said, or by the first bytes.
fn image_type(media: &Media, data: &str) -> Option<&'static str> {
    if let Some(said) = media.media_type.as_deref() {
        return IMAGE_TYPES.into_iter().find(|known| *known == said);
    }
    let beginnings = [
        ("/9j/", "image/jpeg"),
        ("iVBORw0KGgo", "image/png"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
    ];
    beginnings
        .into_iter()
        .find(|(beginning, _)| data.starts_with(beginning))
        .map(|(_, media_type)| media_type)
}
