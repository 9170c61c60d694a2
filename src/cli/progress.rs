//! A bar on standard error, for what takes long.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::App;

/// A bar that shows what `template` says, where anyone can see it.
pub fn bar(app: &App, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    let target = if app.ui.draws_progress() {
        ProgressDrawTarget::stderr_with_hz(8)
    } else {
        ProgressDrawTarget::hidden()
    };
    ProgressBar::with_draw_target(None, target).with_style(style.progress_chars("=>."))
}
