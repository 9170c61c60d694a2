//! How many messages the library itself commits in a second, each durable: `commit_rate DIRECTORY COUNT`.

use std::path::Path;
use std::time::Instant;

use tract::deeds::{At, CommitParams, Method, Still};
use tract::{On, Repo};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let place = args.next().ok_or("a directory")?;
    let count: u32 = args.next().ok_or("a count")?.parse()?;
    let (repo, _) = Repo::init(Path::new(&place))?;
    let begin = Instant::now();
    for at in 0..count {
        let said = CommitParams {
            role: Some("user".into()),
            text: Some(format!("message {at}: {}", "some words ".repeat(20))),
            ..CommitParams::default()
        };
        said.call(&mut At::new(&repo, On::Head, &Still))?;
    }
    println!("{}", f64::from(count) / begin.elapsed().as_secs_f64());
    Ok(())
}
