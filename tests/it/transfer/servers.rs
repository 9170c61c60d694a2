//! A repository on a PostgreSQL server.

use crate::sandbox::Sandbox;

#[cfg(not(feature = "postgres"))]
#[test]
fn a_tract_that_knows_no_servers_says_so() {
    let sandbox = Sandbox::empty();
    let status = sandbox.tract(&["--repo", "postgres://me@host/db", "status"]);
    insta::assert_snapshot!(status, @r"
    exit code: 1
    --- stderr
    error: this tract was built without PostgreSQL
    hint: cargo install tract-context --features postgres; --repo PATH names a directory
    ");
    let init = sandbox.tract(&["init", "postgresql://me@host/db"]);
    assert_eq!(init, status);
    assert!(!sandbox.work().join("postgres:").exists());
}

#[cfg(feature = "postgres")]
mod known {
    use super::Sandbox;
    use crate::cluster;

    /// What is said, where the address is `[SERVER]`.
    fn told(sandbox: &Sandbox, address: &str, arguments: &[&str]) -> String {
        sandbox.tract(arguments).replace(address, "[SERVER]")
    }

    #[test]
    fn an_address_stands_for_a_directory() {
        let Some(address) = cluster::address() else {
            return;
        };
        let sandbox = Sandbox::empty();
        let on = |arguments: &[&str]| {
            let arguments = [&["--repo", address.as_str()], arguments].concat();
            told(&sandbox, &address, &arguments)
        };
        insta::assert_snapshot!(on(&["status"]), @r"
        exit code: 1
        --- stderr
        error: no tract repository in [SERVER]
        hint: tract --repo '[SERVER]' init makes one
        ");
        insta::assert_snapshot!(told(&sandbox, &address, &["init", &address]), @r#"
        --- stderr
        Made an empty repository in [SERVER]
        hint: tract import brings in a session; tract commit -r user -m "…" writes one
        "#);
        insta::assert_snapshot!(told(&sandbox, &address, &["init", &address]), @r"
        --- stderr
        There is a repository already in [SERVER]; nothing changed
        ");
        on(&["commit", "-r", "user", "-m", "hello"]);
        on(&["commit", "-r", "assistant", "-m", "good day"]);
        insta::assert_snapshot!(on(&["log", "--format", "%s"]), @r"
        good day
        hello
        ");
        on(&["undo"]);
        insta::assert_snapshot!(on(&["compile", "--format", "text"]), @r"
        [1] user
          hello
        ");
        insta::assert_snapshot!(on(&["fsck"]), @r"
        --- stderr
        Checked 2 messages, 2 commits, 0 session files and 1 ref: no damage
        ");
        insta::assert_snapshot!(on(&["backup", "copy.db"]), @r"
        exit code: 1
        --- stderr
        error: a backup of a server's repository is for the server's own programs to make
        hint: pg_dump --schema NAME takes all of it; tract bundle takes branches and sessions
        ");
        insta::assert_snapshot!(on(&["backup", "--restore", "copy.db"]), @r"
        exit code: 1
        --- stderr
        error: a server's repository from a backup is for the server's own programs to make
        hint: pg_dump --schema NAME takes all of it; tract bundle takes branches and sessions
        ");
        assert!(!sandbox.work().join("copy.db").exists());
        insta::assert_snapshot!(on(&["watch", "--once"]), @r"
        --- stderr
        Looked at 0 files: nothing new
        ");
        // The same by the environment, and nothing was made here.
        let mut status = sandbox.command(&["log", "-n", "1", "--format", "%s"]);
        let status = status.env("TRACT_REPO", &address).output().expect("runs");
        assert_eq!(String::from_utf8_lossy(&status.stdout), "hello\n");
        assert!(!sandbox.work().join(".tract").exists());
    }

    #[test]
    fn what_cannot_be_opened_is_told_in_two_lines() {
        let sandbox = Sandbox::empty();
        let on = |address: &str| sandbox.tract(&["--repo", address, "status"]);
        insta::assert_snapshot!(on("postgres://me:secret@/db?host=/nonexistent"), @r"
        exit code: 1
        --- stderr
        error: postgres://me@/db?host=/nonexistent: No such file or directory
        hint: is the server running, and may you log in? psql says more
        ");
        // No server has its socket there.
        insta::assert_snapshot!(on("postgres:///db?port=1"), @r"
        exit code: 1
        --- stderr
        error: postgres:///db?port=1: No such file or directory
        hint: is the server running, and may you log in? psql says more
        ");
        insta::assert_snapshot!(on("postgres://h/db?schema=pg_toast"), @r"
        exit code: 2
        --- stderr
        error: postgres://h/db?schema=pg_toast: the schema 'pg_toast' is the server's own
        hint: postgres://USER@HOST:PORT/DATABASE?schema=NAME; docs/servers.md lists what else it may say
        ");
        insta::assert_snapshot!(on("postgres://me:secret@h/db?nonsense=1"), @r"
        exit code: 2
        --- stderr
        error: postgres://me@h/db?nonsense=1: unknown option `nonsense`
        hint: postgres://USER@HOST:PORT/DATABASE?schema=NAME; docs/servers.md lists what else it may say
        ");
    }

    #[test]
    fn a_server_that_says_nothing_is_given_up() {
        let sandbox = Sandbox::empty();
        // The system takes connections for it, and nobody answers them.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let address = format!("postgres://me@127.0.0.1:{port}/db");
        let mut command = sandbox.command(&["--repo", &address, "status"]);
        let output = command
            .env("PGCONNECT_TIMEOUT", "1")
            .output()
            .expect("it runs");
        let said = sandbox.told(&output).replace(&port.to_string(), "PORT");
        insta::assert_snapshot!(said, @"
        exit code: 4
        --- stderr
        error: postgres://me@127.0.0.1:PORT/db: the server has not answered for 1000 ms
        hint: is it PostgreSQL that listens there? connect_timeout=SECONDS in the address, or PGCONNECT_TIMEOUT, waits longer
        ");
        let address = format!("{address}?sslmode=disable&connect_timeout=2");
        let said = sandbox.tract(&["--repo", &address, "status"]);
        assert!(said.starts_with("exit code: 4\n"), "{said}");
        assert!(said.contains("has not answered for 2000 ms"), "{said}");
    }

    #[test]
    fn what_leads_to_no_server_has_a_hint() {
        let sandbox = Sandbox::empty();
        let on = |address: &str, variables: &[(&str, &str)]| {
            let mut command = sandbox.command(&["--repo", address, "status"]);
            let output = command.envs(variables.iter().copied()).output();
            sandbox.told(&output.expect("it runs"))
        };
        insta::assert_snapshot!(on("postgres://h/d?sslmode=sometimes", &[]), @"
        exit code: 2
        --- stderr
        error: sslmode=sometimes: it may be disable, prefer, require, verify-ca or verify-full
        hint: require is the least for another host; only verify-full says that it is the server you mean
        ");
        insta::assert_snapshot!(on("postgres://h/d", &[("PGPORT", "none")]), @"
        exit code: 2
        --- stderr
        error: PGPORT: invalid value for option `port`
        hint: the variable is as psql takes it; what the address says goes before it: postgres://HOST:PORT/DATABASE
        ");
        insta::assert_snapshot!(on("postgres://h/d", &[("PGSERVICE", "team")]), @"
        exit code: 2
        --- stderr
        error: the service 'team': no service file has it
        hint: services stand in ~/.pg_service.conf, or in the file that PGSERVICEFILE names: [NAME], and host=HOST below it
        ");
    }

    /// How many statements the server ran for a command.
    fn statements(sandbox: &Sandbox, address: &str, name: &str, arguments: &[&str]) -> usize {
        let address = format!("{address}&application_name={name}&options=-c%20log_statement%3Dall");
        sandbox.ok(&[&["--repo", &address], arguments].concat());
        let log = cluster::socket().expect("a server").to_owned() + "/log";
        let log = std::fs::read(log).expect("the server's log");
        let log = String::from_utf8_lossy(&log).into_owned();
        let prefix = format!("<{name}> LOG: ");
        let count = log.lines().filter(|line| line.starts_with(&prefix)).count();
        assert!(count > 0, "the log tells of no statement");
        count
    }

    #[test]
    fn a_command_asks_the_server_a_few_times_whatever_there_is() {
        let Some(address) = cluster::address() else {
            return;
        };
        let sandbox = Sandbox::empty();
        sandbox.ok(&["init", &address]);
        let grow = |from: usize, to: usize| {
            let lines =
                (from..to).map(|at| format!("{{\"role\":\"user\",\"content\":\"{at}\"}}\n"));
            let lines: String = lines.collect();
            let arguments = ["--repo", &address, "commit", "--batch", "-"];
            let said = sandbox.tract_with(&arguments, lines);
            assert!(!said.contains("error"), "{said}");
        };
        let asked = |name: &str| {
            let count = |what: &str, arguments: &[&str]| {
                statements(&sandbox, &address, &format!("{name}_{what}"), arguments)
            };
            [
                count("commit", &["commit", "-r", "user", "-m", name]),
                count("log", &["log", "-n", "20"]),
                count("status", &["status"]),
            ]
        };
        // What is counted for the first time is written down once; after that nothing grows.
        for (from, to) in [(0, 30), (30, 330)] {
            grow(from, to);
            asked("first");
            let counts = asked(&format!("of_{to}"));
            assert!(counts.iter().all(|count| *count <= 64), "{counts:?}");
        }
    }
}
