//! What others may try: pages of other sites, broken requests, browsers that vanish, texts that want to be more.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::Served;
use crate::listing::pages::browsed;
use crate::sandbox::{Sandbox, on_servers};
use crate::sessions::import::with_demo;

#[test]
fn only_whoever_knows_the_address_is_let_in() {
    let sandbox = with_demo();
    let served = Served::of(&sandbox, &[]);
    let own = format!("/{}/", served.token);
    assert_eq!(served.asked("GET", &own, &[]).status, 200);
    let wrong = "0".repeat(served.token.len());
    for path in [
        "/",
        "/favicon.ico",
        "/s/main/",
        &format!("/{wrong}/"),
        &own[..own.len() - 1],
    ] {
        let reply = served.asked("GET", path, &[]);
        assert_eq!(
            (reply.status, reply.body.as_str()),
            (403, "Forbidden\n"),
            "{path}"
        );
        assert!(!reply.head.contains("location"), "{}", reply.head);
    }
    let port = served.port;
    let other = format!("http://127.0.0.1:{}", port ^ 1);
    for headers in [
        vec![("Host", "evil.example")],
        vec![("Host", "localhost")],
        vec![("Origin", "https://evil.example")],
        vec![("Origin", other.as_str())],
        vec![("Origin", "null")],
        vec![("Sec-Fetch-Site", "cross-site")],
        vec![("Sec-Fetch-Site", "same-site")],
    ] {
        let reply = served.asked("GET", &own, &headers);
        assert_eq!(
            (reply.status, reply.body.as_str()),
            (403, "Forbidden\n"),
            "{headers:?}"
        );
    }
    let host = format!("localhost:{port}");
    assert_eq!(served.asked("GET", &own, &[("Host", &host)]).status, 200);
    // A form of nowhere changes nothing, and neither does one of another site.
    for headers in [
        vec![],
        vec![
            ("Origin", "https://evil.example"),
            ("Sec-Fetch-Site", "cross-site"),
        ],
    ] {
        assert_eq!(
            served.asked("POST", &own, &headers).status,
            403,
            "{headers:?}"
        );
    }
    assert_eq!(served.asked("DELETE", &own, &[]).status, 405);
}

#[test]
fn each_answer_says_what_a_browser_may_do_with_it() {
    let served = Served::of(&with_demo(), &[]);
    for reply in [
        served.get(""),
        served.get("nowhere"),
        served.asked("GET", "/", &[]),
    ] {
        for line in [
            "content-security-policy: default-src 'none'",
            "frame-ancestors 'none'",
            "connect-src 'self'",
            "form-action 'self'",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(reply.head.contains(line), "{line}\n{}", reply.head);
        }
        assert!(!reply.head.contains("unsafe"), "{}", reply.head);
        assert!(!reply.head.contains("access-control"), "{}", reply.head);
        assert!(!reply.head.contains("set-cookie"), "{}", reply.head);
    }
}

#[test]
fn broken_requests_are_refused_and_it_lives() {
    let sandbox = with_demo();
    let mut served = Served::of(&sandbox, &[]);
    let token = served.token.clone();
    for (path, status) in [
        ("../../etc/passwd", 400),
        ("%2e%2e/%2e%2e/etc/passwd", 400),
        ("s/..%2f..%2fetc/", 404),
        ("s/a%00b/", 400),
        ("s/%ff/", 400),
        ("s/nobody/", 404),
        ("s/", 404),
        ("s//", 404),
        ("nowhere/", 404),
        ("s/HEAD%40%7B99%7D/", 404),
        (
            "?from=99999999999999999999&day=x&after=-1&tool=%3Cscript%3E",
            200,
        ),
        ("?q=%22", 200),
        ("?q=%28%5B%2A", 200),
    ] {
        let reply = served.get(path);
        assert_eq!(reply.status, status, "{path}: {}", reply.body);
        assert!(!reply.body.contains("root:x:"), "{path}");
    }
    let long = format!("s/{}/", "a".repeat(20_000));
    assert!([400, 414, 431].contains(&served.get(&long).status));
    for bytes in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut connection = served.connection();
        let _ = connection.write_all(bytes);
        let _ = connection.shutdown(Shutdown::Write);
    }
    let body = format!(
        "POST /{token}/act HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nSec-Fetch-Site: same-origin\r\n\
         Connection: close\r\nContent-Length: 3000000\r\n\r\n{}",
        served.port,
        "a=b&".repeat(750_000)
    );
    assert!([0, 413].contains(&served.raw(body.as_bytes()).status));
    assert!(served.lives());
}

#[test]
fn whoever_never_ends_or_goes_away_is_in_nobodys_way() {
    let sandbox = with_demo();
    let mut served = Served::of(&sandbox, &[]);
    // A hundred that say nothing, and as many that never end what they say.
    let idle: Vec<_> = (0..100).map(|_| served.connection()).collect();
    let half: Vec<_> = (0..100)
        .map(|_| {
            let mut connection = served.connection();
            connection
                .write_all(b"GET / HTTP/1.1\r\nX: ")
                .expect("sent");
            connection
        })
        .collect();
    assert_eq!(served.get("").status, 200);
    // A hundred that go away before they are answered.
    let path = format!("/{}/", served.token);
    for _ in 0..100 {
        let mut connection = served.connection();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
            served.port
        );
        connection.write_all(head.as_bytes()).expect("sent");
        drop(connection);
    }
    assert!(served.lives());
    drop((idle, half));
    assert!(served.lives());
}

#[test]
fn whoever_has_no_token_keeps_nobody_out() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let mut served = Served::of(&sandbox, &[]);
    // A browser that is here already stays, whoever comes.
    let mut known = served.connection();
    let page = format!(
        "GET /{}/ HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
        served.token, served.port
    );
    known.write_all(page.as_bytes()).expect("sent");
    let mut first = [0; 12];
    known.read_exact(&mut first).expect("an answer");
    let mut silent: Vec<_> = (0..400).map(|_| served.connection()).collect();
    for (at, connection) in silent.iter_mut().enumerate() {
        if at % 3 > 0 {
            let _ = connection.write_all(b"GET /no/ HTTP/1.1\r\nHost: 127");
        }
    }
    let since = Instant::now();
    for _ in 0..20 {
        assert_eq!(served.get("").status, 200);
    }
    assert!(
        since.elapsed() < Duration::from_secs(5),
        "{:?}",
        since.elapsed()
    );
    known.write_all(page.as_bytes()).expect("it is held");
    let mut rest = Vec::new();
    known
        .set_read_timeout(Some(Duration::from_secs(2)))
        .expect("a socket");
    let _ = known.read_to_end(&mut rest);
    assert_eq!(
        String::from_utf8_lossy(&rest)
            .matches("HTTP/1.1 200")
            .count(),
        1
    );
    drop(silent);
    assert!(served.lives());
}

#[test]
fn a_second_server_takes_another_port_and_an_address_of_its_own() {
    let sandbox = with_demo();
    let (mut first, mut second) = (Served::of(&sandbox, &[]), Served::of(&sandbox, &[]));
    assert_ne!(first.port, second.port);
    assert_ne!(first.token, second.token);
    assert!(first.lives() && second.lives());
    let path = format!("/{}/", first.token);
    assert_eq!(second.asked("GET", &path, &[]).status, 403);
    // One that was asked for, and is taken, is not had.
    let port = first.port.to_string();
    let said = sandbox.tract(&["web", "--no-open", "--port", &port]);
    assert_eq!(
        said.replace(&port, "[PORT]"),
        "exit code: 1\n--- stderr\nerror: port [PORT]: address already in use\n\
         hint: without --port, the next free port is taken\n"
    );
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_without_a_word() {
    for signal in ["-INT", "-TERM"] {
        let served = Served::of(&with_demo(), &[]);
        let _waits = served.connection();
        assert_eq!(served.ended(signal), (Some(0), String::new()), "{signal}");
    }
}

const EVIL: &str =
    "</a><script>document.title='pwned'</script><svg onload=alert(1)>\u{202e}\u{0}\" onx='";

/// A session in which everything wants to be more than text.
fn evil(sandbox: &Sandbox) {
    let line = "megabyte ".repeat(120_000);
    let record = |at: usize, text: &str| {
        let parent = (at > 1).then(|| format!("u{}", at - 1));
        let kind = if at % 2 == 1 { "user" } else { "assistant" };
        json!({
            "type": kind, "uuid": format!("u{at}"), "parentUuid": parent, "sessionId": "5b0c9a1e-0000-4c8f-9e36-2f1d8a6b4c70",
            "cwd": format!("/tmp/{EVIL}"), "timestamp": format!("2026-03-14T10:00:0{at}Z"), "version": "2.0.0",
            "message": {"role": kind, "model": EVIL, "content": text},
        })
        .to_string()
    };
    let title = json!({"type": "summary", "summary": EVIL, "leafUuid": "u4"}).to_string();
    let rows = [
        record(1, &format!("needle {EVIL}")),
        record(2, &format!("{line}needle{line}{EVIL}")),
        record(3, EVIL),
        record(4, "the end of needle"),
        title,
    ];
    sandbox.write("evil.jsonl", rows.join("\n") + "\n");
    sandbox.tract(&["import", "evil.jsonl"]);
}

#[test]
fn no_text_of_others_is_markup_on_any_page() {
    let sandbox = Sandbox::new();
    evil(&sandbox);
    let mut served = Served::of(&sandbox, &[]);
    let list = served.settled("");
    let pages = [
        list.clone(),
        served.get("?q=needle").body,
        served.get("?q=%3Cscript%3E&tool=%3Cscript%3Ealert(1)%3C/script%3E&dir=%22%3E%3Cb%3E&day=%22%3E%3Cb%3E").body,
        served.get("s/%3Cscript%3Ealert(1)%3C%2Fscript%3E/").body,
        served.get("s/claude-code/5b0c9a1e-0000-4c8f-9e36-2f1d8a6b4c70/").body,
    ];
    for page in &pages {
        for never in [
            "<script>document",
            "<script>alert",
            "<svg onload",
            "\u{202e}",
            "\0",
            "<b>",
            " onx='",
        ] {
            assert!(
                !page.contains(never),
                "{never:?} in {}",
                &page[..page.len().min(400)]
            );
        }
    }
    assert!(list.contains("&lt;script&gt;"), "it is shown as what it is");
    assert!(pages[1].contains("<mark>needle</mark>"), "{}", pages[1]);
    // A line of a megabyte is cut to what answers.
    assert!(pages[1].len() < 200_000, "{}", pages[1].len());
    assert!(served.lives());
    let Some(dom) = browsed(&served.address(), "") else {
        return;
    };
    assert!(dom.contains("<title>Sessions</title>"), "{dom}");
}

#[test]
fn what_is_purged_is_gone_and_a_repository_that_goes_away_is_missed() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "the password is swordfish"),
        ("assistant", "Noted."),
    ]);
    let mut served = Served::of(&sandbox, &[]);
    assert!(served.get("s/main/").body.contains("swordfish"));
    assert!(
        served
            .get("?q=swordfish")
            .body
            .contains("<mark>swordfish</mark>")
    );
    sandbox.ok(&["purge", ":1", "--force"]);
    for page in ["s/main/", "", "?q=swordfish"] {
        let reply = served.get(page);
        let body = reply.body.replace("value=\"swordfish\"", "");
        assert!(
            reply.status == 200 && !body.contains("swordfish"),
            "{page}: {body}"
        );
    }
    if on_servers() {
        return;
    }
    std::fs::rename(sandbox.work().join(".tract"), sandbox.work().join("away")).expect("moved");
    for page in ["", "s/main/", "?q=x"] {
        let reply = served.get(page);
        assert!(
            reply.status >= 400 && reply.body.contains("no tract repository"),
            "{page}: {reply:?}"
        );
    }
    std::fs::rename(sandbox.work().join("away"), sandbox.work().join(".tract")).expect("moved");
    assert!(served.lives());
}

#[test]
fn a_page_of_another_origin_can_neither_read_nor_write() {
    let sandbox = Sandbox::with_messages(&[("user", "the password is swordfish")]);
    let mut served = Served::of(&sandbox, &["--write"]);
    let address = served.address();
    // Even one that knows the address.
    let page = format!(
        "<!DOCTYPE html><title>other</title><body><ol id=log></ol><iframe name=f src=\"{address}\"></iframe>\
         <form id=g method=post target=f action=\"{address}act\"><input name=action value=drop></form><script>\
         const say = (text) => {{ const li = document.createElement('li'); li.textContent = text; log.append(li); }};\
         const tries = [\
           ['get', () => fetch('{address}')], ['post', () => fetch('{address}act', {{ method: 'POST', body: 'a=b' }})],\
           ['opaque', () => fetch('{address}', {{ mode: 'no-cors' }})],\
         ];\
         (async () => {{ for (const [name, run] of tries) {{\
           try {{ const r = await run(); say(name + ':' + r.type + ':' + (await r.text()).includes('Sessions')); }}\
           catch (error) {{ say(name + ':refused'); }} }}\
           try {{ say('frame:' + f.document.body.textContent.includes('Sessions')); }} catch {{ say('frame:refused'); }}\
           g.submit(); say('done'); }})();\
         </script></body>"
    );
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let other = listener.local_addr().expect("bound").port();
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut start = [0; 1024];
            let _ = std::io::Read::read(&mut connection, &mut start);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                page.len()
            );
            let _ = connection.write_all((head + &page).as_bytes());
        }
    });
    let before = sandbox.ok(&["log"]);
    let Some(dom) = browsed(&format!("http://127.0.0.1:{other}/"), "") else {
        return;
    };
    assert!(dom.contains("<li>done</li>"), "{dom}");
    for item in ["get:refused", "post:refused"] {
        assert!(dom.contains(item), "{item}: {dom}");
    }
    assert!(!dom.contains(":true"), "{dom}");
    assert_eq!(sandbox.ok(&["log"]), before);
    assert!(served.lives());
}
