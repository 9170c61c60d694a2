//! A repository in memory: commit a conversation, and compile the request that a model would be sent.
//!
//! `cargo run --example in_memory`

use tract::{Call, CommitOptions, Draft, Message, On, Repo, RequestOptions, Result, Role, compile};

fn main() -> Result<()> {
    let repo = Repo::ephemeral()?;
    let drafts = [
        Draft::append(Message::text(Role::System, "Answer in one word.")),
        Draft::append(Message::text(Role::User, "Name a river.")),
    ];
    // The library never asks the time: a call says when it is, and as what it is logged.
    let call = Call::default();
    for commit in repo.commit(call, &drafts, &CommitOptions::default())? {
        println!("{} on {}", commit.hash.short(), commit.branch.short());
    }

    let tip = repo
        .head(&On::Head)?
        .commit()
        .expect("two commits were made");
    let context = repo.context(&tip)?;
    let (messages, settings) = (repo.messages(&context)?, repo.settings(&context)?);
    let request = compile(&messages, &settings, &RequestOptions::default())?;
    println!("{}", request.payload);
    Ok(())
}
