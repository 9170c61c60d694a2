//! Matrices in a file of safetensors: where each row lies, and the numbers in it.

use std::collections::HashMap;

use serde::Deserialize;

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberKind {
    F64,
    F32,
    F16,
    Bf16,
    I64,
    I32,
    I8,
}

impl NumberKind {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "F64" => Self::F64,
            "F32" => Self::F32,
            "F16" => Self::F16,
            "BF16" => Self::Bf16,
            "I64" => Self::I64,
            "I32" => Self::I32,
            "I8" => Self::I8,
            _ => return None,
        })
    }

    const fn bytes(self) -> usize {
        match self {
            Self::F64 | Self::I64 => 8,
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }

    /// The number that these bytes are, which are as many as it has.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "a vector needs no more"
    )]
    fn read(self, bytes: &[u8]) -> f32 {
        fn of<const N: usize>(bytes: &[u8]) -> [u8; N] {
            bytes.try_into().unwrap_or([0; N])
        }
        match self {
            Self::F64 => f64::from_le_bytes(of(bytes)) as f32,
            Self::F32 => f32::from_le_bytes(of(bytes)),
            Self::F16 => half(u16::from_le_bytes(of(bytes))),
            Self::Bf16 => f32::from_bits(u32::from(u16::from_le_bytes(of(bytes))) << 16),
            Self::I64 => i64::from_le_bytes(of(bytes)) as f32,
            Self::I32 => i32::from_le_bytes(of(bytes)) as f32,
            Self::I8 => f32::from(i8::from_le_bytes(of(bytes))),
        }
    }
}

/// A number of 16 bits: a sign, 5 bits of exponent, 10 of fraction.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023) / 1024.0);
    sign * match exponent {
        0 => fraction * 2.0_f32.powi(-14),
        31 => f32::NAN,
        _ => (1.0 + fraction) * 2.0_f32.powi(exponent - 15),
    }
}

#[derive(Deserialize)]
struct ListedTensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// Where the numbers of a tensor lie.
#[derive(Clone, Debug)]
struct Tensor {
    kind: NumberKind,
    rows: usize,
    columns: usize,
    /// From the beginning of the file.
    at: usize,
}

/// Where all is that a model needs of its file.
#[derive(Clone, Debug)]
pub struct Tensors {
    rows: Tensor,
    /// Each piece's weight.
    weights: Option<Tensor>,
    /// Each piece's row.
    mapping: Option<Tensor>,
}

/// What the rows of a model may be called.
const ROWS: [&str; 3] = ["embeddings", "embedding.weight", "embeddings.weight"];
/// How long a file's head is at most.
const MOST_HEAD: usize = 1 << 20;

impl Tensors {
    /// How many bytes the head has whose length these eight bytes say.
    ///
    /// # Errors
    ///
    /// Where that is no head's.
    pub fn head_bytes(first: [u8; 8]) -> Result<usize, String> {
        let length = usize::try_from(u64::from_le_bytes(first)).ok();
        let length = length.filter(|length| *length <= MOST_HEAD);
        length.ok_or_else(|| "it is no file of safetensors".to_owned())
    }

    /// By the head of a file of so many bytes.
    ///
    /// # Errors
    ///
    /// Where something that is needed is not there, or lies outside of the file.
    pub fn parse(head: &[u8], file_bytes: u64) -> Result<Self, String> {
        let read = serde_json::from_slice::<HashMap<String, serde_json::Value>>(head);
        let all = read.map_err(|error| format!("its head is no JSON: {error}"))?;
        let begin = 8 + head.len();
        let tensor = |name: &str| -> Result<Option<Tensor>, String> {
            let Some(listed) = all.get(name) else {
                return Ok(None);
            };
            let listed: ListedTensor = serde_json::from_value(listed.clone())
                .map_err(|error| format!("{name}: {error}"))?;
            let kind = NumberKind::of(&listed.dtype)
                .ok_or_else(|| format!("{name}: numbers of the kind {}", listed.dtype))?;
            let (rows, columns) = match listed.shape[..] {
                [rows] => (rows, 1),
                [rows, columns] => (rows, columns),
                _ => return Err(format!("{name} is no matrix")),
            };
            let bytes = rows
                .checked_mul(columns)
                .and_then(|it| it.checked_mul(kind.bytes()));
            let (from, to) = listed.data_offsets;
            let end = begin
                .checked_add(to)
                .and_then(|end| u64::try_from(end).ok());
            let fits = bytes.is_some() && to.checked_sub(from) == bytes;
            if !fits || end.is_none_or(|end| end > file_bytes) || columns == 0 {
                return Err(format!("{name} is cut off"));
            }
            let at = begin + from;
            Ok(Some(Tensor {
                kind,
                rows,
                columns,
                at,
            }))
        };
        let mut rows = None;
        for name in ROWS {
            rows = rows.or(tensor(name)?);
        }
        Ok(Self {
            rows: rows.ok_or("there are no embeddings in it")?,
            weights: tensor("weights")?,
            mapping: tensor("mapping")?,
        })
    }

    /// How many numbers a row has.
    pub const fn columns(&self) -> usize {
        self.rows.columns
    }

    /// Adds the row of a piece, as much of it as it weighs, to a sum; nothing of a piece that has none. `read` fills
    /// bytes from a place of the file; none: it could not.
    pub fn add(
        &self,
        piece: u32,
        sum: &mut [f32],
        mut read: impl FnMut(usize, &mut [u8]) -> Option<()>,
    ) -> Option<()> {
        let piece = piece as usize;
        let mut number = |of: &Tensor| -> Option<Option<f32>> {
            if piece >= of.rows {
                return Some(None);
            }
            let mut bytes = [0; 8];
            let bytes = &mut bytes[..of.kind.bytes()];
            read(of.at + piece * of.kind.bytes(), bytes)?;
            Some(Some(of.kind.read(bytes)))
        };
        let weight = match &self.weights {
            Some(weights) => number(weights)?.unwrap_or(0.0),
            None => 1.0,
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a row's number, which is held against how many there are"
        )]
        let row = match &self.mapping {
            Some(mapping) => number(mapping)?.map(|row| row as usize),
            None => Some(piece),
        };
        let Some(row) = row.filter(|row| *row < self.rows.rows) else {
            return Some(());
        };
        let width = self.rows.kind.bytes();
        let mut bytes = vec![0; self.rows.columns * width];
        read(self.rows.at + row * bytes.len(), &mut bytes)?;
        for (sum, bytes) in sum.iter_mut().zip(bytes.chunks_exact(width)) {
            *sum += weight * self.rows.kind.read(bytes);
        }
        Some(())
    }
}

/// Rows, by the pieces of texts.
pub trait Matrix {
    /// How many numbers a row has.
    fn columns(&self) -> usize;

    /// Adds the row of a piece to a sum; none where it cannot be read.
    fn add(&mut self, piece: u32, sum: &mut [f32]) -> Option<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(head: &str, data: &[u8]) -> (Result<Tensors, String>, Vec<u8>) {
        let mut file = (head.len() as u64).to_le_bytes().to_vec();
        file.extend(head.as_bytes());
        file.extend(data);
        (Tensors::parse(head.as_bytes(), file.len() as u64), file)
    }

    fn sum(tensors: &Tensors, file: &[u8], piece: u32) -> Vec<f32> {
        let mut sum = vec![0.0; tensors.columns()];
        let done = tensors.add(piece, &mut sum, |at, bytes| {
            bytes.copy_from_slice(file.get(at..at + bytes.len())?);
            Some(())
        });
        done.expect("it reads");
        sum
    }

    #[test]
    fn a_piece_has_its_row_and_its_weight() {
        let head = r#"{"embeddings":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]},
            "mapping":{"dtype":"I64","shape":[3],"data_offsets":[4,28]},
            "weights":{"dtype":"F32","shape":[3],"data_offsets":[28,40]}}"#;
        let mut data = vec![1, 2, 3, 0xfc];
        data.extend([1_i64, 0, 9].iter().flat_map(|row| row.to_le_bytes()));
        data.extend([0.5_f32, 2.0, 1.0].iter().flat_map(|it| it.to_le_bytes()));
        let (tensors, file) = file(head, &data);
        let tensors = tensors.expect("it fits");
        assert_eq!(sum(&tensors, &file, 0), [1.5, -2.0]);
        assert_eq!(sum(&tensors, &file, 1), [2.0, 4.0]);
        assert_eq!(sum(&tensors, &file, 2), [0.0, 0.0], "its row is none");
        assert_eq!(sum(&tensors, &file, 3), [0.0, 0.0], "it is none");
    }

    #[test]
    fn numbers_of_16_bits_are_read() {
        for (bits, number) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (1, 5.960_464_5e-8),
        ] {
            assert!((half(bits) - number).abs() < 1e-7, "{bits:x}");
        }
        assert!((NumberKind::Bf16.read(&[0x80, 0x3f]) - 1.0).abs() < 1e-7);
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused() {
        let head = r#"{"embeddings":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
        assert!(file(head, &[0; 16]).0.is_ok());
        assert!(file(head, &[0; 15]).0.is_err());
        let odd = [
            r#"{"embeddings":{"dtype":"F32","shape":[3,2],"data_offsets":[0,16]}}"#,
            r#"{"embeddings":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}"#,
            r#"{"embeddings":{"dtype":"X9","shape":[2,2],"data_offsets":[0,16]}}"#,
            r#"{"other":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#,
            "[]",
        ];
        for head in odd {
            assert!(file(head, &[0; 16]).0.is_err(), "{head}");
        }
        assert!(Tensors::head_bytes(u64::MAX.to_le_bytes()).is_err());
    }
}
