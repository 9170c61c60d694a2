//! Plans: a context in, a draft commit out.
