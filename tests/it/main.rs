//! The program from outside: one file per user story.

mod all_doors;
mod annotating;
mod anonymous;
mod arguments;
mod attesting;
mod auditing;
mod background;
mod backing_up;
mod bad_use;
mod between_agents;
mod bisecting;
mod blaming;
mod bodies;
mod boundaries;
mod bounds;
mod bringing_back;
#[cfg(unix)]
mod broken_directory;
#[cfg(all(unix, feature = "s3"))]
#[path = "../bucket.rs"]
mod bucket;
#[cfg(all(unix, feature = "s3"))]
mod buckets;
mod budgets;
mod bundling;
mod calls;
mod chatting;
mod check;
mod checking;
mod choosing;
mod circles;
#[cfg(feature = "postgres")]
#[path = "../client.rs"]
mod client;
mod code;
mod codex_files;
mod codex_live;
mod cold_cache;
mod collecting;
mod committing;
mod compacting;
mod concurrency;
mod copies;
mod costing;
mod counted_streams;
mod counting_work;

#[path = "../cluster.rs"]
mod cluster;
#[path = "../conditions.rs"]
mod conditions;
mod damage;
mod data_sets;
mod databases;
mod demo;
mod diff;
mod doctoring;
mod doors;
mod dropping;
mod dry_runs;
mod erasing;
mod exporting;
mod finding;
mod following;
mod gemini_files;
mod gemini_live;
mod guarding;
mod habits;
mod hooks;
mod hostile;
mod importing;
mod importing_at_once;
mod importing_roo;
mod injected;
mod kimi_files;
mod layers;
mod leaning;
mod leaving;
mod live_requests;
mod logging;
mod long_requests;
mod looking;
mod mending;
mod merging;
mod missing_cache;
mod moving;
mod naming;
mod nesting;
mod odd_records;

mod meaning;
#[path = "../oracles/mod.rs"]
mod oracles;
#[cfg(unix)]
mod owners;
mod pages;
mod paging;
mod painting;
#[cfg(unix)]
mod pairs;
mod parts;
mod people;
mod pictures;
mod plain_english;
#[cfg(all(unix, feature = "postgres"))]
mod points;
#[cfg(all(unix, feature = "postgres"))]
#[path = "../pooler.rs"]
mod pooler;
#[cfg(all(unix, feature = "postgres"))]
mod pooling;
mod programs;
mod prompting;
mod provider_counts;
mod pruning;
mod purging;
mod ranking;
#[cfg(all(unix, feature = "postgres"))]
mod reaching;
mod reading;
#[cfg(unix)]
mod readme;
mod real_sessions;
mod rebasing;
mod recalling;
#[cfg(unix)]
mod recipes;
mod recorded;
mod recording;
mod recording_laws;
#[cfg(target_os = "linux")]
mod reliability;
mod remembering;
mod renaming;
mod rendered;
mod replaying;
mod request_laws;
mod requesting;
mod requests;
mod requests_sent;
mod restoring;
mod resuming;
mod retaining;
mod roo_laws;
mod room;
#[cfg(all(feature = "postgres", unix))]
mod round_trips;
mod running;
mod sandbox;
mod saying;
mod screen;
mod second_reader;
mod secrets;
mod servers;
mod session_ids;
mod session_states;
#[cfg(unix)]
mod setting_up;
#[cfg(unix)]
mod sharing;
mod sharing_laws;
mod shells;
mod showing;
#[cfg(unix)]
mod shown;
mod shrinking;
mod standing;
mod surgery_laws;
mod talking;
mod terminal;
mod thoughts;
mod tool_folders;
mod travelling;
mod truncating;
mod unimported;
mod unsaid;
#[cfg(target_os = "linux")]
mod unwritable;
mod viewing;
mod watching;
mod ways_in;
mod ways_out;
mod web;
mod while_it_ran;
mod written_again;
mod wrong_values;
