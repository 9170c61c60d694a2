//! What a bucket says that gives nothing, in words: why, and what to do about it.

use std::error::Error as _;

use object_store::Error as Said;

/// How much is told of what somebody else says, in characters.
const TOLD: usize = 200;

const WHERE: &str = "AWS_ENDPOINT_URL and AWS_REGION say where buckets are";
const WHO: &str = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY say who you are; they must be allowed to list, get, put and delete";
const AGAIN: &str = "what has arrived is kept; the same command continues from there";

/// What the client says of an answer that no S3 gives.
const STRANGE: [&str; 4] = [
    "invalid list response",
    "nable to extract metadata",
    "error decoding response",
    "eader missing from response",
];

/// Why there is nothing, and what to do about it.
pub struct Meant {
    pub reason: String,
    pub hint: &'static str,
}

/// What an error means.
pub fn meaning(said: &Said) -> Meant {
    let chain = chain(said);
    let all = chain.join(" ");
    let (code, status) = (code(&all), status(&all));
    let with_code = code.map_or(String::new(), |code| format!(" ({})", told(code)));
    let (reason, hint) = match (code, status.map(number)) {
        _ if all.contains("/latest/api/token") => (
            "no credentials were given, and this machine has none of its own".to_owned(),
            WHO,
        ),
        (Some("RequestTimeTooSkewed"), _) => (
            "this machine's clock differs too much from the bucket's".to_owned(),
            "set the clock, then try again",
        ),
        (Some("NoSuchBucket"), _) => (
            "there is no such bucket".to_owned(),
            "make it first, because tract does not; AWS_ENDPOINT_URL and AWS_REGION say where buckets are",
        ),
        (Some("AuthorizationHeaderMalformed"), _) | (_, Some("301" | "307")) => (
            "the bucket is in another region".to_owned(),
            "AWS_REGION names it",
        ),
        (Some("ExpiredToken" | "InvalidToken"), _) | (_, Some("401" | "403")) => {
            (format!("these credentials do not allow it{with_code}"), WHO)
        }
        (_, Some("404")) => (
            "nothing of that name is there, or what answers does not speak S3".to_owned(),
            WHERE,
        ),
        (_, Some(_)) => {
            let status = status.unwrap_or_default();
            (format!("it answers {}{with_code}", told(status)), AGAIN)
        }
        _ if all.contains("redirect without LOCATION") => (
            "the bucket is in another region".to_owned(),
            "AWS_REGION names it",
        ),
        _ if all.contains("scheme is not allowed") => (
            "with http:// everybody on the way can read it".to_owned(),
            "AWS_ALLOW_HTTP=true allows it; https:// is better",
        ),
        _ if STRANGE.iter().any(|what| all.contains(what)) => {
            ("what answers there does not speak S3".to_owned(), WHERE)
        }
        _ => {
            let last = chain.last().map_or("", String::as_str);
            // The system's own "(os error 2)" helps nobody.
            let last = last.split(" (os error").next().unwrap_or_default();
            if all.contains("(Connect)") {
                (format!("it cannot be reached: {}", told(last)), WHERE)
            } else {
                (format!("it broke off: {}", told(last)), AGAIN)
            }
        }
    };
    Meant { reason, hint }
}

/// Whether it is the bucket that there is not, and not only the object.
pub fn is_no_bucket(said: &Said) -> bool {
    code(&chain(said).join(" ")) == Some("NoSuchBucket")
}

/// Whether a put was refused because what is there is not as it was seen.
pub fn is_lost(said: &Said) -> bool {
    matches!(said, Said::AlreadyExists { .. } | Said::Precondition { .. })
}

/// Whether a put was refused because it had a condition.
pub fn is_unknown(said: &Said) -> bool {
    let all = chain(said).join(" ");
    match (status(&all).map(number), code(&all)) {
        (Some("405" | "501"), _) => true,
        // Much else is told of with the same status: credentials that ended, a region.
        (Some("400"), code) => matches!(
            code,
            None | Some("NotImplemented" | "InvalidArgument" | "InvalidRequest")
        ),
        _ => matches!(
            said,
            Said::NotImplemented { .. } | Said::NotSupported { .. }
        ),
    }
}

/// Nothing has come for too long.
pub fn silence() -> Said {
    generic("nothing came for too long")
}

/// An object without an ETag, without which none can be put conditionally.
pub fn no_tag() -> Said {
    generic("no ETag: unable to extract metadata")
}

/// An object that is longer than any of its kind.
pub fn too_long() -> Said {
    generic("too long: unable to extract metadata")
}

fn generic(what: &str) -> Said {
    Said::Generic {
        store: "S3",
        source: what.into(),
    }
}

/// All that the error says, from the outside in.
fn chain(said: &Said) -> Vec<String> {
    let mut all = vec![said.to_string()];
    let mut source = said.source();
    while let Some(error) = source {
        all.push(error.to_string());
        source = error.source();
    }
    all
}

/// The code of S3's, as in `<Code>AccessDenied</Code>`.
fn code(all: &str) -> Option<&str> {
    let (_, rest) = all.split_once("<Code>")?;
    Some(rest.split_once("</Code>")?.0)
}

/// The status of HTTP's, as in `503 Service Unavailable`.
fn status(all: &str) -> Option<&str> {
    let (_, rest) = all.split_once("non-2xx status code: ")?;
    rest.split(':').next()
}

/// Its number.
fn number(status: &str) -> &str {
    status.split(' ').next().unwrap_or_default()
}

fn told(text: &str) -> String {
    text.trim().chars().take(TOLD).collect()
}
