//! Which facts are asked for again most often, as measured in real sessions (`docs/audit.md`).

use super::FactClass;
use super::held::FoundFact;

/// The most likely first. What is equally likely stands in the order of classes, then the newest first.
pub(super) fn rank(facts: &mut [FoundFact]) {
    let last = facts.iter().map(|found| found.last).max().unwrap_or(0);
    facts.sort_by(|a, b| {
        let likely = likely(b, last).cmp(&likely(a, last));
        let class = a.fact.class.cmp(&b.fact.class);
        likely
            .then(class)
            .then_with(|| b.last.cmp(&a.last))
            .then_with(|| a.first.cmp(&b.first))
            .then_with(|| a.fact.text.cmp(&b.fact.text))
    });
}

/// How likely it is that a fact is missed, in thousandths.
fn likely(found: &FoundFact, last: usize) -> u64 {
    let age = (last - found.last) as u64 * 1000 / (last as u64 + 1);
    let count = found.fact.count as u64;
    let fresh = 1000 - age;
    match found.fact.class {
        FactClass::File => {
            400 + fresh / 2 + if found.is_changed { 150 } else { 0 } + 40 * count.min(8)
        }
        FactClass::Command => fresh / 3 + 120 * (count - 1).min(6),
        FactClass::Task => 1400,
        FactClass::Instruction => 500 + fresh / 3,
        FactClass::Error => fresh / 4 + if found.fact.outcome.is_some() { 0 } else { 150 },
        FactClass::Url => 150 + fresh / 8,
        FactClass::Name => fresh / 8 + 20 * count.min(5),
        FactClass::Number => fresh / 10 + 10 * count.min(5),
    }
}
