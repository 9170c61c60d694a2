"""The methods, as Python calls them.

Written by `generate.py` from the interface itself. Do not edit.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from . import types


class Methods:
    """What a repository can be asked."""

    def _ask(self, method: str, params: Dict[str, Any]) -> Any:
        raise NotImplementedError

    def import_(self, paths: Optional[List[str]] = None, *, format: Optional[str] = None, as_: Optional[str] = None, onto: Optional[str] = None, redact: Optional[bool] = None, strict: Optional[bool] = None, new_only: Optional[bool] = None, dry_run: Optional[bool] = None) -> types.ImportAnswer:
        """Bring in sessions of coding agents, and other conversations.

        - `paths`: Session files, directories of them, or session ids
        - `format`: The format, instead of recognising it
        - `as_`: The name of the branch that follows the session
        - `onto`: Append what is new to this branch, after its own commits
        - `redact`: Write `[redacted:KIND]` in place of secrets, now and in later imports of these sessions
        - `strict`: Import nothing from a file that has a problem
        - `new_only`: Read only what has come since the last import, where that is enough
        - `dry_run`: Say what would come in, and import nothing
        """
        return self._ask("import", {"paths": paths, "format": format, "as": as_, "onto": onto, "redact": redact, "strict": strict, "new_only": new_only, "dry_run": dry_run})

    def sessions(self, directory: Optional[str] = None) -> types.SessionsAnswer:
        """Lists the sessions that were imported.

        - `directory`: Only those that ran in this directory or below it: by its path, or by its own name, as lists show it.
        """
        return self._ask("sessions", {"directory": directory})

    def export(self, rev: Optional[str] = None, *, format: Optional[str] = None, redact: Optional[bool] = None, allow_secrets: Optional[bool] = None, anonymous: Optional[bool] = None) -> types.ExportAnswer:
        """Write a session file, or a page to read.

        - `rev`: The commit whose context is written; HEAD unless given
        - `format`: One of the formats that import reads, html or markdown; by default the session's own
        - `redact`: Write `[redacted:KIND]` in place of secrets
        - `allow_secrets`: Write secrets, too
        - `anonymous`: As redact, and write person-1 and host-1 for logins, homes, hosts, mail addresses and names
        """
        return self._ask("export", {"rev": rev, "format": format, "redact": redact, "allow_secrets": allow_secrets, "anonymous": anonymous})

    def dataset(self, revs: Optional[List[str]] = None, *, all: Optional[bool] = None, rows: Optional[RowOf] = None, license: Optional[str] = None, keep_duplicates: Optional[bool] = None, allow_secrets: Optional[bool] = None, anonymous: Optional[bool] = None, output: Optional[str] = None, force: Optional[bool] = None) -> types.DatasetAnswer:
        """Write conversations as rows of a data set.

        - `revs`: Branches, sessions or commits; HEAD unless given. For pairs: the names of runs, or all
        - `all`: All sessions and branches
        - `rows`: The unit of a row; session unless given
        - `license`: The note on its licence that each row has
        - `keep_duplicates`: Write rows with the same messages, too
        - `allow_secrets`: Write secrets, too
        - `anonymous`: Write person-1 and host-1 for logins, homes, hosts, mail addresses and names
        - `output`: The file to write; without it, the rows are the answer
        - `force`: Overwrite an existing file
        """
        return self._ask("dataset", {"revs": revs, "all": all, "rows": rows, "license": license, "keep_duplicates": keep_duplicates, "allow_secrets": allow_secrets, "anonymous": anonymous, "output": output, "force": force})

    def resume(self, rev: Optional[str] = None, *, in_: Optional[str] = None, directory: Optional[str] = None, redact: Optional[bool] = None, allow_secrets: Optional[bool] = None, dry_run: Optional[bool] = None) -> types.ResumeAnswer:
        """Continue from a commit in a new session of a tool.

        - `rev`: The commit whose context is written; HEAD unless given
        - `in_`: The tool; by default the one that the session came from
        - `directory`: The directory where it is to run; by default that of the session, if it is there, or else the one here
        - `redact`: Write `[redacted:KIND]` in place of secrets
        - `allow_secrets`: Write secrets, too
        - `dry_run`: Say what would be written where, and write nothing; the id is another one each time
        """
        return self._ask("resume", {"rev": rev, "in": in_, "directory": directory, "redact": redact, "allow_secrets": allow_secrets, "dry_run": dry_run})

    def status(self, verbose: Optional[bool] = None) -> types.StatusAnswer:
        """Show where you are and how full the context is.

        - `verbose`: How tokens are counted, what they cost, what fills the context, and the largest messages
        """
        return self._ask("status", {"verbose": verbose})

    def log(self, rev: Optional[str] = None, *, limit: Optional[int] = None, op: Optional[List[str]] = None, role: Optional[str] = None, prompts: Optional[bool] = None, tool: Optional[str] = None, grep: Optional[str] = None, regex: Optional[bool] = None, since: Optional[Union[str, float]] = None, until: Optional[Union[str, float]] = None, author: Optional[str] = None, note: Optional[str] = None, model: Optional[str] = None, setting: Optional[str] = None, pinned: Optional[bool] = None, running: Optional[bool] = None, reverse: Optional[bool] = None, file: Optional[str] = None, files: Optional[bool] = None, requests: Optional[bool] = None) -> types.LogAnswer:
        """List commits, newest first.

        - `rev`: Where to begin, instead of HEAD; A..B: the commits from A to B; :3..5: those from message 3 to 5
        - `limit`: At most N; by default 20, with `files` all; 0: all
        - `op`: Only these: append, edit, hide, restore, annotate, or a kind of hide as listed
        - `role`: Only messages of this role; `user` leaves out what a client says in the user's name, which `injected` selects
        - `prompts`: Only what the user typed: no reminders, notices or echoes of commands
        - `tool`: Only calls of this tool, and their results
        - `grep`: Only messages with this text in them, whatever its case
        - `regex`: The text of `grep` is a regular expression
        - `since`: Only from then on: a date, or an age such as 3w or '2 days ago'
        - `until`: Only up to then
        - `author`: Only commits whose author has this in their name, program or run, whatever its case
        - `note`: Only commits with a note that has this in it, whatever its case
        - `model`: Only replies of a model with this in its name, whatever its case
        - `setting`: Only commits that set this: a request setting, or KEY=VALUE
        - `pinned`: Only messages that are pinned
        - `running`: Only what started agents and shells in the background that have no end in the session
        - `reverse`: Oldest first
        - `file`: Each edit of this file, by its path or the end of it
        - `files`: The files that were edited, and how many lines came and went
        - `requests`: The requests that the client sent, newest first
        """
        return self._ask("log", {"rev": rev, "limit": limit, "op": op, "role": role, "prompts": prompts, "tool": tool, "grep": grep, "regex": regex, "since": since, "until": until, "author": author, "note": note, "model": model, "setting": setting, "pinned": pinned, "running": running, "reverse": reverse, "file": file, "files": files, "requests": requests})

    def show(self, rev: Optional[str] = None, *, image: Optional[str] = None, which: Optional[int] = None, force: Optional[bool] = None) -> types.ShowAnswer:
        """Show one commit in full, or a range.

        - `rev`: The commit, instead of HEAD; REV#PART: a part of it; A..B: the commits from A to B; :3..5: messages 3 to 5
        - `image`: Write the picture or file in it to FILE, and print nothing
        - `which`: Which picture, if there are several, counted from 1
        - `force`: Overwrite an existing file
        """
        return self._ask("show", {"rev": rev, "image": image, "which": which, "force": force})

    def context(self, rev: Optional[str] = None, *, from_: Optional[int] = None, limit: Optional[int] = None) -> types.ContextAnswer:
        """Gives the messages that a model would be sent, in order.

        - `rev`: The commit whose context it is; HEAD's unless given.
        - `from_`: From this message on, counted from 1; from the end, if negative. All unless given.
        - `limit`: At most so many messages.
        """
        return self._ask("context", {"rev": rev, "from": from_, "limit": limit})

    def find(self, text: str, *, rev: Optional[str] = None, exact: Optional[bool] = None, regex: Optional[bool] = None, like: Optional[bool] = None, context: Optional[int] = None, hidden: Optional[bool] = None, session: Optional[str] = None, here: Optional[bool] = None, directory: Optional[str] = None, role: Optional[str] = None, op: Optional[List[str]] = None, tool: Optional[str] = None, path: Optional[str] = None, note: Optional[str] = None, model: Optional[str] = None, setting: Optional[str] = None, since: Optional[Union[str, float]] = None, until: Optional[Union[str, float]] = None, limit: Optional[int] = None, offset: Optional[int] = None) -> types.FindAnswer:
        """Search all messages, hidden ones too.

        - `text`: The words to find
        - `rev`: Only in the history of this commit or branch
        - `exact`: Find TEXT as it is, letter by letter
        - `regex`: TEXT is a regular expression
        - `like`: TEXT is a question or a sentence: find what means much the same, too, by the model that recall.model names
        - `context`: Show N messages before and after each
        - `hidden`: Only what is hidden
        - `session`: Only in this session and its sub-agents: its id or the beginning of it, or a branch of it
        - `here`: Only in sessions that ran in this directory or below it
        - `directory`: Only in sessions that ran in DIR or below it: a path, or the name that lists show
        - `role`: Only messages of this role; `user` leaves out what a client says in the user's name, which `injected` selects
        - `op`: Only what these brought: append, edit, hide, or a kind of hide as log lists it
        - `tool`: Only calls of this tool, and their results
        - `path`: Only calls that name this file, or the end of its path, and their results
        - `note`: Only messages of commits with a note that has this in it, whatever its case
        - `model`: Only replies of a model with this in its name, whatever its case
        - `setting`: Only messages of commits that set this: a request setting, or KEY=VALUE
        - `since`: Only from then on: a date, or an age such as 3w
        - `until`: Only up to then
        - `limit`: At most N messages; by default 20; 0: all
        - `offset`: Pass over the first N answers
        """
        return self._ask("find", {"text": text, "rev": rev, "exact": exact, "regex": regex, "like": like, "context": context, "hidden": hidden, "session": session, "here": here, "directory": directory, "role": role, "op": op, "tool": tool, "path": path, "note": note, "model": model, "setting": setting, "since": since, "until": until, "limit": limit, "offset": offset})

    def read(self, rev: str, last: Optional[str] = None, *, around: Optional[int] = None, within: Optional[str] = None, directory: Optional[str] = None) -> types.ReadAnswer:
        """Gives messages word for word with what stands around them, hidden ones among them.

        - `rev`: The message, wherever it is.
        - `last`: The last of several, in the conversation's order.
        - `around`: So many messages on each side, too, hidden ones among them.
        - `within`: Only if it is in the history of this commit.
        - `directory`: Only if it is in a conversation that ran in this directory or below it.
        """
        return self._ask("read", {"rev": rev, "last": last, "around": around, "within": within, "directory": directory})

    def dropped(self, rev: Optional[str] = None, *, within: Optional[str] = None, directory: Optional[str] = None) -> types.DroppedAnswer:
        """Says what a compaction hid: prompts, files, commands, each with its message.

        - `rev`: The compaction, truncation or clear; the newest on the path to HEAD unless given.
        - `within`: Whose newest compaction, truncation or clear; HEAD's path unless given. With `rev`, only one in the history of
                this commit.
        - `directory`: Only one in a conversation that ran in this directory or below it.
        """
        return self._ask("dropped", {"rev": rev, "within": within, "directory": directory})

    def audit(self, rev: Optional[str] = None, *, within: Optional[str] = None, limit: Optional[int] = None) -> types.AuditAnswer:
        """List what a compaction took away, and what of it is still there.

        - `rev`: The compaction, truncation or clear; the newest on this branch unless given
        - `within`: The history whose newest compaction, truncation or clear is meant, and in which facts are looked for; HEAD
                unless given
        - `limit`: At most N findings; 20 unless given, 0: all
        """
        return self._ask("audit", {"rev": rev, "within": within, "limit": limit})

    def did(self, path: Optional[str] = None, *, command: Optional[str] = None, error: Optional[str] = None, within: Optional[str] = None, directory: Optional[str] = None, limit: Optional[int] = None) -> types.DidAnswer:
        """Says what was done to a file, how a command ran, or what followed an error.

        - `path`: A file, or the end of its path: what was done to it.
        - `command`: A piece of a command: how it ran.
        - `error`: A piece of an error: what followed it.
        - `within`: Only in the history of this commit; in all history unless given.
        - `directory`: Only in conversations that ran in this directory or below it.
        - `limit`: At most so many; 10 unless given.
        """
        return self._ask("did", {"path": path, "command": command, "error": error, "within": within, "directory": directory, "limit": limit})

    def blame(self, message: Optional[str] = None, *, at: Optional[str] = None) -> types.BlameAnswer:
        """Say where messages came from.

        - `message`: One message, hidden or not: :N, REV:N, or its commit; all that are visible unless given
        - `at`: In the context of this commit; HEAD's unless given
        """
        return self._ask("blame", {"message": message, "at": at})

    def attest(self, rev: Optional[str] = None) -> types.AttestAnswer:
        """Say what a run was, to be signed.

        - `rev`: The branch, session or commit; HEAD unless given
        """
        return self._ask("attest", {"rev": rev})

    def diff(self, before: Optional[str] = None, after: Optional[str] = None, *, role: Optional[str] = None, tool: Optional[str] = None, exact_ids: Optional[bool] = None, format: Optional[str] = None, sent: Optional[bool] = None) -> types.DiffAnswer:
        """Compare what a model would be sent at two commits.

        - `before`: The first context, or A..B
        - `after`: The second context; HEAD unless given
        - `role`: Only messages of this role
        - `tool`: Only messages that call this tool, or answer such a call
        - `exact_ids`: Compare the ids of tool calls as well
        - `format`: The provider whose cache is asked about: openai, responses, anthropic, gemini or text
        - `sent`: Compare the requests of two replies as they were sent
        """
        return self._ask("diff", {"before": before, "after": after, "role": role, "tool": tool, "exact_ids": exact_ids, "format": format, "sent": sent})

    def cost(self, rev: Optional[str] = None, *, by: Optional[CostBy] = None, misses: Optional[bool] = None, all: Optional[bool] = None, check: Optional[bool] = None, limit: Optional[int] = None, since: Optional[Union[str, float]] = None, until: Optional[Union[str, float]] = None) -> types.CostAnswer:
        """Show what the replies of models cost.

        - `rev`: Only what is on the path to this commit
        - `by`: The grouping of the rows; session unless given
        - `misses`: A row for each reply: what its request read from the cache, wrote to it and missed, and why
        - `all`: In a repository where each directory has a HEAD of its own: of all directories
        - `check`: How budgets of money stand; the exit code is 1 where one is exceeded
        - `limit`: At most N rows, of times the newest, and one for the rest; 0: all. By default 20 messages or misses, or all of anything else
        - `since`: Only from then on: a date, or an age such as 3w or '2 days ago'
        - `until`: Only up to then
        """
        return self._ask("cost", {"rev": rev, "by": by, "misses": misses, "all": all, "check": check, "limit": limit, "since": since, "until": until})

    def stats(self, revs: Optional[List[str]] = None, *, by: Optional[StatsBy] = None, edits: Optional[bool] = None, all: Optional[bool] = None, limit: Optional[int] = None, since: Optional[Union[str, float]] = None, until: Optional[Union[str, float]] = None) -> types.StatsAnswer:
        """Show what was done: time at work, prompts, calls, edits.

        - `revs`: Only what is on the path to this commit; several are rows of their own
        - `by`: The grouping of the rows; session unless given
        - `edits`: The newest edits of files instead, each with its prompt
        - `all`: In a repository where each directory has a HEAD of its own: of all directories
        - `limit`: At most N rows, of dates the newest; 0: all. By default 20 edits, or all of anything else
        - `since`: Only from then on: a date, or an age such as 3w or '2 days ago'
        - `until`: Only up to then
        """
        return self._ask("stats", {"revs": revs, "by": by, "edits": edits, "all": all, "limit": limit, "since": since, "until": until})

    def cache(self, rev: Optional[str] = None) -> types.CacheAnswer:
        """Says whether the provider's prompt cache still has the context.

        - `rev`: The commit; HEAD's unless given.
        """
        return self._ask("cache", {"rev": rev})

    def _compile(self, format: Optional[str] = None, *, rev: Optional[str] = None, for_: Optional[str] = None, request: Optional[bool] = None, last: Optional[int] = None, without_thinking: Optional[bool] = None, strict: Optional[bool] = None, verify: Optional[bool] = None) -> types.CompileAnswer:
        """Print the request that a model would be sent.

        - `format`: openai, responses, anthropic, gemini or text
        - `rev`: The commit whose context is compiled; HEAD unless given
        - `for_`: The request that this reply answered
        - `request`: Add model, limits and tools, from the settings
        - `last`: Only the newest N messages, with the calls that their results answer; system and pinned messages stay
        - `without_thinking`: Leave the model's thinking out
        - `strict`: Fail if anything has to be repaired
        - `verify`: Say whether the recorded request is what was sent
        """
        return self._ask("compile", {"format": format, "rev": rev, "for": for_, "request": request, "last": last, "without_thinking": without_thinking, "strict": strict, "verify": verify})

    def bisect(self, bad: Optional[str] = None, *, good: Optional[str] = None, time: Optional[bool] = None, request: Optional[bool] = None, verdicts: Optional[List[str]] = None, runs: Optional[int] = None, confidence: Optional[float] = None) -> types.BisectAnswer:
        """Gives the next context to try, or which message, part, hide or setting makes it go wrong.

        - `bad`: The commit whose context goes wrong; HEAD's unless given.
        - `good`: A commit whose context goes well: what it has stays.
        - `time`: Look for the first commit after `good`, or after the first of all, that goes wrong.
        - `request`: Add model, limits and tools, from the settings; each may be why.
        - `verdicts`: The verdicts on the contexts that were given to try, in that order: good, bad or skip.
        - `runs`: How often each end is tried, where it goes wrong by chance. Once unless given.
        - `confidence`: How sure the answer is to be, where it goes wrong by chance. 0.95 unless given.
        """
        return self._ask("bisect", {"bad": bad, "good": good, "time": time, "request": request, "verdicts": verdicts, "runs": runs, "confidence": confidence})

    def commit(self, role: Optional[str] = None, message: Optional[Union[str, Dict[str, Any]]] = None, *, json: Any = None, batch: Optional[List[Any]] = None, events: Optional[List[Any]] = None, edit: Optional[str] = None, call: Optional[str] = None, model: Optional[str] = None, temperature: Optional[Union[str, float]] = None, max_tokens: Optional[Union[str, float]] = None, set: Optional[Dict[str, Any]] = None, tools: Any = None, note: Optional[str] = None, author: Optional[str] = None, client: Optional[str] = None, run: Optional[str] = None, expect: Optional[str] = None, after: Optional[str] = None, moves: Optional[List[BranchMoveParams]] = None, made_block: Optional[str] = None, unbudgeted: Optional[bool] = None, no_verify: Optional[bool] = None) -> types.CommitAnswer:
        """Append one message, or replace one.

        - `role`: system, developer, user, assistant or tool
        - `message`: The text
        - `json`: One message in a provider's form (OpenAI's or Anthropic's), or the response that holds it; on the command line a
                file (or -) with it
        - `batch`: Such messages: all are committed, or none; on the command line a file (or -) with one on each line
        - `events`: The events of a reply that was streamed, as a provider's API sends them; on the command line a file (or -)
                with one on each line. Keep the part before a stream broke off, marked as cut
        - `edit`: Replace the content of this message; the old one stays in history
        - `call`: The call that this tool result answers
        - `model`: The model, from here on
        - `temperature`: The temperature, from here on
        - `max_tokens`: The longest reply, from here on
        - `set`: Any other setting, by its key; on the command line VALUE is JSON or a plain text
        - `tools`: The tools that the model may call, a JSON array; on the command line a file with it
        - `note`: A remark for people; no model sees it
        - `author`: The author; by default the setting author.name, if there is one
        - `client`: The program that commits, and its version
        - `run`: An id of what that program is about
        - `expect`: Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
        - `after`: Commit behind REV (none: as a first one), not on the branch, which stays where it is. The methods advance and
                move bring a branch there; gc may take away what no branch has. No budget is kept
        - `moves`: Other branches that move in the same operation; on the command line each as JSON
        - `made_block`: Put a block of this type behind the last message's own. It names the commits that the moves make, in `commits`
        - `unbudgeted`: Keep no budget: for a branch that no model is sent
        - `no_verify`: Do not ask the command of hook.commit
        """
        return self._ask("commit", {"role": role, "message": message, "json": json, "batch": batch, "events": events, "edit": edit, "call": call, "model": model, "temperature": temperature, "max_tokens": max_tokens, "set": set, "tools": tools, "note": note, "author": author, "client": client, "run": run, "expect": expect, "after": after, "moves": moves, "made_block": made_block, "unbudgeted": unbudgeted, "no_verify": no_verify})

    def annotate(self, revs: List[str], *, pin: Optional[bool] = None, skip: Optional[bool] = None, normal: Optional[bool] = None, reason: Optional[str] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None, expect: Optional[str] = None) -> types.Changed:
        """Pin messages, skip them, or make them normal again.

        - `revs`: Messages
        - `pin`: Never hide these messages
        - `skip`: Leave these messages out of the context
        - `normal`: Neither pin nor skip them
        - `reason`: Why
        - `dry_run`: Say what would change, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        - `expect`: Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
        """
        return self._ask("annotate", {"revs": revs, "pin": pin, "skip": skip, "normal": normal, "reason": reason, "dry_run": dry_run, "limit": limit, "expect": expect})

    def shrink(self, to: Optional[Union[str, float]] = None, *, by_our_count: Optional[bool] = None, marker: Optional[str] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Make the context fit: tool outputs first, then old messages.

        - `to`: The tokens that are to be enough, or P% of budget.max, by the provider's count; by default budget.max
        - `by_our_count`: Measure by tract's own count, not by the provider's
        - `marker`: The text in place of hidden messages, instead of `[Sliding window truncation: N messages hidden …]`
        - `dry_run`: Say what would change, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return self._ask("shrink", {"to": to, "by_our_count": by_our_count, "marker": marker, "dry_run": dry_run, "limit": limit})

    def prune(self, turns: Optional[int] = None, *, protect: Optional[Union[str, float]] = None, min: Optional[Union[str, float]] = None, larger_than: Optional[Union[str, float]] = None, tool: Optional[List[str]] = None, to_budget: Optional[Union[str, float]] = None, by_our_count: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Replace old, big tool outputs with one line each; the calls stay.

        - `turns`: Leave the user's newest N turns alone; by default 2
        - `protect`: Before those, leave the newest N tokens of tool output alone; by default 40k
        - `min`: Do nothing unless it saves N tokens; by default 20k, or 0 with `to_budget`
        - `larger_than`: Only outputs of more than N tokens
        - `tool`: Only outputs of this tool (may be given several times)
        - `to_budget`: Shorten only as many, oldest first, as it takes to fit N tokens, or P% of budget.max, by the
                provider's count
        - `by_our_count`: Measure the budget by tract's own count, not by the provider's
        - `dry_run`: Say what would change, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return self._ask("prune", {"turns": turns, "protect": protect, "min": min, "larger_than": larger_than, "tool": tool, "to_budget": to_budget, "by_our_count": by_our_count, "dry_run": dry_run, "limit": limit})

    def drop(self, revs: List[str], *, force: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Hide the messages, or parts of messages, that you name.

        - `revs`: Messages, or REV#PART for a part
        - `force`: Allow the last user message and the task to go too
        - `dry_run`: Say what would go, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return self._ask("drop", {"revs": revs, "force": force, "dry_run": dry_run, "limit": limit})

    def truncate(self, keep: Optional[int] = None, *, fraction: Optional[Union[str, float]] = None, to_budget: Optional[Union[str, float]] = None, by_our_count: Optional[bool] = None, drop_first: Optional[bool] = None, marker: Optional[str] = None, marker_role: Optional[str] = None, no_marker: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Hide the oldest messages; the task and pinned ones stay.

        - `keep`: Hide all but the newest N
        - `fraction`: Hide this share of the messages, from 0 to 1, rounded down to an even number
        - `to_budget`: Hide the oldest exchanges until N tokens, or P% of budget.max, are enough, by the provider's
                count
        - `by_our_count`: Measure a budget by tract's own count, not by the provider's
        - `drop_first`: Allow the task to go too
        - `marker`: The text of the marker, instead of `[Sliding window truncation: N messages hidden …]`
        - `marker_role`: The role of the marker; by default user
        - `no_marker`: Leave no marker
        - `dry_run`: Say what would go, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return self._ask("truncate", {"keep": keep, "fraction": fraction, "to_budget": to_budget, "by_our_count": by_our_count, "drop_first": drop_first, "marker": marker, "marker_role": marker_role, "no_marker": no_marker, "dry_run": dry_run, "limit": limit})

    def compact(self, message: Optional[str] = None, *, strict: Optional[bool] = None, keep: Optional[int] = None, to: Optional[Union[str, float]] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None, range: Optional[str] = None) -> types.Changed:
        """Replace a span of messages with a summary.

        - `message`: The summary
        - `strict`: Refuse a summary that lacks a prompt, an open point or a pin
        - `keep`: Leave out the newest N messages
        - `to`: Summarise the oldest messages, as few as bring the context down to this: tokens, or a share of budget.max
        - `dry_run`: Change nothing; say what would go
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        - `range`: The span, both ends included
        """
        return self._ask("compact", {"message": message, "strict": strict, "keep": keep, "to": to, "dry_run": dry_run, "limit": limit, "range": range})

    def clear(self, all: Optional[bool] = None, *, dry_run: Optional[bool] = None, limit: Optional[int] = None, purge: Optional[bool] = None, force: Optional[bool] = None) -> types.ClearAnswer:
        """Hide everything but the system messages, to start over.

        - `all`: Hide the system messages too
        - `dry_run`: Change nothing; say what would go
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        - `purge`: Erase what came before, for good
        - `force`: Confirm that it is erased for good
        """
        return self._ask("clear", {"all": all, "dry_run": dry_run, "limit": limit, "purge": purge, "force": force})

    def redact(self, revs: Optional[List[str]] = None, *, all: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.RedactAnswer:
        """Replace secrets in the context with `[redacted:KIND]`.

        - `revs`: Only these messages
        - `all`: All visible messages, as without `revs`
        - `dry_run`: Say what would change, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return self._ask("redact", {"revs": revs, "all": all, "dry_run": dry_run, "limit": limit})

    def undo(self, operation: Optional[int] = None, *, force: Optional[bool] = None, to: Optional[int] = None, since: Optional[Union[str, float]] = None, captured: Optional[bool] = None, dry_run: Optional[bool] = None) -> types.OperationAnswer:
        """Reverse the last command that moved a branch, a tag or HEAD.

        - `operation`: The operation to reverse, instead of the newest one
        - `force`: Reverse OP although somebody else did it
        - `to`: Go back to right after this operation, which may be an undo
        - `since`: Reverse every operation since then: an age such as 10min or 2h, a date, or milliseconds since 1970
        - `captured`: With `to` or `since`, also reverse imports, recordings, and what a watch, a hook or an agent took in
        - `dry_run`: Say what would be reversed, and whose it is; change nothing
        """
        return self._ask("undo", {"operation": operation, "force": force, "to": to, "since": since, "captured": captured, "dry_run": dry_run})

    def redo(self, dry_run: Optional[bool] = None) -> types.OperationAnswer:
        """Reverse the last undo.

        - `dry_run`: Say what would be done again; change nothing
        """
        return self._ask("redo", {"dry_run": dry_run})

    def restore(self, revs: List[str], *, at_end: Optional[bool] = None, before: Optional[str] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Un-hide messages; everything later stays.

        - `revs`: Hides, edits, messages, or REV#PART
        - `at_end`: Leave it hidden and append a copy; earlier messages do not change
        - `before`: Move it to right before this visible message; earlier messages do not change
        - `dry_run`: Say what would come back, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return self._ask("restore", {"revs": revs, "at_end": at_end, "before": before, "dry_run": dry_run, "limit": limit})

    def pick(self, revs: List[str], *, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Copy messages from anywhere to the end.

        - `revs`: Messages, REV#PART, or commits that edit, hide, restore or pin
        - `dry_run`: Say what would be copied, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return self._ask("pick", {"revs": revs, "dry_run": dry_run, "limit": limit})

    def merge(self, rev: Optional[str] = None, *, messages: Optional[bool] = None, prompts: Optional[bool] = None, message: Optional[str] = None, ours: Optional[bool] = None, theirs: Optional[bool] = None, continue_: Optional[bool] = None, abort: Optional[bool] = None, allow_unrelated_histories: Optional[bool] = None, no_verify: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.MergeAnswer:
        """Bring another branch into this one.

        - `rev`: A branch, a session or a commit
        - `messages`: All of its messages
        - `prompts`: The prompts of the other branch, with their attachments
        - `message`: A summary of its messages, in place of its last answer
        - `ours`: In conflicts, what this branch has holds
        - `theirs`: In conflicts, what the other branch has holds
        - `continue_`: Go on with the merge that is under way
        - `abort`: Give up the merge that is under way
        - `allow_unrelated_histories`: Also where the two have nothing in common
        - `no_verify`: Do not ask the command of hook.merge
        - `dry_run`: Change nothing; say what would come, and what is in conflict
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return self._ask("merge", {"rev": rev, "messages": messages, "prompts": prompts, "message": message, "ours": ours, "theirs": theirs, "continue": continue_, "abort": abort, "allow_unrelated_histories": allow_unrelated_histories, "no_verify": no_verify, "dry_run": dry_run, "limit": limit})

    def resolve(self, revs: Optional[List[str]] = None, *, ours: Optional[bool] = None, theirs: Optional[bool] = None) -> types.ResolveAnswer:
        """Settle conflicts of a merge.

        - `revs`: Messages in conflict
        - `ours`: Keep this branch's text
        - `theirs`: Take the other branch's text
        """
        return self._ask("resolve", {"revs": revs, "ours": ours, "theirs": theirs})

    def revert(self, rev: str, *, force: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Do the opposite of one commit; what came later stays.

        - `rev`: The commit
        - `force`: Even if it is the task or the last user message
        - `dry_run`: Say what would change, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return self._ask("revert", {"rev": rev, "force": force, "dry_run": dry_run, "limit": limit})

    def rebase(self, onto: str, *, from_: Optional[str] = None, skip: Optional[List[str]] = None, ours: Optional[bool] = None, theirs: Optional[bool] = None, dry_run: Optional[bool] = None) -> types.RebaseAnswer:
        """Put the branch's own commits on another base.

        - `onto`: The new base: a branch or a commit
        - `from_`: Take the commits after this one
        - `skip`: Leave this commit behind; may be given several times
        - `ours`: Where both sides changed a message, leave it as `onto` has it
        - `theirs`: Where both sides changed a message, make it as this branch has it
        - `dry_run`: Say what would become of each commit, and change nothing
        """
        return self._ask("rebase", {"onto": onto, "from": from_, "skip": skip, "ours": ours, "theirs": theirs, "dry_run": dry_run})

    def reset(self, rev: Optional[str] = None, *, soft: Optional[bool] = None, hard: Optional[bool] = None, root: Optional[bool] = None, expect: Optional[str] = None, dry_run: Optional[bool] = None) -> types.MoveAnswer:
        """Move the branch back to a commit; what came later leaves it.

        - `rev`: The commit to move to
        - `soft`: Keep what came later under ORIG_HEAD (the default)
        - `hard`: Keep it in the reflog alone
        - `root`: Move to before the first commit
        - `expect`: Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
        - `dry_run`: Say where the branch would be, and change nothing
        """
        return self._ask("reset", {"rev": rev, "soft": soft, "hard": hard, "root": root, "expect": expect, "dry_run": dry_run})

    def move(self, moves: List[BranchMoveParams], *, what: Optional[str] = None) -> types.MovedAnswer:
        """Moves branches, each from where it is expected to be, as one operation: all of them, or none. Nothing but the log of operations keeps what they leave.

        - `moves`: The branches, in the order in which they move. One that goes to where it is expected is only looked at.
        - `what`: What the log of operations calls it.
        """
        return self._ask("move", {"moves": moves, "what": what})

    def checkout(self, rev: Optional[str] = None, *, new_branch: Optional[str] = None) -> types.MoveAnswer:
        """Switch to a branch, or look at an earlier commit.

        - `rev`: A branch, any other revision, or - for where HEAD was before
        - `new_branch`: Start a branch of this name, at REV or where HEAD is
        """
        return self._ask("checkout", {"rev": rev, "new_branch": new_branch})

    def branch(self, name: str, rev: Optional[str] = None, *, others: Optional[List[str]] = None, delete: Optional[bool] = None, rename: Optional[bool] = None) -> types.Position:
        """Start, rename or delete a branch.

        - `name`: The branch
        - `rev`: Where the branch starts, instead of HEAD; with `rename` its new name
        - `others`: More branches to delete
        - `delete`: Delete the branch `name`, and all others that are named
        - `rename`: Rename the branch `name` to `rev`, or the one that HEAD is on to `name`
        """
        return self._ask("branch", {"name": name, "rev": rev, "others": others, "delete": delete, "rename": rename})

    def branches(self, limit: Optional[int] = None, *, behind: Optional[str] = None) -> types.BranchesAnswer:
        """Lists the branches, the one with the newest commit first.

        - `limit`: At most so many; all unless given, or 0.
        - `behind`: Only those that come behind this branch in the list: the last one of the page before.
        """
        return self._ask("branches", {"limit": limit, "behind": behind})

    def tag(self, name: str, *, rev: Optional[str] = None, delete: Optional[bool] = None, message: Optional[str] = None) -> types.TagFacts:
        """Make or delete a tag.

        - `name`: The tag
        - `rev`: The commit to tag, instead of HEAD
        - `delete`: Delete the tag `name`
        - `message`: A note to keep with the tag
        """
        return self._ask("tag", {"name": name, "rev": rev, "delete": delete, "message": message})

    def tags(self) -> types.TagsAnswer:
        """Lists the tags.
        """
        return self._ask("tags", {})

    def reflog(self, ref: Optional[str] = None, *, limit: Optional[int] = None) -> types.ReflogAnswer:
        """List past commands, and where each ref was.

        - `ref`: A branch, tag or session, HEAD, ORIG_HEAD or PREV_HEAD
        - `limit`: List at most N; by default 20; 0: all
        """
        return self._ask("reflog", {"ref": ref, "limit": limit})

    def push(self, remote: Optional[str] = None, *, refs: Optional[List[str]] = None, all: Optional[bool] = None, sources: Optional[bool] = None, force_with_lease: Optional[bool] = None, delete: Optional[bool] = None, set_upstream: Optional[bool] = None, dry_run: Optional[bool] = None, allow_secrets: Optional[bool] = None) -> types.CarriedAnswer:
        """Send commits to another repository.

        - `remote`: The remote, or a URL; by default that of the branch, origin, or the only one
        - `refs`: Branches, tags, sessions
        - `all`: All branches, tags and sessions
        - `sources`: Also send the session files that were imported
        - `force_with_lease`: Let a ref there lose commits, if it is where it was last seen
        - `delete`: Delete these refs there
        - `set_upstream`: From now on push and pull this branch there
        - `dry_run`: Say what would be sent, and send nothing
        - `allow_secrets`: Send secrets, too
        """
        return self._ask("push", {"remote": remote, "refs": refs, "all": all, "sources": sources, "force_with_lease": force_with_lease, "delete": delete, "set_upstream": set_upstream, "dry_run": dry_run, "allow_secrets": allow_secrets})

    def fetch(self, remote: Optional[str] = None, *, sources: Optional[bool] = None, all: Optional[bool] = None, prune: Optional[bool] = None) -> types.CarriedAnswer:
        """Get commits from another repository; your branches stay.

        - `remote`: The remote; by default that of the branch, origin, or the only one
        - `sources`: Also the session files that are kept there
        - `all`: From all remotes
        - `prune`: Forget refs that no longer exist there
        """
        return self._ask("fetch", {"remote": remote, "sources": sources, "all": all, "prune": prune})

    def pull(self, remote: Optional[str] = None, *, branch: Optional[str] = None, sources: Optional[bool] = None, merge: Optional[bool] = None, no_merge: Optional[bool] = None, no_verify: Optional[bool] = None) -> types.CarriedAnswer:
        """Fetch, and move your branch and sessions forward.

        - `remote`: The remote; by default that of the branch, origin, or the only one
        - `branch`: The branch there, instead of the one with the name of yours
        - `sources`: Also the session files that are kept there
        - `merge`: Merge where both have new commits
        - `no_merge`: Do not, whatever pull.merge says
        - `no_verify`: Do not ask the command of hook.merge
        """
        return self._ask("pull", {"remote": remote, "branch": branch, "sources": sources, "merge": merge, "no_merge": no_merge, "no_verify": no_verify})

    def remotes(self) -> types.RemotesAnswer:
        """Lists the remotes.
        """
        return self._ask("remotes", {})

    def remote_add(self, name: str, url: str) -> types.RemotesAnswer:
        """Add a remote.

        - `name`: Its name here
        - `url`: Where it is: a directory, ssh://HOST/PATH, HOST:PATH, or s3://BUCKET/PREFIX
        """
        return self._ask("remote_add", {"name": name, "url": url})

    def remote_set_url(self, name: str, url: str) -> types.RemotesAnswer:
        """Change the URL of a remote.

        - `name`: Its name here
        - `url`: Where it is: a directory, ssh://HOST/PATH, HOST:PATH, or s3://BUCKET/PREFIX
        """
        return self._ask("remote_set_url", {"name": name, "url": url})

    def remote_rename(self, old: str, new: str) -> types.RemotesAnswer:
        """Give a remote another name.

        - `old`: Its name here
        - `new`: Its new name
        """
        return self._ask("remote_rename", {"old": old, "new": new})

    def remote_remove(self, name: str) -> types.RemotesAnswer:
        """Remove a remote, and forget where its refs were.

        - `name`: Its name here
        """
        return self._ask("remote_remove", {"name": name})

    def bundle(self, file: str, what: Optional[List[str]] = None, *, all: Optional[bool] = None, sources: Optional[bool] = None, force: Optional[bool] = None, redact: Optional[bool] = None, allow_secrets: Optional[bool] = None, anonymous: Optional[bool] = None) -> types.BundleAnswer:
        """Write commits to one file, for another repository.

        - `file`: The file to write
        - `what`: Branches, tags, sessions, or ranges up to one; by default where HEAD is
        - `all`: All branches, tags and sessions
        - `sources`: Also write the session files that were imported, and sessions' titles
        - `force`: Overwrite an existing file
        - `redact`: Write `[redacted:KIND]` in place of secrets
        - `allow_secrets`: Write secrets, too
        - `anonymous`: As redact, and write person-1 and host-1 for logins, homes, hosts, mail addresses and names
        """
        return self._ask("bundle", {"file": file, "what": what, "all": all, "sources": sources, "force": force, "redact": redact, "allow_secrets": allow_secrets, "anonymous": anonymous})

    def unbundle(self, file: str) -> types.UnbundleAnswer:
        """Read in a file that bundle wrote.

        - `file`: The file
        """
        return self._ask("unbundle", {"file": file})

    def gc(self, expire: Optional[Union[str, float]] = None, *, keep: Optional[Union[str, float]] = None, dry_run: Optional[bool] = None) -> types.GcAnswer:
        """Delete what no branch, tag, session or undo needs any more.

        - `expire`: Forget commands older than this: a number of days, now, or never
        - `keep`: Which imported sessions are kept: so many, days such as 90d, both (100,90d), or all
        - `dry_run`: Change nothing; say what would go
        """
        return self._ask("gc", {"expire": expire, "keep": keep, "dry_run": dry_run})

    def purge(self, revs: Optional[List[str]] = None, *, match: Optional[str] = None, force: Optional[bool] = None, dry_run: Optional[bool] = None) -> types.PurgeAnswer:
        """Erase messages from history, for good.

        - `revs`: The messages to erase
        - `match`: All messages that match this
        - `force`: Confirm that it is erased for good
        - `dry_run`: Say what would go, and change nothing
        """
        return self._ask("purge", {"revs": revs, "match": match, "force": force, "dry_run": dry_run})

    def fsck(self, repair: Optional[bool] = None, *, requests: Optional[bool] = None) -> types.FsckAnswer:
        """Check the repository for damage, and repair it if asked.

        - `repair`: Rebuild what can be rebuilt, and set damaged rows aside
        - `requests`: Only check each request that a client recorded against the client's own hash
        """
        return self._ask("fsck", {"repair": repair, "requests": requests})

    def doctor(self) -> types.DoctorAnswer:
        """Check the database that keeps the repository, and its backups.
        """
        return self._ask("doctor", {})

    def du(self) -> types.DuAnswer:
        """Show what takes up space.
        """
        return self._ask("du", {})

    def backup(self, file: str, *, force: Optional[bool] = None) -> types.BackupAnswer:
        """Copy the whole repository into one file.

        - `file`: The file to write
        - `force`: Overwrite an existing file
        """
        return self._ask("backup", {"file": file, "force": force})

    def config(self, key: Optional[str] = None, value: Optional[Union[str, float, bool]] = None, *, unset: Optional[bool] = None) -> types.ConfigAnswer:
        """Tell the repository's settings, or change one.

        - `key`: The setting; without it, all settings are listed
        - `value`: The new value; without it, the present value is printed
        - `unset`: Remove the setting
        """
        return self._ask("config", {"key": key, "value": value, "unset": unset})


class AsyncMethods:
    """What a repository can be asked."""

    async def _ask(self, method: str, params: Dict[str, Any]) -> Any:
        raise NotImplementedError

    async def import_(self, paths: Optional[List[str]] = None, *, format: Optional[str] = None, as_: Optional[str] = None, onto: Optional[str] = None, redact: Optional[bool] = None, strict: Optional[bool] = None, new_only: Optional[bool] = None, dry_run: Optional[bool] = None) -> types.ImportAnswer:
        """Bring in sessions of coding agents, and other conversations.

        - `paths`: Session files, directories of them, or session ids
        - `format`: The format, instead of recognising it
        - `as_`: The name of the branch that follows the session
        - `onto`: Append what is new to this branch, after its own commits
        - `redact`: Write `[redacted:KIND]` in place of secrets, now and in later imports of these sessions
        - `strict`: Import nothing from a file that has a problem
        - `new_only`: Read only what has come since the last import, where that is enough
        - `dry_run`: Say what would come in, and import nothing
        """
        return await self._ask("import", {"paths": paths, "format": format, "as": as_, "onto": onto, "redact": redact, "strict": strict, "new_only": new_only, "dry_run": dry_run})

    async def sessions(self, directory: Optional[str] = None) -> types.SessionsAnswer:
        """Lists the sessions that were imported.

        - `directory`: Only those that ran in this directory or below it: by its path, or by its own name, as lists show it.
        """
        return await self._ask("sessions", {"directory": directory})

    async def export(self, rev: Optional[str] = None, *, format: Optional[str] = None, redact: Optional[bool] = None, allow_secrets: Optional[bool] = None, anonymous: Optional[bool] = None) -> types.ExportAnswer:
        """Write a session file, or a page to read.

        - `rev`: The commit whose context is written; HEAD unless given
        - `format`: One of the formats that import reads, html or markdown; by default the session's own
        - `redact`: Write `[redacted:KIND]` in place of secrets
        - `allow_secrets`: Write secrets, too
        - `anonymous`: As redact, and write person-1 and host-1 for logins, homes, hosts, mail addresses and names
        """
        return await self._ask("export", {"rev": rev, "format": format, "redact": redact, "allow_secrets": allow_secrets, "anonymous": anonymous})

    async def dataset(self, revs: Optional[List[str]] = None, *, all: Optional[bool] = None, rows: Optional[RowOf] = None, license: Optional[str] = None, keep_duplicates: Optional[bool] = None, allow_secrets: Optional[bool] = None, anonymous: Optional[bool] = None, output: Optional[str] = None, force: Optional[bool] = None) -> types.DatasetAnswer:
        """Write conversations as rows of a data set.

        - `revs`: Branches, sessions or commits; HEAD unless given. For pairs: the names of runs, or all
        - `all`: All sessions and branches
        - `rows`: The unit of a row; session unless given
        - `license`: The note on its licence that each row has
        - `keep_duplicates`: Write rows with the same messages, too
        - `allow_secrets`: Write secrets, too
        - `anonymous`: Write person-1 and host-1 for logins, homes, hosts, mail addresses and names
        - `output`: The file to write; without it, the rows are the answer
        - `force`: Overwrite an existing file
        """
        return await self._ask("dataset", {"revs": revs, "all": all, "rows": rows, "license": license, "keep_duplicates": keep_duplicates, "allow_secrets": allow_secrets, "anonymous": anonymous, "output": output, "force": force})

    async def resume(self, rev: Optional[str] = None, *, in_: Optional[str] = None, directory: Optional[str] = None, redact: Optional[bool] = None, allow_secrets: Optional[bool] = None, dry_run: Optional[bool] = None) -> types.ResumeAnswer:
        """Continue from a commit in a new session of a tool.

        - `rev`: The commit whose context is written; HEAD unless given
        - `in_`: The tool; by default the one that the session came from
        - `directory`: The directory where it is to run; by default that of the session, if it is there, or else the one here
        - `redact`: Write `[redacted:KIND]` in place of secrets
        - `allow_secrets`: Write secrets, too
        - `dry_run`: Say what would be written where, and write nothing; the id is another one each time
        """
        return await self._ask("resume", {"rev": rev, "in": in_, "directory": directory, "redact": redact, "allow_secrets": allow_secrets, "dry_run": dry_run})

    async def status(self, verbose: Optional[bool] = None) -> types.StatusAnswer:
        """Show where you are and how full the context is.

        - `verbose`: How tokens are counted, what they cost, what fills the context, and the largest messages
        """
        return await self._ask("status", {"verbose": verbose})

    async def log(self, rev: Optional[str] = None, *, limit: Optional[int] = None, op: Optional[List[str]] = None, role: Optional[str] = None, prompts: Optional[bool] = None, tool: Optional[str] = None, grep: Optional[str] = None, regex: Optional[bool] = None, since: Optional[Union[str, float]] = None, until: Optional[Union[str, float]] = None, author: Optional[str] = None, note: Optional[str] = None, model: Optional[str] = None, setting: Optional[str] = None, pinned: Optional[bool] = None, running: Optional[bool] = None, reverse: Optional[bool] = None, file: Optional[str] = None, files: Optional[bool] = None, requests: Optional[bool] = None) -> types.LogAnswer:
        """List commits, newest first.

        - `rev`: Where to begin, instead of HEAD; A..B: the commits from A to B; :3..5: those from message 3 to 5
        - `limit`: At most N; by default 20, with `files` all; 0: all
        - `op`: Only these: append, edit, hide, restore, annotate, or a kind of hide as listed
        - `role`: Only messages of this role; `user` leaves out what a client says in the user's name, which `injected` selects
        - `prompts`: Only what the user typed: no reminders, notices or echoes of commands
        - `tool`: Only calls of this tool, and their results
        - `grep`: Only messages with this text in them, whatever its case
        - `regex`: The text of `grep` is a regular expression
        - `since`: Only from then on: a date, or an age such as 3w or '2 days ago'
        - `until`: Only up to then
        - `author`: Only commits whose author has this in their name, program or run, whatever its case
        - `note`: Only commits with a note that has this in it, whatever its case
        - `model`: Only replies of a model with this in its name, whatever its case
        - `setting`: Only commits that set this: a request setting, or KEY=VALUE
        - `pinned`: Only messages that are pinned
        - `running`: Only what started agents and shells in the background that have no end in the session
        - `reverse`: Oldest first
        - `file`: Each edit of this file, by its path or the end of it
        - `files`: The files that were edited, and how many lines came and went
        - `requests`: The requests that the client sent, newest first
        """
        return await self._ask("log", {"rev": rev, "limit": limit, "op": op, "role": role, "prompts": prompts, "tool": tool, "grep": grep, "regex": regex, "since": since, "until": until, "author": author, "note": note, "model": model, "setting": setting, "pinned": pinned, "running": running, "reverse": reverse, "file": file, "files": files, "requests": requests})

    async def show(self, rev: Optional[str] = None, *, image: Optional[str] = None, which: Optional[int] = None, force: Optional[bool] = None) -> types.ShowAnswer:
        """Show one commit in full, or a range.

        - `rev`: The commit, instead of HEAD; REV#PART: a part of it; A..B: the commits from A to B; :3..5: messages 3 to 5
        - `image`: Write the picture or file in it to FILE, and print nothing
        - `which`: Which picture, if there are several, counted from 1
        - `force`: Overwrite an existing file
        """
        return await self._ask("show", {"rev": rev, "image": image, "which": which, "force": force})

    async def context(self, rev: Optional[str] = None, *, from_: Optional[int] = None, limit: Optional[int] = None) -> types.ContextAnswer:
        """Gives the messages that a model would be sent, in order.

        - `rev`: The commit whose context it is; HEAD's unless given.
        - `from_`: From this message on, counted from 1; from the end, if negative. All unless given.
        - `limit`: At most so many messages.
        """
        return await self._ask("context", {"rev": rev, "from": from_, "limit": limit})

    async def find(self, text: str, *, rev: Optional[str] = None, exact: Optional[bool] = None, regex: Optional[bool] = None, like: Optional[bool] = None, context: Optional[int] = None, hidden: Optional[bool] = None, session: Optional[str] = None, here: Optional[bool] = None, directory: Optional[str] = None, role: Optional[str] = None, op: Optional[List[str]] = None, tool: Optional[str] = None, path: Optional[str] = None, note: Optional[str] = None, model: Optional[str] = None, setting: Optional[str] = None, since: Optional[Union[str, float]] = None, until: Optional[Union[str, float]] = None, limit: Optional[int] = None, offset: Optional[int] = None) -> types.FindAnswer:
        """Search all messages, hidden ones too.

        - `text`: The words to find
        - `rev`: Only in the history of this commit or branch
        - `exact`: Find TEXT as it is, letter by letter
        - `regex`: TEXT is a regular expression
        - `like`: TEXT is a question or a sentence: find what means much the same, too, by the model that recall.model names
        - `context`: Show N messages before and after each
        - `hidden`: Only what is hidden
        - `session`: Only in this session and its sub-agents: its id or the beginning of it, or a branch of it
        - `here`: Only in sessions that ran in this directory or below it
        - `directory`: Only in sessions that ran in DIR or below it: a path, or the name that lists show
        - `role`: Only messages of this role; `user` leaves out what a client says in the user's name, which `injected` selects
        - `op`: Only what these brought: append, edit, hide, or a kind of hide as log lists it
        - `tool`: Only calls of this tool, and their results
        - `path`: Only calls that name this file, or the end of its path, and their results
        - `note`: Only messages of commits with a note that has this in it, whatever its case
        - `model`: Only replies of a model with this in its name, whatever its case
        - `setting`: Only messages of commits that set this: a request setting, or KEY=VALUE
        - `since`: Only from then on: a date, or an age such as 3w
        - `until`: Only up to then
        - `limit`: At most N messages; by default 20; 0: all
        - `offset`: Pass over the first N answers
        """
        return await self._ask("find", {"text": text, "rev": rev, "exact": exact, "regex": regex, "like": like, "context": context, "hidden": hidden, "session": session, "here": here, "directory": directory, "role": role, "op": op, "tool": tool, "path": path, "note": note, "model": model, "setting": setting, "since": since, "until": until, "limit": limit, "offset": offset})

    async def read(self, rev: str, last: Optional[str] = None, *, around: Optional[int] = None, within: Optional[str] = None, directory: Optional[str] = None) -> types.ReadAnswer:
        """Gives messages word for word with what stands around them, hidden ones among them.

        - `rev`: The message, wherever it is.
        - `last`: The last of several, in the conversation's order.
        - `around`: So many messages on each side, too, hidden ones among them.
        - `within`: Only if it is in the history of this commit.
        - `directory`: Only if it is in a conversation that ran in this directory or below it.
        """
        return await self._ask("read", {"rev": rev, "last": last, "around": around, "within": within, "directory": directory})

    async def dropped(self, rev: Optional[str] = None, *, within: Optional[str] = None, directory: Optional[str] = None) -> types.DroppedAnswer:
        """Says what a compaction hid: prompts, files, commands, each with its message.

        - `rev`: The compaction, truncation or clear; the newest on the path to HEAD unless given.
        - `within`: Whose newest compaction, truncation or clear; HEAD's path unless given. With `rev`, only one in the history of
                this commit.
        - `directory`: Only one in a conversation that ran in this directory or below it.
        """
        return await self._ask("dropped", {"rev": rev, "within": within, "directory": directory})

    async def audit(self, rev: Optional[str] = None, *, within: Optional[str] = None, limit: Optional[int] = None) -> types.AuditAnswer:
        """List what a compaction took away, and what of it is still there.

        - `rev`: The compaction, truncation or clear; the newest on this branch unless given
        - `within`: The history whose newest compaction, truncation or clear is meant, and in which facts are looked for; HEAD
                unless given
        - `limit`: At most N findings; 20 unless given, 0: all
        """
        return await self._ask("audit", {"rev": rev, "within": within, "limit": limit})

    async def did(self, path: Optional[str] = None, *, command: Optional[str] = None, error: Optional[str] = None, within: Optional[str] = None, directory: Optional[str] = None, limit: Optional[int] = None) -> types.DidAnswer:
        """Says what was done to a file, how a command ran, or what followed an error.

        - `path`: A file, or the end of its path: what was done to it.
        - `command`: A piece of a command: how it ran.
        - `error`: A piece of an error: what followed it.
        - `within`: Only in the history of this commit; in all history unless given.
        - `directory`: Only in conversations that ran in this directory or below it.
        - `limit`: At most so many; 10 unless given.
        """
        return await self._ask("did", {"path": path, "command": command, "error": error, "within": within, "directory": directory, "limit": limit})

    async def blame(self, message: Optional[str] = None, *, at: Optional[str] = None) -> types.BlameAnswer:
        """Say where messages came from.

        - `message`: One message, hidden or not: :N, REV:N, or its commit; all that are visible unless given
        - `at`: In the context of this commit; HEAD's unless given
        """
        return await self._ask("blame", {"message": message, "at": at})

    async def attest(self, rev: Optional[str] = None) -> types.AttestAnswer:
        """Say what a run was, to be signed.

        - `rev`: The branch, session or commit; HEAD unless given
        """
        return await self._ask("attest", {"rev": rev})

    async def diff(self, before: Optional[str] = None, after: Optional[str] = None, *, role: Optional[str] = None, tool: Optional[str] = None, exact_ids: Optional[bool] = None, format: Optional[str] = None, sent: Optional[bool] = None) -> types.DiffAnswer:
        """Compare what a model would be sent at two commits.

        - `before`: The first context, or A..B
        - `after`: The second context; HEAD unless given
        - `role`: Only messages of this role
        - `tool`: Only messages that call this tool, or answer such a call
        - `exact_ids`: Compare the ids of tool calls as well
        - `format`: The provider whose cache is asked about: openai, responses, anthropic, gemini or text
        - `sent`: Compare the requests of two replies as they were sent
        """
        return await self._ask("diff", {"before": before, "after": after, "role": role, "tool": tool, "exact_ids": exact_ids, "format": format, "sent": sent})

    async def cost(self, rev: Optional[str] = None, *, by: Optional[CostBy] = None, misses: Optional[bool] = None, all: Optional[bool] = None, check: Optional[bool] = None, limit: Optional[int] = None, since: Optional[Union[str, float]] = None, until: Optional[Union[str, float]] = None) -> types.CostAnswer:
        """Show what the replies of models cost.

        - `rev`: Only what is on the path to this commit
        - `by`: The grouping of the rows; session unless given
        - `misses`: A row for each reply: what its request read from the cache, wrote to it and missed, and why
        - `all`: In a repository where each directory has a HEAD of its own: of all directories
        - `check`: How budgets of money stand; the exit code is 1 where one is exceeded
        - `limit`: At most N rows, of times the newest, and one for the rest; 0: all. By default 20 messages or misses, or all of anything else
        - `since`: Only from then on: a date, or an age such as 3w or '2 days ago'
        - `until`: Only up to then
        """
        return await self._ask("cost", {"rev": rev, "by": by, "misses": misses, "all": all, "check": check, "limit": limit, "since": since, "until": until})

    async def stats(self, revs: Optional[List[str]] = None, *, by: Optional[StatsBy] = None, edits: Optional[bool] = None, all: Optional[bool] = None, limit: Optional[int] = None, since: Optional[Union[str, float]] = None, until: Optional[Union[str, float]] = None) -> types.StatsAnswer:
        """Show what was done: time at work, prompts, calls, edits.

        - `revs`: Only what is on the path to this commit; several are rows of their own
        - `by`: The grouping of the rows; session unless given
        - `edits`: The newest edits of files instead, each with its prompt
        - `all`: In a repository where each directory has a HEAD of its own: of all directories
        - `limit`: At most N rows, of dates the newest; 0: all. By default 20 edits, or all of anything else
        - `since`: Only from then on: a date, or an age such as 3w or '2 days ago'
        - `until`: Only up to then
        """
        return await self._ask("stats", {"revs": revs, "by": by, "edits": edits, "all": all, "limit": limit, "since": since, "until": until})

    async def cache(self, rev: Optional[str] = None) -> types.CacheAnswer:
        """Says whether the provider's prompt cache still has the context.

        - `rev`: The commit; HEAD's unless given.
        """
        return await self._ask("cache", {"rev": rev})

    async def _compile(self, format: Optional[str] = None, *, rev: Optional[str] = None, for_: Optional[str] = None, request: Optional[bool] = None, last: Optional[int] = None, without_thinking: Optional[bool] = None, strict: Optional[bool] = None, verify: Optional[bool] = None) -> types.CompileAnswer:
        """Print the request that a model would be sent.

        - `format`: openai, responses, anthropic, gemini or text
        - `rev`: The commit whose context is compiled; HEAD unless given
        - `for_`: The request that this reply answered
        - `request`: Add model, limits and tools, from the settings
        - `last`: Only the newest N messages, with the calls that their results answer; system and pinned messages stay
        - `without_thinking`: Leave the model's thinking out
        - `strict`: Fail if anything has to be repaired
        - `verify`: Say whether the recorded request is what was sent
        """
        return await self._ask("compile", {"format": format, "rev": rev, "for": for_, "request": request, "last": last, "without_thinking": without_thinking, "strict": strict, "verify": verify})

    async def bisect(self, bad: Optional[str] = None, *, good: Optional[str] = None, time: Optional[bool] = None, request: Optional[bool] = None, verdicts: Optional[List[str]] = None, runs: Optional[int] = None, confidence: Optional[float] = None) -> types.BisectAnswer:
        """Gives the next context to try, or which message, part, hide or setting makes it go wrong.

        - `bad`: The commit whose context goes wrong; HEAD's unless given.
        - `good`: A commit whose context goes well: what it has stays.
        - `time`: Look for the first commit after `good`, or after the first of all, that goes wrong.
        - `request`: Add model, limits and tools, from the settings; each may be why.
        - `verdicts`: The verdicts on the contexts that were given to try, in that order: good, bad or skip.
        - `runs`: How often each end is tried, where it goes wrong by chance. Once unless given.
        - `confidence`: How sure the answer is to be, where it goes wrong by chance. 0.95 unless given.
        """
        return await self._ask("bisect", {"bad": bad, "good": good, "time": time, "request": request, "verdicts": verdicts, "runs": runs, "confidence": confidence})

    async def commit(self, role: Optional[str] = None, message: Optional[Union[str, Dict[str, Any]]] = None, *, json: Any = None, batch: Optional[List[Any]] = None, events: Optional[List[Any]] = None, edit: Optional[str] = None, call: Optional[str] = None, model: Optional[str] = None, temperature: Optional[Union[str, float]] = None, max_tokens: Optional[Union[str, float]] = None, set: Optional[Dict[str, Any]] = None, tools: Any = None, note: Optional[str] = None, author: Optional[str] = None, client: Optional[str] = None, run: Optional[str] = None, expect: Optional[str] = None, after: Optional[str] = None, moves: Optional[List[BranchMoveParams]] = None, made_block: Optional[str] = None, unbudgeted: Optional[bool] = None, no_verify: Optional[bool] = None) -> types.CommitAnswer:
        """Append one message, or replace one.

        - `role`: system, developer, user, assistant or tool
        - `message`: The text
        - `json`: One message in a provider's form (OpenAI's or Anthropic's), or the response that holds it; on the command line a
                file (or -) with it
        - `batch`: Such messages: all are committed, or none; on the command line a file (or -) with one on each line
        - `events`: The events of a reply that was streamed, as a provider's API sends them; on the command line a file (or -)
                with one on each line. Keep the part before a stream broke off, marked as cut
        - `edit`: Replace the content of this message; the old one stays in history
        - `call`: The call that this tool result answers
        - `model`: The model, from here on
        - `temperature`: The temperature, from here on
        - `max_tokens`: The longest reply, from here on
        - `set`: Any other setting, by its key; on the command line VALUE is JSON or a plain text
        - `tools`: The tools that the model may call, a JSON array; on the command line a file with it
        - `note`: A remark for people; no model sees it
        - `author`: The author; by default the setting author.name, if there is one
        - `client`: The program that commits, and its version
        - `run`: An id of what that program is about
        - `expect`: Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
        - `after`: Commit behind REV (none: as a first one), not on the branch, which stays where it is. The methods advance and
                move bring a branch there; gc may take away what no branch has. No budget is kept
        - `moves`: Other branches that move in the same operation; on the command line each as JSON
        - `made_block`: Put a block of this type behind the last message's own. It names the commits that the moves make, in `commits`
        - `unbudgeted`: Keep no budget: for a branch that no model is sent
        - `no_verify`: Do not ask the command of hook.commit
        """
        return await self._ask("commit", {"role": role, "message": message, "json": json, "batch": batch, "events": events, "edit": edit, "call": call, "model": model, "temperature": temperature, "max_tokens": max_tokens, "set": set, "tools": tools, "note": note, "author": author, "client": client, "run": run, "expect": expect, "after": after, "moves": moves, "made_block": made_block, "unbudgeted": unbudgeted, "no_verify": no_verify})

    async def annotate(self, revs: List[str], *, pin: Optional[bool] = None, skip: Optional[bool] = None, normal: Optional[bool] = None, reason: Optional[str] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None, expect: Optional[str] = None) -> types.Changed:
        """Pin messages, skip them, or make them normal again.

        - `revs`: Messages
        - `pin`: Never hide these messages
        - `skip`: Leave these messages out of the context
        - `normal`: Neither pin nor skip them
        - `reason`: Why
        - `dry_run`: Say what would change, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        - `expect`: Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
        """
        return await self._ask("annotate", {"revs": revs, "pin": pin, "skip": skip, "normal": normal, "reason": reason, "dry_run": dry_run, "limit": limit, "expect": expect})

    async def shrink(self, to: Optional[Union[str, float]] = None, *, by_our_count: Optional[bool] = None, marker: Optional[str] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Make the context fit: tool outputs first, then old messages.

        - `to`: The tokens that are to be enough, or P% of budget.max, by the provider's count; by default budget.max
        - `by_our_count`: Measure by tract's own count, not by the provider's
        - `marker`: The text in place of hidden messages, instead of `[Sliding window truncation: N messages hidden …]`
        - `dry_run`: Say what would change, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return await self._ask("shrink", {"to": to, "by_our_count": by_our_count, "marker": marker, "dry_run": dry_run, "limit": limit})

    async def prune(self, turns: Optional[int] = None, *, protect: Optional[Union[str, float]] = None, min: Optional[Union[str, float]] = None, larger_than: Optional[Union[str, float]] = None, tool: Optional[List[str]] = None, to_budget: Optional[Union[str, float]] = None, by_our_count: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Replace old, big tool outputs with one line each; the calls stay.

        - `turns`: Leave the user's newest N turns alone; by default 2
        - `protect`: Before those, leave the newest N tokens of tool output alone; by default 40k
        - `min`: Do nothing unless it saves N tokens; by default 20k, or 0 with `to_budget`
        - `larger_than`: Only outputs of more than N tokens
        - `tool`: Only outputs of this tool (may be given several times)
        - `to_budget`: Shorten only as many, oldest first, as it takes to fit N tokens, or P% of budget.max, by the
                provider's count
        - `by_our_count`: Measure the budget by tract's own count, not by the provider's
        - `dry_run`: Say what would change, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return await self._ask("prune", {"turns": turns, "protect": protect, "min": min, "larger_than": larger_than, "tool": tool, "to_budget": to_budget, "by_our_count": by_our_count, "dry_run": dry_run, "limit": limit})

    async def drop(self, revs: List[str], *, force: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Hide the messages, or parts of messages, that you name.

        - `revs`: Messages, or REV#PART for a part
        - `force`: Allow the last user message and the task to go too
        - `dry_run`: Say what would go, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return await self._ask("drop", {"revs": revs, "force": force, "dry_run": dry_run, "limit": limit})

    async def truncate(self, keep: Optional[int] = None, *, fraction: Optional[Union[str, float]] = None, to_budget: Optional[Union[str, float]] = None, by_our_count: Optional[bool] = None, drop_first: Optional[bool] = None, marker: Optional[str] = None, marker_role: Optional[str] = None, no_marker: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Hide the oldest messages; the task and pinned ones stay.

        - `keep`: Hide all but the newest N
        - `fraction`: Hide this share of the messages, from 0 to 1, rounded down to an even number
        - `to_budget`: Hide the oldest exchanges until N tokens, or P% of budget.max, are enough, by the provider's
                count
        - `by_our_count`: Measure a budget by tract's own count, not by the provider's
        - `drop_first`: Allow the task to go too
        - `marker`: The text of the marker, instead of `[Sliding window truncation: N messages hidden …]`
        - `marker_role`: The role of the marker; by default user
        - `no_marker`: Leave no marker
        - `dry_run`: Say what would go, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return await self._ask("truncate", {"keep": keep, "fraction": fraction, "to_budget": to_budget, "by_our_count": by_our_count, "drop_first": drop_first, "marker": marker, "marker_role": marker_role, "no_marker": no_marker, "dry_run": dry_run, "limit": limit})

    async def compact(self, message: Optional[str] = None, *, strict: Optional[bool] = None, keep: Optional[int] = None, to: Optional[Union[str, float]] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None, range: Optional[str] = None) -> types.Changed:
        """Replace a span of messages with a summary.

        - `message`: The summary
        - `strict`: Refuse a summary that lacks a prompt, an open point or a pin
        - `keep`: Leave out the newest N messages
        - `to`: Summarise the oldest messages, as few as bring the context down to this: tokens, or a share of budget.max
        - `dry_run`: Change nothing; say what would go
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        - `range`: The span, both ends included
        """
        return await self._ask("compact", {"message": message, "strict": strict, "keep": keep, "to": to, "dry_run": dry_run, "limit": limit, "range": range})

    async def clear(self, all: Optional[bool] = None, *, dry_run: Optional[bool] = None, limit: Optional[int] = None, purge: Optional[bool] = None, force: Optional[bool] = None) -> types.ClearAnswer:
        """Hide everything but the system messages, to start over.

        - `all`: Hide the system messages too
        - `dry_run`: Change nothing; say what would go
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        - `purge`: Erase what came before, for good
        - `force`: Confirm that it is erased for good
        """
        return await self._ask("clear", {"all": all, "dry_run": dry_run, "limit": limit, "purge": purge, "force": force})

    async def redact(self, revs: Optional[List[str]] = None, *, all: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.RedactAnswer:
        """Replace secrets in the context with `[redacted:KIND]`.

        - `revs`: Only these messages
        - `all`: All visible messages, as without `revs`
        - `dry_run`: Say what would change, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return await self._ask("redact", {"revs": revs, "all": all, "dry_run": dry_run, "limit": limit})

    async def undo(self, operation: Optional[int] = None, *, force: Optional[bool] = None, to: Optional[int] = None, since: Optional[Union[str, float]] = None, captured: Optional[bool] = None, dry_run: Optional[bool] = None) -> types.OperationAnswer:
        """Reverse the last command that moved a branch, a tag or HEAD.

        - `operation`: The operation to reverse, instead of the newest one
        - `force`: Reverse OP although somebody else did it
        - `to`: Go back to right after this operation, which may be an undo
        - `since`: Reverse every operation since then: an age such as 10min or 2h, a date, or milliseconds since 1970
        - `captured`: With `to` or `since`, also reverse imports, recordings, and what a watch, a hook or an agent took in
        - `dry_run`: Say what would be reversed, and whose it is; change nothing
        """
        return await self._ask("undo", {"operation": operation, "force": force, "to": to, "since": since, "captured": captured, "dry_run": dry_run})

    async def redo(self, dry_run: Optional[bool] = None) -> types.OperationAnswer:
        """Reverse the last undo.

        - `dry_run`: Say what would be done again; change nothing
        """
        return await self._ask("redo", {"dry_run": dry_run})

    async def restore(self, revs: List[str], *, at_end: Optional[bool] = None, before: Optional[str] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Un-hide messages; everything later stays.

        - `revs`: Hides, edits, messages, or REV#PART
        - `at_end`: Leave it hidden and append a copy; earlier messages do not change
        - `before`: Move it to right before this visible message; earlier messages do not change
        - `dry_run`: Say what would come back, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return await self._ask("restore", {"revs": revs, "at_end": at_end, "before": before, "dry_run": dry_run, "limit": limit})

    async def pick(self, revs: List[str], *, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Copy messages from anywhere to the end.

        - `revs`: Messages, REV#PART, or commits that edit, hide, restore or pin
        - `dry_run`: Say what would be copied, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return await self._ask("pick", {"revs": revs, "dry_run": dry_run, "limit": limit})

    async def merge(self, rev: Optional[str] = None, *, messages: Optional[bool] = None, prompts: Optional[bool] = None, message: Optional[str] = None, ours: Optional[bool] = None, theirs: Optional[bool] = None, continue_: Optional[bool] = None, abort: Optional[bool] = None, allow_unrelated_histories: Optional[bool] = None, no_verify: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.MergeAnswer:
        """Bring another branch into this one.

        - `rev`: A branch, a session or a commit
        - `messages`: All of its messages
        - `prompts`: The prompts of the other branch, with their attachments
        - `message`: A summary of its messages, in place of its last answer
        - `ours`: In conflicts, what this branch has holds
        - `theirs`: In conflicts, what the other branch has holds
        - `continue_`: Go on with the merge that is under way
        - `abort`: Give up the merge that is under way
        - `allow_unrelated_histories`: Also where the two have nothing in common
        - `no_verify`: Do not ask the command of hook.merge
        - `dry_run`: Change nothing; say what would come, and what is in conflict
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return await self._ask("merge", {"rev": rev, "messages": messages, "prompts": prompts, "message": message, "ours": ours, "theirs": theirs, "continue": continue_, "abort": abort, "allow_unrelated_histories": allow_unrelated_histories, "no_verify": no_verify, "dry_run": dry_run, "limit": limit})

    async def resolve(self, revs: Optional[List[str]] = None, *, ours: Optional[bool] = None, theirs: Optional[bool] = None) -> types.ResolveAnswer:
        """Settle conflicts of a merge.

        - `revs`: Messages in conflict
        - `ours`: Keep this branch's text
        - `theirs`: Take the other branch's text
        """
        return await self._ask("resolve", {"revs": revs, "ours": ours, "theirs": theirs})

    async def revert(self, rev: str, *, force: Optional[bool] = None, dry_run: Optional[bool] = None, limit: Optional[int] = None) -> types.Changed:
        """Do the opposite of one commit; what came later stays.

        - `rev`: The commit
        - `force`: Even if it is the task or the last user message
        - `dry_run`: Say what would change, and change nothing
        - `limit`: In a dry run, list at most N messages of each kind; 0: all
        """
        return await self._ask("revert", {"rev": rev, "force": force, "dry_run": dry_run, "limit": limit})

    async def rebase(self, onto: str, *, from_: Optional[str] = None, skip: Optional[List[str]] = None, ours: Optional[bool] = None, theirs: Optional[bool] = None, dry_run: Optional[bool] = None) -> types.RebaseAnswer:
        """Put the branch's own commits on another base.

        - `onto`: The new base: a branch or a commit
        - `from_`: Take the commits after this one
        - `skip`: Leave this commit behind; may be given several times
        - `ours`: Where both sides changed a message, leave it as `onto` has it
        - `theirs`: Where both sides changed a message, make it as this branch has it
        - `dry_run`: Say what would become of each commit, and change nothing
        """
        return await self._ask("rebase", {"onto": onto, "from": from_, "skip": skip, "ours": ours, "theirs": theirs, "dry_run": dry_run})

    async def reset(self, rev: Optional[str] = None, *, soft: Optional[bool] = None, hard: Optional[bool] = None, root: Optional[bool] = None, expect: Optional[str] = None, dry_run: Optional[bool] = None) -> types.MoveAnswer:
        """Move the branch back to a commit; what came later leaves it.

        - `rev`: The commit to move to
        - `soft`: Keep what came later under ORIG_HEAD (the default)
        - `hard`: Keep it in the reflog alone
        - `root`: Move to before the first commit
        - `expect`: Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
        - `dry_run`: Say where the branch would be, and change nothing
        """
        return await self._ask("reset", {"rev": rev, "soft": soft, "hard": hard, "root": root, "expect": expect, "dry_run": dry_run})

    async def move(self, moves: List[BranchMoveParams], *, what: Optional[str] = None) -> types.MovedAnswer:
        """Moves branches, each from where it is expected to be, as one operation: all of them, or none. Nothing but the log of operations keeps what they leave.

        - `moves`: The branches, in the order in which they move. One that goes to where it is expected is only looked at.
        - `what`: What the log of operations calls it.
        """
        return await self._ask("move", {"moves": moves, "what": what})

    async def checkout(self, rev: Optional[str] = None, *, new_branch: Optional[str] = None) -> types.MoveAnswer:
        """Switch to a branch, or look at an earlier commit.

        - `rev`: A branch, any other revision, or - for where HEAD was before
        - `new_branch`: Start a branch of this name, at REV or where HEAD is
        """
        return await self._ask("checkout", {"rev": rev, "new_branch": new_branch})

    async def branch(self, name: str, rev: Optional[str] = None, *, others: Optional[List[str]] = None, delete: Optional[bool] = None, rename: Optional[bool] = None) -> types.Position:
        """Start, rename or delete a branch.

        - `name`: The branch
        - `rev`: Where the branch starts, instead of HEAD; with `rename` its new name
        - `others`: More branches to delete
        - `delete`: Delete the branch `name`, and all others that are named
        - `rename`: Rename the branch `name` to `rev`, or the one that HEAD is on to `name`
        """
        return await self._ask("branch", {"name": name, "rev": rev, "others": others, "delete": delete, "rename": rename})

    async def branches(self, limit: Optional[int] = None, *, behind: Optional[str] = None) -> types.BranchesAnswer:
        """Lists the branches, the one with the newest commit first.

        - `limit`: At most so many; all unless given, or 0.
        - `behind`: Only those that come behind this branch in the list: the last one of the page before.
        """
        return await self._ask("branches", {"limit": limit, "behind": behind})

    async def tag(self, name: str, *, rev: Optional[str] = None, delete: Optional[bool] = None, message: Optional[str] = None) -> types.TagFacts:
        """Make or delete a tag.

        - `name`: The tag
        - `rev`: The commit to tag, instead of HEAD
        - `delete`: Delete the tag `name`
        - `message`: A note to keep with the tag
        """
        return await self._ask("tag", {"name": name, "rev": rev, "delete": delete, "message": message})

    async def tags(self) -> types.TagsAnswer:
        """Lists the tags.
        """
        return await self._ask("tags", {})

    async def reflog(self, ref: Optional[str] = None, *, limit: Optional[int] = None) -> types.ReflogAnswer:
        """List past commands, and where each ref was.

        - `ref`: A branch, tag or session, HEAD, ORIG_HEAD or PREV_HEAD
        - `limit`: List at most N; by default 20; 0: all
        """
        return await self._ask("reflog", {"ref": ref, "limit": limit})

    async def push(self, remote: Optional[str] = None, *, refs: Optional[List[str]] = None, all: Optional[bool] = None, sources: Optional[bool] = None, force_with_lease: Optional[bool] = None, delete: Optional[bool] = None, set_upstream: Optional[bool] = None, dry_run: Optional[bool] = None, allow_secrets: Optional[bool] = None) -> types.CarriedAnswer:
        """Send commits to another repository.

        - `remote`: The remote, or a URL; by default that of the branch, origin, or the only one
        - `refs`: Branches, tags, sessions
        - `all`: All branches, tags and sessions
        - `sources`: Also send the session files that were imported
        - `force_with_lease`: Let a ref there lose commits, if it is where it was last seen
        - `delete`: Delete these refs there
        - `set_upstream`: From now on push and pull this branch there
        - `dry_run`: Say what would be sent, and send nothing
        - `allow_secrets`: Send secrets, too
        """
        return await self._ask("push", {"remote": remote, "refs": refs, "all": all, "sources": sources, "force_with_lease": force_with_lease, "delete": delete, "set_upstream": set_upstream, "dry_run": dry_run, "allow_secrets": allow_secrets})

    async def fetch(self, remote: Optional[str] = None, *, sources: Optional[bool] = None, all: Optional[bool] = None, prune: Optional[bool] = None) -> types.CarriedAnswer:
        """Get commits from another repository; your branches stay.

        - `remote`: The remote; by default that of the branch, origin, or the only one
        - `sources`: Also the session files that are kept there
        - `all`: From all remotes
        - `prune`: Forget refs that no longer exist there
        """
        return await self._ask("fetch", {"remote": remote, "sources": sources, "all": all, "prune": prune})

    async def pull(self, remote: Optional[str] = None, *, branch: Optional[str] = None, sources: Optional[bool] = None, merge: Optional[bool] = None, no_merge: Optional[bool] = None, no_verify: Optional[bool] = None) -> types.CarriedAnswer:
        """Fetch, and move your branch and sessions forward.

        - `remote`: The remote; by default that of the branch, origin, or the only one
        - `branch`: The branch there, instead of the one with the name of yours
        - `sources`: Also the session files that are kept there
        - `merge`: Merge where both have new commits
        - `no_merge`: Do not, whatever pull.merge says
        - `no_verify`: Do not ask the command of hook.merge
        """
        return await self._ask("pull", {"remote": remote, "branch": branch, "sources": sources, "merge": merge, "no_merge": no_merge, "no_verify": no_verify})

    async def remotes(self) -> types.RemotesAnswer:
        """Lists the remotes.
        """
        return await self._ask("remotes", {})

    async def remote_add(self, name: str, url: str) -> types.RemotesAnswer:
        """Add a remote.

        - `name`: Its name here
        - `url`: Where it is: a directory, ssh://HOST/PATH, HOST:PATH, or s3://BUCKET/PREFIX
        """
        return await self._ask("remote_add", {"name": name, "url": url})

    async def remote_set_url(self, name: str, url: str) -> types.RemotesAnswer:
        """Change the URL of a remote.

        - `name`: Its name here
        - `url`: Where it is: a directory, ssh://HOST/PATH, HOST:PATH, or s3://BUCKET/PREFIX
        """
        return await self._ask("remote_set_url", {"name": name, "url": url})

    async def remote_rename(self, old: str, new: str) -> types.RemotesAnswer:
        """Give a remote another name.

        - `old`: Its name here
        - `new`: Its new name
        """
        return await self._ask("remote_rename", {"old": old, "new": new})

    async def remote_remove(self, name: str) -> types.RemotesAnswer:
        """Remove a remote, and forget where its refs were.

        - `name`: Its name here
        """
        return await self._ask("remote_remove", {"name": name})

    async def bundle(self, file: str, what: Optional[List[str]] = None, *, all: Optional[bool] = None, sources: Optional[bool] = None, force: Optional[bool] = None, redact: Optional[bool] = None, allow_secrets: Optional[bool] = None, anonymous: Optional[bool] = None) -> types.BundleAnswer:
        """Write commits to one file, for another repository.

        - `file`: The file to write
        - `what`: Branches, tags, sessions, or ranges up to one; by default where HEAD is
        - `all`: All branches, tags and sessions
        - `sources`: Also write the session files that were imported, and sessions' titles
        - `force`: Overwrite an existing file
        - `redact`: Write `[redacted:KIND]` in place of secrets
        - `allow_secrets`: Write secrets, too
        - `anonymous`: As redact, and write person-1 and host-1 for logins, homes, hosts, mail addresses and names
        """
        return await self._ask("bundle", {"file": file, "what": what, "all": all, "sources": sources, "force": force, "redact": redact, "allow_secrets": allow_secrets, "anonymous": anonymous})

    async def unbundle(self, file: str) -> types.UnbundleAnswer:
        """Read in a file that bundle wrote.

        - `file`: The file
        """
        return await self._ask("unbundle", {"file": file})

    async def gc(self, expire: Optional[Union[str, float]] = None, *, keep: Optional[Union[str, float]] = None, dry_run: Optional[bool] = None) -> types.GcAnswer:
        """Delete what no branch, tag, session or undo needs any more.

        - `expire`: Forget commands older than this: a number of days, now, or never
        - `keep`: Which imported sessions are kept: so many, days such as 90d, both (100,90d), or all
        - `dry_run`: Change nothing; say what would go
        """
        return await self._ask("gc", {"expire": expire, "keep": keep, "dry_run": dry_run})

    async def purge(self, revs: Optional[List[str]] = None, *, match: Optional[str] = None, force: Optional[bool] = None, dry_run: Optional[bool] = None) -> types.PurgeAnswer:
        """Erase messages from history, for good.

        - `revs`: The messages to erase
        - `match`: All messages that match this
        - `force`: Confirm that it is erased for good
        - `dry_run`: Say what would go, and change nothing
        """
        return await self._ask("purge", {"revs": revs, "match": match, "force": force, "dry_run": dry_run})

    async def fsck(self, repair: Optional[bool] = None, *, requests: Optional[bool] = None) -> types.FsckAnswer:
        """Check the repository for damage, and repair it if asked.

        - `repair`: Rebuild what can be rebuilt, and set damaged rows aside
        - `requests`: Only check each request that a client recorded against the client's own hash
        """
        return await self._ask("fsck", {"repair": repair, "requests": requests})

    async def doctor(self) -> types.DoctorAnswer:
        """Check the database that keeps the repository, and its backups.
        """
        return await self._ask("doctor", {})

    async def du(self) -> types.DuAnswer:
        """Show what takes up space.
        """
        return await self._ask("du", {})

    async def backup(self, file: str, *, force: Optional[bool] = None) -> types.BackupAnswer:
        """Copy the whole repository into one file.

        - `file`: The file to write
        - `force`: Overwrite an existing file
        """
        return await self._ask("backup", {"file": file, "force": force})

    async def config(self, key: Optional[str] = None, value: Optional[Union[str, float, bool]] = None, *, unset: Optional[bool] = None) -> types.ConfigAnswer:
        """Tell the repository's settings, or change one.

        - `key`: The setting; without it, all settings are listed
        - `value`: The new value; without it, the present value is printed
        - `unset`: Remove the setting
        """
        return await self._ask("config", {"key": key, "value": value, "unset": unset})
