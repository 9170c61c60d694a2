//! Other people and other machines.

mod anonymous;
mod attest;
#[cfg(all(unix, feature = "s3"))]
mod buckets;
mod bundle;
mod laws;
#[cfg(unix)]
mod owners;
mod people;
#[cfg(unix)]
mod people_and_machines;
#[cfg(all(unix, feature = "postgres"))]
mod points;
#[cfg(all(unix, feature = "postgres"))]
mod pooling;
#[cfg(all(unix, feature = "postgres"))]
mod reaching;
mod remotes;
#[cfg(all(feature = "postgres", unix))]
mod round_trips;
mod servers;
mod session_files;
