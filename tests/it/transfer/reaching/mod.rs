//! How a server is reached: TLS and whom it trusts, passwords, variables, rights, and servers that are full.

mod certificates;
mod server;

use std::path::Path;
use std::sync::atomic::Ordering;

use self::server::{Answer, seeming, starting, with_tls};
use crate::cluster;
use crate::sandbox::Sandbox;

/// What `status` says at an address, where a port is `PORT` and files are in `[MADE]`.
fn told(sandbox: &Sandbox, address: &str, variables: &[(&str, &str)]) -> String {
    let mut command = sandbox.command(&["--repo", address, "status"]);
    command.envs(variables.iter().copied());
    let said = sandbox.told(&command.output().expect("it runs"));
    assert!(!said.contains("sesame"), "{said}");
    let (_, place) = address.split_once("://").unwrap_or_default();
    let port: String = place
        .split(['/', '?'])
        .next()
        .and_then(|place| place.rsplit_once(':'))
        .map_or(String::new(), |(_, port)| port.to_owned());
    let said = match port.is_empty() {
        true => said,
        false => said.replace(&format!(":{port}"), ":PORT"),
    };
    match certificates::made() {
        Some(made) => said.replace(&made.display().to_string(), "[MADE]"),
        None => said,
    }
}

/// Whether somebody was talked to who is no server.
fn went_on(said: &str) -> bool {
    let ends = [
        "connection closed",
        "reset by peer",
        "peer closed",
        "Broken pipe",
    ];
    said.contains("error: ") && ends.iter().any(|end| said.contains(end))
}

/// The first line of what is said.
fn first(said: &str) -> &str {
    said.lines().next().unwrap_or_default()
}

#[test]
fn whoever_is_trusted_is_talked_to_and_nobody_else() {
    let Some(made) = certificates::made() else {
        return;
    };
    let sandbox = Sandbox::empty();
    let ca = made.join("ca.crt");
    let on = |name: &'static str, host: &str, more: &str| {
        let port = seeming(Answer::Certificate(name));
        let ca = ca.display();
        let address = format!("postgres://me:sesame@{host}:{port}/db?{more}sslrootcert={ca}");
        told(&sandbox, &address, &[])
    };
    insta::assert_snapshot!(on("unknown", "localhost", ""), @r"
    exit code: 1
    --- stderr
    error: postgres://me@localhost:PORT/db?sslrootcert=[MADE]/ca.crt: the server's certificate is signed by nobody who is trusted here
    hint: sslrootcert=FILE in the address names the certificate of who signed it
    ");
    insta::assert_snapshot!(on("expired", "localhost", ""), @r"
    exit code: 1
    --- stderr
    error: postgres://me@localhost:PORT/db?sslrootcert=[MADE]/ca.crt: the server's certificate has expired
    hint: the server needs another certificate; or is the clock of this machine wrong?
    ");
    insta::assert_snapshot!(on("early", "localhost", "sslmode=verify-ca&"), @r"
    exit code: 1
    --- stderr
    error: postgres://me@localhost:PORT/db?sslmode=verify-ca&sslrootcert=[MADE]/ca.crt: the server's certificate is not valid yet
    hint: the server needs another certificate; or is the clock of this machine wrong?
    ");
    insta::assert_snapshot!(on("elsewhere", "localhost", ""), @r"
    exit code: 1
    --- stderr
    error: postgres://me@localhost:PORT/db?sslrootcert=[MADE]/ca.crt: the server's certificate is for another host: db.example
    hint: name the host that it is for; sslmode=verify-ca asks only who signed it
    ");
    // Nothing was said to any of these. To whoever is trusted something is, which makes no server of it.
    for (name, host, more) in [
        ("good", "localhost", ""),
        ("good", "127.0.0.1", ""),
        ("elsewhere", "localhost", "sslmode=verify-ca&"),
        ("elsewhere", "localhost", "sslmode=require&"),
        ("unknown", "localhost", "sslmode=prefer&"),
    ] {
        let said = on(name, host, more);
        assert!(went_on(&said), "{name}: {said}");
    }
    // What is asked with an authority's certificate in the home is asked.
    let port = seeming(Answer::Certificate("unknown"));
    let address = format!("postgres://me@0.0.0.0:{port}/db");
    let said = told(&sandbox, &address, &[]);
    assert!(went_on(&said), "{said}");
    let home = sandbox.home().join(".postgresql");
    std::fs::create_dir(&home).expect("made");
    std::fs::copy(&ca, home.join("root.crt")).expect("copied");
    let said = told(&sandbox, &address, &[]);
    assert!(said.contains("signed by nobody"), "{said}");
    // The authorities of the system, of which that is none, and then is.
    let system = format!("postgres://me@localhost:{port}/db?sslrootcert=system");
    let said = told(&sandbox, &system, &[]);
    assert!(said.contains("signed by nobody"), "{said}");
    let stranger = made.join("stranger.crt").display().to_string();
    let said = told(&sandbox, &system, &[("SSL_CERT_FILE", &stranger)]);
    assert!(went_on(&said), "{said}");
}

#[test]
fn plain_text_to_another_host_is_refused_unless_it_is_asked_for() {
    let sandbox = Sandbox::empty();
    let port = seeming(Answer::No);
    // Not the name of this machine, though it leads here.
    let address = format!("postgres://me@0.0.0.0:{port}/db");
    insta::assert_snapshot!(told(&sandbox, &address, &[]), @r"
    exit code: 1
    --- stderr
    error: postgres://me@0.0.0.0:PORT/db: the server does not speak TLS
    hint: sslmode=disable in the address sends everything in plain text, passwords too
    ");
    for (address, variables) in [
        (format!("{address}?sslmode=disable"), &[][..]),
        (format!("{address}?sslmode=prefer"), &[]),
        (address.clone(), &[("PGSSLMODE", "disable")]),
        (format!("postgres://me@localhost:{port}/db"), &[]),
    ] {
        let said = told(&sandbox, &address, variables);
        assert!(went_on(&said), "{address}: {said}");
    }
    insta::assert_snapshot!(told(&sandbox, &format!("{address}?sslmode=sometimes"), &[]), @r"
    exit code: 2
    --- stderr
    error: sslmode=sometimes: it may be disable, prefer, require, verify-ca or verify-full
    hint: require is the least for another host; only verify-full says that it is the server you mean
    ");
}

/// An address of the server with TLS, and the sandbox's variable for who signed its certificate.
fn trusted(user: &str, port: u16, made: &Path) -> String {
    let ca = made.join("ca.crt");
    let ca = ca.display();
    format!("postgres://{user}@localhost:{port}/postgres?sslmode=verify-full&sslrootcert={ca}")
}

#[test]
fn a_password_comes_from_a_variable_or_from_a_file_that_is_ours_alone() {
    let (Some(server), Some(made)) = (with_tls(), certificates::made()) else {
        return;
    };
    let sandbox = Sandbox::empty();
    let address = trusted("secretive", server.port, made) + "&schema=by_password";
    let password = ("PGPASSWORD", "open sesame");
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let arguments = [&["--repo", address.as_str()], arguments].concat();
        let mut command = sandbox.command(&arguments);
        command.envs(variables.iter().copied());
        sandbox.told(&command.output().expect("it runs"))
    };
    insta::assert_snapshot!(told(&sandbox, &address, &[]), @r"
    exit code: 1
    --- stderr
    error: postgres://secretive@localhost:PORT/postgres?sslmode=verify-full&sslrootcert=[MADE]/ca.crt&schema=by_password: the server wants a password, and there is none
    hint: PGPASSWORD says it, or a line in ~/.pgpass
    ");
    insta::assert_snapshot!(told(&sandbox, &address, &[("PGPASSWORD", "close sesame")]), @r#"
    exit code: 1
    --- stderr
    error: postgres://secretive@localhost:PORT/postgres?sslmode=verify-full&sslrootcert=[MADE]/ca.crt&schema=by_password: FATAL: password authentication failed for user "secretive"
    hint: is the server running, and may you log in? psql says more
    "#);
    let made_it = run(&["init"], &[password]);
    assert!(first(&made_it).contains("stderr"), "{made_it}");
    run(&["commit", "-r", "user", "-m", "hello"], &[password]);
    // The login is bound to this TLS, as some addresses ask for.
    let bound = format!("{address}&channel_binding=require");
    let said = told(&sandbox, &bound, &[password]);
    assert!(!said.contains("error"), "{said}");
    let passwords = sandbox.home().join(".pgpass");
    let line = format!("localhost:{}:postgres:secretive:open sesame\n", server.port);
    std::fs::write(&passwords, &line).expect("written");
    permit(&passwords, 0o640);
    let said = told(&sandbox, &address, &[]);
    let said = said.replace(&sandbox.home().display().to_string(), "[HOME]");
    insta::assert_snapshot!(said, @r"
    exit code: 1
    --- stderr
    error: postgres://secretive@localhost:PORT/postgres?sslmode=verify-full&sslrootcert=[MADE]/ca.crt&schema=by_password: [SANDBOX]/home/.pgpass can be read by others, so it is not used
    hint: chmod 600 keeps it from others
    ");
    permit(&passwords, 0o600);
    assert_eq!(run(&["log", "--format", "%s"], &[]), "hello\n");
    // Another file, and one that says nothing of this server.
    let elsewhere = sandbox.write("passwords", &line);
    permit(&elsewhere, 0o600);
    std::fs::write(&passwords, "localhost:1:*:*:open sesame\n").expect("written");
    let said = told(&sandbox, &address, &[]);
    assert!(said.contains("wants a password"), "{said}");
    let elsewhere = elsewhere.display().to_string();
    let by_file = run(&["log", "--format", "%s"], &[("PGPASSFILE", &elsewhere)]);
    assert_eq!(by_file, "hello\n");
}

fn permit(file: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(file, permissions).expect("ours");
}

#[test]
fn a_certificate_of_our_own_opens_the_door() {
    let (Some(server), Some(made)) = (with_tls(), certificates::made()) else {
        return;
    };
    let sandbox = Sandbox::empty();
    let address = trusted("certified", server.port, made) + "&schema=by_certificate";
    let said = told(&sandbox, &address, &[]);
    assert!(
        said.contains("error: ") && said.contains("hint: "),
        "{said}"
    );
    let ours = |name: &str| {
        let file = |kind: &str| made.join(format!("{name}.{kind}")).display().to_string();
        format!("{address}&sslcert={}&sslkey={}", file("crt"), file("key"))
    };
    let refused = told(&sandbox, &ours("unknown"), &[]);
    assert!(
        refused.contains("error: ") && refused.contains("hint: "),
        "{refused}"
    );
    let made_it = sandbox.tract(&["init", &ours("certified")]);
    assert!(made_it.contains("Made an empty repository"), "{made_it}");
    // From the home, where the server's own programs look for them.
    let home = sandbox.home().join(".postgresql");
    std::fs::create_dir(&home).expect("made");
    std::fs::copy(made.join("certified.crt"), home.join("postgresql.crt")).expect("copied");
    let key = home.join("postgresql.key");
    std::fs::copy(made.join("certified.key"), &key).expect("copied");
    permit(&key, 0o600);
    let said = told(&sandbox, &address, &[]);
    assert!(!said.contains("error"), "{said}");
    permit(&key, 0o644);
    let said = told(&sandbox, &address, &[]);
    let said = said.replace(&sandbox.home().display().to_string(), "[HOME]");
    insta::assert_snapshot!(said, @r"
    exit code: 1
    --- stderr
    error: postgres://certified@localhost:PORT/postgres?sslmode=verify-full&sslrootcert=[MADE]/ca.crt&schema=by_certificate: [SANDBOX]/home/.postgresql/postgresql.key can be read by others, so it is not used
    hint: chmod 600 keeps it from others
    ");
}

#[test]
fn variables_say_what_an_address_does_not() {
    let (Some(address), Some(socket)) = (cluster::address(), cluster::socket()) else {
        return;
    };
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init", &address]);
    let schema = address.split_once("schema=").expect("it names one").1;
    let typed = format!("postgres://?schema={schema}");
    let variables = [
        ("PGHOST", socket),
        ("PGUSER", "tract"),
        ("PGDATABASE", "postgres"),
    ];
    let said = told(&sandbox, &typed, &variables);
    assert!(!said.contains("error"), "{said}");
    // What is told leads to the same place without them.
    let nowhere = format!("postgres:///?schema={schema}_none");
    let said = told(&sandbox, &nowhere, &variables);
    let whole = format!("postgres://tract@/postgres?schema={schema}_none&host={socket}");
    assert!(said.contains(&whole), "{said}");
    let mut wrong = variables.to_vec();
    wrong.push(("PGPORT", "none"));
    insta::assert_snapshot!(told(&sandbox, &typed, &wrong), @r"
    exit code: 2
    --- stderr
    error: PGPORT: invalid value for option `port`
    hint: the variable is as psql takes it; what the address says goes before it: postgres://HOST:PORT/DATABASE
    ");
    let service = format!("[ours]\nhost={socket}\nuser=tract\ndbname=postgres\n");
    let service = sandbox.write("services", service).display().to_string();
    let by_service = format!("postgres://?service=ours&schema={schema}");
    let said = told(&sandbox, &by_service, &[("PGSERVICEFILE", &service)]);
    assert!(!said.contains("error"), "{said}");
    insta::assert_snapshot!(told(&sandbox, "postgres://?service=theirs", &[]), @r"
    exit code: 2
    --- stderr
    error: the service 'theirs': no service file has it
    hint: services stand in ~/.pg_service.conf, or in the file that PGSERVICEFILE names: [NAME], and host=HOST below it
    ");
}

#[test]
fn a_schema_that_one_may_not_use_is_no_damage() {
    let Some(address) = cluster::address() else {
        return;
    };
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init", &address]);
    let schema = address.split_once("schema=").expect("it names one").1;
    let sql = |sql: &str| crate::sandbox::ask_server(&address, sql);
    sql(&format!("CREATE ROLE {schema}_reader LOGIN"));
    let theirs = address.replace("tract@", &format!("{schema}_reader@"));
    let on = |arguments: &[&str]| {
        let arguments = [&["--repo", theirs.as_str()], arguments].concat();
        sandbox
            .tract(&arguments)
            .replace(&theirs, "[SERVER]")
            .replace(schema, "[SCHEMA]")
    };
    insta::assert_snapshot!(on(&["status"]), @r"
    exit code: 1
    --- stderr
    error: [SERVER]: permission denied for schema [SCHEMA]
    hint: the schema's owner may allow it: GRANT USAGE ON SCHEMA, GRANT SELECT ON ALL TABLES IN SCHEMA
    ");
    sql(&format!(
        "GRANT USAGE ON SCHEMA {schema} TO {schema}_reader"
    ));
    insta::assert_snapshot!(on(&["log"]), @r"
    exit code: 1
    --- stderr
    error: [SERVER]: permission denied for table tract_repository
    hint: the schema's owner may allow it: GRANT USAGE ON SCHEMA, GRANT SELECT ON ALL TABLES IN SCHEMA
    ");
    sql(&format!(
        "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {schema}_reader"
    ));
    assert!(!on(&["status"]).contains("error"));
    sql(&format!(
        "REVOKE SELECT ON {schema}.refs FROM {schema}_reader"
    ));
    insta::assert_snapshot!(on(&["log"]), @r"
    exit code: 1
    --- stderr
    error: [SERVER]: permission denied for table refs
    hint: the schema's owner may allow it: GRANT USAGE ON SCHEMA, GRANT SELECT ON ALL TABLES IN SCHEMA
    ");
}

#[test]
fn a_server_that_starts_up_is_waited_for() {
    let sandbox = Sandbox::empty();
    let (port, asked) = starting();
    let address = format!(
        "postgres://tract:x@127.0.0.1:{port}/tract?sslmode=disable&connect_timeout=1&schema=a"
    );
    let said = told(&sandbox, &address, &[]);
    assert!(
        said.contains("the database system is starting up"),
        "{said}"
    );
    assert!(said.contains("exit code: 1"), "{said}");
    assert!(asked.load(Ordering::Relaxed) > 2, "{said}");
}

#[test]
fn a_server_that_is_full_is_waited_for() {
    let Some(address) = cluster::address() else {
        return;
    };
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init", &address]);
    let schema = address.split_once("schema=").expect("it names one").1;
    let sql = |sql: &str| crate::sandbox::ask_server(&address, sql);
    sql(&format!(
        "CREATE ROLE {schema}_one LOGIN CONNECTION LIMIT 0"
    ));
    sql(&format!("GRANT USAGE ON SCHEMA {schema} TO {schema}_one"));
    sql(&format!(
        "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {schema}_one"
    ));
    let theirs = address.replace("tract@", &format!("{schema}_one@"));
    let said = told(&sandbox, &(theirs.clone() + "&connect_timeout=1"), &[]);
    let waited = said
        .split("waited ")
        .nth(1)
        .and_then(|it| it.split(' ').next());
    let waited: u64 = waited.and_then(|it| it.parse().ok()).expect(&said);
    assert!((500..2_000).contains(&waited), "{said}");
    let said = said
        .replace(&waited.to_string(), "N")
        .replace(&theirs, "[SERVER]");
    insta::assert_snapshot!(said, @r"
    exit code: 4
    --- stderr
    error: [SERVER]&connect_timeout=1: waited N ms for a free connection to the server
    hint: try again; a pooler such as pgbouncer shares few connections among many
    ");
    // Somebody goes meanwhile.
    let mut waiting = sandbox.command(&["--repo", &theirs, "status"]);
    let waiting = waiting
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    std::thread::sleep(std::time::Duration::from_millis(300));
    sql(&format!("ALTER ROLE {schema}_one CONNECTION LIMIT 9"));
    assert!(
        waiting
            .wait_with_output()
            .expect("it ends")
            .status
            .success()
    );
}

#[test]
fn a_password_is_kept_nowhere() {
    let sandbox = Sandbox::new();
    let address = "postgres://me:open%20sesame@db.example/work?password=sesame&schema=x";
    insta::assert_snapshot!(sandbox.tract(&["remote", "add", "team", address]), @r"
    --- stderr
    hint: the password is not kept: PGPASSWORD or ~/.pgpass says it
    ");
    insta::assert_snapshot!(sandbox.tract(&["remote"]), @r"
    team  postgres://me@db.example/work?schema=x
    ");
    let all = sandbox.tract(&["config"]) + &sandbox.tract(&["reflog"]);
    assert!(!all.contains("sesame"), "{all}");
    let values = sandbox.texts("SELECT value FROM config");
    assert!(
        values.iter().all(|value| !value.contains("sesame")),
        "{values:?}"
    );
    // Nor is one told that stands where none can be.
    for odd in [
        "postgres://me:open/sesame@db.example/work",
        "postgres://me:open?sesame@db.example/work?nonsense=1",
        "postgres://me@db.example/work?password=sesame&port=x",
    ] {
        let said = told(&sandbox, odd, &[]);
        assert!(said.starts_with("exit code: 2\n"), "{said}");
    }
}
