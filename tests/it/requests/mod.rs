//! What a model is sent, beside what clients sent; runs from one context.

mod attachments;
mod bisect;
mod imported;
mod laws;
mod live;
mod live_codex;
mod live_gemini;
mod long;
mod pictures;
mod provider_counts;
mod recorded;
mod recorded_bodies;
mod run;
mod sent;
mod side_requests;
mod thoughts;
