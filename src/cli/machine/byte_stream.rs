//! Bytes as they come, from a pipe or a program: whoever takes them can do other things meanwhile.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// How much is read at once.
const READ_BYTES: usize = 64 << 10;
/// How many reads may wait to be taken; then whoever writes waits.
const READS: usize = 64;

/// What came.
pub enum Came {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Nothing for a while.
    Nothing,
    /// Nothing more will.
    End,
    /// Reading failed.
    Failed(io::Error),
}

/// A stream that is read beside.
pub struct Incoming(Receiver<io::Result<Vec<u8>>>);

impl Incoming {
    /// Begins to read.
    pub fn of(mut stream: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = sync_channel(READS);
        // It ends with the stream, or when nobody takes what it reads; nobody waits for it.
        thread::spawn(move || {
            let mut buffer = vec![0; READ_BYTES];
            loop {
                let read = match stream.read(&mut buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Ok(0) => break,
                    read => read.map(|read| buffer[..read].to_vec()),
                };
                let failed = read.is_err();
                if sender.send(read).is_err() || failed {
                    break;
                }
            }
        });
        Self(receiver)
    }

    /// What comes next, or nothing if that takes too long.
    pub fn next(&self, wait: Duration) -> Came {
        match self.0.recv_timeout(wait) {
            Ok(Ok(bytes)) => Came::Bytes(bytes),
            Ok(Err(error)) => Came::Failed(error),
            Err(RecvTimeoutError::Timeout) => Came::Nothing,
            Err(RecvTimeoutError::Disconnected) => Came::End,
        }
    }
}
