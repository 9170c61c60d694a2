//! A bar on standard error, for what takes long.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that shows what `template` says.
pub fn bar(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    let target = ProgressDrawTarget::stderr_with_hz(8);
    ProgressBar::with_draw_target(None, target).with_style(style.progress_chars("=>."))
}
