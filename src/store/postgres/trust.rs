//! Whom TLS trusts, and who we say that we are: `sslmode`, and files with certificates and keys.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use super::parameters::Parameters;
use super::passwords::is_open_to_others;
use crate::error::{Error, Result, ServerTrouble};
use crate::store::Servers;

/// What `sslmode` may be, from the weakest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// Plain text.
    Disable,
    /// TLS where the server speaks it.
    Prefer,
    /// TLS, with whoever it is.
    Require,
    /// With whoever has a certificate that is signed by somebody who is trusted.
    VerifyCa,
    /// And the host's name in it.
    VerifyFull,
}

impl FromStr for Mode {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(match text {
            "disable" => Self::Disable,
            // Plain text first is asked for by nobody here.
            "allow" | "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => return Err(()),
        })
    }
}

impl Mode {
    /// As `sslmode` says it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Prefer => "prefer",
            Self::Require => "require",
            Self::VerifyCa => "verify-ca",
            Self::VerifyFull => "verify-full",
        }
    }
}

/// The authorities that the system knows, in place of a file's name.
const SYSTEM: &str = "system";

/// How TLS is spoken by these parameters; none where it is not.
///
/// # Errors
///
/// [`Error::InvalidInput`] for what makes no sense, [`Error::Io`] for a file that cannot be read,
/// [`Error::Server`] for a key that others can read.
pub(super) fn client(
    parameters: &Parameters,
    usual: Mode,
    servers: &Servers,
    shown: &str,
) -> Result<(Mode, Option<Arc<ClientConfig>>)> {
    let named = parameters.get("sslrootcert");
    let said = match parameters.get("sslmode") {
        None => None,
        Some(text) => Some(text.parse::<Mode>().map_err(|()| {
            let modes = "disable, prefer, require, verify-ca or verify-full";
            Error::input(format!("sslmode={text}"), format!("it may be {modes}"))
        })?),
    };
    let mut mode = match (said, named) {
        (Some(said), _) => said,
        // Whoever names an authority wants to know who is there.
        (None, Some(_)) => Mode::VerifyFull,
        (None, None) => usual,
    };
    if mode == Mode::Disable {
        return Ok((mode, None));
    }
    if named == Some(SYSTEM) && mode != Mode::VerifyFull {
        let wants = "sslrootcert=system asks for sslmode=verify-full";
        return Err(Error::input(shown, wants));
    }
    let file = match named {
        Some(SYSTEM) => None,
        Some(file) => Some(PathBuf::from(file)),
        None => servers
            .at_home(".postgresql/root.crt")
            .filter(|file| file.exists()),
    };
    let roots = match (mode, file) {
        (Mode::Prefer, _) | (Mode::Require, None) => None,
        (_, Some(file)) => {
            // As libpq has it: whoever has an authority's certificate wants it to be asked.
            mode = mode.max(Mode::VerifyCa);
            Some(of_file(&file)?)
        }
        (_, None) => {
            // Those vouch for everybody, so it matters for whom.
            mode = Mode::VerifyFull;
            Some(of_system())
        }
    };
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier {
        roots,
        asks_host: mode == Mode::VerifyFull,
        provider: Arc::clone(&provider),
    };
    let failed = |error: rustls::Error| Error::Server {
        address: shown.to_owned(),
        trouble: trouble(&error),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match own(parameters, servers, shown)? {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(failed)?,
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok((mode, Some(Arc::new(config))))
}

/// Whom a file names.
fn of_file(file: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates(file)?);
    match roots.is_empty() {
        true => Err(no_certificate(file)),
        false => Ok(roots),
    }
}

/// Whom the system names; nobody where it names nobody.
fn of_system() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

type Own = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Our own certificate with its key, where there are both.
fn own(parameters: &Parameters, servers: &Servers, shown: &str) -> Result<Option<Own>> {
    let file = |keyword: &str, usual: &str| match parameters.get(keyword) {
        Some(file) => Some(PathBuf::from(file)),
        None => servers.at_home(usual).filter(|file| file.exists()),
    };
    let certificate = file("sslcert", ".postgresql/postgresql.crt");
    let key = file("sslkey", ".postgresql/postgresql.key");
    let (certificate, key) = match (certificate, key) {
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(certificate), None) => {
            let lacks = "no key belongs to it; sslkey=FILE names one";
            return Err(Error::input(certificate.display().to_string(), lacks));
        }
        (None, _) => return Ok(None),
    };
    let chain = certificates(&certificate)?;
    if chain.is_empty() {
        return Err(no_certificate(&certificate));
    }
    let text = std::fs::read(&key).map_err(Error::io(&key))?;
    if is_open_to_others(&key) {
        let file = key.display().to_string();
        let trouble = ServerTrouble::OpenToOthers { file };
        let address = shown.to_owned();
        return Err(Error::Server { address, trouble });
    }
    let key = PrivateKeyDer::from_pem_slice(&text).map_err(|_| {
        let lacks = "no key is in it that needs no password";
        Error::input(key.display().to_string(), lacks)
    })?;
    Ok(Some((chain, key)))
}

/// What of a file's certificates can be read.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let text = std::fs::read(file).map_err(Error::io(file))?;
    let all = CertificateDer::pem_slice_iter(&text);
    Ok(all.filter_map(Result::ok).collect())
}

fn no_certificate(file: &Path) -> Error {
    let lacks = "no certificate is in it";
    Error::input(file.display().to_string(), lacks)
}

/// Asks of a server's certificate what the mode wants to know.
#[derive(Debug)]
struct Verifier {
    /// Who may have signed it; none: anybody.
    roots: Option<RootCertStore>,
    asks_host: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(roots) = &self.roots {
            let certificate = ParsedCertificate::try_from(certificate)?;
            let known = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, roots, others, now, known)?;
            if self.asks_host {
                verify_server_name(&certificate, host)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let known = &self.provider.signature_verification_algorithms;
        known.supported_schemes()
    }
}

/// What an error of TLS means.
pub(super) fn trouble(error: &rustls::Error) -> ServerTrouble {
    let rustls::Error::InvalidCertificate(wrong) = error else {
        return ServerTrouble::Tls(error.to_string());
    };
    match wrong {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            ServerTrouble::UnknownIssuer
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            ServerTrouble::Expired
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ServerTrouble::NotYetValid
        }
        CertificateError::NotValidForName => ServerTrouble::OtherHost { names: Vec::new() },
        CertificateError::NotValidForNameContext { presented, .. } => ServerTrouble::OtherHost {
            names: presented.iter().map(|name| bare(name)).collect(),
        },
        _ => ServerTrouble::Tls(error.to_string()),
    }
}

/// A name out of what the library calls it: `DnsName("db.example")`.
fn bare(name: &str) -> String {
    let inner = name
        .split_once('(')
        .and_then(|(_, it)| it.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"').to_owned()
}
