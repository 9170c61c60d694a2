//! How a bucket that speaks S3 is reached: by the variables that every program has for it.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use reqwest::Url;
use tract::Error;
use tract::repo::Repo;
use tract::sync::{OnShelf, Peer};

use super::bucket::{Bucket, meaning};
use super::url;
use crate::cli::app::Aws;
use crate::cli::{App, Failure, Result};

/// For how long a connection may be made.
const CONNECT: Duration = Duration::from_secs(10);
/// When a request that failed is not made again.
const RETRIED: Duration = Duration::from_secs(15);
/// How often one is made again.
const RETRIES: usize = 3;

/// Lets `act` talk to a bucket.
pub fn with<T>(
    place: &url::Bucket,
    mine: &Repo,
    app: &mut App,
    act: impl FnOnce(&mut dyn Peer, &mut App) -> Result<T>,
) -> Result<T> {
    let url::Bucket { name, prefix } = place;
    let address = format!("s3://{name}/{prefix}");
    let address = address.trim_end_matches('/').to_owned();
    let unreachable = |error: object_store::Error| {
        let meant = meaning(&error);
        let address = address.clone();
        let reason = meant.reason;
        Failure::from(Error::Unreachable { address, reason }).with_hint(meant.hint)
    };
    let store = reached(name, &app.env.aws)?;
    let prefix = Path::parse(prefix).map_err(|error| unreachable(error.into()))?;
    let bucket = Bucket::new(store, prefix, address.clone())?;
    let beside = bucket.beside();
    let shelf = OnShelf::new(mine, bucket).map_err(Failure::from);
    let done = shelf.and_then(|mut shelf| act(&mut shelf, app));
    if let Some(reason) = beside.left.take() {
        let left = "what no ref names any more is still in the bucket";
        app.ui.warn(format!("{left}: {reason}"));
    }
    done.map_err(|failure| match (failure, beside.hint.take()) {
        (
            failure @ Failure::Tract(Error::Unreachable { .. } | Error::RefMoved { .. }),
            Some(hint),
        ) => failure.with_hint(hint),
        (failure, _) => failure,
    })
}

/// The bucket of that name, by the environment.
fn reached(name: &str, aws: &Aws) -> Result<Arc<dyn ObjectStore>> {
    // Whoever was first has set the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = ClientOptions::new()
        .with_connect_timeout(CONNECT)
        // A large bundle takes its time; whether anything comes, the bucket looks itself.
        .with_timeout_disabled();
    let retry = RetryConfig {
        backoff: BackoffConfig {
            max_backoff: Duration::from_secs(2),
            ..BackoffConfig::default()
        },
        max_retries: RETRIES,
        retry_timeout: RETRIED,
    };
    let mut builder = AmazonS3Builder::new().with_client_options(options);
    for (variable, value) in aws.pairs() {
        // There are others, which mean something to other programs.
        if let Ok(key) = variable.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, checked(variable, key, value)?);
        }
    }
    let store = builder
        .with_bucket_name(name)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        // One by one is what all of them know.
        .with_disable_bulk_delete(true)
        .with_retry(retry)
        .build();
    let store = store.map_err(|error| {
        let reason = innermost(&error);
        refused(format!("the AWS_ variables do not fit: {reason}"))
    });
    Ok(Arc::new(store?))
}

/// A variable's value as the client takes it, which ends the program over what can be in no address and no header.
fn checked(variable: &str, key: AmazonS3ConfigKey, value: &str) -> Result<String> {
    use AmazonS3ConfigKey as Key;
    let is_plain = |c: char| c.is_ascii_graphic();
    let is_good = match key {
        Key::Endpoint
        | Key::S3Endpoint
        | Key::StsEndpoint
        | Key::MetadataEndpoint
        | Key::ContainerCredentialsFullUri => {
            let url = value.parse::<Url>().ok();
            let url = url.filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
            let url = url.ok_or_else(|| refused(format!("{variable}: '{value}' is not a URL")))?;
            // What is without a slash at its end gets one, and the client adds its own.
            let url = url.as_str();
            return Ok(if value.ends_with('/') {
                url.to_owned()
            } else {
                url.trim_end_matches('/').to_owned()
            });
        }
        Key::Region | Key::DefaultRegion => {
            value.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        }
        Key::AccessKeyId | Key::Token | Key::ContainerCredentialsRelativeUri => {
            value.chars().all(is_plain)
        }
        _ => !value.contains(char::is_control),
    };
    if is_good {
        Ok(value.to_owned())
    } else {
        Err(refused(format!(
            "{variable} has a character that no such value has"
        )))
    }
}

fn refused(what: String) -> Failure {
    Failure::usage(what).with_hint("docs/sync.md says which variables there are")
}

/// What is behind an error of several.
fn innermost(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => innermost(source),
        None => error.to_string(),
    }
}
