//! The replies on the paths to where refs lead, as they were read last: to ask again reads no commit that was there before.
//!
//! What is kept of a path is one row: its replies with their prices, the list that these are from, what was in force at
//! its end, and what its session's file begins with, where copies were told by that.

use std::collections::{HashMap, HashSet};

use super::paths::counted;
use super::reply::BilledReply;
use super::stated::OtherSum;
use crate::error::Result;
use crate::formats::Format;
use crate::hash::{CommitHash, ContentHash};
use crate::model::price::{Paid, Prices};
use crate::model::{Millis, RefName, Usage, UsageDetail};
use crate::repo::copies::{Copies, Front};
use crate::repo::load::UsageDetails;
use crate::repo::served::ServedBy;
use crate::repo::{Repo, kept};
use crate::store::{KeptBill, View};

/// The first byte of a row.
const FORM: u8 = 4;

/// A reply of a path, without its session.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathReply {
    pub(super) reply: BilledReply,
    /// The name of the request that it answers, where its file says it. Hostile until escaped.
    pub(super) request: Option<String>,
}

/// The replies on a path, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PathReplies {
    pub(super) replies: Vec<PathReply>,
    /// What is in force at its end.
    served: ServedBy,
    /// The prices that its replies have: [`Prices::tag`].
    prices: Option<String>,
    /// What its session's file begins with, where that was read.
    front: Option<Front>,
    /// What requests of its session cost that no reply shows.
    sums: Vec<OtherSum>,
}

/// Reads the replies of paths, each from where it was read last.
pub(super) struct PathReader<'v> {
    view: &'v dyn View,
    prices: &'v Prices,
    /// The rows that make sense, with what stands in front of the replies in each.
    kept: HashMap<RefName, (KeptBill, PathHead)>,
    details: UsageDetails<'v>,
    read: Vec<(RefName, CommitHash, PathReplies)>,
}

impl<'v> PathReader<'v> {
    /// Tells `copies` what was read of sessions' files before.
    pub(super) fn of(view: &'v dyn View, prices: &'v Prices, copies: &Copies<'_>) -> Result<Self> {
        let mut kept = HashMap::new();
        for bill in view.kept_bills(None)? {
            let head = Unpacking::of(&bill.replies).and_then(|mut all| all.head());
            if let (Some(head), Ok(name)) = (head, bill.name.parse::<RefName>()) {
                if let Some(front) = &head.front {
                    copies.has_read(name.clone(), front.clone());
                }
                kept.insert(name, (bill, head));
            }
        }
        Ok(Self {
            view,
            prices,
            kept,
            details: UsageDetails::of(view),
            read: Vec::new(),
        })
    }

    /// The replies on the path to where a ref leads.
    pub(super) fn replies(&mut self, name: &RefName, tip: &CommitHash) -> Result<Vec<PathReply>> {
        let tag = self.prices.tag();
        let kept = self.kept.get(name);
        let known = kept.and_then(|(bill, _)| Some((bill.tip, unpacked(&bill.replies)?)));
        let (after, mut path) = match known {
            Some((at, path)) if at == *tip || self.view.is_ancestor(&at, tip)? => (Some(at), path),
            _ => (None, PathReplies::default()),
        };
        let is_priced = path.prices == tag;
        if !is_priced {
            for PathReply { reply, .. } in &mut path.replies {
                reply.price(self.prices);
            }
            path.prices = tag;
        }
        if after == Some(*tip) && (is_priced || path.prices.is_none()) {
            return Ok(path.replies);
        }
        let mut rows = self.view.ancestors(tip, after.as_ref(), usize::MAX)?;
        rows.reverse();
        let details = self.details.all()?;
        let before = path.replies.last().map(|it| it.reply.commit);
        let new = counted(self.view, &rows, (&mut path.served, before), details)?;
        let session = name.as_session();
        let format = session.and_then(|(tool, _)| Format::named(tool).ok());
        let is_named = format.is_none_or(|format| format.request_of.is_some());
        for mut reply in new {
            reply.price(self.prices);
            let request = match is_named {
                true => kept::request_of(self.view, &reply.commit)?,
                false => None,
            };
            path.replies.push(PathReply { reply, request });
        }
        self.read.push((name.clone(), *tip, path.clone()));
        Ok(path.replies)
    }

    /// What requests of sessions cost that no reply shows, as it was looked up before.
    pub(super) fn sums(&self) -> HashMap<&RefName, &[OtherSum]> {
        let tag = self.prices.tag();
        let priced = self.kept.iter().filter(|(_, (_, head))| head.prices == tag);
        priced
            .map(|(name, (_, head))| (name, head.sums.as_slice()))
            .collect()
    }

    /// The paths that are other than they were kept, with what was read of their sessions' files, and what requests of
    /// these cost that no reply shows.
    pub(super) fn read(
        mut self,
        fronts: &HashMap<RefName, Front>,
        others: &[(RefName, Vec<OtherSum>)],
    ) -> Vec<(RefName, CommitHash, PathReplies)> {
        let others = others.iter().map(|(name, sums)| (name, sums.as_slice()));
        let others: HashMap<&RefName, &[OtherSum]> = others.collect();
        let sums_of = |name: &RefName| others.get(name).copied().unwrap_or_default();
        for (name, _, path) in &mut self.read {
            path.front = fronts.get(name).cloned();
            path.sums = sums_of(name).to_vec();
        }
        let read: HashSet<&RefName> = self.read.iter().map(|(name, ..)| name).collect();
        let tag = self.prices.tag();
        let unread = self.kept.iter().filter(|(name, _)| !read.contains(name));
        let changed = unread.filter_map(|(name, (bill, known))| {
            let (front, sums) = (fronts.get(name), sums_of(name));
            // Without a list of prices, what others cost by one is left as it is.
            let is_priced = known.prices == tag;
            if known.front.as_ref() == front && (!is_priced || known.sums == sums) {
                return None;
            }
            let mut path = unpacked(&bill.replies)?;
            path.front = front.cloned();
            if is_priced {
                path.sums = sums.to_vec();
            }
            Some((name.clone(), bill.tip, path))
        });
        let changed: Vec<_> = changed.collect();
        self.read.extend(changed);
        self.read
    }
}

impl Repo {
    /// Keeps the replies of paths for later. They hold as long as nothing is purged, and nothing counted anew: `purge` is the
    /// newest purge that they know of. A repository that cannot be written to is no obstacle.
    pub(super) fn keep_paths(
        &self,
        paths: &[(RefName, CommitHash, PathReplies)],
        purge: Option<u64>,
    ) {
        if paths.is_empty() {
            return;
        }
        let _ = self.store.write_if_free().and_then(|tx| {
            let replies = paths.iter().flat_map(|(_, _, path)| &path.replies);
            let replies: Vec<&BilledReply> = replies.map(|it| &it.reply).collect();
            let commits: Vec<CommitHash> = replies.iter().map(|it| it.commit).collect();
            let usage = tx.usage(&commits)?;
            let details = tx.all_usage_details()?;
            let is_as_it_was = |(reply, usage): (&&BilledReply, Option<Usage>)| {
                let detail = details.get(&reply.commit);
                usage == Some(reply.usage)
                    && detail.map_or(reply.detail.is_empty(), |it| *it == reply.detail)
            };
            if tx.last_purge()? == purge && replies.iter().zip(usage).all(is_as_it_was) {
                let bills = paths.iter().map(|(name, tip, path)| KeptBill {
                    name: name.to_string(),
                    tip: *tip,
                    replies: packed(path),
                });
                tx.keep_bills(&bills.collect::<Vec<_>>())?;
            }
            tx.commit()
        });
    }
}

/// Bytes that are written one after the other: numbers as varints, texts by their place in a table before them.
#[derive(Default)]
struct Packing<'a> {
    bytes: Vec<u8>,
    texts: Vec<&'a str>,
    places: HashMap<&'a str, u64>,
}

impl<'a> Packing<'a> {
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn text(&mut self, text: Option<&'a str>) {
        let place = text.map_or(0, |text| {
            *self.places.entry(text).or_insert_with(|| {
                self.texts.push(text);
                self.texts.len() as u64
            })
        });
        self.number(place);
    }

    fn hash(&mut self, hash: Option<&[u8; 32]>) {
        self.bytes.push(u8::from(hash.is_some()));
        self.bytes.extend(hash.into_iter().flatten());
    }

    fn usage(&mut self, usage: &Usage) {
        usage.numbers().into_iter().for_each(|it| self.number(it));
    }

    fn time(&mut self, time: Option<Millis>) {
        self.bytes.push(u8::from(time.is_some()));
        self.bytes
            .extend(time.map_or(0, |time| time.0).to_le_bytes());
    }

    fn front(&mut self, front: Option<&Front>, [parent, starter]: [Option<&'a str>; 2]) {
        self.bytes.push(u8::from(front.is_some()));
        let Some(front) = front else { return };
        self.number(front.source);
        self.number(front.read_bytes);
        self.time(front.began);
        self.text(parent);
        self.text(starter);
    }

    fn dollars(&mut self, dollars: Option<f64>) {
        self.bytes.push(u8::from(dollars.is_some()));
        self.bytes
            .extend(dollars.into_iter().flat_map(f64::to_le_bytes));
    }

    fn paid(&mut self, paid: Option<&'a Paid>) {
        self.dollars(paid.map(|paid| paid.own));
        let Some(paid) = paid else { return };
        self.dollars((paid.counts != 0.0).then_some(paid.counts));
        self.number(paid.iterations.len() as u64);
        for dollars in &paid.iterations {
            self.dollars(*dollars);
        }
        self.number(paid.unpriced.len() as u64);
        for (name, count) in &paid.unpriced {
            self.text(Some(name));
            self.number(*count);
        }
    }
}

fn packed(path: &PathReplies) -> Vec<u8> {
    let details = path.replies.iter().map(|it| {
        let detail = &it.reply.detail;
        (!detail.is_empty()).then(|| detail.to_text())
    });
    let details: Vec<Option<String>> = details.collect();
    let served = path.served.clone().words();
    let front = path.front.as_ref();
    let parent = front.and_then(|it| it.forked_from.as_ref());
    let starter = front.and_then(|it| it.started_by.as_ref());
    let mut packing = Packing::default();
    packing.text(path.prices.as_deref());
    packing.front(
        front,
        [parent, starter].map(|name| name.map(RefName::as_str)),
    );
    packing.number(path.sums.len() as u64);
    for sum in &path.sums {
        packing.text(Some(&sum.model));
        packing.usage(&sum.usage);
        packing.time(sum.time);
        packing.dollars(sum.dollars);
    }
    for word in &served {
        packing.text(word.as_deref());
    }
    packing.number(path.replies.len() as u64);
    for (PathReply { reply, request }, detail) in path.replies.iter().zip(&details) {
        packing.bytes.extend(reply.commit.as_bytes());
        packing.hash(reply.content.as_ref().map(ContentHash::as_bytes));
        packing.hash(reply.behind.as_ref().map(CommitHash::as_bytes));
        packing.time(reply.time);
        let served = [&reply.model, &reply.tier, &reply.speed, &reply.region];
        for word in served {
            packing.text(word.as_deref());
        }
        packing.usage(&reply.usage);
        packing.text(detail.as_deref());
        packing.paid(reply.paid.as_ref());
        packing.text(request.as_deref());
    }
    let Packing { bytes, texts, .. } = packing;
    let mut whole = Packing {
        bytes: vec![FORM],
        ..Packing::default()
    };
    whole.number(texts.len() as u64);
    for text in texts {
        whole.number(text.len() as u64);
        whole.bytes.extend(text.as_bytes());
    }
    whole.bytes.extend(bytes);
    whole.bytes
}

/// Bytes that are read one after the other.
struct Unpacking<'b> {
    bytes: &'b [u8],
    texts: Vec<&'b str>,
}

/// What stands in front of the replies.
struct PathHead {
    prices: Option<String>,
    front: Option<Front>,
    sums: Vec<OtherSum>,
}

impl<'b> Unpacking<'b> {
    fn of(bytes: &'b [u8]) -> Option<Self> {
        let mut all = Self {
            bytes: bytes.strip_prefix(&[FORM])?,
            texts: Vec::new(),
        };
        for _ in 0..all.number()? {
            let long = usize::try_from(all.number()?).ok()?;
            let text = std::str::from_utf8(all.take(long)?).ok()?;
            all.texts.push(text);
        }
        Some(all)
    }

    fn head(&mut self) -> Option<PathHead> {
        let prices = self.text()?.map(str::to_owned);
        let (front, mut sums) = (self.front()?, Vec::new());
        for _ in 0..self.number()? {
            sums.push(OtherSum {
                model: self.text()??.to_owned(),
                usage: self.usage()?,
                time: self.time()?,
                dollars: self.dollars()?,
            });
        }
        Some(PathHead {
            prices,
            front,
            sums,
        })
    }

    fn usage(&mut self) -> Option<Usage> {
        let mut numbers = [0; 6];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Some(Usage::of_numbers(numbers))
    }

    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|taken| taken[0])
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// What a place in the table stands for: the outer none says that it is no place.
    fn text(&mut self) -> Option<Option<&'b str>> {
        match usize::try_from(self.number()?).ok()? {
            0 => Some(None),
            place => self.texts.get(place - 1).map(|text| Some(*text)),
        }
    }

    fn words(&mut self) -> Option<[Option<String>; 4]> {
        let mut words = [const { None }; 4];
        for word in &mut words {
            *word = self.text()?.map(str::to_owned);
        }
        Some(words)
    }

    fn hash(&mut self) -> Option<Option<[u8; 32]>> {
        match self.byte()? {
            0 => Some(None),
            _ => Some(Some(self.take(32)?.try_into().ok()?)),
        }
    }

    fn time(&mut self) -> Option<Option<Millis>> {
        let is_timed = self.byte()? == 1;
        let time = i64::from_le_bytes(self.take(8)?.try_into().ok()?);
        Some(is_timed.then_some(Millis(time)))
    }

    fn front(&mut self) -> Option<Option<Front>> {
        if self.byte()? == 0 {
            return Some(None);
        }
        let (source, read_bytes) = (self.number()?, self.number()?);
        let (began, parent, starter) = (self.time()?, self.text()?, self.text()?);
        let name = |text: Option<&str>| text.map(str::parse).transpose().ok();
        Some(Some(Front {
            began,
            forked_from: name(parent)?,
            started_by: name(starter)?,
            source,
            read_bytes,
        }))
    }

    fn dollars(&mut self) -> Option<Option<f64>> {
        match self.byte()? {
            0 => Some(None),
            _ => Some(Some(f64::from_le_bytes(self.take(8)?.try_into().ok()?))),
        }
    }

    fn paid(&mut self) -> Option<Option<Paid>> {
        let Some(own) = self.dollars()? else {
            return Some(None);
        };
        let mut paid = Paid {
            own,
            counts: self.dollars()?.unwrap_or(0.0),
            ..Paid::default()
        };
        for _ in 0..self.number()? {
            paid.iterations.push(self.dollars()?);
        }
        for _ in 0..self.number()? {
            let name = self.text()??.to_owned();
            paid.unpriced.insert(name, self.number()?);
        }
        Some(Some(paid))
    }
}

/// None of bytes that make no sense.
fn unpacked(bytes: &[u8]) -> Option<PathReplies> {
    let mut all = Unpacking::of(bytes)?;
    let PathHead {
        prices,
        front,
        sums,
    } = all.head()?;
    let served = ServedBy::of_words(all.words()?);
    let (mut replies, mut before) = (Vec::new(), None);
    for _ in 0..all.number()? {
        let commit = CommitHash::from_bytes(all.take(32)?.try_into().ok()?);
        let content = all.hash()?.map(ContentHash::from_bytes);
        let behind = all.hash()?.map(CommitHash::from_bytes);
        let time = all.time()?;
        let [model, tier, speed, region] = all.words()?;
        let usage = all.usage()?;
        let detail = match all.text()? {
            None => UsageDetail::default(),
            Some(text) => UsageDetail::from_text(text)?,
        };
        let paid = all.paid()?;
        let request = all.text()?.map(str::to_owned);
        let reply = BilledReply {
            commit,
            session: None,
            started_by: None,
            directory: None,
            time,
            model,
            tier,
            speed,
            region,
            usage,
            detail,
            dollars: paid.as_ref().map(Paid::total),
            paid,
            before: before.replace(commit),
            short: None,
            content,
            behind,
        };
        replies.push(PathReply { reply, request });
    }
    all.bytes.is_empty().then_some(PathReplies {
        replies,
        served,
        prices,
        front,
        sums,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::price::ModelNames;
    use crate::model::{Draft, Message, Role, UsageRecord};
    use crate::repo::{Call, CommitOptions};

    fn reply(at: u8) -> PathReply {
        let hash = |of: u8| [of; 32];
        let mut detail = UsageDetail::default();
        if at > 1 {
            detail.count("web_search_requests", u64::from(at));
        }
        let paid = (at > 0).then(|| Paid {
            own: f64::from(at) / 3.0,
            iterations: vec![None, Some(0.5)],
            counts: f64::from(at - 1),
            unpriced: [("fetches".to_owned(), 1 << 40)].into(),
        });
        PathReply {
            reply: BilledReply {
                commit: CommitHash::from_bytes(hash(at)),
                session: None,
                started_by: None,
                directory: None,
                time: (at > 0).then_some(Millis(i64::from(at) - 2)),
                model: (at != 1).then(|| "opus".to_owned()),
                tier: None,
                speed: (at == 2).then(|| "fast".to_owned()),
                region: None,
                usage: Usage::new(u64::MAX, 300).cached(1 << 40, 0),
                detail,
                dollars: paid.as_ref().map(Paid::total),
                paid,
                before: (at > 0).then(|| CommitHash::from_bytes(hash(at - 1))),
                short: None,
                content: (at != 1).then(|| ContentHash::from_bytes(hash(at + 9))),
                behind: (at > 0).then(|| CommitHash::from_bytes(hash(at + 99))),
            },
            request: (at == 2).then(|| "req_1".to_owned()),
        }
    }

    #[test]
    fn a_path_reads_back_as_it_was_and_a_part_of_its_bytes_is_none() {
        let path = PathReplies {
            replies: (0..3).map(reply).collect(),
            served: ServedBy::of_words([Some("opus".to_owned()), None, None, None]),
            prices: Some("a list".to_owned()),
            front: Some(Front {
                began: Some(Millis(7)),
                forked_from: Some(RefName::session("claude-code", "a")),
                started_by: Some(RefName::session("codex", "b")),
                source: 3,
                read_bytes: 1 << 16,
            }),
            sums: vec![OtherSum {
                model: "opus".to_owned(),
                usage: Usage::new(70, 3),
                time: None,
                dollars: Some(0.25),
            }],
        };
        let bytes = packed(&path);
        assert_eq!(unpacked(&bytes), Some(path));
        for end in 0..bytes.len() {
            assert_eq!(unpacked(&bytes[..end]), None, "{end}");
        }
        assert_eq!(
            unpacked(&packed(&PathReplies::default())),
            Some(PathReplies::default())
        );
    }

    /// Prices that are kept are told for their list alone, and another list's once.
    #[test]
    fn a_reply_has_the_price_of_the_list_that_is_meant() {
        let repo = Repo::ephemeral().expect("a repository");
        let mut draft = Draft::append(Message::text(Role::Assistant, "Done."));
        draft.settings.insert("model".into(), "\"mine\"".into());
        let options = CommitOptions {
            usages: &[Some(Usage::new(1_000_000, 0).into())],
            ..CommitOptions::default()
        };
        let made = repo.commit(Call::at(Millis(5), "commit"), &[draft], &options);
        made.expect("it commits");
        let (listed, none) = (Prices::listed(), Prices::none());
        let named = |model: &str| {
            let names = ModelNames::read(&format!("mine={model}")).expect("names");
            Prices::listed().named(names)
        };
        let (sonnet, haiku) = (named("claude-sonnet-4-5"), named("claude-haiku-4-5"));
        let cases = [
            (&none, None),
            (&sonnet, Some(6.0)),
            (&none, None),
            (&sonnet, Some(6.0)),
            (&haiku, Some(1.0)),
            (&listed, None),
            (&sonnet, Some(6.0)),
        ];
        for (prices, dollars) in cases {
            for _ in 0..2 {
                let billed = repo.billed(None, prices).expect("a bill");
                assert_eq!(billed[0].dollars, dollars, "{:?}", prices.tag());
            }
        }
    }

    /// What was kept is not told once something else was counted for a reply, be it beside its tokens alone.
    #[test]
    fn a_reply_that_is_counted_anew_is_billed_anew() {
        let repo = Repo::ephemeral().expect("a repository");
        let call = Call::at(Millis(5), "commit");
        let draft = Draft::append(Message::text(Role::Assistant, "Done."));
        let made = repo.commit(call, &[draft], &CommitOptions::default());
        let made = made.expect("it commits")[0].hash;
        let count = |record: UsageRecord| {
            let tx = repo.store.write().expect("a transaction");
            tx.put_usage_record(&made, &record).expect("kept");
            tx.commit().expect("committed");
        };
        let mut record = UsageRecord::from(Usage::new(10, 2));
        for searches in [None, Some(3), Some(4)] {
            record.usage.input_tokens += 1;
            if let Some(searches) = searches {
                record
                    .detail
                    .counts
                    .insert("web_search_requests".to_owned(), searches);
            }
            count(record.clone());
            for _ in 0..2 {
                let billed = repo.billed(None, &Prices::none()).expect("a bill");
                let told = (billed[0].usage, &billed[0].detail);
                assert_eq!((billed.len(), told), (1, (record.usage, &record.detail)));
            }
            let kept = repo.store.read().expect("a view").kept_bills(None);
            assert_eq!(kept.expect("rows").len(), 1);
        }
        record
            .detail
            .counts
            .insert("web_search_requests".to_owned(), 9);
        count(record.clone());
        let billed = repo.billed(None, &Prices::none()).expect("a bill");
        assert_eq!(billed[0].detail, record.detail);
    }
}
