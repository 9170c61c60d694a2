//! Tokens that are known by how they begin, whatever their length: an issuer's mark, and then letters that a machine drew.
//!
//! `forms.rs` knows more of many of them. What stands here is found as well where an issuer changes the length or the letters.

use std::ops::Range;

use super::value::{is_drawn, is_random};
use super::{begins_alone, is_example, run};

/// The marks of issuers.
const MARKS: [&str; 104] = [
    "sk-ant-",
    "sk-proj-",
    "sk-or-",
    "sk-lf-",
    "pk-lf-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "whsec_",
    "hf_",
    "gsk_",
    "xai-",
    "pplx-",
    "nvapi-",
    "tgp_v1_",
    "jina_",
    "tvly-",
    "pcsk_",
    "rpa_",
    "csk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glrt-",
    "glptt-",
    "glcbt-",
    "gloas-",
    "glagent-",
    "npm_",
    "pypi-",
    "rubygems_",
    "dckr_pat_",
    "dckr_oat_",
    "dop_v1_",
    "doo_v1_",
    "dor_v1_",
    "shpat_",
    "shpca_",
    "shppa_",
    "shpss_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxr-",
    "xoxs-",
    "xoxe-",
    "xapp-",
    "ya29.",
    "GOCSPX-",
    "lin_api_",
    "lin_oauth_",
    "ntn_",
    "figd_",
    "PMAK-",
    "dapi",
    "hvs.",
    "hvb.",
    "tskey-",
    "nfp_",
    "sbp_",
    "sb_secret_",
    "pscale_",
    "vcp_",
    "vck_",
    "pul-",
    "pnu_",
    "bkua_",
    "CCIPAT_",
    "cfat_",
    "cfut_",
    "glsa_",
    "sntrys_",
    "sntryu_",
    "NRAK-",
    "phx_",
    "phc_",
    "dt0c01.",
    "sqp_",
    "squ_",
    "sgp_",
    "SG.",
    "xkeysib-",
    "mlsn.",
    "EZAK",
    "FLWSECK",
    "rzp_live_",
    "shippo_live_",
    "CFPAT-",
    "rdme_",
    "ATATT3",
    "ATBB",
    "ATCTT3",
    "LTAI",
    "ops_eyJ",
    "fm2_",
    "dp.pt.",
    "dp.st.",
    "AGE-SECRET-KEY-",
];

/// What stands between an issuer's name and what a machine drew: `acme_live_…`.
const MIDDLES: [&str; 12] = [
    "_live_", "_test_", "_prod_", "_secret_", "_token_", "_pat_", "_sk_", "_api_", "-live-",
    "-secret-", "_rk_", "_key_",
];

/// The least that a machine drew, behind a mark and behind a middle.
const LEAST: usize = 16;
const LEAST_UNMARKED: usize = 20;
const MOST: usize = 1200;

pub(super) fn needles() -> Vec<&'static str> {
    MARKS.into_iter().chain(MIDDLES).collect()
}

/// Adds the token that has a mark or a middle at `at`.
pub(super) fn token(text: &[u8], at: usize, found: &mut Vec<Range<usize>>) {
    let begins = |marks: &[&str]| {
        marks.iter().map(|it| it.len()).find(|len| {
            marks
                .iter()
                .any(|it| it.len() == *len && text[at..].starts_with(it.as_bytes()))
        })
    };
    let (start, from, least) = if let Some(len) = begins(&MARKS) {
        (at, at + len, LEAST)
    } else if let Some(len) = begins(&MIDDLES) {
        let before = text[at.saturating_sub(13)..at].iter().rev();
        let issuer = before
            .take_while(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
            .count();
        if !(2..=12).contains(&issuer) || text[at - issuer].is_ascii_digit() {
            return;
        }
        (at - issuer, at + len, LEAST_UNMARKED)
    } else {
        return;
    };
    let is_within = |it: &u8| b"_-.".contains(it);
    if !begins_alone(text, start) || text[..start].last().is_some_and(is_within) {
        return;
    }
    let mut len = run(&text[from..], MOST, |it| {
        it.is_ascii_alphanumeric() || b"_-.+/".contains(&it)
    });
    len -= text[from..from + len]
        .iter()
        .rev()
        .take_while(|it| !it.is_ascii_alphanumeric())
        .count();
    len += run(&text[from + len..], 2, |it| it == b'=');
    let drawn = &text[from..from + len];
    let digits = drawn.iter().filter(|it| it.is_ascii_digit()).count();
    let pieces = drawn.split(|it| b"_-./+".contains(it));
    let longest = pieces.map(<[u8]>::len).max().unwrap_or(0);
    let is_mixed = drawn.iter().any(u8::is_ascii_uppercase)
        || drawn.iter().all(u8::is_ascii_hexdigit) && len >= 32;
    let is_it = longest >= least
        && !is_example(drawn)
        && is_random(drawn)
        && (least == LEAST || digits >= 2 && is_mixed && is_drawn_or_hex(drawn));
    if is_it {
        found.push(start..from + len);
    }
}

fn is_drawn_or_hex(drawn: &[u8]) -> bool {
    drawn.iter().all(u8::is_ascii_hexdigit) || is_drawn(drawn)
}
