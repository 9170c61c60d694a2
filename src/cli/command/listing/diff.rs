//! `tract diff`: what changed between two contexts.

use tract::deeds::{At, DiffParams};
use tract::diff::DiffOptions;
use tract::model::EntryId;
use tract::render::diff::{self, Form, Frame, Kept, Show};

use crate::cli::drawing::sent_difference;
use crate::cli::{App, Exit, Failure, Result};

/// Compare what a model would be sent at two commits
///
/// Without arguments, it compares HEAD with the commit before it; with one, that commit with HEAD. If
/// that one commit is an edit, it compares the message before and after it. Two messages are paired if
/// they are the same entry (edited, say), or have the same content, or else are the most alike. Ids of
/// tool calls are ignored. `injected` is what a client says in the user's name; --role user takes it, too, for the request
/// says user.
///
/// ~ marks a message that changed, + one that is new or came back, - one that is gone or hidden. JSON
/// is compared by keys, and each difference has its path. The last lines say how much of the beginning
/// is identical: what a provider's prompt cache can still use.
///
/// With --sent, it compares the requests that two replies answered, as the client recorded them. It compares model,
/// system prompt, tools, parameters, messages, and where a provider was to keep what it was sent. Messages are numbered from
/// 0, as they stand in the request. The last line compares the provider's cache: how much the second request did not
/// read of what the first one left, and what that cost.
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
    #[command(flatten)]
    deed: DiffParams,
    /// Print a bar for each message
    #[arg(long, conflicts_with_all = ["oneline", "sent"])]
    stat: bool,
    /// Print only a line for each message
    #[arg(long, conflicts_with = "sent")]
    oneline: bool,
    /// Unchanged lines around changed ones
    #[arg(short = 'U', long = "unified", value_name = "N", default_value_t = 3)]
    #[arg(conflicts_with = "sent")]
    context_lines: usize,
    /// Do not fold or cut anything
    #[arg(long, conflicts_with = "sent")]
    full: bool,
    /// Exit with 1 if anything differs
    #[arg(long)]
    exit_code: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let differs = tell(args, app)?;
    if args.exit_code && differs {
        Err(Failure::Quiet(Exit::NotAllowed))
    } else {
        Ok(())
    }
}

/// Prints what differs; whether anything does.
fn tell(args: &Args, app: &mut App) -> Result<bool> {
    let (repo, on, deed) = (app.repo()?, app.on()?, &args.deed);
    let at = At::new(&repo, on.clone(), app);
    let compared = deed.compared(&at)?;
    if deed.sent {
        let changes = compared.sent(&at)?;
        drop(at);
        sent_difference::tell(&repo, &changes, &compared.names.0, app)?;
        return Ok(changes.differs);
    }
    let provider = at.provider(deed.format.as_deref())?;
    let mut show = Show {
        form: match (args.stat, args.oneline) {
            (true, _) => Form::Stat,
            (_, true) => Form::Lines,
            _ => Form::Whole,
        },
        full: args.full,
        ..deed.show()?
    };
    let is_filtered = show.role.is_some() || show.tool.is_some();
    let options = DiffOptions {
        context_lines: args.context_lines,
        exact_ids: deed.exact_ids,
        // Each is looked at where a filter, or the whole list, asks for it.
        ends_only: show.form != Form::Lines && !show.full && !is_filtered,
    };
    let (found, encoding) = (compared.diff(&at, &options)?, at.encoding()?);
    drop(at);
    let selected = diff::selected(&found, &show);
    if selected.is_empty() {
        repo.check_tools(&on, &show.tool)?;
    }
    let entries: Vec<EntryId> = selected
        .iter()
        .filter_map(|(change, _)| Some(found.entry_if_read(change)?.id))
        .collect();
    show.injected = repo.injected(&entries)?;
    let remark = if compared.is_edit {
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
    Ok(!selected.is_empty() || !is_filtered && !found.is_empty())
}
