//! A connection, driven by whoever waits for an answer on it: nothing runs in between.
//!
//! Statements that are asked together go there together, each with an end of its own, and their answers come in
//! their order. Deliberately absent: what a statement says, and what an error means.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Error, Row, SimpleQueryMessage, Socket,
};

use super::columns::{Parameter, Wrong};

/// A statement on its way to the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    /// One, with its parameters.
    Rows(String, Vec<(Encoded, Type)>),
    /// One or several without, whose answers come as text.
    Text(String),
}

/// An answer.
pub(super) enum Told {
    Rows(Vec<Row>),
    Text(Vec<Vec<Option<String>>>),
}

/// The value of a parameter as it goes to the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Encoded(Option<Vec<u8>>);

impl ToSql for Encoded {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Wrong> {
        let Some(bytes) = &self.0 else {
            return Ok(IsNull::Yes);
        };
        out.extend_from_slice(bytes);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl Asked {
    /// A statement with its parameters.
    ///
    /// # Errors
    ///
    /// A value that cannot be sent.
    pub(super) fn rows(
        sql: impl Into<String>,
        parameters: &[&dyn Parameter],
    ) -> Result<Self, Wrong> {
        let encoded = parameters.iter().map(|one| {
            let (given, of) = one.given();
            let mut bytes = BytesMut::new();
            let is_null = given.value().to_sql_checked(&of, &mut bytes)?;
            let bytes = matches!(is_null, IsNull::No).then(|| bytes.to_vec());
            Ok((Encoded(bytes), of))
        });
        Ok(Self::Rows(
            sql.into(),
            encoded.collect::<Result<_, Wrong>>()?,
        ))
    }

    async fn by(&self, client: &Client) -> Result<Told, Error> {
        match self {
            Self::Rows(sql, parameters) => {
                let values = parameters.iter();
                let values: Vec<(&(dyn ToSql + Sync), Type)> =
                    values.map(|(value, of)| (value as _, of.clone())).collect();
                client.query_typed(sql, &values).await.map(Told::Rows)
            }
            Self::Text(sql) => Ok(Told::Text(text(client.simple_query(sql).await?))),
        }
    }
}

fn text(told: Vec<SimpleQueryMessage>) -> Vec<Vec<Option<String>>> {
    let rows = told.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => {
            let columns = (0..row.len()).map(|at| row.get(at).map(str::to_owned));
            Some(columns.collect())
        }
        _ => None,
    });
    rows.collect()
}

/// What carries messages to a server and back.
trait Carry: Send {
    fn carry(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>>;
}

impl<S, T> Carry for Connection<S, T>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
    T: AsyncRead + AsyncWrite + Unpin + Send,
{
    fn carry(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>> {
        self.poll_message(context)
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum NotConnected {
    Refused(Error),
    /// Nobody said anything for so long.
    Silent(Duration),
}

/// A connection.
pub(super) struct Driver {
    runtime: Runtime,
    /// None: it was let go.
    client: Option<Client>,
    carries: Box<dyn Carry>,
}

impl Driver {
    /// Makes one, in so long at most.
    ///
    /// # Errors
    ///
    /// The client's, or that nobody said anything.
    pub(super) fn connect<T>(
        runtime: Runtime,
        config: &Config,
        tls: T,
        patience: Duration,
    ) -> Result<Self, NotConnected>
    where
        T: MakeTlsConnect<Socket> + Send + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
    {
        let login = runtime.block_on(async { timeout(patience, config.connect(tls)).await });
        let (client, connection) = login
            .map_err(|_| NotConnected::Silent(patience))?
            .map_err(NotConnected::Refused)?;
        Ok(Self {
            runtime,
            client: Some(client),
            carries: Box::new(connection),
        })
    }

    /// Whether it is known to be lost.
    pub(super) fn is_closed(&self) -> bool {
        self.client.as_ref().is_none_or(Client::is_closed)
    }

    /// Asks all of these in one message, and waits for their answers.
    ///
    /// # Errors
    ///
    /// The connection's; each statement has one of its own.
    pub(super) fn exchange(&mut self, asked: &[Asked]) -> Result<Vec<Result<Told, Error>>, Error> {
        let client = self.client.as_ref().expect("it goes only when this does");
        let mut open: Vec<_> = asked.iter().map(|one| Box::pin(one.by(client))).collect();
        let mut told: Vec<Option<Result<Told, Error>>> = asked.iter().map(|_| None).collect();
        let carries = &mut self.carries;
        self.runtime.block_on(poll_fn(|context| {
            carry(&mut **carries, context)?;
            // Each is on its way once it was looked at, so they go in their order.
            for (open, told) in open.iter_mut().zip(&mut told) {
                if told.is_none()
                    && let Poll::Ready(answer) = open.as_mut().poll(context)
                {
                    *told = Some(answer);
                }
            }
            let are_here = told.iter().all(Option::is_some);
            if !are_here {
                return Poll::Pending;
            }
            Poll::Ready(Ok(told.iter_mut().filter_map(Option::take).collect()))
        }))
    }

    /// Sends a statement whose answer nobody waits for.
    pub(super) fn send(&mut self, sql: &str) {
        let client = self.client.as_ref().expect("it goes only when this does");
        let carries = &mut self.carries;
        let mut asked = pin!(client.batch_execute(sql));
        self.runtime.block_on(poll_fn(|context| {
            let _ = asked.as_mut().poll(context);
            let _ = carry(&mut **carries, context);
            Poll::Ready(())
        }));
    }
}

/// Carries what there is, until it has to wait. What the server says unasked is for nobody.
fn carry(carries: &mut dyn Carry, context: &mut Context<'_>) -> Result<(), Error> {
    loop {
        match carries.carry(context) {
            Poll::Ready(Some(message)) => drop(message?),
            Poll::Ready(None) | Poll::Pending => return Ok(()),
        }
    }
}

/// The server is told that nobody comes again.
impl Drop for Driver {
    fn drop(&mut self) {
        self.client = None;
        let carries = &mut self.carries;
        self.runtime.block_on(poll_fn(|context| {
            let _ = carry(&mut **carries, context);
            Poll::Ready(())
        }));
    }
}
