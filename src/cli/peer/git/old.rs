//! How earlier versions did it: a ref of git's for each ref of tract's, `refs/tract/…/NAME.tract`, a commit without a parent, in
//! whose tree `ref.json` says where it is and `0000.tract`, `0001.tract`, … are its bundles.

use tract::Result;
use tract::sync::OldRef;

use super::super::number::SUFFIX;
use super::super::strange;
use super::{Git, THERE};

/// What says where a ref is.
const HEAD: &str = "ref.json";

impl Git {
    /// What a ref says of itself, and where its bundles are.
    pub(super) fn old(&self, name: &str, object: &str) -> Result<(OldRef, Vec<String>)> {
        let said = self.blob(&format!("{object}:{HEAD}"), HEAD)?;
        let old = OldRef::from_json(&said)?;
        let below = old.row.name.as_str().strip_prefix("refs/");
        if format!("{THERE}{}{SUFFIX}", below.unwrap_or_default()) != name {
            return Err(strange(format!("has {} by another name", old.row.name)));
        }
        let file = |number: usize| format!("{number:04}{SUFFIX}");
        if !self.sound.borrow().contains(object) {
            for number in 0..old.ends.len() {
                let what = file(number);
                let bundle = self.run(&["cat-file", "blob", &format!("{object}:{what}")], &[]);
                let bundle = bundle.map_err(|_| strange(format!("has no {what}")))?;
                old.check(number, &bundle)?;
            }
            self.sound.borrow_mut().insert(object.to_owned());
        }
        let bundles = (0..old.ends.len()).map(|number| format!("{name}:{}", file(number)));
        let bundles = bundles.collect();
        Ok((old, bundles))
    }
}
