//! All methods, and what they are as data.

use schemars::generate::SchemaSettings;

use super::*;

macro_rules! methods {
    ($($method:ty),* $(,)?) => {
        /// All methods, in the order in which people learn of them.
        pub const METHODS: &[MethodEntry] = &[$(MethodEntry::of::<$method>()),*];
    };
}

methods![
    ImportParams,
    SessionsParams,
    ExportParams,
    DatasetParams,
    ResumeParams,
    StatusParams,
    LogParams,
    ShowParams,
    ContextParams,
    FindParams,
    ReadParams,
    DroppedParams,
    AuditParams,
    DidParams,
    BlameParams,
    AttestParams,
    DiffParams,
    CostParams,
    StatsParams,
    CacheParams,
    CompileParams,
    BisectParams,
    CommitParams,
    AdvanceParams,
    AnnotateParams,
    ShrinkParams,
    PruneParams,
    DropParams,
    TruncateParams,
    CompactParams,
    ClearParams,
    RedactParams,
    UndoParams,
    RedoParams,
    RestoreParams,
    PickParams,
    MergeParams,
    ResolveParams,
    RevertParams,
    RebaseParams,
    ResetParams,
    MoveParams,
    CheckoutParams,
    BranchParams,
    BranchesParams,
    TagParams,
    TagsParams,
    ReflogParams,
    PushParams,
    FetchParams,
    PullParams,
    RemotesParams,
    RemoteAddParams,
    RemoteSetUrlParams,
    RemoteRenameParams,
    RemoteRemoveParams,
    BundleParams,
    UnbundleParams,
    GcParams,
    PurgeParams,
    FsckParams,
    DoctorParams,
    DuParams,
    BackupParams,
    ConfigParams,
];

macro_rules! deeds {
    ($($deed:ty),* $(,)?) => {
        /// The methods whose parameters are a command's options as well.
        pub const DEEDS: &[DeedEntry] = &[$(DeedEntry::of::<$deed>()),*];
    };
}

deeds![
    CommitParams,
    AnnotateParams,
    ShrinkParams,
    PruneParams,
    DropParams,
    TruncateParams,
    CompactParams,
    ClearParams,
    RedactParams,
    UndoParams,
    RedoParams,
    RestoreParams,
    PickParams,
    RevertParams,
    ResetParams,
    CheckoutParams,
    MergeParams,
    ResolveParams,
    RebaseParams,
    PushParams,
    FetchParams,
    PullParams,
    RemoteAddParams,
    RemoteSetUrlParams,
    RemoteRenameParams,
    RemoteRemoveParams,
    BundleParams,
    UnbundleParams,
    GcParams,
    PurgeParams,
    FsckParams,
    BranchParams,
    TagParams,
    ConfigParams,
    LogParams,
    FindParams,
    ShowParams,
    ReflogParams,
    StatusParams,
    DiffParams,
    CompileParams,
    BlameParams,
    AuditParams,
    AttestParams,
    CostParams,
    StatsParams,
    ExportParams,
    DatasetParams,
    ResumeParams,
    DoctorParams,
    DuParams,
    BackupParams,
    ImportParams,
];

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
