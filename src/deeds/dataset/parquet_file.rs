//! Rows as Parquet: the same as JSON Lines, with the type of each column.

use std::io::Write;
use std::sync::Arc;

use arrow_json::ReaderBuilder;
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::deeds::ApiError;
use crate::ingest::{CellKind, DatasetRows, columns};

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

/// A message as Chat Completions have it.
fn message() -> DataType {
    let function = Fields::from(vec![text("name"), text("arguments")]);
    let call = Fields::from(vec![
        text("id"),
        text("type"),
        Field::new("function", DataType::Struct(function), true),
    ]);
    let calls = Field::new_list_field(DataType::Struct(call), true);
    DataType::Struct(Fields::from(vec![
        text("role"),
        text("content"),
        text("reasoning_content"),
        Field::new("tool_calls", DataType::List(Arc::new(calls)), true),
        text("tool_call_id"),
    ]))
}

fn schema(rows: DatasetRows) -> Arc<Schema> {
    let columns = columns(rows).into_iter().map(|(name, kind)| match kind {
        CellKind::Text => text(name),
        CellKind::Count => Field::new(name, DataType::Int64, true),
        CellKind::Number => Field::new(name, DataType::Float64, true),
        CellKind::Messages => {
            let item = Arc::new(Field::new_list_field(message(), true));
            Field::new(name, DataType::List(item), true)
        }
    });
    Arc::new(Schema::new(columns.collect::<Vec<Field>>()))
}

/// Writes rows that are JSON Lines.
pub(super) fn write(
    rows: DatasetRows,
    lines: &[u8],
    file: impl Write + Send,
) -> Result<(), ApiError> {
    let broken = |error: &dyn std::fmt::Display| ApiError::refused(format!("Parquet: {error}"));
    let schema = schema(rows);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties));
    let mut writer = writer.map_err(|error| broken(&error))?;
    let batches = ReaderBuilder::new(schema)
        .build(lines)
        .map_err(|error| broken(&error))?;
    for batch in batches {
        let batch = batch.map_err(|error| broken(&error))?;
        writer.write(&batch).map_err(|error| broken(&error))?;
    }
    writer.close().map_err(|error| broken(&error))?;
    Ok(())
}
