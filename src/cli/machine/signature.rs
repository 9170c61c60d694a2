//! Signatures by an SSH key, as git makes them: `ssh-keygen -Y`, which comes with every SSH.
//!
//! A signed text is the text with the signature's block behind it. Deliberately absent: keys. They stay where they are, and
//! whoever asks for a passphrase is the program that made them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tract::Error;

use crate::cli::failure::Exit;
use crate::cli::machine::private::{self, Scratch};
use crate::cli::{Failure, Result};

/// What a signature is for, so that one for something else is none.
const NAMESPACE: &str = "tract-attest";
/// The name under which the one key is listed that a text is held against.
const SIGNER: &str = "signer";
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----\n";
const END: &str = "-----END SSH SIGNATURE-----";
const PROGRAM: &str = "ssh-keygen";

/// The text with its signature by the key in a file.
pub fn sign(text: &str, key: &Path) -> Result<String> {
    let mut command = Command::new(PROGRAM);
    command
        .args(["-Y", "sign", "-q", "-n", NAMESPACE, "-f"])
        .arg(key);
    match asked(command, text)? {
        Ok(signature) if signature.starts_with(BEGIN) => Ok(format!("{text}{signature}")),
        Ok(_) => Err(Failure::refused("ssh-keygen gave no signature")),
        Err(said) => {
            let failure = Failure::refused(format!("ssh-keygen did not sign: {said}"));
            Err(failure.with_hint(
                "--key names a private key of SSH, or a public one whose private key an agent has",
            ))
        }
    }
}

/// A file that may be signed, by its pieces.
pub struct Signed<'a> {
    /// The text that a signature is of.
    pub text: &'a str,
    /// The signature's block.
    pub signature: Option<&'a str>,
    /// What stands behind the signature, which it does not cover.
    pub behind: &'a str,
}

impl<'a> Signed<'a> {
    /// Of a whole file.
    pub fn of(file: &'a str) -> Self {
        let Some(begin) = file.find(BEGIN) else {
            return Self {
                text: file,
                signature: None,
                behind: "",
            };
        };
        let (text, block) = file.split_at(begin);
        let end = block.find(END).map_or(block.len(), |at| at + END.len());
        let (_, behind) = block.split_at(end);
        Self {
            text,
            signature: Some(&block[..block.len() - behind.trim_start().len()]),
            behind: behind.trim(),
        }
    }
}

/// Holds a signature against its text: by this public key, or by whichever made it. Says which key that was.
pub fn verify(text: &str, signature: &str, key: Option<&str>) -> Result<String> {
    let folder = Scratch::new()?;
    let signature = keep(&folder, "signature", signature)?;
    let mut command = Command::new(PROGRAM);
    match key {
        Some(key) => {
            let listed = format!("{SIGNER} namespaces=\"{NAMESPACE}\" {}\n", key.trim());
            let listed = keep(&folder, "signers", &listed)?;
            command
                .args(["-Y", "verify", "-I", SIGNER, "-f"])
                .arg(listed);
        }
        None => {
            command.args(["-Y", "check-novalidate"]);
        }
    }
    command.args(["-n", NAMESPACE, "-s"]).arg(signature);
    match asked(command, text)? {
        // `Good "tract-attest" signature for signer with ED25519 key SHA256:…`.
        Ok(said) => Ok(said
            .rsplit(" with ")
            .next()
            .unwrap_or(&said)
            .trim()
            .to_owned()),
        Err(said) => {
            let what = format!("the signature does not hold: {said}");
            Err(Failure::Said(Exit::Damaged, what, None))
        }
    }
}

/// What the program takes from files alone.
fn keep(folder: &Scratch, name: &str, text: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    let kept = private::create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    kept.map_err(Error::io(&path))?;
    Ok(path)
}

/// What the program prints of a text; or, where it fails, its last words.
fn asked(mut command: Command, text: &str) -> Result<std::result::Result<String, String>> {
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(|error| {
        let failure = Failure::refused(format!("{PROGRAM} could not be started: {error}"));
        failure.with_hint("it comes with OpenSSH 8.2 or newer")
    })?;
    let mut stdin = child.stdin.take().expect("it is piped");
    // It may end before it has read everything, and says why.
    let _ = stdin.write_all(text.as_bytes());
    drop(stdin);
    let output = child.wait_with_output();
    let output = output.map_err(|error| Failure::refused(error.to_string()))?;
    if output.status.success() {
        return Ok(Ok(String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    Ok(Err(last.unwrap_or("it said nothing").to_owned()))
}
