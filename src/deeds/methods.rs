//! All methods, and what they are as data.

use schemars::generate::SchemaSettings;

use super::*;

macro_rules! methods {
    ($($kind:ident $method:ty),* $(,)?) => {
        /// All methods, in the order in which people learn of them.
        pub const METHODS: &[MethodEntry] = &[$(MethodEntry::of::<$method>()),*];

        /// Of each whether its parameters are a command's options as well.
        const OPTIONS: &[Option<DeedEntry>] = &[$(methods!(@$kind $method)),*];
    };
    (@deed $method:ty) => { Some(DeedEntry::of::<$method>()) };
    (@method $method:ty) => { None };
}

// A `deed` is also the options of a command, a `method` is not.
methods![
    deed ImportParams,
    method SessionsParams,
    deed ExportParams,
    deed DatasetParams,
    deed ResumeParams,
    deed StatusParams,
    deed LogParams,
    deed ShowParams,
    method ContextParams,
    deed FindParams,
    method ReadParams,
    method DroppedParams,
    deed AuditParams,
    method DidParams,
    deed BlameParams,
    deed AttestParams,
    deed DiffParams,
    deed CostParams,
    deed StatsParams,
    method CacheParams,
    deed CompileParams,
    method BisectParams,
    deed CommitParams,
    method AdvanceParams,
    deed AnnotateParams,
    deed ShrinkParams,
    deed PruneParams,
    deed DropParams,
    deed TruncateParams,
    deed CompactParams,
    deed ClearParams,
    deed RedactParams,
    deed UndoParams,
    deed RedoParams,
    deed RestoreParams,
    deed PickParams,
    deed MergeParams,
    deed ResolveParams,
    deed RevertParams,
    deed RebaseParams,
    deed ResetParams,
    method MoveParams,
    deed CheckoutParams,
    deed BranchParams,
    method BranchesParams,
    deed TagParams,
    method TagsParams,
    deed ReflogParams,
    deed PushParams,
    deed FetchParams,
    deed PullParams,
    method RemotesParams,
    deed RemoteAddParams,
    deed RemoteSetUrlParams,
    deed RemoteRenameParams,
    deed RemoteRemoveParams,
    deed BundleParams,
    deed UnbundleParams,
    deed GcParams,
    deed PurgeParams,
    deed FsckParams,
    deed DoctorParams,
    deed DuParams,
    deed BackupParams,
    deed ConfigParams,
];

/// The methods whose parameters are a command's options as well.
pub fn deeds() -> impl Iterator<Item = &'static DeedEntry> {
    OPTIONS.iter().flatten()
}

/// The method of a name.
///
/// # Errors
///
/// Where there is none; with the nearest, if one is near.
pub fn method(name: &str) -> Result<&'static MethodEntry, ApiError> {
    if let Some(found) = METHODS.iter().find(|method| method.name == name) {
        return Ok(found);
    }
    let fault = ApiError::new(
        "unknown_method",
        advice::Exit::Usage,
        format!("no method '{name}'"),
    );
    let near = crate::model::nearest(name, METHODS.iter().map(|method| method.name));
    Err(match near {
        Some(near) => fault.with_hint(format!("did you mean {near}?")),
        None => fault.with_hint("the method 'describe' lists them"),
    })
}

/// The interface as data: its version, and of each method what it does, takes and gives, as JSON Schema.
pub fn described() -> serde_json::Value {
    // A field that may be left out of an answer is another thing than one that may be left out of a request.
    let mut taken = SchemaSettings::draft2020_12().into_generator();
    let mut given = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let methods: Vec<_> = METHODS
        .iter()
        .map(|method| {
            serde_json::json!({
                "name": method.name,
                "about": method.about(),
                "changes": method.changes,
                "params": (method.params)(&mut taken),
                "result": (method.answer)(&mut given),
            })
        })
        .collect();
    let error = given.subschema_for::<ApiError>();
    let mut types = taken.take_definitions(true);
    types.append(&mut given.take_definitions(true));
    serde_json::json!({
        "version": VERSION,
        "methods": methods,
        "error": error,
        "$defs": types,
    })
}
