//! Pictures and files as far as providers agree on them.

use crate::model::{Media, MediaSource, Part};

/// What stands in place of a picture that cannot be sent.
pub(super) const IMAGE_WORD: &str = "[image]";
/// What stands in place of a file that cannot be sent.
pub(super) const FILE_WORD: &str = "[file]";

/// The media type of a PDF document.
pub(super) const PDF: &str = "application/pdf";

/// The media types of pictures that providers take, and how the base64 text of each begins.
///
/// # Source
///
/// Anthropic's Messages API, image blocks; OpenAI's guide to images names the same.
const IMAGE_TYPES: [(&str, &str); 4] = [
    ("image/jpeg", "/9j/"),
    ("image/png", "iVBORw0KGgo"),
    ("image/gif", "R0lGOD"),
    ("image/webp", "UklGR"),
];

/// The media type of a picture, if providers take it: as it was said, or by the first bytes.
pub fn image_type(said: Option<&str>, data: &str) -> Option<&'static str> {
    let taken = IMAGE_TYPES
        .into_iter()
        .find(|(media_type, beginning)| match said {
            Some(said) => said == *media_type,
            None => data.starts_with(beginning),
        });
    taken.map(|(media_type, _)| media_type)
}

/// The address of a picture, a data URL where its bytes are here; none if a provider's model
/// cannot see it by one.
pub fn image_url(media: &Media) -> Option<String> {
    match &media.source {
        MediaSource::Url(url) => Some(url.clone()),
        MediaSource::Base64(data) => {
            let media_type = image_type(media.media_type.as_deref(), data)?;
            Some(format!("data:{media_type};base64,{data}"))
        }
        MediaSource::FileId(_) => None,
    }
}

/// A picture by its address, which may be a data URL that holds it.
pub(super) fn image_at(url: String, detail: Option<String>) -> Media {
    let (media_type, source) = match owned_data(&url) {
        Some((media_type, data)) => (media_type, MediaSource::Base64(data)),
        None => (None, MediaSource::Url(url)),
    };
    Media {
        detail,
        ..Media::new(media_type, source)
    }
}

/// A picture or a file by its address, which may be a data URL that holds it.
pub fn attachment(url: String, media_type: Option<String>, name: Option<String>) -> Part {
    let media = image_at(url, None);
    Part::media(Media {
        media_type: media_type.or(media.media_type),
        name,
        ..media
    })
}

/// The address of a picture or a file, a data URL where its bytes are here; none if only a provider
/// has it.
pub fn address(media: &Media) -> Option<String> {
    match &media.source {
        MediaSource::Url(url) => Some(url.clone()),
        MediaSource::Base64(data) => {
            let media_type = media.media_type.as_deref().unwrap_or_default();
            Some(format!("data:{media_type};base64,{data}"))
        }
        MediaSource::FileId(_) => None,
    }
}

/// Media type, if it names one, and base64 text of a data URL.
pub(super) fn owned_data(url: &str) -> Option<(Option<String>, String)> {
    let (media_type, data) = split_data_url(url)?;
    let media_type = (!media_type.is_empty()).then(|| media_type.to_owned());
    Some((media_type, data.to_owned()))
}

/// Media type and data of `data:TYPE;base64,DATA`.
pub(super) fn split_data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

/// Whether a file's id is one of Anthropic's: these begin with `file_`, OpenAI's with `file-`.
pub fn is_anthropic_file(id: &str) -> bool {
    id.starts_with("file_")
}
