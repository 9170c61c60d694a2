use super::*;
use tract::model::{Draft, Message, Role};
use tract::repo::{Call, CommitOptions, On};
use tract::rewrite::SurgeryOptions;
use tract::rewrite::{Extent, Summary};

fn repo(count: usize) -> Repo {
    let repo = Repo::ephemeral().expect("made");
    let say = |at: usize| {
        let role = match at % 2 {
            1 => Role::User,
            _ => Role::Assistant,
        };
        Draft::append(Message::text(
            role,
            format!("message {at}\nand more of {at}"),
        ))
    };
    let drafts: Vec<Draft> = (1..=count).map(say).collect();
    let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
    done.expect("commits");
    repo
}

fn tip(repo: &Repo) -> Option<CommitHash> {
    repo.head(&On::Head).expect("a head").commit()
}

fn reader(repo: &Repo) -> Reader {
    let mut reader = Reader::new("main".into(), Which::Window(None), 50, (60, 12));
    reader.show(repo, tip(repo), 0).expect("opens");
    reader
}

/// Types these; what the last one asks for.
fn keys(reader: &mut Reader, repo: &Repo, keys: &[Key]) -> Wish {
    let mut wish = Wish::None;
    for key in keys {
        wish = reader.take(key, repo).expect("takes");
        while reader.is_busy() {
            reader.go_on(repo).expect("goes on");
        }
    }
    wish
}

fn typed(reader: &mut Reader, repo: &Repo, text: &str) -> Wish {
    let typed: Vec<Key> = text.chars().map(Key::Char).chain([Key::Enter]).collect();
    keys(reader, repo, &typed)
}

fn bottom(reader: &mut Reader) -> String {
    reader.picture().bottom.text()
}

fn shown(reader: &mut Reader) -> String {
    let lines = reader.picture().lines.into_iter();
    lines.map(|(_, line)| line.text() + "\n").collect()
}

fn run(words: &[&str]) -> Wish {
    Wish::Run(words.iter().map(|word| (*word).to_owned()).collect())
}

#[test]
fn keys_ask_for_what_they_say() {
    let repo = repo(9);
    let mut reader = reader(&repo);
    let mut wish = |key| keys(&mut reader, &repo, &[key]);
    assert_eq!(wish(Key::Char('z')), run(&["undo"]));
    assert_eq!(wish(Key::Ctrl('z')), run(&["undo"]));
    assert_eq!(wish(Key::Char('Z')), run(&["redo"]));
    assert_eq!(wish(Key::Char('o')), Wish::Operations);
    assert_eq!(wish(Key::Char('s')), Wish::Choose);
    assert_eq!(wish(Key::Char('a')), run(&["audit"]));
    assert_eq!(wish(Key::Char('r')), run(&["resume"]));
    assert_eq!(wish(Key::Char('d')), run(&["drop", ":9"]));
    assert_eq!(wish(Key::Char('e')), Wish::None);
    let file = typed(&mut reader, &repo, "notes of it.html");
    assert_eq!(file, run(&["export", "-o", "notes of it.html"]));
    keys(&mut reader, &repo, &[Key::Char('e')]);
    assert_eq!(bottom(&mut reader), "export to: ");
    assert_eq!(typed(&mut reader, &repo, " "), Wish::None);
    assert_eq!(bottom(&mut reader), "no name, nothing was written");
    let mut wish = |key| keys(&mut reader, &repo, &[key]);
    assert_eq!(wish(Key::Char('q')), Wish::Quit);
    let Wish::Copy(text, _) = wish(Key::Char('y')) else {
        panic!("nothing was copied");
    };
    assert_eq!(text, "message 9\nand more of 9");
    assert_eq!(
        typed(&mut reader, &repo, "/truncate 3"),
        run(&["truncate", "--keep", "3"])
    );
    assert_eq!(typed(&mut reader, &repo, "/quit"), Wish::Quit);
}

#[test]
fn a_message_is_picked_for_a_command_that_needs_one() {
    let repo = repo(9);
    let mut reader = reader(&repo);
    assert_eq!(typed(&mut reader, &repo, "/rewind"), Wish::None);
    assert!(bottom(&mut reader).starts_with("rewind to which message?"));
    let up = [Key::Char('K'), Key::Char('K'), Key::Enter];
    assert_eq!(keys(&mut reader, &repo, &up), Wish::Rewind(":5".into()));
    // Given up, nothing is left of it.
    typed(&mut reader, &repo, "/restore");
    assert_eq!(keys(&mut reader, &repo, &[Key::Escape]), Wish::None);
    assert_eq!(keys(&mut reader, &repo, &[Key::Enter]), Wish::None);
}

#[test]
fn only_what_the_user_typed_is_chosen_to_go_back_to() {
    let repo = Repo::ephemeral().expect("made");
    let said = [
        (Role::User, "one"),
        (Role::Assistant, "done"),
        (Role::User, "<task-notification>b1</task-notification>"),
        (Role::Assistant, "seen"),
        (Role::User, "two"),
        (Role::Assistant, "done"),
    ];
    let drafts = said.map(|(role, text)| Draft::append(Message::text(role, text)));
    let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
    done.expect("commits");
    let mut reader = reader(&repo);
    typed(&mut reader, &repo, "/rewind");
    let up = [Key::Char('K'), Key::Enter];
    assert_eq!(keys(&mut reader, &repo, &up), Wish::Rewind(":5".into()));
    typed(&mut reader, &repo, "/rewind");
    let up = [Key::Char('K'), Key::Char('K'), Key::Enter];
    let chosen = keys(&mut reader, &repo, &up);
    assert!(
        matches!(&chosen, Wish::Rewind(to) if to == ":1"),
        "{chosen:?}"
    );
}

#[test]
fn a_summary_is_asked_for_and_an_empty_one_changes_nothing() {
    let repo = repo(9);
    let mut reader = reader(&repo);
    typed(&mut reader, &repo, "/compact");
    assert_eq!(bottom(&mut reader), "summary: ");
    assert_eq!(
        typed(&mut reader, &repo, "all of it"),
        run(&["compact", "-m", "all of it"])
    );
    typed(&mut reader, &repo, "/compact");
    assert_eq!(typed(&mut reader, &repo, " "), Wish::None);
    assert_eq!(bottom(&mut reader), "no summary, nothing was changed");
}

#[test]
fn a_search_goes_up_and_down_and_opens_what_it_finds() {
    let repo = repo(300);
    let mut reader = reader(&repo);
    typed(&mut reader, &repo, "/more of 23");
    assert!(shown(&mut reader).contains("and more of 239"));
    keys(&mut reader, &repo, &vec![Key::Char('n'); 9]);
    assert!(shown(&mut reader).contains("and more of 230"));
    keys(&mut reader, &repo, &[Key::Char('n')]);
    assert!(shown(&mut reader).contains("and more of 23\n"));
    keys(&mut reader, &repo, &[Key::Char('N')]);
    assert!(shown(&mut reader).contains("and more of 230"));
    typed(&mut reader, &repo, "/More of 23");
    assert!(bottom(&mut reader).starts_with("no earlier 'More of 23'"));
    // What would be a command is searched for behind two slashes.
    assert_eq!(typed(&mut reader, &repo, "//clear"), Wish::None);
    assert_eq!(reader.seeking.last.as_deref(), Some("clear"));
}

#[test]
fn a_search_goes_to_the_line_within_a_long_message() {
    let repo = repo(3);
    let lines: Vec<String> = (1..=60).map(|at| format!("line {at} of many")).collect();
    let long = Draft::append(Message::text(Role::User, lines.join("\n")));
    let done = repo.commit(Call::default(), &[long], &CommitOptions::default());
    done.expect("commits");
    let mut reader = reader(&repo);
    keys(&mut reader, &repo, &[Key::Char('/')]);
    typed(&mut reader, &repo, "line 47 of");
    let seen = shown(&mut reader);
    assert!(seen.contains("line 47 of many"), "{seen}");
    typed(&mut reader, &repo, "/line 3 of");
    let seen = shown(&mut reader);
    assert!(seen.contains("line 3 of many"), "{seen}");
}

#[test]
fn a_marker_opens_to_its_summary_and_what_it_hid() {
    let repo = repo(9);
    let (call, options) = (Call::default(), SurgeryOptions::default());
    let done = repo.compact(call, &Extent::All, Summary::Text("in short"), &options);
    done.expect("compacts");
    let mut reader = reader(&repo);
    keys(&mut reader, &repo, &[Key::Enter]);
    let inside = shown(&mut reader);
    assert!(
        inside.contains("in short") && inside.contains("message 1"),
        "{inside}"
    );
    let title = reader.picture().title.text();
    assert_eq!(title, "main · compaction: 9 messages hidden");
    keys(&mut reader, &repo, &[Key::Escape]);
    assert_eq!(reader.picture().title.text(), "main · window");
    keys(&mut reader, &repo, &[Key::Ctrl('o')]);
    assert_eq!(reader.picture().title.text(), "main · transcript");
}

#[test]
fn nothing_yet_is_said_to_be_so_on_any_screen() {
    let repo = Repo::ephemeral().expect("made");
    for size in [(1, 1), (20, 5), (200, 60)] {
        let mut reader = Reader::new("main".into(), Which::Window(None), 50, size);
        reader.show(&repo, None, 0).expect("opens");
        for key in "jkJK[]gGtTynN? /x".chars() {
            keys(&mut reader, &repo, &[Key::Char(key)]);
        }
        keys(
            &mut reader,
            &repo,
            &[Key::Enter, Key::Ctrl('o'), Key::Escape],
        );
        reader.picture();
        reader.resize(&repo, (20, 5)).expect("resizes");
    }
}

#[test]
fn in_a_talk_what_is_typed_is_said_and_commands_have_a_slash() {
    let repo = repo(9);
    let mut reader = Reader::new("main".into(), Which::Window(None), 50, (60, 12));
    reader.talk();
    reader.show(&repo, tip(&repo), 0).expect("opens");
    let ask = |text: &str| Wish::Ask(text.to_owned());
    assert_eq!(typed(&mut reader, &repo, " quit? "), ask("quit?"));
    assert_eq!(typed(&mut reader, &repo, "  "), Wish::None);
    assert_eq!(typed(&mut reader, &repo, "//undo"), ask("/undo"));
    assert_eq!(typed(&mut reader, &repo, "/etc/hosts?"), ask("/etc/hosts?"));
    assert_eq!(typed(&mut reader, &repo, "/undo"), run(&["undo"]));
    assert_eq!(
        typed(&mut reader, &repo, "/save a b"),
        Wish::Save("a b".into())
    );
    assert_eq!(typed(&mut reader, &repo, "/sav"), Wish::None);
    assert!(shown(&mut reader).contains("error: there is no /sav here"));
    // A summary, or a message, is asked for; then it is said on.
    assert_eq!(typed(&mut reader, &repo, "/compact"), Wish::None);
    assert_eq!(
        typed(&mut reader, &repo, "sum"),
        run(&["compact", "-m", "sum"])
    );
    assert_eq!(typed(&mut reader, &repo, "/rewind"), Wish::None);
    assert_eq!(
        keys(&mut reader, &repo, &[Key::Char('K'), Key::Enter]),
        Wish::Rewind(":7".into())
    );
    // Escape goes to the keys of the view, what was typed stays.
    keys(&mut reader, &repo, &[Key::Char('z'), Key::Escape]);
    assert_eq!(keys(&mut reader, &repo, &[Key::Char('z')]), run(&["undo"]));
    let back = [Key::Char('i'), Key::Char('o'), Key::Enter];
    assert_eq!(keys(&mut reader, &repo, &back), ask("zo"));
    // Over a sheet, too, it is typed.
    reader.lay(Sheet::new("tract chat", vec!["why".into()]));
    assert_eq!(typed(&mut reader, &repo, "zz"), ask("zz"));
    assert_eq!(keys(&mut reader, &repo, &[Key::Ctrl('c')]), Wish::None);
    assert_eq!(keys(&mut reader, &repo, &[Key::Ctrl('d')]), Wish::Quit);
}

#[test]
fn an_answer_stands_at_the_end_and_escape_cancels_it() {
    let repo = repo(9);
    let mut reader = Reader::new("main".into(), Which::Window(None), 50, (60, 12));
    reader.talk();
    reader.show(&repo, tip(&repo), 0).expect("opens");
    let live: Vec<Line> = (1..=4).map(|at| Line::from(format!("live {at}"))).collect();
    reader.answer = Some(live.clone());
    let seen = shown(&mut reader);
    assert_eq!(seen.lines().count(), 10, "{seen}");
    assert!(
        seen.contains("message 9") && seen.contains("live 4\nanswering"),
        "{seen}"
    );
    // Whoever reads what was before is left alone.
    keys(&mut reader, &repo, &[Key::PageUp]);
    assert!(!shown(&mut reader).contains("live"));
    assert_eq!(typed(&mut reader, &repo, "on"), Wish::None);
    for key in [Key::Escape, Key::Ctrl('c')] {
        assert_eq!(keys(&mut reader, &repo, &[key]), Wish::Cancel);
    }
    reader.answer = None;
    assert_eq!(
        keys(&mut reader, &repo, &[Key::Enter]),
        Wish::Ask("on".into())
    );
    // A screen of any size holds it.
    reader.answer = Some(live);
    for size in [(1, 1), (3, 2), (20, 5)] {
        reader.resize(&repo, size).expect("fits");
        reader.picture();
    }
}
