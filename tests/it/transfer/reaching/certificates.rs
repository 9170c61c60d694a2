//! Certificates of the tests' own, made by openssl, which is skipped visibly where it is not installed.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Its argument is a folder. Each line at its end makes a certificate with its key: the name of the files, whom it is
/// for, who signs it, and from when until when it is good.
const SCRIPT: &str = r#"
set -e
cd "$1"
key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
for ca in ca stranger; do
    openssl req -x509 $key -keyout $ca.key -out $ca.crt -subj "/CN=tract $ca" -days 30
done
: >index
echo 01 >serial
cat >ca.cnf <<END
[ca]
default_ca = it
[it]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
END
make() {
    openssl req $key -keyout $1.key -out $1.csr -subj "/CN=$1"
    echo "subjectAltName = $2" >extensions
    openssl ca -batch -notext -config ca.cnf -extfile extensions -in $1.csr \
        -cert $3.crt -keyfile $3.key -startdate $4 -enddate $5 -out $1.crt
}
local=DNS:localhost,IP:127.0.0.1
make good $local ca 20200101000000Z 20991231235959Z
make expired $local ca 20200101000000Z 20200201000000Z
make early $local ca 20980101000000Z 20991231235959Z
make elsewhere DNS:db.example ca 20200101000000Z 20991231235959Z
make unknown $local stranger 20200101000000Z 20991231235959Z
make certified DNS:certified ca 20200101000000Z 20991231235959Z
chmod 600 *.key
chmod 644 *.crt
"#;

/// A folder with them; none where no openssl is installed, which is said.
pub fn made() -> Option<&'static Path> {
    static MADE: std::sync::OnceLock<Option<tempfile::TempDir>> = std::sync::OnceLock::new();
    let made = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let done = Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .output();
        match done {
            Ok(done) if done.status.success() => Some(folder),
            _ => {
                // Past what the test harness keeps to itself.
                let why = b"\nno openssl makes certificates: tests of TLS are SKIPPED\n";
                let _ = std::io::stderr().write_all(why);
                None
            }
        }
    });
    made.as_ref().map(tempfile::TempDir::path)
}
