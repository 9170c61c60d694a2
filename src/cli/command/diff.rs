//! `tract diff`: what changed between two contexts.

use tract::compile::Provider;
use tract::diff::DiffOptions;
use tract::hash::CommitHash;
use tract::model::{Operation, Role};
use tract::render::diff::{self, Form, Frame, Kept, Show};
use tract::repo::{On, Repo};

use crate::cli::{App, Exit, Failure, Result, sent_difference};

/// Compare what a model would be sent at two commits
///
/// Without arguments, it compares HEAD with the commit before it; with one, that commit with HEAD. If
/// that one commit is an edit, it compares the message before and after it. Two messages are paired if
/// they are the same entry (edited, say), or have the same content, or else are the most alike. Ids of
/// tool calls are ignored.
///
/// ~ marks a message that changed, + one that is new or came back, - one that is gone or hidden. JSON
/// is compared by keys, and each difference has its path. The last lines say how much of the beginning
/// is identical: what a provider's prompt cache can still use.
///
/// With --sent, it compares the requests that two replies answered, as the client recorded them: model,
/// system prompt, tools, parameters, messages, and where a provider was to keep what it was sent. Messages are
/// numbered from 0, as they stand in the request. The last line says how much of what the first request left
/// in the provider's cache the second did not read, and what that cost by list prices.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract diff                   what the last commit did to the context
  tract diff HEAD~20 --stat    a bar for each message that differs
  tract diff run1 run2         two branches, even without a common beginning
  tract diff 5d4c3b2           an edit: its message before and after
  tract diff main..try --tool read_file --format anthropic
  tract diff --sent :-3 :-1    why the newest reply's request missed the cache
  tract diff main try --exit-code && echo \"a model would be sent the same\"")]
pub struct Args {
    /// The first context, or A..B
    #[arg(value_name = "A|A..B")]
    before: Option<String>,
    /// The second context; HEAD unless given
    #[arg(value_name = "B")]
    after: Option<String>,
    /// Print a bar for each message
    #[arg(long, conflicts_with = "oneline")]
    stat: bool,
    /// Print only a line for each message
    #[arg(long)]
    oneline: bool,
    /// Only messages of this role
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Only messages that call this tool, or answer such a call
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Unchanged lines around changed ones
    #[arg(short = 'U', long = "unified", value_name = "N", default_value_t = 3)]
    context_lines: usize,
    /// Compare the ids of tool calls as well
    #[arg(long)]
    exact_ids: bool,
    /// The provider whose cache the last lines are about: openai, responses, anthropic or text
    #[arg(long, value_name = "F")]
    format: Option<Provider>,
    /// Compare the requests of two replies as they were sent
    #[arg(long, requires = "before", conflicts_with_all = ["stat", "oneline", "role", "tool", "context_lines", "exact_ids", "format", "full"])]
    sent: bool,
    /// Do not fold or cut anything
    #[arg(long)]
    full: bool,
    /// Exit with 1 if anything differs
    #[arg(long)]
    exit_code: bool,
}

/// What is compared.
struct Compared {
    before: Option<CommitHash>,
    after: CommitHash,
    names: (String, String),
    /// Whether it is an edit, with what was before it.
    edits: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let compared = compared(args, &repo, &on)?;
    if let (true, Some(before)) = (args.sent, &compared.before) {
        let differs =
            sent_difference::tell(&repo, [before, &compared.after], &compared.names, app)?;
        return if args.exit_code && differs {
            Err(Failure::Quiet(Exit::NotAllowed))
        } else {
            Ok(())
        };
    }
    let provider = app.provider(&repo, args.format)?;
    let show = Show {
        form: match (args.stat, args.oneline) {
            (true, _) => Form::Stat,
            (_, true) => Form::Lines,
            _ => Form::Whole,
        },
        role: args.role.as_deref().map(str::parse::<Role>).transpose()?,
        tool: args.tool.clone(),
        full: args.full,
    };
    let options = DiffOptions {
        context_lines: args.context_lines,
        exact_ids: args.exact_ids,
        // Each is looked at where a filter, or the whole list, asks for it.
        ends_only: show.form != Form::Lines
            && !show.full
            && show.role.is_none()
            && show.tool.is_none(),
    };
    let (before, after) = (compared.before.as_ref(), Some(&compared.after));
    let encoding = app.encoding(&repo)?;
    let found = match before {
        Some(before) => repo.diff_of_rest(before, &compared.after, &options, encoding)?,
        None => repo.diff(None, after, &options, encoding)?,
    };
    let selected = diff::selected(&found, &show);
    if selected.is_empty() {
        repo.check_tools(&on, &show.tool)?;
    }
    let remark = if compared.edits {
        let entry = repo.edited_entry(&compared.after)?;
        Some(if repo.shows(&compared.after, &entry)? {
            ", an edit".to_owned()
        } else {
            ", an edit of a message that is hidden".to_owned()
        })
    } else {
        None
    };
    let shared = || repo.shared_prefix(&found, provider, encoding);
    let prefix = (show.form != Form::Lines).then(shared).transpose()?;
    let prefix = prefix.map(|prefix| Kept {
        messages: prefix.messages,
        size_bytes: prefix.size_bytes,
        provider: provider.as_str(),
    });
    let frame = Frame {
        names: compared.names,
        remark,
        prefix,
    };
    let lines = diff::lines(&found, &frame, &show, app.ui.width_cols());
    lines
        .into_iter()
        .try_for_each(|line| app.ui.print_wrapped(line))?;
    let filtered = show.role.is_some() || show.tool.is_some();
    let differs = !selected.is_empty() || !filtered && !found.is_empty();
    if args.exit_code && differs {
        Err(Failure::Quiet(Exit::NotAllowed))
    } else {
        Ok(())
    }
}

/// The two commits that the arguments mean.
fn compared(args: &Args, repo: &Repo, on: &On) -> Result<Compared> {
    let pair = |before: &str, after: &str| -> Result<Compared> {
        let name = |text: &str| if text.is_empty() { "HEAD" } else { text }.to_owned();
        let names = (name(before), name(after));
        Ok(Compared {
            before: Some(repo.resolve(on, &names.0)?),
            after: repo.resolve(on, &names.1)?,
            names,
            edits: false,
        })
    };
    match (args.before.as_deref(), args.after.as_deref()) {
        (Some(before), Some(after)) => pair(before, after),
        // A text that is looked for may hold dots of its own.
        (Some(range), None) => match range.split_once("..").filter(|_| !range.starts_with(":/")) {
            Some((before, after)) => pair(before, after),
            None => {
                let commit = repo.resolve(on, range)?;
                match repo.commit_at(&commit)?.operation {
                    Operation::Edit { .. } => before_and_after(repo, commit, range),
                    _ => pair(range, "HEAD"),
                }
            }
        },
        (None, _) => before_and_after(repo, repo.resolve(on, "HEAD")?, "HEAD"),
    }
}

/// A commit with the one before it, or with nothing.
fn before_and_after(repo: &Repo, after: CommitHash, name: &str) -> Result<Compared> {
    let commit = repo.commit_at(&after)?;
    let nothing = || "the empty context".to_owned();
    let before = commit.parent.map_or_else(nothing, |parent| parent.short());
    Ok(Compared {
        before: commit.parent,
        after,
        names: (before, name.to_owned()),
        edits: matches!(commit.operation, Operation::Edit { .. }),
    })
}
