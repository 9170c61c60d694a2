//! How clouds and gateways spell the names of models, for whoever looks them up in a list of prices.
//!
//! Deliberately absent: which models there are, and deployments whose names their owners chose.

/// A name under which a list may have a model, and whose list: none where the name itself tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The provider, as the list calls it.
    pub provider: Option<&'static str>,
    /// The name.
    pub name: String,
}

/// Whose models Bedrock names by `VENDOR.MODEL`.
const VENDORS: [&str; 20] = [
    "ai21",
    "amazon",
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "luma",
    "meta",
    "minimax",
    "mistral",
    "moonshot",
    "moonshotai",
    "nvidia",
    "openai",
    "qwen",
    "stability",
    "twelvelabs",
    "writer",
    "xai",
    "zai",
];

/// The names under which a list may have a model, the likeliest first, each once.
///
/// ```
/// use tract::model::model_name::spellings;
///
/// let of = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1:0";
/// let found = spellings(of).into_iter().map(|it| it.name).collect::<Vec<_>>();
/// assert!(found.contains(&"us.anthropic.claude-opus-4-6-v1:0".to_owned()));
/// assert!(found.contains(&"claude-opus-4-6".to_owned()));
/// ```
///
/// # Source
///
/// <https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html>,
/// <https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude>,
/// <https://openrouter.ai/docs/guides/routing/model-variants>
pub fn spellings(name: &str) -> Vec<Spelling> {
    let mut found: Vec<Spelling> = Vec::with_capacity(4);
    let mut put = |provider, name: &str| {
        let spelling = Spelling {
            provider,
            name: name.to_owned(),
        };
        if !name.is_empty() && !found.contains(&spelling) {
            found.push(spelling);
        }
    };
    // What a client puts behind the name: the context that it asks for.
    let plain = match name.strip_suffix(']').and_then(|it| it.rsplit_once('[')) {
        Some((plain, _)) => plain,
        None => name,
    };
    put(None, name);
    put(None, plain);
    let last = plain.rsplit('/').next().unwrap_or(plain);
    if last.len() < plain.len() {
        let before = plain[..plain.len() - last.len() - 1].rsplit('/').next();
        let routed = format!("{}/{last}", before.unwrap_or_default());
        let tag = last.rsplit_once(':');
        // A variant may have a price of its own, and be free.
        if tag.is_some() {
            put(Some("openrouter"), &routed);
        }
        put(None, last);
        put(Some("openrouter"), &routed);
        if let Some((untagged, tag)) = tag
            && tag != "free"
        {
            put(None, untagged);
            put(Some("openrouter"), &routed[..routed.len() - tag.len() - 1]);
        }
    }
    if let Some((own, model)) = on_bedrock(last) {
        put(Some("aws"), last);
        put(Some("aws"), own);
        let versionless = &own[..own.len() - model.len() + unversioned(model).len()];
        put(Some("aws"), versionless);
        put(None, unversioned(model));
    }
    if let Some((model, version)) = last.split_once('@') {
        put(Some("google"), last);
        put(None, &format!("{model}-{version}"));
        put(None, model);
    }
    found
}

/// A name of Bedrock's without its region, and the model's own part of it.
fn on_bedrock(name: &str) -> Option<(&str, &str)> {
    let vendor_of = |name: &str| {
        let (vendor, _) = name.split_once('.')?;
        let is_known = VENDORS.binary_search(&vendor.to_ascii_lowercase().as_str());
        is_known.is_ok().then_some(vendor.len())
    };
    let own = match vendor_of(name) {
        Some(_) => name,
        None => name.split_once('.')?.1,
    };
    let vendor = vendor_of(own)?;
    Some((own, &own[vendor + 1..]))
}

/// A model's name without the version that Bedrock puts behind it: `-v1:0`, `-v2`, `-v1:0:200k`.
fn unversioned(model: &str) -> &str {
    let Some((front, version)) = model.rsplit_once("-v") else {
        return model;
    };
    let mut parts = version.split(':');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let is_version = parts.next().is_some_and(is_number)
        && parts.all(|part| is_number(part.strip_suffix('k').unwrap_or(part)));
    if is_version { front } else { model }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendors_are_found_by_halves() {
        assert!(VENDORS.is_sorted());
    }

    #[test]
    fn a_name_is_first_what_it_is_and_then_what_it_may_be() {
        let of = |name: &str| {
            let found = spellings(name).into_iter();
            let found = found.map(|it| format!("{}:{}", it.provider.unwrap_or(""), it.name));
            found.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("gpt-5.2"), ":gpt-5.2");
        assert_eq!(
            of("claude-opus-4-6[1m]"),
            ":claude-opus-4-6[1m] :claude-opus-4-6"
        );
        assert_eq!(
            of("us.anthropic.claude-opus-4-6-v1:0"),
            ":us.anthropic.claude-opus-4-6-v1:0 aws:us.anthropic.claude-opus-4-6-v1:0 \
             aws:anthropic.claude-opus-4-6-v1:0 aws:anthropic.claude-opus-4-6 :claude-opus-4-6"
        );
        assert_eq!(
            of("claude-opus-4-5@20251101"),
            ":claude-opus-4-5@20251101 google:claude-opus-4-5@20251101 :claude-opus-4-5-20251101 :claude-opus-4-5"
        );
        assert_eq!(
            of("openrouter/deepseek/deepseek-r1:free"),
            ":openrouter/deepseek/deepseek-r1:free openrouter:deepseek/deepseek-r1:free :deepseek-r1:free"
        );
        assert_eq!(of(""), "");
        for odd in [
            "[",
            "]",
            "/",
            "a/",
            "@",
            ".",
            "us.",
            "anthropic.",
            "a[]",
            "-v",
            "x.-v",
        ] {
            spellings(odd);
        }
    }
}
