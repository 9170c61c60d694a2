//! Servers that are reached over a network: PostgreSQL with TLS and passwords, and what only seems to be one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::certificates;
use crate::cluster;

/// Its arguments: the folder of the server's programs, a port, and the text of a certificate, of its key and of who
/// signs those of users. Over the network only TLS is let in, but for one user.
const SCRIPT: &str = r#"
set -e
dir=$(mktemp -d /tmp/tract-postgres.XXXXXX)
trap 'rm -rf "$dir"' EXIT
new_cluster "$1" "$dir/data" >"$dir/log" 2>&1
umask 077
echo "$3" >"$dir/certificate"
echo "$4" >"$dir/key"
echo "$5" >"$dir/ca"
cat >"$dir/data/pg_hba.conf" <<END
local all all trust
hostssl all certified all cert
hostssl all all all scram-sha-256
hostnossl all plain all trust
END
"$1/postgres" -D "$dir/data" -k "$dir" -h 127.0.0.1 -p "$2" -F -c autovacuum=off -c ssl=on \
    -c ssl_cert_file="$dir/certificate" -c ssl_key_file="$dir/key" -c ssl_ca_file="$dir/ca" >>"$dir/log" 2>&1 &
server=$!
until grep -q ready "$dir/data/postmaster.pid" 2>/dev/null; do
    kill -0 $server
    sleep 0.05
done
"$1/psql" -q -h "$dir" -p "$2" -U tract -d postgres -c "
    CREATE ROLE secretive LOGIN PASSWORD 'open sesame'; CREATE ROLE certified LOGIN; CREATE ROLE plain LOGIN;
    GRANT CREATE ON DATABASE postgres TO secretive, certified, plain"
echo "$dir"
read -r _ || true
kill -INT $server
wait $server || true
"#;

/// A PostgreSQL server that speaks TLS on this port of 127.0.0.1.
pub struct Server {
    pub port: u16,
    /// Its standard input closes with this process.
    _child: Child,
}

/// It; none where no server or no openssl is installed, which is said.
pub fn with_tls() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        // It says what is missing.
        cluster::socket()?;
        Some(start(&cluster::programs()?, certificates::made()?))
    });
    server.as_ref()
}

fn start(programs: &Path, made: &Path) -> Server {
    let text = |name: &str| std::fs::read_to_string(made.join(name)).expect("it was made");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    let port = port.expect("a port").port();
    let mut child = cluster::shell()
        .args(["-c", &[cluster::NEW_CLUSTER, SCRIPT].concat(), "sh"])
        .arg(programs)
        .arg(port.to_string())
        .args([text("good.crt"), text("good.key"), text("ca.crt")])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut folder = String::new();
    let told = BufReader::new(child.stdout.take().expect("piped")).read_line(&mut folder);
    assert!(
        told.is_ok_and(|bytes| bytes > 0),
        "the server did not start"
    );
    Server {
        port,
        _child: child,
    }
}

/// What answers to a client that asks for TLS.
pub enum Answer {
    /// No, there is none.
    No,
    /// Yes, and this certificate.
    Certificate(&'static str),
}

/// The port of what only seems to be a server, for as long as the tests run.
pub fn seeming(answer: Answer) -> u16 {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let tls = match answer {
        Answer::No => None,
        Answer::Certificate(name) => {
            let made = certificates::made().expect("made before");
            let read = |name: String| std::fs::read(made.join(name)).expect("it was made");
            let certificate = read(format!("{name}.crt"));
            let certificate = CertificateDer::from_pem_slice(&certificate).expect("one");
            let key = read(format!("{name}.key"));
            let key = PrivateKeyDer::from_pem_slice(&key).expect("one");
            let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("versions")
                .with_no_client_auth()
                .with_single_cert(vec![certificate], key);
            Some(Arc::new(config.expect("they fit")))
        }
    };
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let _ = answer_to(client, tls.clone());
        }
    });
    port
}

/// The port of what is starting up for as long as the tests run, and how often it was asked.
pub fn starting() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = is_starting(&mut client);
        }
    });
    (port, asked)
}

fn is_starting(client: &mut TcpStream) -> std::io::Result<()> {
    let mut length = [0; 4];
    client.read_exact(&mut length)?;
    let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
    client.read_exact(&mut rest)?;
    let fields = "SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0";
    let length = u32::try_from(fields.len() + 4).expect("short");
    client.write_all(&[b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat())
}

fn answer_to(mut client: TcpStream, tls: Option<Arc<ServerConfig>>) -> std::io::Result<()> {
    let mut asked = [0; 8];
    client.read_exact(&mut asked)?;
    let Some(tls) = tls else {
        client.write_all(b"N")?;
        // Whoever goes on in plain text is listened to.
        client.read_exact(&mut asked)?;
        return Ok(());
    };
    client.write_all(b"S")?;
    let mut connection = rustls::ServerConnection::new(tls).map_err(std::io::Error::other)?;
    connection.complete_io(&mut client)?;
    // What is said once TLS is there; nobody is to come so far who asked who is there.
    let mut said = [0; 8];
    rustls::Stream::new(&mut connection, &mut client).read_exact(&mut said)
}
