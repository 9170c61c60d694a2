//! Who is let in: whoever knows the token, on the server's own address, and from no page of another site.
//!
//! # Source
//!
//! W3C, "Fetch Metadata Request Headers"; WHATWG, "Fetch", the `Origin` header.

use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};

use super::query::Asked;

/// What a browser may be called to reach us.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// What opens the door.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The port that we listen on.
    pub port: u16,
    /// What only this user knows.
    pub token: String,
}

impl Guard {
    /// What is asked, if it may be.
    pub fn admit(&self, parts: &Parts) -> Result<Asked, StatusCode> {
        let is_post = self.refuse_strangers(parts)?;
        // Whoever does not know the token learns nothing, not even which addresses there are.
        let rest = parts.uri.path().strip_prefix('/').unwrap_or_default();
        let (token, rest) = rest.split_at_checked(self.token.len()).unwrap_or_default();
        let is_known = is_same(token, &self.token) && rest.starts_with('/');
        if !is_known {
            return Err(StatusCode::FORBIDDEN);
        }
        let asked = Asked::of(rest, parts.uri.query()).ok_or(StatusCode::BAD_REQUEST)?;
        Ok(Asked { is_post, ..asked })
    }

    /// Refuses what was not meant for us, and what a page of another site sends. Tells whether it is to change something.
    pub fn refuse_strangers(&self, parts: &Parts) -> Result<bool, StatusCode> {
        let is_post = match parts.method {
            Method::GET | Method::HEAD => false,
            Method::POST => true,
            _ => return Err(StatusCode::METHOD_NOT_ALLOWED),
        };
        match self.is_ours(&parts.headers, is_post) {
            true => Ok(is_post),
            false => Err(StatusCode::FORBIDDEN),
        }
    }

    /// Whether a request was meant for us, and comes from no other site.
    fn is_ours(&self, headers: &HeaderMap, is_post: bool) -> bool {
        let one = |name: &str| {
            let mut values = headers.get_all(name).iter();
            match (values.next(), values.next()) {
                (None, _) => Ok(None),
                (Some(value), None) => Ok(Some(value.to_str().map_err(|_| ())?)),
                _ => Err(()),
            }
        };
        let (Ok(Some(host)), Ok(origin), Ok(site)) =
            (one("host"), one("origin"), one("sec-fetch-site"))
        else {
            return false;
        };
        if !self.is_host(host) {
            return false;
        }
        // Another port of this machine is the same site, and another server.
        let is_from_here = match site {
            None | Some("none") => None,
            Some("same-origin") => Some(true),
            Some(_) => return false,
        };
        match origin {
            // A form of a page that sends no referrer says no origin, either.
            None | Some("null") => match (is_post, is_from_here) {
                (true, from_here) => from_here == Some(true),
                (false, _) => origin.is_none(),
            },
            Some(origin) => origin.strip_prefix("http://") == Some(host),
        }
    }

    /// Whether this is what we are called: another name may lead here, and is not ours.
    fn is_host(&self, host: &str) -> bool {
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
        let is_named = HOSTS.iter().any(|own| own.eq_ignore_ascii_case(name));
        is_named && port.parse() == Ok(self.port)
    }
}

/// Whether two texts are the same, in a time that does not tell how much of them is.
fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let different = pairs.fold(0, |seen, (a, b)| seen | (a ^ b));
    one.len() == other.len() && different == 0
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn admitted(method: &str, path: &str, headers: &[(&str, &str)]) -> Result<Asked, u16> {
        let guard = Guard {
            port: 8722,
            token: "secret".into(),
        };
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        guard.admit(&parts).map_err(|status| status.as_u16())
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:8722");

    #[test]
    fn whoever_knows_the_token_is_let_in() {
        for host in [
            "127.0.0.1:8722",
            "localhost:8722",
            "LocalHost:8722",
            "[::1]:8722",
        ] {
            let asked = admitted("GET", "/secret/s/main/?x=1", &[("host", host)]);
            assert_eq!(asked.expect(host).segments, ["s", "main", ""]);
        }
        for path in [
            "/",
            "/secret",
            "/secre/",
            "/Secret/",
            "/secretx/",
            "/x/secret/",
            "//secret/",
        ] {
            assert_eq!(admitted("GET", path, &[HOST]), Err(403), "{path}");
        }
        assert_eq!(admitted("PUT", "/secret/", &[HOST]), Err(405));
        assert_eq!(admitted("GET", "/secret/..%2f/%2e%2e/", &[HOST]), Err(400));
    }

    #[test]
    fn another_name_or_site_is_not() {
        for host in [
            "evil.example:8722",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1.evil.example:8722",
            "",
            "localhost:8722:8722",
        ] {
            assert_eq!(
                admitted("GET", "/secret/", &[("host", host)]),
                Err(403),
                "{host}"
            );
        }
        assert_eq!(admitted("GET", "/secret/", &[]), Err(403));
        assert_eq!(admitted("GET", "/secret/", &[HOST, HOST]), Err(403));
        for (name, value) in [
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("origin", "http://127.0.0.1:9999"),
            ("origin", "https://127.0.0.1:8722"),
            ("origin", "http://localhost:8722"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-site", ""),
        ] {
            assert_eq!(
                admitted("GET", "/secret/", &[HOST, (name, value)]),
                Err(403),
                "{name} {value}"
            );
            let said = [HOST, ("sec-fetch-site", "same-origin"), (name, value)];
            let is_null = value == "null";
            assert_eq!(
                admitted("POST", "/secret/", &said).is_ok(),
                is_null,
                "{name} {value}"
            );
        }
    }

    #[test]
    fn only_a_page_of_ours_sends_forms() {
        let own = ("origin", "http://127.0.0.1:8722");
        let site = ("sec-fetch-site", "same-origin");
        assert!(admitted("POST", "/secret/act", &[HOST, own]).is_ok());
        assert!(admitted("POST", "/secret/act", &[HOST, site]).is_ok());
        assert!(admitted("POST", "/secret/act", &[HOST, ("origin", "null"), site]).is_ok());
        assert_eq!(admitted("POST", "/secret/act", &[HOST]), Err(403));
        assert_eq!(
            admitted("POST", "/secret/act", &[HOST, ("origin", "null")]),
            Err(403)
        );
        assert_eq!(
            admitted("POST", "/secret/act", &[HOST, ("sec-fetch-site", "none")]),
            Err(403)
        );
    }
}
