//! TLS on the way to a server: the handshake, and what of it a login is bound to.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use sha2::{Digest, Sha256, Sha384, Sha512};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use super::trust::trouble;
use crate::error::ServerTrouble;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Makes TLS of a connection.
#[derive(Clone)]
pub(super) struct Tls(pub(super) Arc<ClientConfig>);

/// One connection on the way to it.
pub(super) struct Handshake {
    connector: TlsConnector,
    host: String,
}

/// One that is there.
pub(super) struct Stream(tokio_rustls::client::TlsStream<Socket>);

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        Ok(Handshake {
            connector: Arc::clone(&self.0).into(),
            host: host.to_owned(),
        })
    }
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            let stream = timeout(HANDSHAKE, self.connector.connect(name, socket)).await;
            let silent = |_| io::Error::new(io::ErrorKind::TimedOut, "the server is silent");
            Ok(Stream(stream.map_err(silent)??))
        })
    }
}

impl Stream {
    fn inner(self: Pin<&mut Self>) -> Pin<&mut tokio_rustls::client::TlsStream<Socket>> {
        Pin::new(&mut self.get_mut().0)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.inner().poll_read(context, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(context)
    }
}

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        let certificates = self.0.get_ref().1.peer_certificates();
        let end = certificates.and_then(|all| end_point(all.first()?));
        end.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

/// What a login with SCRAM is bound to: the certificate's hash, by the algorithm of its signature.
///
/// # Source
///
/// RFC 5929, section 4.1.
fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    const RSA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01";
    const ECDSA: &[u8] = b"\x2a\x86\x48\xce\x3d\x04\x03";
    const ECDSA_SHA1: &[u8] = b"\x2a\x86\x48\xce\x3d\x04";
    let (whole, _) = element(certificate)?;
    let (_, rest) = element(whole)?;
    let (algorithm, _) = element(rest)?;
    let (name, _) = element(algorithm)?;
    let (of, last) = name.split_at_checked(name.len().checked_sub(1)?)?;
    Some(match (of, last) {
        // MD5 and SHA-1 are as SHA-256 here.
        (RSA, [0x04 | 0x05 | 0x0b]) | (ECDSA_SHA1, [0x01]) | (ECDSA, [0x02]) => {
            Sha256::digest(certificate).to_vec()
        }
        (RSA, [0x0c]) | (ECDSA, [0x03]) => Sha384::digest(certificate).to_vec(),
        (RSA, [0x0d]) | (ECDSA, [0x04]) => Sha512::digest(certificate).to_vec(),
        _ => return None,
    })
}

/// The content of the first element of DER, and what follows it.
fn element(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = der.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match *length {
        short @ 0..0x80 => (usize::from(short), rest),
        long => {
            let (bytes, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            let first = bytes.len().saturating_sub(4);
            let length = bytes[first..].iter();
            let length = length.fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, rest)
        }
    };
    rest.split_at_checked(length)
}

/// What of TLS stands behind a client's error, if anything does.
pub(super) fn behind(error: &tokio_postgres::Error) -> Option<ServerTrouble> {
    let source = std::error::Error::source(error)?;
    if source.to_string() == "server does not support TLS" {
        return Some(ServerTrouble::NoTls);
    }
    let inner = source.downcast_ref::<io::Error>()?.get_ref()?;
    inner.downcast_ref::<rustls::Error>().map(trouble)
}
