//! What the client of a server says, in words for people.

/// What an engine's error says without what is said of each of them.
pub(super) fn reason(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        // The system's own "(os error 2)" helps nobody, nor does a library's manual.
        Some(source) => {
            let source = source.to_string();
            let ends = [" (os error", ": https://"].map(|end| source.find(end));
            let ends = ends.into_iter().flatten().min();
            source[..ends.unwrap_or(source.len())].to_owned()
        }
        None => error.to_string(),
    }
}
