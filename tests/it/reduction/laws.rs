//! What holds for every command that hides, on real sessions and on made ones: no pair is split,
//! and nothing is lost.

use std::collections::HashSet;

use tract::Error;
use tract::compile::{Provider, RequestOptions, compile};
use tract::context::plan::clear::clear;
use tract::context::plan::compact::{Extent, compact};
use tract::hash::CommitHash;
use tract::ingest::{ImportRequest, import};
use tract::model::pairs::{Links, Pairs};
use tract::model::{
    Draft, Encoding, EntryId, Message, Millis, Operation, Part, Priority, RefName, Role,
};
use tract::query::TokenBudget;
use tract::repo::{Call, CommitOptions, Expect, Named, On, Repo};
use tract::rewrite::{Limits, Lost, Prune, Reach, Truncate};
use tract::rewrite::{Needs, Surgery, SurgeryOptions};

use crate::conditions::{real_sessions, size};

const ON: On = On::Head;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        // Numerical Recipes' generator; the upper bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// The long sessions, each in a repository of its own.
fn long_sessions() -> Vec<Repo> {
    let folder = real_sessions();
    let files = [
        "claude-code/entire-83a0bb2f-long.jsonl",
        "claude-code/entire-4902a08f-compact2.jsonl",
        "codex/gitsync-fb72ba1a-abort-compact.jsonl",
    ];
    let taken = |file: &str| {
        let repo = Repo::ephemeral().unwrap();
        let request = ImportRequest::at(Millis(0), "import");
        import(&repo, &folder.join(file), &request, &mut |_| {}).unwrap();
        repo
    };
    files.into_iter().map(taken).collect()
}

/// A session whose assistant calls up to three tools at once.
fn made_session(dice: &mut Dice) -> Repo {
    let repo = Repo::ephemeral().unwrap();
    let mut messages = vec![Message::text(Role::System, "Be brief.")];
    let mut serial = 0;
    for turn in 0..30 {
        messages.push(Message::text(Role::User, format!("question {turn}")));
        for _ in 0..dice.below(4) {
            let ids: Vec<String> = (0..=dice.below(3))
                .map(|_| {
                    serial += 1;
                    format!("call {serial}")
                })
                .collect();
            let call = |id: &String| Part::ToolCall {
                id: id.clone(),
                name: "read".into(),
                arguments: "{}".into(),
                kind: None,
            };
            let name = None;
            let parts = ids.iter().map(call).collect();
            messages.push(Message {
                attached: None,
                recipient: None,
                interrupted: false,
                role: Role::Assistant,
                name: name.clone(),
                parts,
            });
            for id in ids {
                let text = "word ".repeat(dice.below(60));
                let parts = vec![Part::ToolResult {
                    call: id,
                    content: vec![Part::text(text)],
                    is_error: false,
                }];
                messages.push(Message {
                    attached: None,
                    recipient: None,
                    interrupted: false,
                    role: Role::Tool,
                    name: name.clone(),
                    parts,
                });
            }
        }
        messages.push(Message::text(Role::Assistant, format!("answer {turn}")));
    }
    let drafts: Vec<Draft> = messages.into_iter().map(Draft::append).collect();
    repo.commit(Call::default(), &drafts, &CommitOptions::default())
        .unwrap();
    repo
}

/// Half pairs of a context: results without a call, and calls without a result.
fn halves(repo: &Repo, on: &On) -> HashSet<(EntryId, String)> {
    let scene = repo
        .scene(on, Encoding::default(), &Needs::default())
        .unwrap();
    let messages = repo.messages(&scene.context).unwrap();
    let links: Vec<Links> = messages.iter().map(Links::of).collect();
    let pairs = Pairs::new(&links);
    let id = |at: usize| scene.context.entries[at].id;
    let answered: HashSet<(usize, usize)> = pairs.pairs().iter().map(|pair| pair.call).collect();
    let answering: HashSet<(usize, usize)> = pairs.pairs().iter().map(|pair| pair.result).collect();
    let mut halves = HashSet::new();
    for (at, links) in links.iter().enumerate() {
        for (ids, paired) in [(&links.calls, &answered), (&links.results, &answering)] {
            let of_it = ids.iter().enumerate();
            let alone = of_it.filter(|(nth, _)| !paired.contains(&(at, *nth)));
            halves.extend(alone.map(|(_, call)| (id(at), call.clone())));
        }
    }
    halves
}

fn planned(
    repo: &Repo,
    on: &On,
    options: &SurgeryOptions,
    plan: impl Fn(&tract::context::plan::PlanInput) -> tract::Result<Option<Draft>>,
) -> tract::Result<Surgery> {
    let plan = |scene: &tract::rewrite::Scene| Ok(plan(&scene.input)?.into_iter().collect());
    repo.operate(Call::default().on(on), Needs::default(), options, plan)
}

/// Every command once, on whatever the dice say.
fn any_command(kind: usize, repo: &Repo, on: &On, dice: &mut Dice) -> tract::Result<Surgery> {
    let (call, options) = (Call::default().on(on), SurgeryOptions::default());
    let scene = repo.scene(on, Encoding::default(), &Needs::default())?;
    let every: Vec<_> = scene
        .input
        .order
        .iter()
        .map(|entry| entry.entry.id)
        .collect();
    let visible = &scene.context.entries;
    let shown = visible[dice.below(visible.len())].id;
    let any = every[dice.below(every.len())];
    match kind {
        0 => {
            let reach = Reach::Keep(1 + dice.below(visible.len()));
            repo.carry_out(call, &Truncate::new(reach), &options)
        }
        1 => {
            let fraction = format!("0.{:02}", dice.below(100)).parse()?;
            let truncate = Truncate {
                drop_first: dice.below(2) == 0,
                ..Truncate::new(Reach::Fraction(fraction))
            };
            repo.carry_out(call, &truncate, &options)
        }
        2 => {
            let tokens = scene.size().tokens.tokens / 100 * dice.below(100) as u64;
            let budget = TokenBudget {
                tokens,
                as_counted: true,
            };
            repo.carry_out(call, &Truncate::new(Reach::ToBudget(budget)), &options)
        }
        3 => repo.drop_named(call, &[Named::Entry(shown)], true, &options),
        4 => {
            let part = Named::Part(shown, dice.below(2) as u32);
            repo.drop_named(call, &[part], true, &options)
        }
        5 => {
            let (protect, min) = (dice.below(2_000) as u64, 0);
            let limits = Limits {
                turns: dice.below(3),
                protect,
                min,
                ..Limits::default()
            };
            let prune = Prune {
                limits,
                ..Prune::default()
            };
            repo.carry_out(call, &prune, &options)
        }
        6 => {
            let skip = repo.annotate(call, &[shown], Priority::Skip, None, &options);
            skip.map(|done| done.surgery)
        }
        7 => repo
            .annotate(call, &[shown], Priority::Pinned, None, &options)
            .map(|done| done.surgery),
        8 => repo
            .restore(call, &[Lost::Entry(any)], &options)
            .map(|done| done.surgery),
        9 => planned(repo, on, &options, |input| {
            compact(input, &Extent::KeepLast(visible.len() / 3), "in short")
        }),
        _ => planned(repo, on, &options, |input| Ok(clear(input, false))),
    }
}

#[test]
fn no_command_splits_a_pair_wherever_a_made_session_is_cut() {
    let mut dice = Dice(4);
    no_command_splits_a_pair(&[made_session(&mut dice)], &mut dice);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn no_command_splits_a_pair_wherever_a_real_session_is_cut() {
    no_command_splits_a_pair(&long_sessions(), &mut Dice(4));
}

fn no_command_splits_a_pair(repos: &[Repo], dice: &mut Dice) {
    let cuts = size(50, 100) / repos.len() + 1;
    let (mut done, mut refused) = (0, 0);
    for repo in repos {
        let tip = repo.resolve(&ON, "HEAD").unwrap();
        let depth = repo.order(&tip).unwrap().len();
        for cut in 0..cuts {
            let back = dice.below(depth);
            let name = RefName::branch(&format!("cut-{cut}")).unwrap();
            let start = format!("HEAD~{back}");
            if repo.create_branch(Call::default(), &name, &start).is_err() {
                // Replacements are entries, but no commits of their own.
                continue;
            }
            let on = On::Branch(name);
            let mut before = halves(repo, &on);
            for _ in 0..4 {
                let kind = dice.below(11);
                match any_command(kind, repo, &on, dice) {
                    Ok(_) => done += 1,
                    Err(Error::Refused { .. } | Error::CannotFit { .. }) => refused += 1,
                    Err(other) => panic!("command {kind} at HEAD~{back}: {other}"),
                }
                let after = halves(repo, &on);
                let new: Vec<_> = after.difference(&before).collect();
                // What comes back may be half: it was so when it was hidden.
                assert!(
                    new.is_empty() || kind == 8,
                    "command {kind} at HEAD~{back}: {new:?}"
                );
                before = after;
                if repo
                    .scene(&on, Encoding::default(), &Needs::default())
                    .unwrap()
                    .context
                    .entries
                    .is_empty()
                {
                    break;
                }
            }
        }
    }
    assert!(done > refused * 2, "{done} done, {refused} refused");
}

/// What a provider would be sent at a commit.
fn request(repo: &Repo, commit: &CommitHash) -> String {
    let context = repo.context(commit).unwrap();
    let options = RequestOptions {
        provider: Provider::OpenAi,
        whole_request: false,
        strict: false,
    };
    let messages = repo.messages(&context).unwrap();
    let settings = repo.settings(&context).unwrap();
    compile(&messages, &settings, &options).unwrap().payload
}

#[test]
fn a_made_session_cut_down_step_by_step_comes_back_step_by_step() {
    comes_back_step_by_step(&[made_session(&mut Dice(7))]);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn a_real_session_cut_down_step_by_step_comes_back_step_by_step() {
    comes_back_step_by_step(&long_sessions());
}

fn comes_back_step_by_step(repos: &[Repo]) {
    for repo in repos {
        let options = SurgeryOptions::default();
        let half = || Truncate::new(Reach::Fraction("0.3".parse().unwrap()));
        let limits = Limits {
            turns: 0,
            protect: 0,
            min: 0,
            ..Limits::default()
        };
        let prune = Prune {
            limits,
            ..Prune::default()
        };
        let tip = || repo.resolve(&ON, "HEAD").unwrap();
        let mut steps = vec![(tip(), request(repo, &tip()))];
        for step in 0..6 {
            let done = match step {
                0 | 1 => repo.carry_out(Call::default(), &half(), &options),
                2 => planned(repo, &ON, &options, |input| {
                    compact(input, &Extent::KeepLast(3), "in short")
                }),
                3 => repo.carry_out(Call::default(), &prune, &options),
                4 => {
                    let dropped = repo.resolve_named(&ON, ":-2").unwrap();
                    repo.drop_named(Call::default(), &[dropped], true, &options)
                }
                _ => planned(repo, &ON, &options, |input| Ok(clear(input, false))),
            };
            let done = done.unwrap();
            // A session may end without a tool's output.
            assert!(step == 3 || !done.is_nothing(), "step {step} hid nothing");
            assert_eq!(tip(), done.commits.last().map_or(tip(), |last| last.hash));
            let request = match step {
                // Nothing is left that a provider would take.
                5 => String::new(),
                _ => request(repo, &tip()),
            };
            if !done.is_nothing() {
                steps.push((tip(), request));
            }
        }
        for (commit, then) in steps[..steps.len() - 1].iter().rev() {
            repo.undo(None, Millis(0)).unwrap();
            assert_eq!(tip(), *commit);
            assert!(
                request(repo, commit) == *then,
                "{commit:.7} compiles to something else"
            );
        }
        for (commit, then) in &steps[1..steps.len() - 1] {
            repo.redo(Millis(0)).unwrap();
            assert_eq!(tip(), *commit);
            assert!(
                request(repo, commit) == *then,
                "{commit:.7} compiles to something else"
            );
        }
        repo.redo(Millis(0)).unwrap();

        // Without going back: every hide undone in its place brings the first context back.
        let hides: Vec<Lost> = steps[1..]
            .iter()
            .map(|(hide, _)| Lost::Whole(*hide))
            .collect();
        repo.restore(Call::default(), &hides, &options).unwrap();
        assert!(
            request(repo, &tip()) == steps[0].1,
            "the restored context is another"
        );
    }
}

#[test]
fn a_plan_is_made_anew_where_another_process_was_first() {
    let repo = made_session(&mut Dice(1));
    let options = SurgeryOptions::default();
    let mut attempts = 0;
    let done = repo.operate(Call::default(), Needs::default(), &options, |scene| {
        attempts += 1;
        if attempts == 1 {
            let late = Draft::append(Message::text(Role::User, "one more"));
            let expect = Some(Expect::At(scene.tip.unwrap()));
            let how = CommitOptions {
                expect,
                ..CommitOptions::default()
            };
            repo.commit(Call::default(), &[late], &how)?;
        }
        Ok(clear(&scene.input, false).into_iter().collect())
    });
    let done = done.unwrap();
    assert_eq!((attempts, done.after.messages), (2, 1));
    assert!(matches!(
        done.commits[0].commit.operation,
        Operation::Hide(_)
    ));
}
