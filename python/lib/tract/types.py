"""What methods take and give, as plain dicts.

Written by `generate.py` from the interface itself. Do not edit.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

VERSION = 1
"""The version of the interface."""


ImportParams = TypedDict("ImportParams", {"paths": "List[str]", "format": "Optional[str]", "as": "Optional[str]", "onto": "Optional[str]", "redact": "bool", "strict": "bool", "new_only": "bool", "dry_run": "bool"}, total=False)
"""Bring in sessions of coding agents, and other conversations
    
    A file's format is recognised from its content. Importing a file again adds only what is new in it."""


class SessionsParams(TypedDict, total=False):
    """Which sessions."""
    directory: Optional[str]
    """Only those that ran in this directory or below it: by its path, or by its own name, as lists show it."""


class ExportParams(TypedDict, total=False):
    """Write a session file, or a page to read
    
    Messages that were imported and have not changed come back JSON-equal, with their ids and links.
    Changed and new messages are written as valid records. Hidden messages are left out.
    
    The format html is one self-contained page for a browser: the whole conversation, with hidden
    messages folded under their marker. The format markdown is the same as text.
    
    Where secrets are found, nothing is written unless `redact` or `allow_secrets` is given. `anonymous` is for what is
    shared with others: one person has one other name in all that is written, whatever the spelling. First names alone, and
    what a reader can infer, stay."""
    rev: Optional[str]
    """The commit whose context is written; HEAD unless given"""
    format: Optional[str]
    """One of the formats that import reads, html or markdown; by default the session's own"""
    redact: bool
    """Write `[redacted:KIND]` in place of secrets"""
    allow_secrets: bool
    """Write secrets, too"""
    anonymous: bool
    """As redact, and write person-1 and host-1 for logins, homes, hosts, mail addresses and names"""


class DatasetParams(TypedDict, total=False):
    """Write conversations as rows of a data set
    
    Writes JSON Lines, a row each. A row has the visible messages in the form of OpenAI's Chat Completions. It also has
    tools, model, outcome, source and times, and the tokens and dollars of these messages: `tract cost` has what a whole
    session cost. The outcome is the verdict of the judge of
    `tract run`: good, bad or unknown. `id` is the hash of the messages. A row with the same messages as one before is left
    out.
    
    A row is a session, a turn, a prompt with its answer, or a pair of runs of one context with different verdicts.
    Prompts have the columns `prompt` and `completion`, pairs have `prompt`, `chosen` and `rejected`, all others `messages`.
    Pictures and files are in no row.
    
    Secrets are replaced by `[redacted:KIND]`, unless `allow_secrets` is given. A file whose name ends in .parquet is
    Parquet, where tract was built with that."""
    revs: List[str]
    """Branches, sessions or commits; HEAD unless given. For pairs: the names of runs, or all"""
    all: bool
    """All sessions and branches"""
    rows: Optional[RowOf]
    """The unit of a row; session unless given"""
    license: Optional[str]
    """The note on its licence that each row has"""
    keep_duplicates: bool
    """Write rows with the same messages, too"""
    allow_secrets: bool
    """Write secrets, too"""
    anonymous: bool
    """Write person-1 and host-1 for logins, homes, hosts, mail addresses and names"""
    output: Optional[str]
    """The file to write; without it, the rows are the answer"""
    force: bool
    """Overwrite an existing file"""


RowOf = Literal["session", "turn", "prompt", "pair"]
"""What a row is."""


ResumeParams = TypedDict("ResumeParams", {"rev": "Optional[str]", "in": "Optional[str]", "directory": "Optional[str]", "redact": "bool", "allow_secrets": "bool", "dry_run": "bool"}, total=False)
"""Continue from a commit in a new session of a tool
    
    Writes the context at `rev` as a new session where that tool looks for its sessions, and tells the commands that
    continue it. The session has new ids, and no file is overwritten. When that session is imported later, its new
    messages follow `rev`."""


class StatusParams(TypedDict, total=False):
    """Show where you are and how full the context is
    
    HEAD, the messages that a model would be sent, their tokens, and the newest commits. Tokens
    are the provider's count where its replies tell it, and tract's own count otherwise.
    
    With verbose also how the two counts compare, and what the session has cost and the next message will.
    Then come what fills the context (tools, thinking, pictures, what the client attached), the ten largest
    messages, and what a prune would give back."""
    verbose: bool
    """How tokens are counted, what they cost, what fills the context, and the largest messages"""


class LogParams(TypedDict, total=False):
    """List commits, newest first
    
    Each has what it did to the context. `role`, `tool` and `grep` select messages that a commit brings in: appended,
    edited, or put in place of what it hides. A message must match all of them. `file` and `files` list edits of files
    instead, and `requests` what the client sent."""
    rev: Optional[str]
    """Where to begin, instead of HEAD; A..B: the commits from A to B; :3..5: those from message 3 to 5"""
    limit: Optional[int]
    """At most N; by default 20, with `files` all; 0: all"""
    op: List[str]
    """Only these: append, edit, hide, restore, annotate, or a kind of hide as listed"""
    role: Optional[str]
    """Only messages of this role; `user` leaves out what a client says in the user's name, which `injected` selects"""
    prompts: bool
    """Only what the user typed: no reminders, notices or echoes of commands"""
    tool: Optional[str]
    """Only calls of this tool, and their results"""
    grep: Optional[str]
    """Only messages with this text in them, whatever its case"""
    regex: bool
    """The text of `grep` is a regular expression"""
    since: Optional[Union[str, float]]
    """Only from then on: a date, or an age such as 3w or '2 days ago'"""
    until: Optional[Union[str, float]]
    """Only up to then"""
    author: Optional[str]
    """Only commits whose author has this in their name, program or run, whatever its case"""
    note: Optional[str]
    """Only commits with a note that has this in it, whatever its case"""
    model: Optional[str]
    """Only replies of a model with this in its name, whatever its case"""
    setting: Optional[str]
    """Only commits that set this: a request setting, or KEY=VALUE"""
    pinned: bool
    """Only messages that are pinned"""
    running: bool
    """Only what started agents and shells in the background that have no end in the session"""
    reverse: bool
    """Oldest first"""
    file: Optional[str]
    """Each edit of this file, by its path or the end of it"""
    files: bool
    """The files that were edited, and how many lines came and went"""
    requests: bool
    """The requests that the client sent, newest first"""


class ShowParams(TypedDict, total=False):
    """Show one commit in full, or a range
    
    Of a hide it gives what stands in place of the hidden messages, and what it hid; of an edit, the text before it; of
    a reply that its provider counted, its model, what was counted, and what it cost by the list price of its day.
    REV#2 is one part of the message, counted from 0. A..B are the commits that lead from A to B, oldest first; :3..5 are
    the messages 3 to 5."""
    rev: Optional[str]
    """The commit, instead of HEAD; REV#PART: a part of it; A..B: the commits from A to B; :3..5: messages 3 to 5"""
    image: Optional[str]
    """Write the picture or file in it to FILE, and print nothing"""
    which: Optional[int]
    """Which picture, if there are several, counted from 1"""
    force: bool
    """Overwrite an existing file"""


ContextParams = TypedDict("ContextParams", {"rev": "Optional[str]", "from": "Optional[int]", "limit": "Optional[int]"}, total=False)
"""Which context, and which of its messages."""


class _FindParams(TypedDict):
    """Search all messages, hidden ones too
    
    Finds messages by their words, the best answer first, over the history of all branches, tags and sessions. The words
    may stand in any order and form. "WORDS IN QUOTES" must stand like that, WORD* is any word that begins so, and what
    has -WORD in it is left out. If no message has a single word, it is searched for as it is. With `exact` the text is
    always searched for as it is, with `regex` as a regular expression: then no match is missed, and the newest comes
    first."""
    text: str
    """The words to find"""


class FindParams(_FindParams, total=False):
    """Search all messages, hidden ones too
    
    Finds messages by their words, the best answer first, over the history of all branches, tags and sessions. The words
    may stand in any order and form. "WORDS IN QUOTES" must stand like that, WORD* is any word that begins so, and what
    has -WORD in it is left out. If no message has a single word, it is searched for as it is. With `exact` the text is
    always searched for as it is, with `regex` as a regular expression: then no match is missed, and the newest comes
    first."""
    rev: Optional[str]
    """Only in the history of this commit or branch"""
    exact: bool
    """Find TEXT as it is, letter by letter"""
    regex: bool
    """TEXT is a regular expression"""
    like: bool
    """TEXT is a question or a sentence: find what means much the same, too, by the model that recall.model names"""
    context: Optional[int]
    """Show N messages before and after each"""
    hidden: bool
    """Only what is hidden"""
    session: Optional[str]
    """Only in this session and its sub-agents: its id or the beginning of it, or a branch of it"""
    here: bool
    """Only in sessions that ran in this directory or below it"""
    directory: Optional[str]
    """Only in sessions that ran in DIR or below it: a path, or the name that lists show"""
    role: Optional[str]
    """Only messages of this role; `user` leaves out what a client says in the user's name, which `injected` selects"""
    op: List[str]
    """Only what these brought: append, edit, hide, or a kind of hide as log lists it"""
    tool: Optional[str]
    """Only calls of this tool, and their results"""
    path: Optional[str]
    """Only calls that name this file, or the end of its path, and their results"""
    note: Optional[str]
    """Only messages of commits with a note that has this in it, whatever its case"""
    model: Optional[str]
    """Only replies of a model with this in its name, whatever its case"""
    setting: Optional[str]
    """Only messages of commits that set this: a request setting, or KEY=VALUE"""
    since: Optional[Union[str, float]]
    """Only from then on: a date, or an age such as 3w"""
    until: Optional[Union[str, float]]
    """Only up to then"""
    limit: Optional[int]
    """At most N messages; by default 20; 0: all"""
    offset: Optional[int]
    """Pass over the first N answers"""


class _ReadParams(TypedDict):
    """Which messages, and how many around them."""
    rev: str
    """The message, wherever it is."""


class ReadParams(_ReadParams, total=False):
    """Which messages, and how many around them."""
    last: Optional[str]
    """The last of several, in the conversation's order."""
    around: int
    """So many messages on each side, too, hidden ones among them."""
    within: Optional[str]
    """Only if it is in the history of this commit."""
    directory: Optional[str]
    """Only if it is in a conversation that ran in this directory or below it."""


class DroppedParams(TypedDict, total=False):
    """Which compaction."""
    rev: Optional[str]
    """The compaction, truncation or clear; the newest on the path to HEAD unless given."""
    within: Optional[str]
    """Whose newest compaction, truncation or clear; HEAD's path unless given. With `rev`, only one in the history of
    this commit."""
    directory: Optional[str]
    """Only one in a conversation that ran in this directory or below it."""


class AuditParams(TypedDict, total=False):
    """List what a compaction took away, and what of it is still there
    
    Looks through the messages that a compaction, truncation or clear hid. It compares prompts, open points, commands,
    files, errors, addresses, names and numbers. A fact is still there if a visible message has it word for word. For
    a longer text, most of its phrases are enough. Lost facts are listed, the most likely to be missed first, each
    with its message. `tract show HASH` prints a message, `tract restore HASH` brings it back. No model is asked."""
    rev: Optional[str]
    """The compaction, truncation or clear; the newest on this branch unless given"""
    within: Optional[str]
    """The history whose newest compaction, truncation or clear is meant, and in which facts are looked for; HEAD
    unless given"""
    limit: Optional[int]
    """At most N findings; 20 unless given, 0: all"""


class DidParams(TypedDict, total=False):
    """What to look for: one of them."""
    path: Optional[str]
    """A file, or the end of its path: what was done to it."""
    command: Optional[str]
    """A piece of a command: how it ran."""
    error: Optional[str]
    """A piece of an error: what followed it."""
    within: Optional[str]
    """Only in the history of this commit; in all history unless given."""
    directory: Optional[str]
    """Only in conversations that ran in this directory or below it."""
    limit: Optional[int]
    """At most so many; 10 unless given."""


class BlameParams(TypedDict, total=False):
    """Say where messages came from
    
    Each visible message is listed with the commit that gave it its text, its time, its role, and its session. One
    message alone also shows its model, the prompt before it, its author, and its edits and moves. A summary shows the
    messages that it replaced. Each line of a summary is shown with the hidden message that has most of its words, so
    that it can be checked; a line that no message has is the summary's own."""
    message: Optional[str]
    """One message, hidden or not: :N, REV:N, or its commit; all that are visible unless given"""
    at: Optional[str]
    """In the context of this commit; HEAD's unless given"""


class AttestParams(TypedDict, total=False):
    """Say what a run was, to be signed
    
    Writes a manifest of a branch. It has one hash over all commits, times, authors, programs, models with their
    tokens, the cost, and tools. It also has the files of sessions, and the requests with the clients' own hashes. It
    follows from the commits alone, so whoever has them makes the same text again. docs/attest.md says how to verify a
    signed one without tract."""
    rev: Optional[str]
    """The branch, session or commit; HEAD unless given"""


class DiffParams(TypedDict, total=False):
    """Compare what a model would be sent at two commits
    
    Without arguments, it compares HEAD with the commit before it; with one, that commit with HEAD. If that one commit
    is an edit, it compares the message before and after it. Two messages are paired if they are the same entry (edited,
    say), or have the same content, or else are the most alike. With `sent` it compares the requests that two replies
    answered, as the client recorded them."""
    before: Optional[str]
    """The first context, or A..B"""
    after: Optional[str]
    """The second context; HEAD unless given"""
    role: Optional[str]
    """Only messages of this role"""
    tool: Optional[str]
    """Only messages that call this tool, or answer such a call"""
    exact_ids: bool
    """Compare the ids of tool calls as well"""
    format: Optional[str]
    """The provider whose cache is asked about: openai, responses, anthropic, gemini or text"""
    sent: bool
    """Compare the requests of two replies as they were sent"""


class CostParams(TypedDict, total=False):
    """Show what the replies of models cost
    
    Every reply that a provider counted is priced once, by the list price of its day. Those are all that sessions,
    branches and tags lead to, or those on the path to `rev`. A sub-agent counts with the session that started it, unless
    rows are `by` agent. It is not on the path to `rev`: there, a note gives its cost. With a subscription, the figures are API-equivalent: what the same work costs by the API.
    Requests that no reply shows, such as those for summaries and titles, are a row of their own. They are known where
    the client gives the sum of its requests. Output of which a stream gives only the sum is in that row, too.
    
    Where each directory has a HEAD of its own, as in a home's repository, it counts this directory, its worktrees, and
    what HEAD leads to. `all` counts everything.
    
    Each row has replies, input, the part of it that came from a cache, output, and US dollars. The setting
    `prices.file` names a newer list, as genai-prices publishes it.
    
    By message, it is what each message has cost so far. The input of each request is shared over the messages that
    were sent in it, by their tokens. Their front is what was read from the cache. A
    reply bears its output. The count says in how many requests a message had a part. By tool, the same is summed
    up for the results of each tool. System prompt and tools are a row of their own. It is as they
    were sent, where the client recorded that, else the least that a request had beyond its messages.
    
    With `misses`, it is of each reply: time, input, what of it was read from the cache and what was written to it. Then
    come what was missed, what that cost, and why. The sum of each cause comes first. Behind it are the 20 replies
    that missed most; `limit` takes more, and 0 all. Missed is what the request before had left in the cache and this one
    did not read. The provider's own word for the reason comes first; then the first difference to
    the request before, where the client recorded both; then another model, a change of the context, or the age
    of the cache: 5 minutes, or an hour where that was paid for.
    
    With `check`, it is how budgets of money stand: `budget.day` and `budget.month` set in US dollars what all replies of a day
    and of a month in the repository may cost. Where one of them is exceeded, the exit code is 1."""
    rev: Optional[str]
    """Only what is on the path to this commit"""
    by: Optional[CostBy]
    """The grouping of the rows; session unless given"""
    misses: bool
    """A row for each reply: what its request read from the cache, wrote to it and missed, and why"""
    all: bool
    """In a repository where each directory has a HEAD of its own: of all directories"""
    check: bool
    """How budgets of money stand; the exit code is 1 where one is exceeded"""
    limit: Optional[int]
    """At most N rows, of times the newest, and one for the rest; 0: all. By default 20 messages or misses, or all of anything else"""
    since: Optional[Union[str, float]]
    """Only from then on: a date, or an age such as 3w or '2 days ago'"""
    until: Optional[Union[str, float]]
    """Only up to then"""


CostBy = Literal["session", "agent", "day", "week", "month", "block", "model", "directory", "project", "client", "account", "tool", "message"]
"""What a row stands for."""


class StatsParams(TypedDict, total=False):
    """Show what was done: time at work, prompts, calls, edits
    
    Time at work is what a model, tools and the user took, with pauses left out. More than 5 minutes before a prompt is a
    pause. More than an hour before a reply or a result is one, too. Sub-agents count with their session, and what runs
    side by side counts once. A call failed where its tool reports an error. A call without a result was interrupted. A
    message that a copy of a session repeats counts with the original. So does one that pick, rebase or merge copied.
    
    It counts all that sessions, branches and tags lead to, with the branches that merges brought in. With REV, it counts
    what is on the path to it, as log lists it. Several revisions get a column each. Where each directory has a HEAD of
    its own, it counts this directory. `all` counts everything. Days and hours are those of the local time zone. Tokens are what providers counted."""
    revs: List[str]
    """Only what is on the path to this commit; several are rows of their own"""
    by: Optional[StatsBy]
    """The grouping of the rows; session unless given"""
    edits: bool
    """The newest edits of files instead, each with its prompt"""
    all: bool
    """In a repository where each directory has a HEAD of its own: of all directories"""
    limit: Optional[int]
    """At most N rows, of dates the newest; 0: all. By default 20 edits, or all of anything else"""
    since: Optional[Union[str, float]]
    """Only from then on: a date, or an age such as 3w or '2 days ago'"""
    until: Optional[Union[str, float]]
    """Only up to then"""


StatsBy = Literal["session", "hour", "day", "weekday", "week", "month", "tool", "file", "project", "client"]
"""What a row stands for."""


class CacheParams(TypedDict, total=False):
    """Where."""
    rev: Optional[str]
    """The commit; HEAD's unless given."""


CompileParams = TypedDict("CompileParams", {"rev": "Optional[str]", "for": "Optional[str]", "format": "Optional[str]", "request": "bool", "last": "Optional[int]", "without_thinking": "bool", "strict": "bool", "verify": "bool"}, total=False)
"""Print the request that a model would be sent
    
    The request is valid by the provider's rules, and has the same bytes every time. Repairs and omissions are
    reported on standard error. The form is `format`, or else the setting compile.format, or else openai.
    
    Some clients write each request into the session file. With `for` it is the request as it was sent, and `verify`
    checks it against the client's own hash. With `request`, system prompt, tools and parameters come from the last
    request that was sent."""


class BisectParams(TypedDict, total=False):
    """What was judged so far. The call keeps nothing: each one holds all verdicts."""
    bad: Optional[str]
    """The commit whose context goes wrong; HEAD's unless given."""
    good: Optional[str]
    """A commit whose context goes well: what it has stays."""
    time: bool
    """Look for the first commit after `good`, or after the first of all, that goes wrong."""
    request: bool
    """Add model, limits and tools, from the settings; each may be why."""
    verdicts: List[str]
    """The verdicts on the contexts that were given to try, in that order: good, bad or skip."""
    runs: Optional[int]
    """How often each end is tried, where it goes wrong by chance. Once unless given."""
    confidence: Optional[float]
    """How sure the answer is to be, where it goes wrong by chance. 0.95 unless given."""


class CommitParams(TypedDict, total=False):
    """Append one message, or replace one
    
    `message` is what the model reads; `note` is a remark for people, as git's message is. A text is never
    taken for JSON: `json`, `batch` and `events` say that it is.
    
    If a budget is set (budget.max) and the message goes beyond it, the setting
    budget.action decides: warn, refuse, hide the oldest messages, or summarise. A refusal commits
    nothing. Neither does one of the command that the setting hook.commit names."""
    role: Optional[str]
    """system, developer, user, assistant or tool"""
    message: Optional[Union[str, Dict[str, Any]]]
    """The text"""
    json: Any
    """One message in a provider's form (OpenAI's or Anthropic's), or the response that holds it; on the command line a
    file (or -) with it"""
    batch: List[Any]
    """Such messages: all are committed, or none; on the command line a file (or -) with one on each line"""
    events: List[Any]
    """The events of a reply that was streamed, as a provider's API sends them; on the command line a file (or -)
    with one on each line. Keep the part before a stream broke off, marked as cut"""
    edit: Optional[str]
    """Replace the content of this message; the old one stays in history"""
    call: Optional[str]
    """The call that this tool result answers"""
    model: Optional[str]
    """The model, from here on"""
    temperature: Optional[Union[str, float]]
    """The temperature, from here on"""
    max_tokens: Optional[Union[str, float]]
    """The longest reply, from here on"""
    set: Dict[str, Any]
    """Any other setting, by its key; on the command line VALUE is JSON or a plain text"""
    tools: Any
    """The tools that the model may call, a JSON array; on the command line a file with it"""
    note: Optional[str]
    """A remark for people; no model sees it"""
    author: Optional[str]
    """The author; by default the setting author.name, if there is one"""
    client: Optional[str]
    """The program that commits, and its version"""
    run: Optional[str]
    """An id of what that program is about"""
    expect: Optional[str]
    """Refuse (exit 4) unless the branch is at REV; none: unless it has no commit"""
    after: Optional[str]
    """Commit behind REV (none: as a first one), not on the branch, which stays where it is. The methods advance and
    move bring a branch there; gc may take away what no branch has. No budget is kept"""
    moves: List[BranchMoveParams]
    """Other branches that move in the same operation; on the command line each as JSON"""
    made_block: Optional[str]
    """Put a block of this type behind the last message's own. It names the commits that the moves make, in `commits`"""
    unbudgeted: bool
    """Keep no budget: for a branch that no model is sent"""
    no_verify: bool
    """Do not ask the command of hook.commit"""


class _BranchMoveParams(TypedDict):
    """One branch, and where it goes."""
    branch: str
    """The branch. One that is not there yet is made."""


class BranchMoveParams(_BranchMoveParams, total=False):
    """One branch, and where it goes."""
    to: Optional[str]
    """The commit; none: it goes before its first commit, so that it is no branch any more."""
    expect: Optional[str]
    """Refuse (exit code 4) unless it is at this revision; `none`: unless it has no commit."""
    batch: List[Any]
    """Messages in a provider's form, each a response or what it holds. They are committed behind `to` first (behind nothing
    where that is none), and the branch goes to the last of them. No budget is kept there."""


class _AdvanceParams(TypedDict):
    """Where to, and from where."""
    rev: str
    """The commit, one that was made with `after`."""
    expect: str
    """Refuse (exit code 4) unless the branch is at this revision; `none`: unless it has no commit."""


class AdvanceParams(_AdvanceParams, total=False):
    """Where to, and from where."""
    what: Optional[str]
    """What the log of operations calls it."""


class _AnnotateParams(TypedDict):
    """Pin messages, skip them, or make them normal again
    
    Pinned messages stay through truncations, compactions and clears. Skipped messages are out of the
    context until they are normal again; a call goes together with its results. `tract pin REV` and
    `tract unpin REV` are short for `pin` and `normal`."""
    revs: List[str]
    """Messages"""


class AnnotateParams(_AnnotateParams, total=False):
    """Pin messages, skip them, or make them normal again
    
    Pinned messages stay through truncations, compactions and clears. Skipped messages are out of the
    context until they are normal again; a call goes together with its results. `tract pin REV` and
    `tract unpin REV` are short for `pin` and `normal`."""
    pin: bool
    """Never hide these messages"""
    skip: bool
    """Leave these messages out of the context"""
    normal: bool
    """Neither pin nor skip them"""
    reason: Optional[str]
    """Why"""
    dry_run: bool
    """Say what would change, and change nothing"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""
    expect: Optional[str]
    """Refuse (exit 4) unless the branch is at REV; none: unless it has no commit"""


class ShrinkParams(TypedDict, total=False):
    """Make the context fit: tool outputs first, then old messages
    
    Only as many old tool outputs as it takes become one line each, as prune does it. The newest two turns are left
    alone. The newest 40,000 tokens of tool output before them go last. While the provider's prompt cache is warm, the
    newest of the others go first. The beginning then stays as it is, and the next request costs less. With a cold cache
    the oldest go first.
    
    If all of them are not enough, the oldest messages go too, as truncate does it. The task, system messages and pinned
    messages stay. All of it is one operation: undo brings everything back. See also: compact (a summary in place of what is old)."""
    to: Optional[Union[str, float]]
    """The tokens that are to be enough, or P% of budget.max, by the provider's count; by default budget.max"""
    by_our_count: bool
    """Measure by tract's own count, not by the provider's"""
    marker: Optional[str]
    """The text in place of hidden messages, instead of `[Sliding window truncation: N messages hidden …]`"""
    dry_run: bool
    """Say what would change, and change nothing"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""


class PruneParams(TypedDict, total=False):
    """Replace old, big tool outputs with one line each; the calls stay
    
    Each line names the commit, so that show prints the whole output. The user's newest two turns
    are left alone, and so are the newest 40,000 tokens of tool output before them. If less than 20,000
    tokens would be saved, nothing is done. Outputs of the tools in the setting prune.keepTools stay, unless
    `tool` names them. An earlier prune ends the search, unless `tool`, `larger_than`, `turns` or `protect` is
    given.
    
    See also: drop (messages you name), truncate (the oldest), compact (a summary), clear (everything)."""
    turns: Optional[int]
    """Leave the user's newest N turns alone; by default 2"""
    protect: Optional[Union[str, float]]
    """Before those, leave the newest N tokens of tool output alone; by default 40k"""
    min: Optional[Union[str, float]]
    """Do nothing unless it saves N tokens; by default 20k, or 0 with `to_budget`"""
    larger_than: Optional[Union[str, float]]
    """Only outputs of more than N tokens"""
    tool: List[str]
    """Only outputs of this tool (may be given several times)"""
    to_budget: Optional[Union[str, float]]
    """Shorten only as many, oldest first, as it takes to fit N tokens, or P% of budget.max, by the
    provider's count"""
    by_our_count: bool
    """Measure the budget by tract's own count, not by the provider's"""
    dry_run: bool
    """Say what would change, and change nothing"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""


class _DropParams(TypedDict):
    """Hide the messages, or parts of messages, that you name
    
    With a message that calls tools, their results go too. With a result, only its own call goes; the text next to
    that call, and calls made in parallel, stay with their results. If one of these is pinned, nothing is done. A
    message whose parts are all dropped is hidden. Parts are counted from 0, as show prints them.
    
    See also: prune (tool outputs), truncate (the oldest), compact (a summary), clear (everything)."""
    revs: List[str]
    """Messages, or REV#PART for a part"""


class DropParams(_DropParams, total=False):
    """Hide the messages, or parts of messages, that you name
    
    With a message that calls tools, their results go too. With a result, only its own call goes; the text next to
    that call, and calls made in parallel, stay with their results. If one of these is pinned, nothing is done. A
    message whose parts are all dropped is hidden. Parts are counted from 0, as show prints them.
    
    See also: prune (tool outputs), truncate (the oldest), compact (a summary), clear (everything)."""
    force: bool
    """Allow the last user message and the task to go too"""
    dry_run: bool
    """Say what would go, and change nothing"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""


class TruncateParams(TypedDict, total=False):
    """Hide the oldest messages; the task and pinned ones stay
    
    The task stays: the first user message, or the summary with which the context begins. System messages, pinned
    messages and calls that wait for a result stay too. A call and its results go together. A message in their place
    tells the model how many are hidden.
    
    If nothing says how far, the context is made to fit budget.max. A budget hides whole exchanges, oldest
    first. If those before the newest prompt are not enough, the oldest messages after it go too; that
    prompt and the newest message stay.
    
    Nothing is lost: undo brings everything back, restore single messages. See also: prune
    (tool outputs), drop (messages you name), compact (a summary), clear (everything)."""
    keep: Optional[int]
    """Hide all but the newest N"""
    fraction: Optional[Union[str, float]]
    """Hide this share of the messages, from 0 to 1, rounded down to an even number"""
    to_budget: Optional[Union[str, float]]
    """Hide the oldest exchanges until N tokens, or P% of budget.max, are enough, by the provider's
    count"""
    by_our_count: bool
    """Measure a budget by tract's own count, not by the provider's"""
    drop_first: bool
    """Allow the task to go too"""
    marker: Optional[str]
    """The text of the marker, instead of `[Sliding window truncation: N messages hidden …]`"""
    marker_role: Optional[str]
    """The role of the marker; by default user"""
    no_marker: bool
    """Leave no marker"""
    dry_run: bool
    """Say what would go, and change nothing"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""


class CompactParams(TypedDict, total=False):
    """Replace a span of messages with a summary
    
    Without `keep`, `to` or a range, the span is everything but the system messages. Pinned messages stay, and
    so do calls that wait for a result. undo brings the messages back, and so does restore later. See also: prune (tool
    outputs), drop (messages you name), truncate (the oldest), clear (everything)."""
    message: Optional[str]
    """The summary"""
    strict: bool
    """Refuse a summary that lacks a prompt, an open point or a pin"""
    keep: Optional[int]
    """Leave out the newest N messages"""
    to: Optional[Union[str, float]]
    """Summarise the oldest messages, as few as bring the context down to this: tokens, or a share of budget.max"""
    dry_run: bool
    """Change nothing; say what would go"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""
    range: Optional[str]
    """The span, both ends included"""


class ClearParams(TypedDict, total=False):
    """Hide everything but the system messages, to start over
    
    Pinned messages stay, and so do calls that wait for a result. Nothing is lost: undo brings
    everything back.
    
    With `purge`, what came before is erased for good, kept session files included. It reads `[purged]` from then on.
    No undo brings it back. Importing the session again does not bring it back either, unless that import was undone
    before; a message that is written again is a new message. Messages that other branches, tags and sessions need
    stay, and are reported. Notes and reasons are erased, too. Each is hashed with its commit, so that this commit and
    all later ones get other names. undo reaches back no further. Request settings (model, tools) stay.
    
    See also: prune (tool outputs), drop (messages you name), truncate (the oldest), compact (a
    summary)."""
    all: bool
    """Hide the system messages too"""
    dry_run: bool
    """Change nothing; say what would go"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""
    purge: bool
    """Erase what came before, for good"""
    force: bool
    """Confirm that it is erased for good"""


class RedactParams(TypedDict, total=False):
    """Replace secrets in the context with `[redacted:KIND]`
    
    Looks for keys, tokens and passwords of well-known forms in the visible messages, or in the messages
    that you name. Each message with one is edited, as `tract commit --edit` does it. The history and the
    kept session files still hold the secrets: only purge erases them. To allow a text that only
    looks like a secret, set secrets.allow: `tract config --global secrets.allow REGEX`."""
    revs: List[str]
    """Only these messages"""
    all: bool
    """All visible messages, as without `revs`"""
    dry_run: bool
    """Say what would change, and change nothing"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""


class UndoParams(TypedDict, total=False):
    """Reverse the last command that moved a branch, a tag or HEAD
    
    All refs that the command moved go back at once, those of all files of an import, too, and HEAD behind a checkout. A second undo reverses the command before it. The last command is
    the last one that was typed in this repository. In the repository of a home it is the last one typed in this
    directory. On a server it is your last one. Settings and the names of remotes stay as they are. Imports by a watch, a hook or an agent were not typed. OP is a number
    from reflog: only that command is reversed, and only if nothing that it moved has moved since. On a server, what
    others did is refused unless `force` is given. With `to` or `since`, everything goes back to a point: all later
    commands are reversed, and earlier ones that were undone later are done again. That is one step, and one redo takes it
    back. Imports and recordings stay then, unless `captured` is given."""
    operation: Optional[int]
    """The operation to reverse, instead of the newest one"""
    force: bool
    """Reverse OP although somebody else did it"""
    to: Optional[int]
    """Go back to right after this operation, which may be an undo"""
    since: Optional[Union[str, float]]
    """Reverse every operation since then: an age such as 10min or 2h, a date, or milliseconds since 1970"""
    captured: bool
    """With `to` or `since`, also reverse imports, recordings, and what a watch, a hook or an agent took in"""
    dry_run: bool
    """Say what would be reversed, and whose it is; change nothing"""


class RedoParams(TypedDict, total=False):
    """Reverse the last undo
    
    A second redo reverses the undo before it, and so on to where the undoing began. After any other
    command there is nothing to redo, because its commits would be lost. All that an undo with to or since
    reversed comes back at once."""
    dry_run: bool
    """Say what would be done again; change nothing"""


class _RestoreParams(TypedDict):
    """Un-hide messages; everything later stays
    
    If REV is a hide or an edit, all of it is reversed. If REV is a hidden message, that message alone
    comes back in its place, with its tool calls and results; the hide keeps the rest. If REV is a
    visible message, its hidden parts come back; REV#PART brings back what the same hide took of it.
    With `at_end` the message stays hidden and a copy is appended. With `before` it is moved there."""
    revs: List[str]
    """Hides, edits, messages, or REV#PART"""


class RestoreParams(_RestoreParams, total=False):
    """Un-hide messages; everything later stays
    
    If REV is a hide or an edit, all of it is reversed. If REV is a hidden message, that message alone
    comes back in its place, with its tool calls and results; the hide keeps the rest. If REV is a
    visible message, its hidden parts come back; REV#PART brings back what the same hide took of it.
    With `at_end` the message stays hidden and a copy is appended. With `before` it is moved there."""
    at_end: bool
    """Leave it hidden and append a copy; earlier messages do not change"""
    before: Optional[str]
    """Move it to right before this visible message; earlier messages do not change"""
    dry_run: bool
    """Say what would come back, and change nothing"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""


class _PickParams(TypedDict):
    """Copy messages from anywhere to the end
    
    The messages may be on other branches or sessions, before a compaction, or on no branch at all. A
    copy of each is appended, with its tool calls and results and with all its parts. Nothing before it
    changes, so a provider's prompt cache stays valid. To put a hidden message back in its own place
    instead: restore.
    
    A commit that is no message is picked for what it does: an edit, a compaction, a drop, a restore, a
    pin. The same is done here, to the messages that both branches have and to copies of them. If those
    are not here, or were changed differently, nothing is done and the error says which."""
    revs: List[str]
    """Messages, REV#PART, or commits that edit, hide, restore or pin"""


class PickParams(_PickParams, total=False):
    """Copy messages from anywhere to the end
    
    The messages may be on other branches or sessions, before a compaction, or on no branch at all. A
    copy of each is appended, with its tool calls and results and with all its parts. Nothing before it
    changes, so a provider's prompt cache stays valid. To put a hidden message back in its own place
    instead: restore.
    
    A commit that is no message is picked for what it does: an edit, a compaction, a drop, a restore, a
    pin. The same is done here, to the messages that both branches have and to copies of them. If those
    are not here, or were changed differently, nothing is done and the error says which."""
    dry_run: bool
    """Say what would be copied, and change nothing"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""


MergeParams = TypedDict("MergeParams", {"rev": "Optional[str]", "messages": "bool", "prompts": "bool", "message": "Optional[str]", "ours": "bool", "theirs": "bool", "continue": "bool", "abort": "bool", "allow_unrelated_histories": "bool", "no_verify": "bool", "dry_run": "bool", "limit": "Optional[int]"}, total=False)
"""Bring another branch into this one
    
    What the other branch has said since it left comes at the end, so that a provider's cache stays valid: as one
    message, which a summary stands in, or else the other branch's last answer. `messages` brings all of its messages,
    those that it hid as hidden ones; `prompts` what the user typed there, with what the client attached to it.
    Changes of the other branch to messages that both have apply here as well: edits, hides, restores, priorities.
    A hide also covers messages that are hidden here already, so they stay hidden when this branch's own hide is restored.
    
    Where this branch has nothing of its own since, it moves to the other's end. A message that was merged once does
    not come again. A tool call without its result does not come.
    
    Where both changed one message differently, that is a conflict: all are listed, and nothing is written.
    `ours` or `theirs` says whose change holds; resolve says it message by message, and then the merge goes on with `continue`.
    
    The setting hook.merge names a command that may refuse a merge. Then nothing is written."""


class ResolveParams(TypedDict, total=False):
    """Settle conflicts of a merge
    
    Where merge has found messages that both branches changed differently, this says whose change holds of each.
    Nothing is written before the merge goes on, by `tract merge --continue`. Without a message, it lists what is still in conflict."""
    revs: List[str]
    """Messages in conflict"""
    ours: bool
    """Keep this branch's text"""
    theirs: bool
    """Take the other branch's text"""


class _RevertParams(TypedDict):
    """Do the opposite of one commit; what came later stays
    
    A message is dropped, with its tool calls and results. An edit, a truncation, a compaction, a clear, a drop or a
    prune is undone, as restore does. Messages that a restore brought back are hidden again, or edited again. A pin
    gives way to the priority before it. The commit itself stays in the history, and a revert can be reverted. To take
    the last command back instead: undo."""
    rev: str
    """The commit"""


class RevertParams(_RevertParams, total=False):
    """Do the opposite of one commit; what came later stays
    
    A message is dropped, with its tool calls and results. An edit, a truncation, a compaction, a clear, a drop or a
    prune is undone, as restore does. Messages that a restore brought back are hidden again, or edited again. A pin
    gives way to the priority before it. The commit itself stays in the history, and a revert can be reverted. To take
    the last command back instead: undo."""
    force: bool
    """Even if it is the task or the last user message"""
    dry_run: bool
    """Say what would change, and change nothing"""
    limit: Optional[int]
    """In a dry run, list at most N messages of each kind; 0: all"""


RebaseParams = TypedDict("RebaseParams", {"onto": "str", "from": "Optional[str]", "skip": "List[str]", "ours": "bool", "theirs": "bool", "dry_run": "bool"}, total=False)
"""Put the branch's own commits on another base
    
    Takes the commits since the branch parted from `onto`, or those after `from`, and makes each of them
    again on `onto`. Messages, edits, compactions and other hides, restores and pins keep their settings,
    notes, authors and times. Nothing is lost: undo puts the branch back, and ORIG_HEAD keeps where
    it was. Where a commit does not fit, or both sides changed a message differently, nothing is
    written and each is named; `skip`, `ours` and `theirs` settle it."""


class ResetParams(TypedDict, total=False):
    """Move the branch back to a commit; what came later leaves it
    
    Nothing is lost. ORIG_HEAD keeps what came later; with `hard`, the reflog alone does. The answer says how to get
    back. To look at an earlier commit and leave the branch where it is: checkout."""
    rev: Optional[str]
    """The commit to move to"""
    soft: bool
    """Keep what came later under ORIG_HEAD (the default)"""
    hard: bool
    """Keep it in the reflog alone"""
    root: bool
    """Move to before the first commit"""
    expect: Optional[str]
    """Refuse (exit 4) unless the branch is at REV; none: unless it has no commit"""
    dry_run: bool
    """Say where the branch would be, and change nothing"""


class _MoveParams(TypedDict):
    """Which branches, and where to."""
    moves: List[BranchMoveParams]
    """The branches, in the order in which they move. One that goes to where it is expected is only looked at."""


class MoveParams(_MoveParams, total=False):
    """Which branches, and where to."""
    what: Optional[str]
    """What the log of operations calls it."""


class CheckoutParams(TypedDict, total=False):
    """Switch to a branch, or look at an earlier commit
    
    A branch's name attaches HEAD to that branch. Any other revision detaches HEAD: you can look at
    everything from there but commit nothing; `new_branch` starts a branch there, to continue on. - goes back
    to where HEAD was before. The name of a branch that was seen at one remote alone starts a branch of that
    name here."""
    rev: Optional[str]
    """A branch, any other revision, or - for where HEAD was before"""
    new_branch: Optional[str]
    """Start a branch of this name, at REV or where HEAD is"""


class _BranchParams(TypedDict):
    """Start, rename or delete a branch
    
    A branch starts at `rev`; HEAD stays (checkout with a new branch switches to it, too)."""
    name: str
    """The branch"""


class BranchParams(_BranchParams, total=False):
    """Start, rename or delete a branch
    
    A branch starts at `rev`; HEAD stays (checkout with a new branch switches to it, too)."""
    rev: Optional[str]
    """Where the branch starts, instead of HEAD; with `rename` its new name"""
    others: List[str]
    """More branches to delete"""
    delete: bool
    """Delete the branch `name`, and all others that are named"""
    rename: bool
    """Rename the branch `name` to `rev`, or the one that HEAD is on to `name`"""


class BranchesParams(TypedDict, total=False):
    """Which branches."""
    limit: Optional[int]
    """At most so many; all unless given, or 0."""
    behind: Optional[str]
    """Only those that come behind this branch in the list: the last one of the page before."""


class _TagParams(TypedDict):
    """Make or delete a tag
    
    A tag names one commit, and no command moves it. With `message` the tag also keeps that note and the time."""
    name: str
    """The tag"""


class TagParams(_TagParams, total=False):
    """Make or delete a tag
    
    A tag names one commit, and no command moves it. With `message` the tag also keeps that note and the time."""
    rev: Optional[str]
    """The commit to tag, instead of HEAD"""
    delete: bool
    """Delete the tag `name`"""
    message: Optional[str]
    """A note to keep with the tag"""


class TagsParams(TypedDict):
    """Nothing is asked."""
    pass


class ReflogParams(TypedDict, total=False):
    """List past commands, and where each ref was
    
    Without a ref, it lists every command that moved something, newest first, with its number (for undo)
    and what it moved. With a ref, it lists where that ref was, as REF@{N} names it. Where others
    were at work too, it says who did what."""
    ref: Optional[str]
    """A branch, tag or session, HEAD, ORIG_HEAD or PREV_HEAD"""
    limit: Optional[int]
    """List at most N; by default 20; 0: all"""


class PushParams(TypedDict, total=False):
    """Send commits to another repository
    
    Without `refs`, it sends the branch that HEAD is on, and the session that it came from. Only what is
    missing there is sent; branches with new commits that stay here are named. Request settings, notes and titles go too; session files only with `sources`.
    A ref that would lose commits there is not moved, unless `force_with_lease` is given and the ref is
    where it was last seen. A session that an import has rewritten replaces what you sent of it. After an interruption, the
    same request continues where it stopped.
    
    If there are secrets, in hidden messages too, nothing is sent. The other side learns what was erased here; it
    erases that as well if it is set to (`tract config receive.purge allow`). It is taken out of a bucket, and out of
    bundles in a git repository."""
    remote: Optional[str]
    """The remote, or a URL; by default that of the branch, origin, or the only one"""
    refs: List[str]
    """Branches, tags, sessions"""
    all: bool
    """All branches, tags and sessions"""
    sources: bool
    """Also send the session files that were imported"""
    force_with_lease: bool
    """Let a ref there lose commits, if it is where it was last seen"""
    delete: bool
    """Delete these refs there"""
    set_upstream: bool
    """From now on push and pull this branch there"""
    dry_run: bool
    """Say what would be sent, and send nothing"""
    allow_secrets: bool
    """Send secrets, too"""


class FetchParams(TypedDict, total=False):
    """Get commits from another repository; your branches stay
    
    Its branches are called origin/main here, its sessions origin/sessions/TOOL/ID. Only what is missing is sent, and
    every message and commit is checked against its name. Erased messages stay erased; what was erased there is named,
    and erased here if receive.purge is set to allow. After an interruption, the same request continues where it
    stopped. undo takes a fetch back."""
    remote: Optional[str]
    """The remote; by default that of the branch, origin, or the only one"""
    sources: bool
    """Also the session files that are kept there"""
    all: bool
    """From all remotes"""
    prune: bool
    """Forget refs that no longer exist there"""


class PullParams(TypedDict, total=False):
    """Fetch, and move your branch and sessions forward
    
    Does what fetch does. Then the branch that HEAD is on moves forward to the other side's branch of that name, and
    so do sessions. If they replaced commits and you added none, yours are replaced too. A branch with
    commits of its own stays, and is reported. With `merge`, or where pull.merge is set
    to true, such a branch is merged with theirs, as merge does it. The pull is one operation, and a merge another:
    undo takes each back."""
    remote: Optional[str]
    """The remote; by default that of the branch, origin, or the only one"""
    branch: Optional[str]
    """The branch there, instead of the one with the name of yours"""
    sources: bool
    """Also the session files that are kept there"""
    merge: bool
    """Merge where both have new commits"""
    no_merge: bool
    """Do not, whatever pull.merge says"""
    no_verify: bool
    """Do not ask the command of hook.merge"""


class RemotesParams(TypedDict):
    """Nothing is asked."""
    pass


class RemoteAddParams(TypedDict):
    """Add a remote"""
    name: str
    """Its name here"""
    url: str
    """Where it is: a directory, ssh://HOST/PATH, HOST:PATH, or s3://BUCKET/PREFIX"""


class RemoteSetUrlParams(TypedDict):
    """Change the URL of a remote"""
    name: str
    """Its name here"""
    url: str
    """Where it is: a directory, ssh://HOST/PATH, HOST:PATH, or s3://BUCKET/PREFIX"""


class RemoteRenameParams(TypedDict):
    """Give a remote another name"""
    old: str
    """Its name here"""
    new: str
    """Its new name"""


class RemoteRemoveParams(TypedDict):
    """Remove a remote, and forget where its refs were"""
    name: str
    """Its name here"""


class _BundleParams(TypedDict):
    """Write commits to one file, for another repository
    
    A branch, a tag or a session is written with everything that it needs. A..B writes what comes after
    A, for someone who has A already. An unbundle reads the file. Request settings and notes are part
    of their commits; session files and titles are written only with sources.
    
    If there are secrets, in hidden messages too, nothing is written unless redact or allow-secrets
    is given. With redact it is another history from the first secret on: it cannot continue a history that
    still has the secrets. So it is with anonymous, which also gives each person and host another name."""
    file: str
    """The file to write"""


class BundleParams(_BundleParams, total=False):
    """Write commits to one file, for another repository
    
    A branch, a tag or a session is written with everything that it needs. A..B writes what comes after
    A, for someone who has A already. An unbundle reads the file. Request settings and notes are part
    of their commits; session files and titles are written only with sources.
    
    If there are secrets, in hidden messages too, nothing is written unless redact or allow-secrets
    is given. With redact it is another history from the first secret on: it cannot continue a history that
    still has the secrets. So it is with anonymous, which also gives each person and host another name."""
    what: List[str]
    """Branches, tags, sessions, or ranges up to one; by default where HEAD is"""
    all: bool
    """All branches, tags and sessions"""
    sources: bool
    """Also write the session files that were imported, and sessions' titles"""
    force: bool
    """Overwrite an existing file"""
    redact: bool
    """Write `[redacted:KIND]` in place of secrets"""
    allow_secrets: bool
    """Write secrets, too"""
    anonymous: bool
    """As redact, and write person-1 and host-1 for logins, homes, hosts, mail addresses and names"""


class UnbundleParams(TypedDict):
    """Read in a file that bundle wrote
    
    Every message and every commit is checked against its name; if anything is wrong, nothing is written. Commits that
    are here already are not brought in twice. Messages that were erased here stay erased. If another history here has
    a branch of the same name, the new branch gets a number. One undo takes it all back."""
    file: str
    """The file"""


class GcParams(TypedDict, total=False):
    """Delete what no branch, tag, session or undo needs any more
    
    Everything that a branch, tag or session holds stays, hidden messages too, with what they compile to and export
    as. Commits that undo and reflog can reach stay for 90 days, or as long as gc.reflogExpire says; older commands
    are forgotten, and undo cannot reach them. Parts of kept session files that nothing reads are deleted. Then the
    rest is compressed again and the files are rewritten. Other commands may run meanwhile. tract never does this
    unasked.
    
    With `keep`, or gc.keep, it first removes imported sessions that are neither among the newest so many nor
    of the last so many days. It lists the sessions that it removes. `tract undo` restores them for 90 days, or not at
    all where `expire` is now. A session stays if a branch of your own, a tag or a HEAD leads to it. It stays if
    commits of it were taken over, and while its file is in its place, for an import would bring it back. It also
    stays if a purge erased anything in it, for its file would bring that back.
    
    To erase something so that nobody can read it again: purge, or `tract clear --purge`."""
    expire: Optional[Union[str, float]]
    """Forget commands older than this: a number of days, now, or never"""
    keep: Optional[Union[str, float]]
    """Which imported sessions are kept: so many, days such as 90d, both (100,90d), or all"""
    dry_run: bool
    """Change nothing; say what would go"""


class PurgeParams(TypedDict, total=False):
    """Erase messages from history, for good
    
    Erases the messages that you name, or those that `match` finds, on every branch, hidden or not. They read
    `[purged]` from then on. Commits keep their hashes, but for notes. No undo brings the messages back, and neither
    does importing the session again; an undo that would show them is refused from then on, all others still work, and
    a dry run lists those that end. Kept files of sessions that hold any of it are erased too, and so are titles and
    tags' notes that contain it; names of branches and other refs stay, and are listed. A commit's note, and the
    reason of a pin, are hashed with it. Where one matches, that commit and all later ones get other names. Branches
    and tags follow, and undo reaches back no further. Clones and bundles keep such a note, and a fetch from one brings it
    back: purge there as well. Request settings cannot be erased: if the text is there,
    nothing is done.
    
    The expression is read as `tract find -E` reads it: case does not matter, unless it begins with (?-i).
    It is matched against the text itself, however JSON spells it. `tract redact` is the gentler deed:
    it takes secrets out of the context only, and undo brings them back."""
    revs: List[str]
    """The messages to erase"""
    match: Optional[str]
    """All messages that match this"""
    force: bool
    """Confirm that it is erased for good"""
    dry_run: bool
    """Say what would go, and change nothing"""


class FsckParams(TypedDict, total=False):
    """Check the repository for damage, and repair it if asked
    
    Checks every page, row, message, commit and kept session file against its name, checksum or
    fingerprint; each ref against its log; token counts, checkpoints, totals and the search index
    against the messages; and reads the context of every branch, tag and session. Damage is listed, with
    what still compiles; the exit code is then 3.
    
    `repair` rebuilds what can be rebuilt from the rest: indexes, listings, token counts, checkpoints,
    the search index, refs from their logs, and places of commits. Rows that nothing confirms are set
    aside, into the table quarantine of the database. Intact messages and commits are never touched. A
    message or commit that was set aside comes back when it is imported again."""
    repair: bool
    """Rebuild what can be rebuilt, and set damaged rows aside"""
    requests: bool
    """Only check each request that a client recorded against the client's own hash"""


class DoctorParams(TypedDict):
    """Check the database that keeps the repository, and its backups
    
    Versions, size, connections, locks, whether a commit is on the disk when it is acknowledged, encryption,
    statistics, backups, what is owed, and clocks. Each is good, look (it needs attention; with a way out) or unknown
    (you may not see it, or nobody keeps it). Nothing is changed. tract fsck checks the messages and commits
    themselves; what takes up space, tract du."""
    pass


class DuParams(TypedDict):
    """Show what takes up space
    
    First the files, page by page, to the last byte. Then the messages: by what needs them, by role, by tool, and by
    branch, tag and session; each with its stored (compressed) size and its length. Messages that several branches
    share count for each of them; a column has the share that only one of them needs. Then the session files that
    imports keep."""
    pass


class _BackupParams(TypedDict):
    """Copy the whole repository into one file
    
    The copy shows one moment, even while others write. It needs no other file, and it is checked before
    it gets its name."""
    file: str
    """The file to write"""


class BackupParams(_BackupParams, total=False):
    """Copy the whole repository into one file
    
    The copy shows one moment, even while others write. It needs no other file, and it is checked before
    it gets its name."""
    force: bool
    """Overwrite an existing file"""


class ConfigParams(TypedDict, total=False):
    """Tell the repository's settings, or change one"""
    key: Optional[str]
    """The setting; without it, all settings are listed"""
    value: Optional[Union[str, float, bool]]
    """The new value; without it, the present value is printed"""
    unset: bool
    """Remove the setting"""


class _ImportAnswer(TypedDict):
    """What came in."""
    sessions: List[ImportedFacts]
    """The sessions in the files."""
    problem_count: int
    """How many problems the files have. They are no reason not to take the rest."""


class ImportAnswer(_ImportAnswer, total=False):
    """What came in."""
    bases: List[ImportedFacts]
    """Those that they begin with, which came in before them, from files of their own."""
    agents: List[ImportedFacts]
    """Those of their sub-agents that came in with them, from files of their own."""
    problems: List[str]
    """The first of each file."""
    notes: List[str]
    """What is odd in the files and does no harm, such as a line that is still being written."""
    passed_over: List[str]
    """The files of named directories that are no session's."""
    appended: Optional[int]
    """How many commits `onto` got."""


class _ImportedFacts(TypedDict):
    """A session that came in."""
    name: str
    """Its ref, which is a revision."""
    format: str
    """The format of its file."""
    outcome: str
    """How it relates to what was here: new, grown, unchanged, rewritten, or gone on elsewhere."""
    messages: int
    """Its messages, hidden ones included; of a grown file, those of its end."""
    new_commits: int
    """Commits that were not here before."""
    follows: bool
    """Whether that branch is where the session is."""


class ImportedFacts(_ImportedFacts, total=False):
    """A session that came in."""
    title: Optional[str]
    """Its title. What somebody else wrote."""
    hides: Dict[str, int]
    """How often its tool hid messages on its main path, by the kind of the hide."""
    commit: Optional[str]
    """Its newest commit."""
    branch: Optional[str]
    """The branch that follows it, or that has gone its own way."""


class SessionsAnswer(TypedDict):
    """Sessions."""
    sessions: List[SessionHere]
    """Those that came in, by their refs' names."""


class _SessionHere(TypedDict):
    """A session that came in."""
    name: str
    """Its ref, which is a revision."""
    is_gone: bool
    """Whether its file is gone."""
    is_agents: bool
    """Whether an agent of another session did it: it is counted with that one."""


class SessionHere(_SessionHere, total=False):
    """A session that came in."""
    directory: Optional[str]
    """The working directory that it ran in. What somebody else wrote."""


class _ExportAnswer(TypedDict):
    """A session's file."""
    format: str
    """Its format."""
    content: str
    """Its text."""
    untouched: int
    """How many messages are as they came in."""
    written: int
    """How many were written anew, or stand on a page."""


class ExportAnswer(_ExportAnswer, total=False):
    """A session's file."""
    remarks: List[str]
    """What the format could not hold, or what was left out."""


class _DatasetAnswer(TypedDict):
    """A data set."""
    rows: int
    """Rows."""
    duplicates: int
    """Rows that say the same as one before, and were left out."""
    left_out: int
    """Pictures, files and blocks of a provider that are in no row."""
    hidden: int
    """Hidden messages, which are in no row, as what they cost is not."""


class DatasetAnswer(_DatasetAnswer, total=False):
    """A data set."""
    redacted: Dict[str, int]
    """What was replaced, by its kind, with how often."""
    content: Optional[str]
    """The rows, where no file was named."""


class _ResumeAnswer(TypedDict):
    """A session that was written."""
    id: str
    """Its id."""
    path: str
    """Its file."""
    directory: str
    """The working directory that it is of."""
    commands: List[List[str]]
    """The commands that go on with it, word by word, to be run there one after the other."""


class ResumeAnswer(_ResumeAnswer, total=False):
    """A session that was written."""
    remarks: List[str]
    """What the tool cannot hold."""


class _StatusAnswer(TypedDict):
    """Where one is, and how full the context is."""
    position: Position
    """Where HEAD, or the branch that is meant, stands."""
    messages: int
    """Visible messages."""
    hidden: int
    """Hidden messages."""
    hides: List[List[Union[str, int]]]
    """The active hides of each kind that has any."""
    tokens: Tokens
    """The context's tokens, by tract's own count."""
    by_role: List[List[Union[str, int]]]
    """The tokens of each role that speaks; what a client says in the user's name is `injected`."""
    session_new: int
    """How many messages of that session came in after the branch left it."""
    recent: List[LogEntry]
    """The newest commits, newest first, without the refs that point at them."""


class StatusAnswer(_StatusAnswer, total=False):
    """Where one is, and how full the context is."""
    provider_tokens: Optional[List[int]]
    """The least and the most that it may have by the provider's count, where replies tell that."""
    budget: Optional[int]
    """The budget (`budget.max`), in tokens."""
    largest: Optional[LargestMessage]
    """The largest message."""
    session: Optional[SessionFacts]
    """The session that this history came from."""
    cache: Optional[CacheState]
    """Whether the provider's cache still has the context, where that is known."""
    spending: Optional[Spending]
    """How the budgets of money stand that are set (`budget.day`, `budget.month`)."""
    merging: Optional[str]
    """What is merged there and has conflicts."""
    running: List[RunningFacts]
    """Agents and shells in the background that have no end in the session: they may run still. On a server only with
    `verbose`."""
    upstream: Optional[UpstreamFacts]
    """The branch of a remote that this one follows."""
    unread: List[UnreadFacts]
    """The files that could not be read and are still there."""
    checked_ms: Optional[int]
    """When all was checked for damage last, in milliseconds since 1970; none: never."""
    fills: List[Filling]
    """With `verbose` what fills the context, the largest first. Together they are the context's tokens."""
    largest_messages: List[LargestMessage]
    """With `verbose` the largest messages, the largest first."""
    prune_tokens: Optional[int]
    """With `verbose` the tokens that a prune would give back."""
    prune_most_tokens: Optional[int]
    """With `verbose` the tokens that a prune of all that it may take would give back."""


class Position(TypedDict, total=False):
    """Where HEAD, or the branch that is meant, stands."""
    branch: Optional[str]
    """The branch; none: HEAD is detached."""
    commit: Optional[str]
    """The commit; none: the branch has no commits yet."""


class _Tokens(TypedDict):
    """A number of tokens."""
    tokens: int
    """How many."""


class Tokens(_Tokens, total=False):
    """A number of tokens."""
    estimated: bool
    """Whether part of it is an estimate."""


class _LargestMessage(TypedDict):
    """The largest message of a context."""
    number: int
    """Its number among the visible ones, from 1."""
    role: str
    """Who speaks."""
    tokens: Tokens
    """Its tokens."""
    preview: str
    """One line of it. What somebody else wrote: escape it before it is shown."""


class LargestMessage(_LargestMessage, total=False):
    """The largest message of a context."""
    answers: Optional[str]
    """The tool calls that it answers, in a line; likewise."""


class _SessionFacts(TypedDict):
    """What is known of a session."""
    name: str
    """Its ref."""


class SessionFacts(_SessionFacts, total=False):
    """What is known of a session."""
    title: Optional[str]
    """Its title. What somebody else wrote."""
    directory: Optional[str]
    """The working directory that it ran in; likewise."""
    absent: List[str]
    """What its file lacks of what the model was sent."""


class CacheState(TypedDict):
    """How a provider's cache stands."""
    is_cold: bool
    """Whether it no longer has what it was given."""
    age_ms: int
    """How old the newest reply is, in milliseconds."""
    life_ms: int
    """How long the cache keeps what it has, in milliseconds."""
    reply: str
    """The newest reply."""
    counted: Counted
    """What was counted for it."""


class Counted(TypedDict):
    """What a provider counted, in tokens."""
    input_tokens: int
    """All input, cached or not."""
    cached_tokens: int
    """What of the input was read from the provider's cache."""
    written_tokens: int
    """What of the input was written to it."""
    written_hour_tokens: int
    """What of that is kept for an hour; the rest is kept for minutes."""
    output_tokens: int
    """The replies, reasoning included."""
    reasoning_tokens: int
    """What of the replies was reasoning."""


class _Spending(TypedDict):
    """How budgets of money stand."""
    budgets: List[MoneyBudget]
    """Those that are set."""


class Spending(_Spending, total=False):
    """How budgets of money stand."""
    other_requests: Optional[CostRow]
    """What requests came to that no reply shows: nobody says on which day, and they are in no budget."""
    forecast: Optional[MonthForecast]
    """What this month comes to; none where fewer than three days before today are known."""


class _MoneyBudget(TypedDict):
    """What a day or a month may cost, and what it has cost."""
    setting: str
    """The setting: `budget.day` or `budget.month`."""
    limit_dollars: float
    """What it may cost, in US dollars."""
    spent_dollars: float
    """What it has cost so far, in US dollars."""
    unpriced: int
    """How many of its replies have no price. They are not in the sum."""


class MoneyBudget(_MoneyBudget, total=False):
    """What a day or a month may cost, and what it has cost."""
    directory: Optional[str]
    """The directory of which it is, with its worktrees and the folders in it; none: of all."""
    short_outputs: int
    """How many were counted for less output than they say: the sum is at least this."""
    untimed: int
    """How many replies have no time: what they cost may be of this day or month, and is not in the sum. A stream
    may name none; one that is recorded has the time of that."""
    untimed_dollars: float
    """What those cost, in US dollars."""


class _CostRow(TypedDict):
    """What some replies cost."""
    name: str
    """What they have in common: a session's ref, a model, a directory, a message's commit. Empty where none is known."""
    replies: int
    """How many replies; of a message, in how many requests it was sent."""
    unpriced: int
    """How many of them have no price. They are not in the sum."""
    dollars: float
    """In US dollars."""
    counted: Counted
    """What was counted."""


class CostRow(_CostRow, total=False):
    """What some replies cost."""
    messages: Optional[int]
    """Of a tool's results and other messages: how many there are."""
    title: Optional[str]
    """Of a session: its title. What somebody else wrote: escape it before it is shown."""
    role: Optional[str]
    """Of a message: who speaks."""
    preview: Optional[str]
    """One line of it. What somebody else wrote: escape it before it is shown."""
    call: Optional[str]
    """The call that it answers. What somebody else wrote."""
    short_outputs: int
    """How many were counted for less output than they say, as where a client keeps what the first chunk of a stream counts:
    their output is at least what was counted, and the sum at least `dollars`."""


class MonthForecast(TypedDict):
    """What a month comes to."""
    dollars: float
    """In US dollars, if the days that are left cost what the last 28 days cost on average."""
    least_dollars: float
    """The least, in US dollars: in one of ten months it is less."""
    most_dollars: float
    """The most, in US dollars: in one of ten months it is more."""


class _RunningFacts(TypedDict):
    """An agent or a shell in the background that has no end in the session."""
    id: str
    """The client's name for it. What somebody else wrote."""
    kind: str
    """agent or shell."""
    what: str
    """Its prompt or its command. What somebody else wrote: escape it before it is shown."""
    message: str
    """The message that told of its start."""
    is_stale: bool
    """Whether that is more than a day ago: then nothing tells whether it still runs."""


class RunningFacts(_RunningFacts, total=False):
    """An agent or a shell in the background that has no end in the session."""
    agent: Optional[str]
    """The sub-agent that started it, where the session did not do so itself: the client's name for it. What somebody else
    wrote."""
    since_ms: Optional[int]
    """When it was started, in milliseconds since 1970."""
    last_record_ms: Optional[int]
    """When the newest message of the session was said, in milliseconds since 1970."""


class _LogEntry(TypedDict):
    """A commit, as a log lists it."""
    hash: str
    """Its hash, 64 hex digits."""
    operation: str
    """What it does: append, edit, hide, restore or annotate."""
    preview: str
    """One line of that message. What somebody else wrote: escape it before it is shown."""
    delta_tokens: int
    """The change in the context's tokens."""
    delta_messages: int
    """The change in the number of visible messages."""
    context_tokens: Tokens
    """The context's tokens at this commit."""


class LogEntry(_LogEntry, total=False):
    """A commit, as a log lists it."""
    parent: Optional[str]
    """The commit before it; none of a first one."""
    merged: Optional[str]
    """The end of the other branch that it merged."""
    origin: Optional[str]
    """The commit of another branch of which it is a copy."""
    time_ms: Optional[int]
    """When, in milliseconds since 1970; none where nobody knows."""
    kind: Optional[str]
    """The kind of a hide: truncation, compaction, clear, drop or prune."""
    role: Optional[str]
    """Who speaks in the message that it brings or is about."""
    injected: bool
    """Whether a client says that in the user's name."""
    answers: Optional[str]
    """The tool calls that this message answers, in a line; likewise."""
    number: Optional[int]
    """The number of that message among the visible ones, from 1; none if it is hidden."""
    settings: Dict[str, Any]
    """The request settings that it sets."""
    note: Optional[str]
    """A remark for people."""
    author: Optional[AuthorFacts]
    """Who made it, where that was said."""
    refs: List[str]
    """The refs that point here."""


class AuthorFacts(TypedDict, total=False):
    """Who made a commit. What somebody else wrote: escape it before it is shown."""
    name: Optional[str]
    """A person, or a program in their place."""
    client: Optional[str]
    """The program that committed, and its version."""
    run: Optional[str]
    """An id of what it was about."""


class UpstreamFacts(TypedDict):
    """The branch of a remote that a branch follows, where it was last seen."""
    name: str
    """What it is called here."""
    ahead: int
    """How many commits only the branch here has."""
    behind: int
    """How many only the other has."""


class UnreadFacts(TypedDict):
    """A file that could not be read."""
    path: str
    """Its full path."""
    why: str
    """What is wrong. It may hold what somebody else wrote."""
    since_ms: int
    """Since when that is known, in milliseconds since 1970."""


class _Filling(TypedDict):
    """A kind of thing that fills a context."""
    kind: str
    """What it is: text, thinking, tool, media, attached, or unasked: results without a call."""
    tokens: Tokens
    """Its tokens."""
    parts: int
    """In how many parts of messages it is."""


class Filling(_Filling, total=False):
    """A kind of thing that fills a context."""
    tool: Optional[str]
    """The tool. What somebody else wrote."""


class _LogAnswer(TypedDict):
    """Commits, or what was asked for instead, newest first unless `reverse` is given."""
    commits: List[LogEntry]
    """The commits."""
    more: bool
    """Whether there are older ones."""


class LogAnswer(_LogAnswer, total=False):
    """Commits, or what was asked for instead, newest first unless `reverse` is given."""
    edits: List[FileEditFacts]
    """With `file` and `files` the edits."""
    files: List[EditedFileFacts]
    """With `file` and `files` what these edits come to, by file."""
    requests: List[ListedRequest]
    """With `requests` what the client sent."""
    problems: List[str]
    """What is wrong with the records of requests."""
    merged_prompts: Optional[int]
    """With `prompts` or the role `user`: how many prompts are on paths that merges brought in, and so are not listed."""


class _FileEditFacts(TypedDict):
    """An edit of a file. What others wrote: escape it before it is shown."""
    id: str
    """The message that calls."""
    tool: str
    """The tool."""
    path: str
    """The file, as the call spells it."""
    kind: str
    """In what way: changed, written, deleted, moved."""
    lines_added: int
    """How many lines came."""
    lines_removed: int
    """How many lines went."""
    outcome: str
    """What came of it: done, failed, unanswered."""


class FileEditFacts(_FileEditFacts, total=False):
    """An edit of a file. What others wrote: escape it before it is shown."""
    number: Optional[int]
    """Its number among the visible messages, from 1; none if it is hidden."""
    time_ms: Optional[int]
    """When, in milliseconds since 1970."""
    moved_to: Optional[str]
    """What it is called since, where it was moved."""
    prompt: Optional[SaidBefore]
    """What the user had typed last."""
    reason: Optional[SaidBefore]
    """What the assistant said last before it, since that prompt."""


class SaidBefore(TypedDict):
    """What somebody said before."""
    id: str
    """The message."""
    text: str
    """What it says. What somebody else wrote: escape it before it is shown."""


class _EditedFileFacts(TypedDict):
    """What was done to a file."""
    path: str
    """The file, as the calls spell it. What others wrote."""
    edits: int
    """How many edits there were that did not fail."""
    failed: int
    """How many failed."""
    lines_added: int
    """How many lines came in those that did not fail."""
    lines_removed: int
    """How many lines went."""
    last: str
    """The newest edit."""


class EditedFileFacts(_EditedFileFacts, total=False):
    """What was done to a file."""
    last_ms: Optional[int]
    """When that was, in milliseconds since 1970."""


class _ListedRequest(TypedDict):
    """A request that a client recorded. What others wrote: escape it before it is shown."""
    id: str
    """Its id in the session's file."""
    messages: int
    """How many messages it has."""
    added: int
    """How many of them the request before it did not have."""
    is_answered: bool
    """Whether it was answered, here or on another path."""


class ListedRequest(_ListedRequest, total=False):
    """A request that a client recorded. What others wrote: escape it before it is shown."""
    time_ms: Optional[int]
    """When it was sent, in milliseconds since 1970."""
    model: Optional[str]
    """The model."""
    asked_by: Optional[str]
    """What of the client asked, in the client's words."""
    reply: Optional[str]
    """The commit that answered it on this path."""


class _ShowAnswer(TypedDict):
    """A commit with everything that belongs to it."""
    commit: LogEntry
    """The commit."""


class ShowAnswer(_ShowAnswer, total=False):
    """A commit with everything that belongs to it."""
    message: Optional[Dict[str, Any]]
    """The message that it appends or gives to an entry, in the form of docs/object-format.md."""
    replaced: Optional[Dict[str, Any]]
    """What an edit replaced."""
    replacements: List[Dict[str, Any]]
    """What a hide put in place: markers, summaries."""
    part: Optional[int]
    """The number of the part that was asked for, from 0: the message, or the replacement, holds that one alone."""
    edits: Optional[str]
    """The message that an edit is of."""
    hidden: List[TouchedMessage]
    """The messages that went hidden, oldest first."""
    stayed: List[TouchedMessage]
    """The messages that stayed between these, oldest first."""
    parts: List[HiddenPart]
    """The parts of messages that a hide took out."""
    returned: List[TouchedMessage]
    """The messages that came back, oldest first."""
    still_hidden: List[StillCovered]
    """What a restore was to bring back and another hide still covers."""
    annotated: List[TouchedMessage]
    """The messages that an annotation names."""
    tags: List[TagFacts]
    """The tags at the commit that keep a note."""
    agents: List[str]
    """The branches or sessions of the sub-agents that the message calls."""
    source: Optional[SourceRecords]
    """The records behind it."""
    counted: Optional[Counted]
    """What the provider counted for it, where it is a reply."""
    model: Optional[str]
    """The model that made it, where it is a reply that was counted."""
    dollars: Optional[float]
    """What it cost, in US dollars by the list price of its day; none where the model has no price."""
    stop: Optional[str]
    """Why the reply ended, in the vendor's word. What somebody else wrote."""
    tier: Optional[str]
    """The tier of service, likewise."""
    speed: Optional[str]
    """The speed, likewise."""
    since: Optional[ChangedSince]
    """What became of the message since, where HEAD is."""
    written: Optional[WrittenMedia]
    """With `image` what was written."""
    next: List[ShowAnswer]
    """The commits behind it, where a range was asked for."""


class TouchedMessage(TypedDict):
    """A message that a change hides, brings back or alters."""
    id: str
    """Its name, for `restore`, `pick`, `show` and all that takes a revision."""
    number: int
    """Its number among the visible messages, from 1: before the change; of one that comes, after it."""
    role: str
    """Who speaks."""
    preview: str
    """One line of it. What somebody else wrote: escape it before it is shown."""
    tokens: Tokens
    """Its tokens."""


class _HiddenPart(TypedDict):
    """A part of a message that a hide took out."""
    part: int
    """Which part it is, from 0."""


class HiddenPart(_HiddenPart, total=False):
    """A part of a message that a hide took out."""
    number: Optional[int]
    """The message's number before, from 1; none if it was hidden."""
    stub: Optional[str]
    """One line of what stands in its place. What somebody else wrote: escape it before it is shown."""


class StillCovered(TypedDict):
    """A message that another hide covers."""
    id: str
    """Its name."""
    hide: str
    """The commit that hides it."""
    kind: str
    """The kind of that hide."""


class _TagFacts(TypedDict):
    """A tag."""
    name: str
    """Its name."""
    commit: str
    """The commit that it names."""


class TagFacts(_TagFacts, total=False):
    """A tag."""
    message: Optional[str]
    """The note that it keeps."""
    time_ms: Optional[int]
    """When one with a note was made, in milliseconds since 1970."""


class SourceRecords(TypedDict):
    """Records of a session's file."""
    format: str
    """The format."""
    records: int
    """How many there are."""


class ChangedSince(TypedDict, total=False):
    """What became of a message."""
    edited: Optional[str]
    """The newest edit of it."""
    message: Optional[Dict[str, Any]]
    """The message as it reads now, where it is another one."""
    priorities: List[PriorityChange]
    """Each change of its priority, oldest first."""


class _PriorityChange(TypedDict):
    """A change of a message's priority."""
    commit: str
    """The commit."""
    priority: str
    """The priority."""


class PriorityChange(_PriorityChange, total=False):
    """A change of a message's priority."""
    reason: Optional[str]
    """The reason that was given."""


class _WrittenMedia(TypedDict):
    """A picture or file that was written."""
    bytes: int
    """How many bytes it has."""


class WrittenMedia(_WrittenMedia, total=False):
    """A picture or file that was written."""
    media_type: Optional[str]
    """Its media type, where that is known."""


class _ContextAnswer(TypedDict):
    """The visible messages at a commit."""
    total: int
    """How many visible messages there are, with those that are not in this answer."""
    messages: List[ContextMessage]
    """The messages that were asked for, in their order."""


class ContextAnswer(_ContextAnswer, total=False):
    """The visible messages at a commit."""
    commit: Optional[str]
    """The commit; none: there is none yet."""
    settings: Dict[str, Any]
    """The request settings in force."""


class _ContextMessage(TypedDict):
    """A visible message."""
    number: int
    """Its number, from 1: `:N` is the revision that names it."""
    id: str
    """Its name, which stays whatever becomes of the context."""
    tokens: Tokens
    """Its tokens."""
    message: Dict[str, Any]
    """The message, in the form of docs/object-format.md, "Content"."""


class ContextMessage(_ContextMessage, total=False):
    """A visible message."""
    priority: Optional[str]
    """Its priority, where it is not normal: pinned."""
    placed: Optional[str]
    """The kind of hide that put it in place of others; none of an appended message."""
    edited: bool
    """Whether it was edited."""
    masked: bool
    """Whether parts of it are hidden, or have a stub in their place."""


class _FindAnswer(TypedDict):
    """What was found."""
    found: List[FoundMessage]
    """The messages."""
    more: bool
    """Whether there are more: worse answers, or with `exact` and `regex` older ones."""


class FindAnswer(_FindAnswer, total=False):
    """What was found."""
    exact: bool
    """Whether the text was searched for as it is, so that the newest comes first: with `exact`, and where no message has
    the one word that was asked for."""


class _FoundMessage(TypedDict):
    """A message that was found."""
    commit: str
    """The commit that brought the text: a revision for `show`, `pick` and `restore`."""
    id: str
    """The message's name."""
    role: str
    """Who speaks."""
    lines: List[str]
    """The lines that match, in order; of a query, the best ones. What somebody else wrote: escape it before it is shown."""


class FoundMessage(_FoundMessage, total=False):
    """A message that was found."""
    time_ms: Optional[int]
    """When, in milliseconds since 1970."""
    injected: bool
    """Whether a client says it in the user's name."""
    branch: Optional[str]
    """The branch, tag or session that it was found on."""
    number: Optional[int]
    """Its number among the visible messages there, from 1; none if it is hidden."""
    hidden_by: Optional[str]
    """Why the text is not in the context there: the kind of a hide, part, edit, skip or restore."""
    hide: Optional[str]
    """The commit that hides it."""
    taken_back: Optional[Retraction]
    """That it was taken back: by a rewind, a drop, a skip or an edit. Such answers of a ranked search come last."""
    operation: Optional[str]
    """What the commit does, where it does not append: edit, or the kind of a hide."""
    answers: Optional[str]
    """The tool calls that the message answers, in a line. What somebody else wrote: escape it before it is shown."""
    is_own: bool
    """Whether it only repeats what tract, or another memory, told an agent; such answers come last."""
    session: Optional[str]
    """The session that it stands in."""
    directory: Optional[str]
    """The directory that the session ran in. What somebody else wrote."""
    went_on_from: Optional[str]
    """The session that it went on from, or was forked from."""
    title: Optional[str]
    """The title of the session that it stands in. What somebody else wrote."""
    before: List[FoundBeside]
    """With `context` the messages before it, oldest first, hidden ones included."""
    after: List[FoundBeside]
    """With `context` the messages after it, likewise."""


class Retraction(TypedDict, total=False):
    """That a text was taken back."""
    time_ms: Optional[int]
    """When, in milliseconds since 1970, where something says so."""
    id: Optional[str]
    """What shows the message that was chosen instead, where there is one: of an edit its commit."""
    instead: Optional[str]
    """One line of that. What somebody else wrote: escape it before it is shown."""


class _FoundBeside(TypedDict):
    """A message beside one that was found."""
    id: str
    """Its name."""
    role: str
    """Who speaks."""
    preview: str
    """One line of it. What somebody else wrote: escape it before it is shown."""


class FoundBeside(_FoundBeside, total=False):
    """A message beside one that was found."""
    number: Optional[int]
    """Its number among the visible messages, from 1; none if it is hidden."""


class ReadAnswer(TypedDict):
    """Messages in the conversation's order, hidden ones among them."""
    messages: List[ReadMessage]
    """They."""


class _ReadMessage(TypedDict):
    """A message, word for word."""
    id: str
    """Its name."""
    message: Dict[str, Any]
    """The message, in the form of docs/object-format.md, "Content"."""


class ReadMessage(_ReadMessage, total=False):
    """A message, word for word."""
    number: Optional[int]
    """Its number among the visible messages, from 1; none if it is hidden."""
    time_ms: Optional[int]
    """When, in milliseconds since 1970."""


class _DroppedAnswer(TypedDict):
    """What a hide took out of the context."""
    messages: int
    """How many messages it hid."""
    tokens: int
    """Their tokens."""
    prompts: List[DroppedText]
    """What a person typed among them."""
    files: List[DroppedFile]
    """The files that were read or changed in them."""
    commands: List[DroppedText]
    """The commands that were run in them."""


class DroppedAnswer(_DroppedAnswer, total=False):
    """What a hide took out of the context."""
    commit: Optional[str]
    """The hide; none: nothing was hidden."""
    kind: Optional[str]
    """Its kind: compaction, truncation or clear."""
    time_ms: Optional[int]
    """When, in milliseconds since 1970."""


class DroppedText(TypedDict):
    """A text among what was hidden. What somebody else wrote: escape it before it is shown."""
    id: str
    """The message that it stands in."""
    text: str
    """The text."""


class DroppedFile(TypedDict):
    """A file that hidden messages are about."""
    path: str
    """Its path, as the calls spell it. What somebody else wrote."""
    read: int
    """In how many calls it was named without being changed."""
    changed: int
    """In how many calls it was changed."""
    id: str
    """The last message that is about it."""


class _AuditAnswer(TypedDict):
    """What a hide took away."""
    messages: int
    """How many messages it hides still."""
    classes: List[AuditClass]
    """What they held, by class; a class of which they held nothing is left out."""
    findings: List[AuditFinding]
    """What nothing visible says, what is most likely to be missed first."""


class AuditAnswer(_AuditAnswer, total=False):
    """What a hide took away."""
    commit: Optional[str]
    """The hide; none: nothing was hidden."""
    kind: Optional[str]
    """Its kind: compaction, truncation, clear, drop or prune."""
    time_ms: Optional[int]
    """When, in milliseconds since 1970."""


AuditClass = TypedDict("AuditClass", {"class": "str", "held": "int", "said": "int", "lost": "int"}, total=False)
"""What hidden messages held of a class."""


AuditFinding = TypedDict("AuditFinding", {"class": "str", "text": "str", "outcome": "Optional[str]", "count": "int", "id": "str"}, total=False)
"""Something that nothing visible says. What somebody else wrote: escape it before it is shown."""


class DidAnswer(TypedDict):
    """What was done, the newest first."""
    acts: List[Act]
    """The calls."""


class _Act(TypedDict):
    """A tool call, and what came of it. What others wrote: escape it before it is shown."""
    id: str
    """The message that calls."""
    call: str
    """The call in a line."""
    is_error: bool
    """Whether the tool reported failure."""


class Act(_Act, total=False):
    """A tool call, and what came of it. What others wrote: escape it before it is shown."""
    time_ms: Optional[int]
    """When, in milliseconds since 1970."""
    lines: Optional[List[int]]
    """How many lines of files came and went, where it edits any."""
    result: Optional[str]
    """The end of what the tool gave back; none where it has given nothing."""
    next: Optional[str]
    """What the assistant said or did next, in a line."""
    directory: Optional[str]
    """The directory that the session ran in."""


class _BlameAnswer(TypedDict):
    """Where messages came from."""
    messages: List[BlamedMessage]
    """They, in the conversation's order."""


class BlameAnswer(_BlameAnswer, total=False):
    """Where messages came from."""
    lines: List[BlamedLine]
    """Of one message that is a summary: its lines."""


class _BlamedMessage(TypedDict):
    """A message, and where it came from."""
    id: str
    """Its name."""
    role: str
    """Who speaks."""
    preview: str
    """One line of it. What somebody else wrote: escape it before it is shown."""
    commit: str
    """The commit that gave it the text that it has."""
    operation: str
    """What that commit does: append, edit, or a kind of hide."""
    origin: str
    """The commit that brought the message first: another one where it was edited since."""


class BlamedMessage(_BlamedMessage, total=False):
    """A message, and where it came from."""
    number: Optional[int]
    """Its number among the visible messages, from 1; none if it is hidden."""
    injected: bool
    """Whether a client says it in the user's name."""
    time_ms: Optional[int]
    """When that was, in milliseconds since 1970."""
    session: Optional[str]
    """The session whose file that came from."""
    title: Optional[str]
    """Its title. What somebody else wrote."""
    client: Optional[str]
    """The program that it came from."""
    model: Optional[str]
    """The model in force then; likewise."""
    author: Optional[AuthorFacts]
    """Who made the commit, where that was said."""
    prompt: Optional[SaidBefore]
    """What the user had typed last before it."""
    steps: List[ProvenanceStep]
    """How it came here, the newest step first."""


ProvenanceStep = Dict[str, Any]
"""What was done with a message on its way."""


BlamedLine = TypedDict("BlamedLine", {"text": "str", "from": "Optional[SaidBefore]", "share": "Optional[float]"}, total=False)
"""A line of a summary."""


class AttestAnswer(TypedDict):
    """What a run was."""
    manifest: str
    """The manifest, as docs/attest.md has it: the text that is signed, byte for byte."""


class _DiffAnswer(TypedDict):
    """What differs."""
    after: str
    """The second commit."""
    changes: List[MessageChange]
    """The messages that differ, in the conversation's order."""
    delta_tokens: int
    """The change in tokens."""
    same_messages: int
    """How many messages at the beginning a provider is sent byte for byte the same."""
    same_bytes: int
    """How many bytes these are."""


class DiffAnswer(_DiffAnswer, total=False):
    """What differs."""
    before: Optional[str]
    """The first commit; none: the empty context before any."""
    is_edit: bool
    """Whether the second commit is an edit, and the first the one before it."""
    settings: List[ChangedSetting]
    """The request settings that differ and that no message's commit set."""
    sent: Optional[SentChanges]
    """With `sent` how the requests differ; nothing else is compared then."""


class _MessageChange(TypedDict):
    """A message that differs."""
    kind: str
    """What happened to it: added, removed, hidden, returned or modified."""
    id: str
    """Its name."""
    role: str
    """Who speaks."""
    delta_tokens: int
    """The change in tokens."""


class MessageChange(_MessageChange, total=False):
    """A message that differs."""
    before: Optional[int]
    """Its number in the first context, from 1."""
    after: Optional[int]
    """Its number in the second context, from 1."""
    settings: List[ChangedSetting]
    """The request settings that its commit changed."""


class ChangedSetting(TypedDict):
    """A request setting with another value."""
    key: str
    """Its key."""
    before: Any
    """Its value in the first context; null where it is not set."""
    after: Any
    """Its value in the second; likewise."""


class _SentChanges(TypedDict):
    """How two requests differ, as they were sent. What others wrote: escape it before it is shown."""
    differs: bool
    """Whether anything differs."""
    same_tools: int
    """How many tools are the same."""
    same_messages: int
    """How many messages at the beginning are the same."""
    messages: List[int]
    """How many messages each has."""


class SentChanges(_SentChanges, total=False):
    """How two requests differ, as they were sent. What others wrote: escape it before it is shown."""
    models: Optional[List[str]]
    """The models of both, where these are two."""
    system: List[SystemChange]
    """The blocks of the system prompt that differ."""
    removed_tools: List[str]
    """The tools that only the first has."""
    added_tools: List[str]
    """The tools that only the second has."""
    changed_tools: List[str]
    """The tools that have another definition."""
    moved_tools: bool
    """Whether the tools of both stand in another order."""
    parameters: List[str]
    """The parameters and headers that differ."""
    path: Optional[str]
    """The first difference in the first message that differs, as a path."""
    removed_breakpoints: List[str]
    """The breakpoints that only the first has."""
    added_breakpoints: List[str]
    """The breakpoints that only the second has."""
    first_byte: Optional[FirstByte]
    """The first byte that differs."""
    missed_tokens: Optional[int]
    """How many tokens the first left in the provider's cache that the second did not read; none where nobody knows."""
    missed_dollars: Optional[float]
    """What that cost, in US dollars by list prices; none where the model has no price."""


class _SystemChange(TypedDict):
    """A block of a system prompt that differs."""
    block: int
    """The number of the block, from 0."""
    line: int
    """The number of the first line that differs, from 1."""


class SystemChange(_SystemChange, total=False):
    """A block of a system prompt that differs."""
    before: Optional[str]
    """That line in the first request."""
    after: Optional[str]
    """That line in the second."""


class FirstByte(TypedDict):
    """The first byte that differs between two requests."""
    at: int
    """Its place in both."""
    bytes: List[int]
    """How many bytes each has."""
    path: str
    """What it belongs to, as a path."""


class _CostAnswer(TypedDict):
    """What replies cost at list prices."""
    list: str
    """Whose prices."""
    total: CostRow
    """All of them."""
    rows: List[CostRow]
    """The rows, the dearest first; days, weeks and months in their order."""


class CostAnswer(_CostAnswer, total=False):
    """What replies cost at list prices."""
    others: Optional[CostRow]
    """What the rows come to that `limit` leaves out."""
    misses: List[CacheMiss]
    """With `misses`, in place of rows: what caches had of each request."""
    causes: List[MissSum]
    """With `misses`, what each cause comes to, the dearest first."""
    unlisted: List[UnlistedCount]
    """What the list does not have of what the replies were billed for."""
    short_outputs: Optional[ShortOutputFacts]
    """What is missing in the recorded output of the replies, and so in their price."""
    stated: List[StatedSessionCost]
    """What clients say that their sessions cost, where the list says otherwise; told where all replies count."""
    directory: Optional[str]
    """The directory of which it is alone, where each has a HEAD of its own."""
    without_other_requests: bool
    """Whether other requests are left out of which no reply tells: of their sessions only some replies are meant."""
    sub_agents: Optional[CostRow]
    """With `rev`: what sub-agents of its session came to. They are not on the path to it, and in no sum here."""
    untimed: Optional[CostRow]
    """With `since` or `until`: what replies came to that have no time, as those of an imported stream. They are in no sum here."""
    away: List[CostRow]
    """Where no reply of `directory` is meant: the directories that have some in that time, the one with most first."""
    spending: Optional[Spending]
    """With `check`: how budgets of money stand."""


class _CacheMiss(TypedDict):
    """What a cache had of a request."""
    commit: str
    """The reply."""
    counted: Counted
    """What was counted for it."""
    missed_tokens: int
    """What of the input the request before had left in the cache, and was not read from there."""


class CacheMiss(_CacheMiss, total=False):
    """What a cache had of a request."""
    session: Optional[str]
    """Its session's ref."""
    time_ms: Optional[int]
    """When it was given, in milliseconds since 1970."""
    missed_dollars: Optional[float]
    """What that cost beyond reading it, in US dollars; none where the model has no price."""
    cause: Optional[CacheMissCause]
    """Why; none where nothing was missed."""


CacheMissCause = Dict[str, Any]
"""Why a cache did not have what it was given before. What others wrote: escape it before it is shown."""


class MissSum(TypedDict):
    """What misses come to that have a cause in common."""
    kind: str
    """The kind of the cause, as `cause.kind` of a miss."""
    misses: int
    """How many misses."""
    missed_tokens: int
    """What was missed."""
    missed_dollars: float
    """What that cost beyond reading it, in US dollars, where models have a price."""


class UnlistedCount(TypedDict):
    """What a list of prices does not have."""
    name: str
    """A count of usage records, such as `web_fetch_requests`, which is in no sum; or how replies were served, such as
    `speed fast`: they have the standard price."""
    count: int
    """How many; of a way to serve them, how many replies."""


class ShortOutputFacts(TypedDict):
    """What is missing in the recorded output of replies. The sums do not have it."""
    replies: int
    """How many replies were counted for less output than they say."""
    estimated_tokens: int
    """What is missing by the count of tract's own tokenizer: an estimate."""
    estimated_dollars: float
    """Its list price in US dollars: an estimate."""


class StatedSessionCost(TypedDict):
    """What a client says that a session cost, and what it comes to by the list of prices."""
    session: str
    """The session's ref."""
    dollars: float
    """By its client, in US dollars."""
    listed: float
    """By the list, in US dollars: what has no price there is not in it."""


class _StatsAnswer(TypedDict):
    """What was done."""
    total: StatsRow
    """All of it."""
    rows: List[StatsRow]
    """The rows: times in their order, revisions as they were given, anything else by time at work, tools by calls, files
    by edits."""
    left_out: int
    """How many rows or edits `limit` leaves out."""


class StatsAnswer(_StatsAnswer, total=False):
    """What was done."""
    edits: List[StatsEdit]
    """With `edits`, in place of rows: the newest first."""
    sub_agent_replies: int
    """With revisions: how many replies of sub-agents of their sessions were counted by a provider and are not in the sums, for
    they are on none of the paths."""
    untimed_replies: int
    """With `since` or `until`: how many replies have no time, as those of an imported stream, and are left out."""
    uncounted_replies: int
    """How many replies have no tokens of their own in the sums: no provider counted them one by one, or what they are copies of
    is not on these paths."""
    directory: Optional[str]
    """The directory of which it is alone, where each has a HEAD of its own."""


class _StatsRow(TypedDict):
    """What was done in some sessions, at some time, or with a tool or a file."""
    name: str
    """What it is of: a session's ref, a day, a tool, a file, a revision. Empty where none is known. What somebody else
    wrote: escape it before it is shown."""
    sessions: int
    """How many sessions had a part in it."""
    prompts: int
    """How many prompts the user typed; of a tool or a file, for how many it was used."""
    replies: int
    """How many replies there were."""
    calls: int
    """How many calls of tools."""
    failed: int
    """How many of these failed."""
    interrupted: int
    """How many have no result: they were interrupted, or still run."""
    edits: int
    """How many edits of files did not fail."""
    files: int
    """In how many files."""
    lines_added: int
    """How many lines came."""
    lines_removed: int
    """How many went."""
    active_ms: int
    """How long sessions were at work, in milliseconds. Pauses are left out."""
    model_ms: int
    """How long models wrote, in milliseconds. Agents that run side by side count each."""
    tools_ms: int
    """How long tools ran; likewise."""
    user_ms: int
    """How long the user read and wrote; likewise."""
    input_tokens: int
    """The input that providers counted, in tokens."""
    output_tokens: int
    """The output that they counted, in tokens."""


class StatsRow(_StatsRow, total=False):
    """What was done in some sessions, at some time, or with a tool or a file."""
    title: Optional[str]
    """Of a session: its title. What somebody else wrote."""
    first_ms: Optional[int]
    """The first time that is known, in milliseconds since 1970."""
    last_ms: Optional[int]
    """The last."""
    short_outputs: int
    """How many replies were counted for less output than they say: `output_tokens` is at least what they have."""


class _StatsEdit(TypedDict):
    """An edit of a file."""
    commit: str
    """The commit of the message that made it."""
    tool: str
    """The tool. What somebody else wrote."""
    path: str
    """The file, as the call spells it. What somebody else wrote."""
    outcome: str
    """What came of it: done, failed, or unanswered."""
    lines_added: int
    """How many lines came."""
    lines_removed: int
    """How many went."""


class StatsEdit(_StatsEdit, total=False):
    """An edit of a file."""
    time_ms: Optional[int]
    """When, in milliseconds since 1970."""
    session: Optional[str]
    """The session, by its ref."""
    prompt: Optional[str]
    """The commit of the prompt that it was made for."""
    prompt_preview: Optional[str]
    """A line of that prompt. What somebody else wrote."""


class CacheAnswer(TypedDict):
    """How the cache stands."""
    cache: Optional[CacheState]
    """Its state; none where no reply was counted with a cache."""


class _CompileAnswer(TypedDict):
    """A request."""
    commit: str
    """The commit whose context it is."""
    payload: Any
    """It, its keys in the order in which a provider is sent them; a string in the form `text`."""
    is_recorded: bool
    """Whether its client recorded it, so that it is what was sent."""


class CompileAnswer(_CompileAnswer, total=False):
    """A request."""
    notices: List[str]
    """What had to be repaired or left out, and what it lacks."""
    verified: Optional[VerifiedRequest]
    """Where `verify` asks for it: whether it is what was sent."""


class _VerifiedRequest(TypedDict):
    """What the client's own hash says of a request that it recorded."""
    is_proved: bool
    """Whether it is what was sent, byte for byte."""
    is_damaged: bool
    """Whether that is damage: the file's records make another request, or cannot tell one. Some clients give no hash."""


class VerifiedRequest(_VerifiedRequest, total=False):
    """What the client's own hash says of a request that it recorded."""
    digest: Optional[str]
    """The client's hash."""
    why: Optional[str]
    """Why it is not proved."""
    problems: List[str]
    """What is wrong with the records of requests in the session's file."""


class _BisectAnswer(TypedDict):
    """What to try, or what was found."""
    trials: int
    """How many trials were judged."""
    left: int
    """How many candidates are left."""
    has_more: bool
    """Whether there is more to it, or may be."""


class BisectAnswer(_BisectAnswer, total=False):
    """What to try, or what was found."""
    rev: Optional[str]
    """The context to try: a commit that no branch leads to. None: it is over."""
    end: Optional[str]
    """How it ended: found, both_good, both_bad, unjudged (an end could not be judged), unsure, contradiction."""
    causes: List[List[BisectSuspect]]
    """Sets of what makes it go wrong, each by itself; all members of one are needed. Of an unsure end: each that it may be."""
    confidence: Optional[float]
    """How sure that is, from 0 to 1."""
    without: Optional[str]
    """The context without what was found: a commit that no branch leads to."""


class _BisectSuspect(TypedDict):
    """What makes it go wrong, or may."""
    kind: str
    """What it is: message, part, hide, setting or commit."""


class BisectSuspect(_BisectSuspect, total=False):
    """What makes it go wrong, or may."""
    id: Optional[str]
    """The name of the message, or the commit."""
    number: Optional[int]
    """The message's number in the context, from 1."""
    part: Optional[int]
    """The part's number, from 0."""
    key: Optional[str]
    """The setting's key."""
    likely: Optional[float]
    """How likely it is, where the end is unsure."""


class _CommitAnswer(TypedDict):
    """What was committed."""
    commits: List[MadeCommit]
    """The commits, in the order of their messages; behind them what a budget made necessary."""


class CommitAnswer(_CommitAnswer, total=False):
    """What was committed."""
    moved: List[MadeCommit]
    """The commits that `moves` made, in their order."""
    budget: Optional[str]
    """What the budget made of it: fits, over, truncated, pruned, waits; none where no budget is set. An action that
    names a command (`compact:CMD`) is for the command line to run: here the next one is taken."""


class _MadeCommit(TypedDict):
    """A commit that was made."""
    hash: str
    """Its hash."""


class MadeCommit(_MadeCommit, total=False):
    """A commit that was made."""
    tokens: Optional[Tokens]
    """Its message's tokens. `log` adds 3 of the context itself to the first message."""


MoveAnswer = TypedDict("MoveAnswer", {"from": "Position", "to": "Position"}, total=False)
"""A move."""


class _Changed(TypedDict):
    """What a method changed in the context or, in a dry run, would change."""
    commits: List[str]
    """The commits that it made, oldest first; none in a dry run, or where there was nothing to do."""
    hidden: List[TouchedMessage]
    """The messages that went, oldest first."""
    shown: List[TouchedMessage]
    """The messages that came, or came back, oldest first."""
    changed: List[TouchedMessage]
    """The messages that stay with other parts or another text."""
    before: ContextSize
    """The context before."""
    after: ContextSize
    """The context after."""
    kept: ContextSize
    """How much of the beginning stays as it is: what a provider's prompt cache can still use."""


class Changed(_Changed, total=False):
    """What a method changed in the context or, in a dry run, would change."""
    still_hidden: List[StillHiddenFacts]
    """Which other hides still cover messages that a restore was to bring back."""
    staying: int
    """How many messages of a range stay beside the summary that replaces it: they are pinned, or calls and results of which
    the other half is outside."""


class ContextSize(TypedDict):
    """How large a context is."""
    messages: int
    """Visible messages."""
    tokens: Tokens
    """Their tokens, framing included."""


class StillHiddenFacts(TypedDict):
    """A hide because of which a restore does not bring back all that it uncovers."""
    by: str
    """Its commit; a restore of it brings them back."""
    kind: str
    """Its kind."""
    messages: int
    """How many messages it covers."""


class _ClearAnswer(TypedDict):
    """What was hidden and, of a purge, what was erased."""
    commits: List[str]
    """The commits that it made, oldest first; none in a dry run, or where there was nothing to do."""
    hidden: List[TouchedMessage]
    """The messages that went, oldest first."""
    shown: List[TouchedMessage]
    """The messages that came, or came back, oldest first."""
    changed: List[TouchedMessage]
    """The messages that stay with other parts or another text."""
    before: ContextSize
    """The context before."""
    after: ContextSize
    """The context after."""
    kept: ContextSize
    """How much of the beginning stays as it is: what a provider's prompt cache can still use."""


class ClearAnswer(_ClearAnswer, total=False):
    """What was hidden and, of a purge, what was erased."""
    still_hidden: List[StillHiddenFacts]
    """Which other hides still cover messages that a restore was to bring back."""
    staying: int
    """How many messages of a range stay beside the summary that replaces it: they are pinned, or calls and results of which
    the other half is outside."""
    erased: Optional[ErasedFacts]
    """What the purge erased, and what stays; none without a purge."""


class ErasedFacts(TypedDict):
    """What a purge erased, and what stays."""
    messages: int
    """The messages that read `[purged]` now."""
    session_files: int
    """The kept session files that were erased."""
    titles: int
    """Titles of sessions and notes of tags that said it."""
    notes: int
    """Notes and reasons of commits that said it."""
    renamed: int
    """The commits that have other names now, for a note of one before them was erased."""
    shared: int
    """The messages that stay, for other history or the context needs them."""
    kept_sessions: List[str]
    """The sessions whose kept file stays, for they have commits of their own."""
    names: List[str]
    """The refs whose names say it, and stay."""
    quoting: List[str]
    """The commits whose messages say all that an erased one said, and stay: a merge's, say."""
    is_held: bool
    """Whether files of the repository still hold what was erased, for others are at work. The next call that writes
    rewrites them."""


class _RedactAnswer(TypedDict):
    """What was changed, and why."""
    commits: List[str]
    """The commits that it made, oldest first; none in a dry run, or where there was nothing to do."""
    hidden: List[TouchedMessage]
    """The messages that went, oldest first."""
    shown: List[TouchedMessage]
    """The messages that came, or came back, oldest first."""
    changed: List[TouchedMessage]
    """The messages that stay with other parts or another text."""
    before: ContextSize
    """The context before."""
    after: ContextSize
    """The context after."""
    kept: ContextSize
    """How much of the beginning stays as it is: what a provider's prompt cache can still use."""
    secrets: Dict[str, int]
    """How many secrets of which kind they held."""


class RedactAnswer(_RedactAnswer, total=False):
    """What was changed, and why."""
    still_hidden: List[StillHiddenFacts]
    """Which other hides still cover messages that a restore was to bring back."""
    staying: int
    """How many messages of a range stay beside the summary that replaces it: they are pinned, or calls and results of which
    the other half is outside."""


class _OperationAnswer(TypedDict):
    """A command as the log of operations has it."""
    operation: int
    """Its number."""
    time_ms: int
    """When, in milliseconds since 1970."""
    what: str
    """What it was; texts of messages are left out."""
    undone: bool
    """Whether it is undone now."""
    moved: List[MovedRef]
    """The refs that it moved."""


class OperationAnswer(_OperationAnswer, total=False):
    """A command as the log of operations has it."""
    by: Optional[AuthorFacts]
    """Who did it, where that was said."""
    also: List[int]
    """The numbers of the commands that were undone, or done again, along with it, in that order."""
    captures: Optional[int]
    """How many commands stayed, for they only took something in."""
    final: bool
    """Whether redo does not bring back what was undone, for a purge came between."""


class MovedRef(TypedDict):
    """A ref that moved."""
    name: str
    """Its name."""
    old: Optional[str]
    """Where it was: a commit, a branch's name, or null where it was not there."""
    new: Optional[str]
    """Where it is; likewise."""


class _MergeAnswer(TypedDict):
    """What became of it."""
    state: str
    """here: there was nothing to do; forward: the branch went on to the other's end; made; conflicts: nothing was
    written, and the merge is under way; aborted."""
    messages: int
    """The other branch's own visible messages."""
    changes: int
    """How many changes of shared messages were made here as well."""
    left_out: List[str]
    """Changes of the other branch that could not be made here, by their commits."""
    conflicts: List[ConflictFacts]
    """The messages that both branches changed differently, as far as that is not settled."""


class MergeAnswer(_MergeAnswer, total=False):
    """What became of it."""
    changed: Optional[Changed]
    """What it changed in the context."""


class _ConflictFacts(TypedDict):
    """A message that both branches changed differently."""
    id: str
    """Its name."""
    kind: str
    """What both did, in a few words."""
    preview: str
    """One line of it. What somebody else wrote: escape it before it is shown."""


class ConflictFacts(_ConflictFacts, total=False):
    """A message that both branches changed differently."""
    number: Optional[int]
    """Its number among the visible ones, from 1; none if it is hidden."""


class ResolveAnswer(TypedDict):
    """What is still in conflict."""
    conflicts: List[ConflictFacts]
    """The messages that both branches changed differently, as far as that is not settled."""


RebaseAnswer = TypedDict("RebaseAnswer", {"moves": "bool", "from": "str", "to": "str", "steps": "List[RebasedCommit]", "tokens_before": "Tokens", "tokens_after": "Tokens", "kept": "int"}, total=False)
"""What a rebase did, or would do."""


class _RebasedCommit(TypedDict):
    """One of the branch's own commits."""
    commit: str
    """Its hash."""
    what: str
    """The word of its operation."""
    fate: str
    """What became of it: put, already, skipped, misfit, conflict."""


class RebasedCommit(_RebasedCommit, total=False):
    """One of the branch's own commits."""
    now: Optional[str]
    """What it is now, if it was put."""
    reason: Optional[str]
    """Why it does not fit."""
    conflicts: List[str]
    """The messages that both changed, by their names on the new base."""


class MovedAnswer(TypedDict):
    """What moved."""
    moved: List[MovedRef]
    """The branches, in the order in which they were given."""


class BranchesAnswer(TypedDict):
    """Branches, the one with the newest commit first."""
    branches: List[BranchFacts]
    """They."""
    more: bool
    """Whether there are more behind these."""


class _BranchFacts(TypedDict):
    """A branch."""
    name: str
    """Its name."""
    commit: str
    """Its newest commit."""
    is_head: bool
    """Whether HEAD is on it."""
    tokens: Tokens
    """The tokens of its context."""
    compactions: int
    """The compactions that are active in it."""


class BranchFacts(_BranchFacts, total=False):
    """A branch."""
    title: Optional[str]
    """The title of the session that it came from, or else its first prompt. What somebody else wrote."""
    session: Optional[str]
    """That session."""
    directory: Optional[str]
    """The directory that it ran in."""
    last_ms: Optional[int]
    """The time of its newest commit that has one, in milliseconds since 1970."""


class TagsAnswer(TypedDict):
    """Tags, by their names."""
    tags: List[TagFacts]
    """They."""


class _ReflogAnswer(TypedDict):
    """Commands, or with a ref where it was, newest first."""
    operations: List[OperationAnswer]
    """The commands."""


class ReflogAnswer(_ReflogAnswer, total=False):
    """Commands, or with a ref where it was, newest first."""
    moves: List[ReflogMove]
    """The moves of the ref."""


class _ReflogMove(TypedDict):
    """A move of a ref."""
    name: str
    """The revision that names where it went, such as `main@{2}`."""
    old: Optional[str]
    """Where it was before: a commit, a branch's name, or null where it was not there."""
    new: Optional[str]
    """Where it went; likewise."""
    operation: int
    """The number of the command."""
    time_ms: int
    """When, in milliseconds since 1970."""
    what: str
    """What the command was; texts of messages are left out."""


class ReflogMove(_ReflogMove, total=False):
    """A move of a ref."""
    by: Optional[AuthorFacts]
    """Who did it, where that was said."""


class _CarriedAnswer(TypedDict):
    """What was carried, and what became of refs."""
    commits: int
    """Commits that arrived."""
    messages: int
    """Messages that arrived."""
    size_bytes: int
    """How many bytes went."""
    refs: List[LandedFacts]
    """What became of each ref."""


class CarriedAnswer(_CarriedAnswer, total=False):
    """What was carried, and what became of refs."""
    stayed: List[str]
    """The refs that have commits which did not go; of a push alone."""
    without_file: int
    """How many of the sessions that are new here came without their session file."""
    gone: Optional[str]
    """Where the remote's branch was seen that the own one goes on with, if it is not there any more; of a pull alone."""
    would_send: Optional[int]
    """How many commits would go; of a dry run alone."""


class _LandedFacts(TypedDict):
    """What became of a ref."""
    name: str
    """Its name where it landed."""
    landed: str
    """new, grown, known, further, replaced or deleted; beside: a session went on here and there, and each stays; parted or unseen: it stayed, and its commits are not there;
    merged; conflicts: a merge is under way."""


class LandedFacts(_LandedFacts, total=False):
    """What became of a ref."""
    old: Optional[str]
    """Where it was."""
    new: Optional[str]
    """Where it was to be."""


class RemotesAnswer(TypedDict):
    """The remotes."""
    remotes: Dict[str, str]
    """Where they are, by their names."""


class BundleAnswer(TypedDict):
    """What a bundle holds."""
    commits: int
    """Commits."""
    messages: int
    """Messages."""
    session_files: int
    """Kept session files."""
    needs: List[str]
    """The commits that whoever reads it must have already."""
    replaced: int
    """How many secrets, or other names with `anonymous`, were replaced."""


class UnbundleAnswer(TypedDict):
    """What came in."""
    commits: int
    """Commits that were not here before."""
    messages: int
    """Messages likewise."""
    session_files: int
    """Kept session files likewise."""
    refs: List[ArrivedFacts]
    """The refs in the file."""
    erased: int
    """Messages that were erased here, and stay so."""
    left_out: int
    """Session files that were left out, because they may hold what was erased here."""


class ArrivedFacts(TypedDict):
    """A ref that came."""
    name: str
    """Its name here."""
    name_there: str
    """Its name in the file."""
    commit: str
    """Its commit in the file."""
    arrival: str
    """What became of it: new, grown, or known."""


class _GcAnswer(TypedDict):
    """What was taken out or, in a dry run, would be."""
    let_go: List[LetGoFacts]
    """The sessions that were let go: an undo brings them back."""
    commits: int
    """How many commits were deleted."""
    messages: int
    """How many messages."""
    message_bytes: int
    """Their size in bytes."""
    session_files: int
    """How many kept session files."""
    session_bytes: int
    """Their size in bytes."""
    operations: int
    """How many operations are forgotten."""
    aside: int
    """Damaged rows that a repair has set aside. While there are any, nothing that they may need is deleted."""
    killed_backups: List[str]
    """Copies that killed backups had left, by their paths."""


class GcAnswer(_GcAnswer, total=False):
    """What was taken out or, in a dry run, would be."""
    oldest: Optional[int]
    """The oldest operation that can be undone still, where some are forgotten and one is left."""
    size_bytes: Optional[List[int]]
    """The size of the files in bytes, before and after; none in a dry run."""
    unfinished: Optional[str]
    """Why the files could not be rewritten."""


class _LetGoFacts(TypedDict):
    """A session that is let go."""
    session: str
    """Its ref."""
    others: List[str]
    """The refs that go with it: what was taken back in it, its sub-agents, branches that only followed it."""


class LetGoFacts(_LetGoFacts, total=False):
    """A session that is let go."""
    title: Optional[str]
    """Its title."""
    last_ms: Optional[int]
    """When the last thing was said in it, in milliseconds since 1970."""


class PurgeAnswer(TypedDict, total=False):
    """What was erased or, in a dry run, would be."""
    erased: Optional[ErasedFacts]
    """What was erased, and what stays; none in a dry run."""
    would: Optional[ErasureFacts]
    """What would go; none where it went."""


class ErasureFacts(TypedDict):
    """What a purge would erase."""
    messages: List[ErasureMessage]
    """The messages, oldest first: the beginning of each."""
    session_files: List[str]
    """The sessions whose kept files hold any of it."""
    titles: List[str]
    """The sessions whose titles say it."""
    notes: List[str]
    """The commits whose notes say it. These and all behind them get other names."""
    tag_notes: List[str]
    """The tags whose notes say it."""
    names: List[str]
    """The refs whose names say it, and stay."""
    quoting: List[str]
    """The commits whose messages say all that one of these says, and stay."""
    ends: List[int]
    """The operations that could be undone, and could not any more, newest first."""


class _ErasureMessage(TypedDict):
    """A message that would be erased."""
    role: str
    """Who said it."""
    preview: str
    """Its beginning."""


class ErasureMessage(_ErasureMessage, total=False):
    """A message that would be erased."""
    commit: Optional[str]
    """The commit that brings it; none where no commit does any more."""


class _FsckAnswer(TypedDict):
    """What was found."""
    is_damaged: bool
    """Whether there is damage of any kind."""
    is_repairable: bool
    """Whether a repair helps."""
    faults: List[str]
    """What is not as it was written."""
    lost: List[str]
    """The refs that do not compile."""
    messages: int
    """How many messages were checked."""
    commits: int
    """How many commits."""
    session_files: int
    """How many kept session files."""
    aside: int
    """How many damaged rows are set aside, by this repair and earlier ones."""


class FsckAnswer(_FsckAnswer, total=False):
    """What was found."""
    set_aside: Optional[List[SetAsideRows]]
    """How many rows this repair has set aside, by their tables; none where it was not asked for."""
    requests: Optional[RequestCounts]
    """What a check of the recorded requests found, where that was asked for; nothing else was checked then."""


class SetAsideRows(TypedDict):
    """Rows that a repair has set aside."""
    table: str
    """Of which table."""
    rows: int
    """How many."""


class RequestCounts(TypedDict):
    """How many recorded requests are what was sent."""
    proved: int
    """How many are proved by their client's hash."""
    unproved: int
    """How many have no hash of all that was sent."""


class _DoctorAnswer(TypedDict):
    """What is good, and what is not."""
    is_good: bool
    """Whether nothing needs attention."""
    checks: List[HealthCheck]
    """What was looked at."""


class DoctorAnswer(_DoctorAnswer, total=False):
    """What is good, and what is not."""
    repository: Optional[str]
    """Where the repository is, without a password; absent for one in memory."""


class _HealthCheck(TypedDict):
    """One thing that was looked at."""
    topic: str
    """What it is about, in a word such as `locks`."""
    verdict: HealthVerdict
    """How it is."""
    says: str
    """What was found, in one line. It may hold what somebody else wrote: programs name themselves."""


class HealthCheck(_HealthCheck, total=False):
    """One thing that was looked at."""
    advice: Optional[str]
    """What to do about it."""
    facts: Dict[str, Any]
    """The figures behind it."""


HealthVerdict = Literal["good", "look", "unknown"]
"""How something is."""


class _DuAnswer(TypedDict):
    """What takes up space."""
    size_bytes: int
    """All files of the database, or all that a server keeps of it, in bytes."""
    files: List[RoomFacts]
    """What is in them, by its kind."""
    by_need: List[HeapFacts]
    """Messages by what needs them: shown, hidden (history has it), logged (only undo and reflog lead to it), or nothing."""
    by_role: List[HeapFacts]
    """The same by who speaks; what a client attached by itself."""
    by_tool: List[HeapFacts]
    """The same by tool, the largest first; messages without one have no name."""
    by_name: List[NamedRoomFacts]
    """Branches, tags and sessions, the largest first."""
    sessions: List[SessionRoomFacts]
    """What is kept of sessions' files, the largest first."""


class DuAnswer(_DuAnswer, total=False):
    """What takes up space."""
    beside: List[RoomFacts]
    """What lies beside them in the repository's folder: copies from before a restore, copies of a backup that was killed,
    and what is nobody's."""


class RoomFacts(TypedDict):
    """How much something takes."""
    name: str
    """What it is: a kind, or the path of a file."""
    size_bytes: int
    """In bytes."""


class HeapFacts(TypedDict):
    """Messages together."""
    name: str
    """What they have in common. What somebody else may have written."""
    messages: int
    """How many."""
    kept_bytes: int
    """What is kept of them, in bytes."""
    size_bytes: int
    """Their length, in bytes."""


class NamedRoomFacts(TypedDict):
    """What the path of some names holds that are in one place."""
    names: List[str]
    """The names, branches first."""
    messages: int
    """How many messages."""
    kept_bytes: int
    """What is kept of them, in bytes."""
    size_bytes: int
    """Their length, in bytes."""
    alone_bytes: int
    """What is kept of those that no other name's path holds, in bytes."""


class SessionRoomFacts(TypedDict):
    """What is kept of a session's files."""
    name: str
    """The session."""
    files: int
    """How many files: the newest, and older ones that it is no longer the beginning of."""
    kept_bytes: int
    """What is kept of them, in bytes."""
    size_bytes: int
    """Their length, in bytes."""
    older_bytes: int
    """What is kept of all but the newest, in bytes."""


class BackupAnswer(TypedDict):
    """What a backup holds."""
    messages: int
    """Messages."""
    commits: int
    """Commits."""
    session_files: int
    """Kept session files."""


class ConfigAnswer(TypedDict):
    """What is set."""
    settings: Dict[str, str]
    """The values by their keys; of one key, where one was asked for."""


class _ApiError(TypedDict):
    """What went wrong. Nothing was changed, unless the method says otherwise."""
    kind: str
    """Which error it is, in a word such as `unknown_revision`: what a program goes by."""
    message: str
    """What is wrong, in one line. It may hold what somebody else wrote."""
    exit_code: int
    """The exit code that the program would end with: 1 not allowed here, 2 wrong usage, 3 damaged data, 4 someone
    was first."""


class ApiError(_ApiError, total=False):
    """What went wrong. Nothing was changed, unless the method says otherwise."""
    hint: Optional[str]
    """What to do about it."""
    facts: Dict[str, Any]
    """What the error knows: the nearest name, the candidates, the budget."""
