//! What lists say of conversations, kept for as long as the server runs: it is worked out once for each end of a
//! conversation, by a thread behind the requests, so that a list of a thousand is there at once.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tract::ingest::database::Listings;
use tract::ingest::tool_dirs::SessionFile;
use tract::ingest::{self, Inspected};
use tract::model::price::Prices;
use tract::model::{Encoding, RefName};
use tract::query::{Bill, ConversationTip, Overview};
use tract::repo::Repo;
use tract::store::FileStamp;

use super::row::Rows;
use crate::cli::Result;

/// How long a request works out what is not known yet.
const AT_ONCE: Duration = Duration::from_millis(60);
/// How many conversations a list looks for first, where not all are known.
const AT_FIRST: usize = 256;
/// For how long it holds what files there are.
const FRESH: Duration = Duration::from_secs(2);
const OLD: Duration = Duration::from_secs(60);
/// How long it waits to look again how the files are.
const LATER: Duration = Duration::from_millis(400);
/// How often it is looked whether anything is to be done.
const PAUSE: Duration = Duration::from_millis(500);

/// What is known.
#[derive(Default)]
pub struct Ledger {
    known: Mutex<Known>,
    wanted: Condvar,
}

#[derive(Default)]
struct Known {
    is_wanted: bool,
    /// When it is to be looked again whether anything is other than it was.
    looks_again: Option<Instant>,
    overviews: HashMap<ConversationTip, Arc<Overview>>,
    /// What each session's replies cost, and the state of the repository that it was worked out for.
    bills: Arc<HashMap<RefName, Bill>>,
    billed_at: Option<u64>,
    files: HashMap<PathBuf, (Stamp, Option<Arc<Inspected>>)>,
    stock: Option<Arc<Stock>>,
    /// What was last gathered of many conversations, when all of it was known.
    rows: Option<(RowsOf, Arc<Rows>)>,
}

/// What the rows of a list depend on.
#[derive(PartialEq, Eq)]
pub struct RowsOf {
    /// The state of the repository.
    pub state: u64,
    /// The branch of HEAD.
    pub head: Option<RefName>,
    /// When it was looked how the files lie.
    pub stock: Option<Instant>,
    /// Whether it is known what each session cost.
    pub billed: bool,
}

/// What a file is to whoever looks at it without reading; none where it cannot be looked at.
type Stamp = Option<FileStamp>;

/// How the files that tools have left lie to a repository.
pub struct Stock {
    /// Those of no session that is here, newest first.
    pub unread: Vec<SessionFile>,
    /// The sessions whose files are other than they were when they came in.
    pub grown: HashSet<RefName>,
    /// What each file was that was found to be as it came in.
    stamps: HashMap<PathBuf, Stamp>,
    /// The state of the repository that this is of.
    state: u64,
    since: Instant,
    /// Whether nobody has looked yet.
    is_unknown: bool,
}

impl Stock {
    /// When it was looked; none where nobody did.
    pub fn taken(&self) -> Option<Instant> {
        (!self.is_unknown).then_some(self.since)
    }

    /// Whether this is how the files lie to the repository in this state.
    pub fn is_of(&self, state: u64) -> bool {
        !self.is_unknown && self.state == state
    }

    fn unknown(state: u64) -> Self {
        Self {
            unread: Vec::new(),
            grown: HashSet::new(),
            stamps: HashMap::new(),
            state,
            since: Instant::now(),
            is_unknown: true,
        }
    }

    /// How these files lie now. One that is still as it came in `before` is not asked for again: so a thousand are
    /// looked at in milliseconds.
    fn of(
        files: &[SessionFile],
        repo: Option<&Repo>,
        state: u64,
        before: Option<&Self>,
    ) -> Result<Self> {
        let since = Instant::now();
        let before = before.filter(|before| before.state == state);
        let mut stamps = HashMap::new();
        let Some(repo) = repo else {
            return Ok(Self {
                unread: files.to_vec(),
                grown: HashSet::new(),
                stamps,
                state,
                since,
                is_unknown: false,
            });
        };
        let known: HashMap<String, RefName> = ingest::followed_files(repo)?.into_iter().collect();
        let sessions = repo.references(RefName::SESSIONS)?;
        let sessions: HashSet<RefName> = sessions.into_iter().map(|(name, _)| name).collect();
        let (mut unread, mut grown) = (Vec::new(), HashSet::new());
        let mut listings = Listings::default();
        for file in files {
            let followed = file.path.to_str().and_then(|path| known.get(path));
            if let Some(name) = followed.filter(|name| sessions.contains(name)) {
                let now = ingest::current_stamp(&file.path, &mut listings).ok();
                let is_as_it_was = |before: &Self| before.stamps.get(&file.path) == Some(&now);
                if before.is_some_and(is_as_it_was)
                    || ingest::has_changed(repo, &file.path, &mut listings)? != Some(true)
                {
                    stamps.insert(file.path.clone(), now);
                } else {
                    grown.insert(name.clone());
                }
                continue;
            }
            let id = file.named_id();
            let name = id.map(|id| RefName::session(file.format.name, &id));
            if !name.is_some_and(|name| sessions.contains(&name)) {
                unread.push(file.clone());
            }
        }
        Ok(Self {
            unread,
            grown,
            stamps,
            state,
            since,
            is_unknown: false,
        })
    }
}

impl Ledger {
    /// What was gathered, where nothing that it depends on is another one since.
    pub fn gathered(&self, of: &RowsOf) -> Option<Arc<Rows>> {
        let known = self.known();
        let rows = known.rows.as_ref().filter(|(own, _)| own == of);
        rows.map(|(_, rows)| Arc::clone(rows))
    }

    /// Keeps what was gathered.
    pub fn gather(&self, of: RowsOf, rows: &Arc<Rows>) {
        self.known().rows = Some((of, Arc::clone(rows)));
    }

    /// How the files lay when it was last looked; how they lie now is found out behind the requests.
    pub fn stock_behind(&self, state: u64) -> Arc<Stock> {
        let known = self.known().stock.clone();
        match &known {
            Some(stock) if stock.is_of(state) && stock.since.elapsed() < FRESH => {}
            Some(stock) if stock.is_of(state) => self.want_later(),
            _ => self.want(),
        }
        known.unwrap_or_else(|| Arc::new(Stock::unknown(state)))
    }

    /// What is known of these conversations. What is not known is worked out as far as there is time, and then behind
    /// the requests.
    pub fn overviews(
        &self,
        repo: &Repo,
        tips: &[ConversationTip],
        encoding: Encoding,
    ) -> Result<Vec<Option<Arc<Overview>>>> {
        let since = Instant::now();
        let mut found: Vec<Option<Arc<Overview>>> = {
            let known = self.known();
            let one = |tip| known.overviews.get(tip).cloned();
            tips.iter().map(one).collect()
        };
        let mut is_whole = true;
        let open = (0..tips.len()).filter(|at| found[*at].is_none());
        let mut open: Vec<usize> = open.collect();
        if open.len() > AT_FIRST {
            // The list begins with those that were worked on last.
            let newest = repo.newest_branches(AT_FIRST)?;
            let newest: HashSet<RefName> = newest.into_iter().collect();
            let is_newest = |at: &usize| {
                tips[*at]
                    .branch
                    .as_ref()
                    .is_some_and(|it| newest.contains(it))
            };
            open.sort_by_key(|at| !is_newest(at));
        }
        for at in open {
            let tip = &tips[at];
            if since.elapsed() > AT_ONCE {
                is_whole = false;
                break;
            }
            let overview = Arc::new(repo.overview(tip, encoding)?);
            self.known()
                .overviews
                .insert(tip.clone(), Arc::clone(&overview));
            found[at] = Some(overview);
        }
        if !is_whole {
            self.want();
        }
        Ok(found)
    }

    /// What each session cost, by its name, and whether that is of the repository in this state.
    pub fn bills(&self, state: u64) -> (Arc<HashMap<RefName, Bill>>, bool) {
        let known = self.known();
        let is_fresh = known.billed_at == Some(state);
        let bills = Arc::clone(&known.bills);
        drop(known);
        if !is_fresh {
            self.want();
        }
        (bills, is_fresh)
    }

    /// What is in a session's file, and whether that was looked at.
    pub fn file(&self, file: &SessionFile) -> (Option<Arc<Inspected>>, bool) {
        let stamp = stamp(&file.path);
        let known = self.known();
        match known.files.get(&file.path) {
            Some((of, found)) if *of == stamp => (found.clone(), true),
            _ => {
                drop(known);
                self.want();
                (None, false)
            }
        }
    }

    /// How the files that tools have left lie to the repository in this state. That a file came or grew is seen a little
    /// later.
    pub fn stock(
        &self,
        files: impl FnOnce() -> Result<Arc<Vec<SessionFile>>>,
        repo: Option<&Repo>,
        state: u64,
    ) -> Result<Arc<Stock>> {
        let known = self.known().stock.clone();
        match known.filter(|stock| stock.state == state && stock.since.elapsed() < OLD) {
            Some(stock) => {
                if stock.since.elapsed() > FRESH {
                    self.want_later();
                }
                Ok(stock)
            }
            None => self.take_stock(&files()?, repo, state),
        }
    }

    /// Looks how the files lie now.
    pub fn take_stock(
        &self,
        files: &[SessionFile],
        repo: Option<&Repo>,
        state: u64,
    ) -> Result<Arc<Stock>> {
        let before = self.known().stock.clone();
        let stock = Arc::new(Stock::of(files, repo, state, before.as_deref())?);
        self.known().stock = Some(Arc::clone(&stock));
        Ok(stock)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has what is not known worked out behind the requests.
    pub fn want(&self) {
        self.known().is_wanted = true;
        self.wanted.notify_all();
    }

    /// The same once whoever asked has drawn what came: to look at a thousand files is in the way of that.
    fn want_later(&self) {
        let again = Instant::now() + LATER;
        self.known().looks_again.get_or_insert(again);
    }

    /// Waits a little for somebody to want more; says whether somebody does.
    pub fn is_wanted(&self) -> bool {
        let known = self.known();
        let wait = self
            .wanted
            .wait_timeout_while(known, PAUSE, |known| !known.is_wanted);
        let (mut known, _) = wait.unwrap_or_else(PoisonError::into_inner);
        let is_due = known.looks_again.is_some_and(|due| due < Instant::now());
        if is_due {
            known.looks_again = None;
        }
        std::mem::take(&mut known.is_wanted) || is_due
    }

    /// Works out what lists say of these conversations, as long as anybody may ask for it.
    pub fn look_over(
        &self,
        repo: &Repo,
        all: &[ConversationTip],
        encoding: Encoding,
        is_over: &dyn Fn() -> bool,
    ) -> Result<()> {
        for tip in all {
            if is_over() {
                return Ok(());
            }
            if !self.known().overviews.contains_key(tip) {
                let overview = Arc::new(repo.overview(tip, encoding)?);
                self.known().overviews.insert(tip.clone(), overview);
            }
        }
        // What is there no more is not kept, either: a purge may have erased what was said.
        let all: HashSet<&ConversationTip> = all.iter().collect();
        self.known().overviews.retain(|tip, _| all.contains(tip));
        Ok(())
    }

    /// Looks into these files, as long as anybody may ask for it.
    pub fn look_into(&self, files: &[SessionFile], is_over: &dyn Fn() -> bool) {
        for file in files {
            if is_over() {
                return;
            }
            let stamp = stamp(&file.path);
            let is_known = {
                let known = self.known();
                known
                    .files
                    .get(&file.path)
                    .is_some_and(|(of, _)| *of == stamp)
            };
            if !is_known {
                let found = ingest::inspect(&file.path).ok().map(Arc::new);
                self.known().files.insert(file.path.clone(), (stamp, found));
            }
        }
    }

    /// Works out what each session cost.
    pub fn bill(&self, repo: &Repo, prices: &Prices, state: u64) -> Result<()> {
        if self.known().billed_at == Some(state) {
            return Ok(());
        }
        let mut bills: HashMap<RefName, Bill> = HashMap::new();
        for reply in repo.billed(None, prices)? {
            let Some(session) = &reply.session else {
                continue;
            };
            let bill = Bill::of([&reply]);
            // A session's row says what it came to with its sub-agents, as its page does.
            let whole = reply.counts_with(false).and_then(|name| name.parse().ok());
            let whole = whole.filter(|whole: &RefName| whole != session);
            for name in [Some(session.clone()), whole].into_iter().flatten() {
                bills.entry(name).or_default().plus(&bill);
            }
        }
        let mut known = self.known();
        (known.bills, known.billed_at) = (Arc::new(bills), Some(state));
        Ok(())
    }
}

/// What changes when any conversation does.
pub fn state_of(tips: &[ConversationTip]) -> u64 {
    let mut hasher = DefaultHasher::new();
    tips.hash(&mut hasher);
    hasher.finish()
}

/// What changes when a file does.
fn stamp(file: &Path) -> Stamp {
    ingest::stamp(file).ok()
}
