use super::*;
use tract::ingest::Scope;
use tract::model::{Draft, Message, Part, Role};
use tract::repo::{Call, CommitOptions, On};

fn talk(count: usize) -> Repo {
    let repo = Repo::ephemeral().expect("made");
    let say = |at: usize| {
        let role = if at % 2 == 1 {
            Role::User
        } else {
            Role::Assistant
        };
        Draft::append(Message::text(
            role,
            format!("message {at}\nand more of {at}"),
        ))
    };
    let drafts: Vec<Draft> = (1..=count).map(say).collect();
    repo.commit(Call::default(), &drafts, &CommitOptions::default())
        .expect("commits");
    repo
}

fn conversation(repo: &Repo, scope: Scope) -> Conversation {
    let tip = repo
        .head(&On::Head)
        .expect("a head")
        .commit()
        .expect("a commit");
    match scope {
        Scope::Window(count) => Conversation::scroll(repo, &tip, count).expect("opens"),
        scope => Conversation::open(repo, &tip, scope).expect("opens"),
    }
}

fn seen(reel: &Reel) -> Vec<String> {
    reel.lines().map(|line| line.line.text()).collect()
}

#[test]
fn it_opens_at_the_end_with_the_last_four_unfolded() {
    let repo = talk(120);
    let reel = Reel::open(
        conversation(&repo, Scope::Window(50)),
        &repo,
        (40, 20),
        None,
    )
    .expect("opens");
    let seen = seen(&reel);
    assert_eq!(seen.len(), 20);
    assert_eq!(seen[19].trim(), "and more of 120");
    assert!(seen[0].contains("message 113"), "{seen:#?}");
    assert_eq!(reel.numbers(), Some((113, 120)));
    assert_eq!(reel.chosen(), Some(119));
    assert!(reel.is_at_end());
}

#[test]
fn scrolling_goes_on_beyond_the_window_to_the_first_message_and_back() {
    let repo = talk(2_000);
    let mut reel = Reel::open(
        conversation(&repo, Scope::Window(50)),
        &repo,
        (40, 20),
        None,
    )
    .expect("opens");
    let end = seen(&reel);
    let mut all: Vec<String> = Vec::new();
    for _ in 0..3_000 {
        reel.scroll(&repo, 1, Way::Up).expect("scrolls");
        assert!(reel.held() < 400, "{} are held", reel.held());
        all.push(seen(&reel)[0].clone());
    }
    assert!(seen(&reel)[0].starts_with(":1 "), "{:#?}", seen(&reel));
    all.dedup();
    let header = all
        .iter()
        .filter(|line| line.contains("1,950 earlier messages"));
    assert_eq!(header.count(), 1, "the edge of the window is told once");
    let numbers = all.iter().filter(|line| line.starts_with(':'));
    let number = |line: &String| line[1..].split(' ').next().and_then(|n| n.parse().ok());
    let numbers: Vec<usize> = numbers.filter_map(number).collect();
    let down: Vec<usize> = (1..=numbers[0]).rev().collect();
    assert_eq!(numbers, down, "each message is met once");
    assert!(seen(&reel)[0].starts_with(":1 "), "{:#?}", seen(&reel));
    reel.scroll(&repo, 100_000, Way::Down).expect("scrolls");
    assert_eq!(seen(&reel), end);
    reel.go_start(&repo).expect("goes");
    assert!(seen(&reel)[0].starts_with(":1 "));
    assert_eq!(reel.numbers(), Some((1, 20)));
    reel.go_end(&repo).expect("goes");
    assert_eq!(seen(&reel), end);
}

#[test]
fn a_chosen_message_opens_and_closes_in_its_row() {
    let repo = talk(200);
    let mut reel = Reel::open(
        conversation(&repo, Scope::Transcript),
        &repo,
        (40, 10),
        None,
    )
    .expect("opens");
    reel.go_to(&repo, 99, 3).expect("goes");
    assert!(seen(&reel)[3].starts_with(":100"), "{:#?}", seen(&reel));
    reel.toggle(&repo).expect("opens");
    assert!(seen(&reel)[3].starts_with(":100"), "{:#?}", seen(&reel));
    assert!(
        seen(&reel)
            .iter()
            .any(|line| line.trim() == "and more of 100")
    );
    reel.toggle(&repo).expect("closes");
    assert!(
        !seen(&reel)
            .iter()
            .any(|line| line.trim() == "and more of 100")
    );
    reel.choose(&repo, Way::Up).expect("chooses");
    assert_eq!(reel.chosen(), Some(98));
    assert!(reel.choose_turn(&repo, Way::Up).expect("chooses"));
    assert_eq!(reel.chosen(), Some(96));
    for _ in 0..48 {
        assert!(reel.choose_turn(&repo, Way::Up).expect("chooses"));
    }
    assert_eq!(reel.chosen(), Some(0));
    assert!(!reel.choose_turn(&repo, Way::Up).expect("chooses"));
}

#[test]
fn a_screen_of_any_size_shows_something() {
    let repo = talk(9);
    for (width, height) in [(20, 1), (20, 3), (7, 2), (300, 100)] {
        let talk = conversation(&repo, Scope::Window(3));
        let mut reel = Reel::open(talk, &repo, (width, height), None).expect("opens");
        assert!(seen(&reel).iter().any(|line| !line.trim().is_empty()));
        reel.resize(&repo, 33, 4).expect("resizes");
        assert!(reel.is_at_end());
        assert_eq!(seen(&reel)[3].trim(), "and more of 9");
    }
}

#[test]
fn nothing_is_lost_of_what_is_looked_at_when_more_comes() {
    let repo = talk(60);
    let mut reel = Reel::open(
        conversation(&repo, Scope::Window(50)),
        &repo,
        (40, 10),
        None,
    )
    .expect("opens");
    let more = |text: &str| {
        let draft = [Draft::append(Message::text(Role::User, text))];
        repo.commit(Call::default(), &draft, &CommitOptions::default())
            .expect("commits");
    };
    more("fresh one\nof two lines");
    reel.renew(&repo, conversation(&repo, Scope::Window(50)), 1, true)
        .expect("goes on");
    assert_eq!(
        seen(&reel)[9].trim(),
        "of two lines",
        "the end stays in sight"
    );
    reel.go_to(&repo, 20, 2).expect("goes");
    let before = seen(&reel);
    more("fresh two");
    reel.renew(&repo, conversation(&repo, Scope::Window(50)), 1, true)
        .expect("goes on");
    assert_eq!(seen(&reel), before);
}

/// A conversation of calls, whose results are messages of their own: an odd window begins with a result.
fn calls(count: usize) -> Repo {
    let repo = Repo::ephemeral().expect("made");
    let message = |role, part| Message {
        role,
        parts: vec![part],
        ..Message::text(role, "")
    };
    let call = |at: usize| {
        let part = Part::ToolCall {
            id: format!("t{at}"),
            name: "Read".into(),
            arguments: format!(r#"{{"file_path": "/w/{at}.rs"}}"#),
            kind: None,
        };
        Draft::append(message(Role::Assistant, part))
    };
    let result = |at: usize| {
        let part = Part::ToolResult {
            call: format!("t{at}"),
            content: vec![Part::text(format!("text of {at}"))],
            is_error: false,
        };
        Draft::append(message(Role::Tool, part))
    };
    let drafts: Vec<Draft> = (1..=count).flat_map(|at| [call(at), result(at)]).collect();
    repo.commit(Call::default(), &drafts, &CommitOptions::default())
        .expect("commits");
    repo
}

#[test]
fn a_window_that_begins_with_a_result_shows_no_message_twice() {
    let repo = calls(60);
    for window in [50, 51] {
        let talk = conversation(&repo, Scope::Window(window));
        let mut reel = Reel::open(talk, &repo, (60, 20), Some("/w".into())).expect("opens");
        reel.resize(&repo, 60, 200).expect("resizes");
        let seen = seen(&reel);
        let first = format!(":{} ", 121 - window);
        let border = seen
            .iter()
            .position(|line| line.contains("earlier messages"));
        let begins = seen.iter().position(|line| line.starts_with(&first));
        assert_eq!(border.map(|at| at + 2), begins, "{seen:#?}");
        for at in 1..=116 {
            let number = format!(":{at} ");
            let count = seen.iter().filter(|line| line.starts_with(&number)).count();
            assert_eq!(count, 1, "{number}: {seen:#?}");
        }
        assert!(
            seen.contains(&":100   tool       Read 50.rs → text of 50".to_owned()),
            "{seen:#?}"
        );
    }
}
