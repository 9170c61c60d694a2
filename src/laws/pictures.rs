//! The law of pictures: whatever is looked at first, and whichever model is named on the way, every way to ask for a
//! context's tokens counts its pictures by the rule of the model in force.

use proptest::prelude::*;

use crate::hash::CommitHash;
use crate::model::tokens::{Counter, PictureRule, context_total};
use crate::model::{
    Draft, Encoding, Media, MediaSource, Message, Millis, Part, RefName, Role, TokenCount, base64,
};
use crate::query::LogOptions;
use crate::repo::{Call, CommitOptions, On, Repo};
use crate::rewrite::SurgeryOptions;
use crate::rewrite::{Reach, Truncate};

/// Something that happens, or a look.
#[derive(Clone, Debug)]
enum Step {
    Say(usize),
    /// A picture of so many pixels; with none one of which nobody knows how large it is.
    Picture(u32, u32),
    /// A reply of another model.
    Model(usize),
    Truncate(usize),
    Undo,
    Status,
    Log(usize),
    Branches,
}

const MODELS: [&str; 4] = [
    "claude-sonnet-4-5",
    "gpt-4o",
    "gemini-2.5-pro",
    "somebody-s",
];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1_usize..40).prop_map(Step::Say),
        5 => (0_u32..3_000, 1_u32..2_000).prop_map(|(width, height)| Step::Picture(width, height)),
        2 => (0..MODELS.len()).prop_map(Step::Model),
        2 => (1_usize..4).prop_map(Step::Truncate),
        1 => Just(Step::Undo),
        2 => Just(Step::Status),
        2 => (0_usize..4).prop_map(Step::Log),
        1 => Just(Step::Branches),
    ]
}

/// A message with a picture: the first bytes of a PNG.
fn picture(width: u32, height: u32) -> Message {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0]);
    let source = MediaSource::Base64(base64::encode(&bytes));
    let picture = Part::Image(Media::new(Some("image/png".into()), source));
    Message::new(Role::User, vec![Part::text("see"), picture])
}

fn tip(repo: &Repo) -> Option<CommitHash> {
    repo.head(&On::Head).expect("a head").commit()
}

/// What a context comes to, counted here.
fn counted(repo: &Repo, tip: &CommitHash) -> TokenCount {
    let model = repo.model_at(tip).expect("read").unwrap_or_default();
    let rule = PictureRule::of_model(&model);
    let counter = Counter::of(Encoding::default().with_pictures(rule));
    let messages = repo.messages(&repo.context(tip).expect("a context"));
    let messages = messages.expect("read");
    context_total(messages.iter().map(|message| counter.message(message)))
}

fn log(repo: &Repo, tip: &CommitHash, limit: usize) -> Vec<(CommitHash, TokenCount)> {
    let options = LogOptions {
        limit,
        ..LogOptions::default()
    };
    let rows = repo.log(tip, &options).expect("listed");
    rows.iter().map(|row| (row.hash, row.running)).collect()
}

proptest! {
    #![proptest_config(crate::conditions::laws(400))]

    #[test]
    fn every_look_counts_pictures_by_the_rule_of_the_model_in_force(
        steps in prop::collection::vec(step(), 1..24),
    ) {
        let repo = super::repository();
        let encoding = Encoding::default();
        let commit = |draft: Draft| {
            repo.commit(Call::at(Millis(0), "say"), &[draft], &CommitOptions::default()).expect("made");
        };
        for step in &steps {
            match step {
                Step::Say(words) => commit(Draft::append(Message::text(Role::User, "word ".repeat(*words)))),
                Step::Picture(width, height) => commit(Draft::append(picture(*width, *height))),
                Step::Model(which) => {
                    let mut draft = Draft::append(Message::text(Role::Assistant, "a reply"));
                    draft.settings.insert("model".into(), format!("{:?}", MODELS[*which]));
                    commit(draft);
                }
                Step::Truncate(keep) => {
                    let plan = Truncate::new(Reach::Keep(*keep));
                    let before = tip(&repo).map(|tip| counted(&repo, &tip).tokens);
                    let call = Call::at(Millis(0), "truncate");
                    let done = repo.carry_out(call, &plan, &SurgeryOptions::default());
                    if let (Ok(done), Some(before), Some(tip)) = (done, before, tip(&repo)) {
                        prop_assert_eq!(done.before.tokens.tokens, before);
                        prop_assert_eq!(done.after.tokens, counted(&repo, &tip));
                    }
                }
                Step::Undo => drop(repo.undo(None, Millis(0))),
                _ => (),
            }
            let Some(tip) = tip(&repo) else { continue };
            let right = counted(&repo, &tip);
            match step {
                Step::Status => {
                    let status = repo.status(&On::Head, encoding).expect("summed up");
                    prop_assert_eq!(status.total, right);
                    let listed = status.recent.first().map(|row| row.running);
                    prop_assert_eq!(listed, Some(right));
                }
                Step::Log(limit) => prop_assert_eq!(log(&repo, &tip, *limit)[0], (tip, right)),
                Step::Branches => {
                    let rows = repo.branches(encoding).expect("listed");
                    let main = rows.iter().find(|row| row.name == RefName::branch("main").expect("a name"));
                    prop_assert_eq!(main.map(|row| row.tokens), Some(right));
                }
                _ => (),
            }
        }
        let Some(tip) = tip(&repo) else { return Ok(()) };
        let right = counted(&repo, &tip);
        prop_assert_eq!(repo.status(&On::Head, encoding).expect("summed up").total, right);
        prop_assert_eq!(log(&repo, &tip, 0)[0], (tip, right));
        let context = repo.context(&tip).expect("a context");
        let counts = repo.counts(&context, encoding).expect("counted");
        prop_assert_eq!(context_total(counts), right);
        let checked = repo.fsck(true, &mut |_| Ok(())).expect("checked");
        prop_assert!(checked.faults.is_empty(), "{:?}", checked.faults);
        repo.second_reading()?;
    }
}
