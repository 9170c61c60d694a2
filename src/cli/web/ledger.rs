//! What lists say of conversations, kept for as long as the server runs: it is worked out once for each end of a
//! conversation, by a thread behind the requests, so that a list of a thousand is there at once.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tract::history::{Bill, ConversationTip, Overview, Repo};
use tract::ingest::tool_dirs::SessionFile;
use tract::ingest::{self, Inspected};
use tract::model::{Encoding, RefName};

use super::Site;
use crate::cli::{App, Result, prices};

/// How long a request works out what is not known yet.
const AT_ONCE: Duration = Duration::from_millis(60);
/// For how long it holds what files there are.
const FRESH: Duration = Duration::from_secs(2);
const OLD: Duration = Duration::from_secs(60);
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
    overviews: HashMap<ConversationTip, Arc<Overview>>,
    /// What each session's replies cost, and the state of the repository that it was worked out for.
    bills: Arc<HashMap<RefName, Bill>>,
    billed_at: Option<u64>,
    files: HashMap<PathBuf, (String, Option<Arc<Inspected>>)>,
    stock: Option<Arc<Stock>>,
}

/// How the files that tools have left lie to a repository.
pub struct Stock {
    /// Those of no session that is here, newest first.
    pub unread: Vec<SessionFile>,
    /// The sessions whose files are other than they were when they came in.
    pub grown: HashSet<RefName>,
    /// The state of the repository that this is of; none without one.
    version: Option<u64>,
    since: Instant,
}

impl Stock {
    fn of(site: &Site, app: &App, repo: Option<&Repo>) -> Result<Self> {
        let since = Instant::now();
        let files = site.files(app)?;
        let Some(repo) = repo else {
            return Ok(Self {
                unread: files.to_vec(),
                grown: HashSet::new(),
                version: None,
                since,
            });
        };
        let version = repo.version()?;
        let known: HashMap<String, RefName> = ingest::followed_files(repo)?.into_iter().collect();
        let sessions = repo.references(RefName::SESSIONS)?;
        let sessions: HashSet<RefName> = sessions.into_iter().map(|(name, _)| name).collect();
        let (mut unread, mut grown) = (Vec::new(), HashSet::new());
        for file in files.iter() {
            let followed = file.path.to_str().and_then(|path| known.get(path));
            if let Some(name) = followed {
                let then = ingest::known_stamp(repo, &file.path)?;
                if then.is_some() && then != ingest::stamp(&file.path).ok() {
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
            version: Some(version),
            since,
        })
    }
}

impl Ledger {
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
        for (tip, found) in tips.iter().zip(&mut found) {
            if found.is_some() {
                continue;
            }
            if since.elapsed() > AT_ONCE {
                is_whole = false;
                break;
            }
            let overview = Arc::new(repo.overview(tip, encoding)?);
            self.known()
                .overviews
                .insert(tip.clone(), Arc::clone(&overview));
            *found = Some(overview);
        }
        if !is_whole {
            self.want();
        }
        Ok(found)
    }

    /// What each session cost, by its name, and whether that is of the repository as it is now.
    pub fn bills(&self, repo: &Repo) -> Result<(Arc<HashMap<RefName, Bill>>, bool)> {
        let version = repo.version()?;
        let known = self.known();
        let is_fresh = known.billed_at == Some(version);
        let bills = Arc::clone(&known.bills);
        drop(known);
        if !is_fresh {
            self.want();
        }
        Ok((bills, is_fresh))
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

    /// How the files that tools have left lie to the repository as it is now. That a file came or grew is seen a little
    /// later.
    pub fn stock(&self, site: &Site, app: &App, repo: Option<&Repo>) -> Result<Arc<Stock>> {
        let version = repo.map(Repo::version).transpose()?;
        let known = self.known().stock.clone();
        match known.filter(|stock| stock.version == version && stock.since.elapsed() < OLD) {
            Some(stock) => {
                if stock.since.elapsed() > FRESH {
                    self.want();
                }
                Ok(stock)
            }
            None => self.take_stock(site, app, repo),
        }
    }

    fn take_stock(&self, site: &Site, app: &App, repo: Option<&Repo>) -> Result<Arc<Stock>> {
        let stock = Arc::new(Stock::of(site, app, repo)?);
        self.known().stock = Some(Arc::clone(&stock));
        Ok(stock)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn want(&self) {
        self.known().is_wanted = true;
        self.wanted.notify_all();
    }

    /// Works out what is wanted, until the server ends. That something fails is told to whoever asks for it.
    pub fn tend(&self, site: &Site) {
        self.want();
        while !site.is_over() {
            let known = self.known();
            let wait = self
                .wanted
                .wait_timeout_while(known, PAUSE, |known| !known.is_wanted);
            let (mut known, _) = wait.unwrap_or_else(PoisonError::into_inner);
            if !std::mem::take(&mut known.is_wanted) {
                continue;
            }
            drop(known);
            let app = site.app();
            let _ = self.work(site, &app);
        }
    }

    fn work(&self, site: &Site, app: &App) -> Result<()> {
        let repo = site.repo(app)?;
        if let Some(repo) = &repo {
            self.look_over(site, repo, app)?;
        }
        self.look_into_files(site, repo.as_deref(), app)?;
        match &repo {
            Some(repo) => self.bill(repo, app),
            None => Ok(()),
        }
    }

    /// Works out all that there is of a repository, at once.
    pub fn fill(&self, site: &Site, repo: &Repo, app: &App) -> Result<()> {
        self.look_over(site, repo, app)?;
        self.bill(repo, app)
    }

    fn look_over(&self, site: &Site, repo: &Repo, app: &App) -> Result<()> {
        let (encoding, all) = (app.encoding(repo)?, repo.conversations()?);
        for tip in &all {
            if site.is_over() {
                return Ok(());
            }
            if !self.known().overviews.contains_key(tip) {
                let overview = Arc::new(repo.overview(tip, encoding)?);
                self.known().overviews.insert(tip.clone(), overview);
            }
        }
        let mut known = self.known();
        if known.overviews.len() > all.len() * 2 + 64 {
            let all: HashSet<&ConversationTip> = all.iter().collect();
            known.overviews.retain(|tip, _| all.contains(tip));
        }
        Ok(())
    }

    fn look_into_files(&self, site: &Site, repo: Option<&Repo>, app: &App) -> Result<()> {
        for file in &self.take_stock(site, app, repo)?.unread {
            if site.is_over() {
                return Ok(());
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
        Ok(())
    }

    /// Works out what each session cost.
    fn bill(&self, repo: &Repo, app: &App) -> Result<()> {
        let version = repo.version()?;
        if self.known().billed_at == Some(version) {
            return Ok(());
        }
        let (prices, _) = prices::prices(repo, app)?;
        let mut by_session: HashMap<RefName, Vec<_>> = HashMap::new();
        for reply in repo.billed(None, &prices)? {
            if let Some(session) = &reply.session {
                by_session.entry(session.clone()).or_default().push(reply);
            }
        }
        let bills = by_session.into_iter();
        let bills = bills.map(|(session, replies)| (session, Bill::of(&replies)));
        let mut known = self.known();
        (known.bills, known.billed_at) = (Arc::new(bills.collect()), Some(version));
        Ok(())
    }
}

/// What changes when a file does.
pub fn stamp(file: &Path) -> String {
    ingest::stamp(file).map_or_else(|_| String::new(), |stamp| format!("{stamp:?}"))
}
