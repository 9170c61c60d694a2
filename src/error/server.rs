//! Why a server is not talked to, though it is there.

/// What stands between a caller and a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerTrouble {
    /// Only plain text reaches it, which nobody has asked for.
    #[error("the server does not speak TLS")]
    NoTls,
    /// Its certificate is signed by nobody whom this machine trusts.
    #[error("the server's certificate is signed by nobody who is trusted here")]
    UnknownIssuer,
    /// Its certificate was valid once.
    #[error("the server's certificate has expired")]
    Expired,
    /// Its certificate will be valid.
    #[error("the server's certificate is not valid yet")]
    NotYetValid,
    /// Its certificate is somebody else's.
    #[error("the server's certificate is for another host{}", named(names))]
    OtherHost {
        /// Whose it is, as it says itself.
        names: Vec<String>,
    },
    /// TLS came to nothing for another reason.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// It has no connection left, or its pooler has none.
    #[error("waited {waited_ms} ms for a free connection to the server")]
    Full {
        /// How long, in milliseconds.
        waited_ms: u64,
    },
    /// It takes a connection, and then says nothing.
    #[error("the server has not answered for {waited_ms} ms")]
    Silent {
        /// How long, in milliseconds.
        waited_ms: u64,
    },
    /// Whoever came in may not do this.
    #[error("{0}")]
    NotGranted(String),
    /// It asks for a password that nobody says.
    #[error("the server wants a password, and there is none")]
    NoPassword,
    /// A secret of ours that others can read, so it is not used.
    #[error("{file} can be read by others, so it is not used")]
    OpenToOthers {
        /// Where it is.
        file: String,
    },
    /// A pooler that gives each statement another server.
    #[error("the pooler parts the statements of a transaction")]
    StatementPooling,
}

/// A few names, for there may be hundreds.
fn named(names: &[String]) -> String {
    let few: Vec<&str> = names.iter().take(3).map(String::as_str).collect();
    match (few.len(), names.len()) {
        (0, _) => String::new(),
        (few_count, count) if few_count < count => format!(": {}, …", few.join(", ")),
        _ => format!(": {}", few.join(", ")),
    }
}
