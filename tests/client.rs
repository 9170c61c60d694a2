//! A connection to a PostgreSQL server of the tests' own; whoever asks waits for the answer.

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Config, Error, NoTls};

/// A connection without TLS. It works only while somebody waits for an answer.
pub struct Client {
    runtime: Runtime,
    connection: tokio_postgres::Client,
}

impl Client {
    /// # Panics
    ///
    /// If the server cannot be reached, or refuses.
    pub fn connect(config: &Config) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let connected = runtime.block_on(config.connect(NoTls));
        let (connection, server) = connected.expect("a server");
        runtime.spawn(server);
        Self {
            runtime,
            connection,
        }
    }

    /// What the server answers to what is asked by way of the connection.
    pub fn wait<T>(
        &self,
        question: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.runtime.block_on(question(&self.connection))
    }

    /// Runs statements; what they give is left out.
    pub fn batch_execute(&self, sql: &str) -> Result<(), Error> {
        self.wait(async |connection| connection.batch_execute(sql).await)
    }
}
