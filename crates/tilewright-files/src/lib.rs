//! Matrices in files: `.npy`, `.npz`, `.csv`, `.mtx` (Matrix Market) and `.safetensors`.
//!
//! The crate `tilewright` has all of it as `tilewright::files`.
//!
//! A [`Spec`] names one matrix in one file. [`read`] gives an [`Input`], which lends a view of any layout;
//! [`write()`] takes a view of any layout and replaces the file as a whole or not at all.
//!
//! | format | read | written |
//! |---|---|---|
//! | `.npy` | every number type, either order and byte order, versions 1 to 3 | version 1, row-major; no bf16 |
//! | `.npz` | one member | one member; beside those of the archive when it has a name; no bf16 |
//! | `.csv` | numbers, `inf`, `nan`, `true`, `false`, with any [`Delimiter`] | the same, with commas; names in quotes where they would be read otherwise |
//! | `.mtx` | `array` and `coordinate`; real, integer, pattern; general, symmetric, skew-symmetric | `array`; booleans as `pattern` |
//! | `.safetensors` | one tensor, bf16 included | one tensor; beside those of the file when it has a name |
//!
//! Comments: in `.csv` a line that begins with `#`, unless it could be a row with names, which is refused; [`Comments`] decides. In `.mtx` a line that
//! begins with `%`. Other formats have none.
//!
//! A `.csv` file whose rows and columns have names is a [`NamedTable`]. Vectors and stacks of matrices are read by [`read_stack`] and written by [`write_stack`].
//!
//! Unsigned integers wider than u8 are read as the next wider signed type; [`Stack::stored`] tells. Text remembers no width: floats are read as f64
//! and integers as i64 unless [`ReadOptions::dtype`] asks for another type, which is then parsed directly.
//!
//! ```
//! use tilewright_core::Matrix;
//! use tilewright_files::{ReadOptions, Spec, WriteOptions, read, write};
//! # let directory = tempfile::tempdir().unwrap();
//! let spec = Spec::parse(directory.path().join("a.npy"))?;
//! let a = Matrix::from_fn(2, 3, |i, j| (i + j) as f32)?;
//! write(&spec, a.as_ref().t().into(), &WriteOptions::default())?;
//! let back = read(&spec, &ReadOptions::default())?;
//! assert_eq!(back.as_ref().typed::<f32>(), Some(a.as_ref().t()));
//! # Ok::<(), tilewright_core::Error>(())
//! ```

mod columns;
mod csv;
mod delimiter;
mod dialect;
mod edges;
mod elements;
mod fault;
mod form;
mod input;
mod labels;
mod lock;
mod mtx;
mod named;
mod npy;
mod npz;
mod numpy;
mod output;
mod records;
mod safetensors;
mod same;
mod shape;
mod sparse_mtx;
mod sparse_npz;
mod spec;
mod stack;
mod table;
mod text;

pub use delimiter::Delimiter;
pub use dialect::{Comments, Dialect};
pub use edges::{Columns, Directions, EdgeList, EdgeOptions, read_edges, read_pairs};
pub use elements::Stored;
pub use form::{GraphForm, graph_form};
pub use input::{Input, read, read_bytes, read_stack, read_stack_bytes};
pub use labels::Labels;
pub use named::{NamedTable, Names, write_named, write_named_to, write_winners};
pub use numpy::{NumpyArray, read_numpy, write_numpy};
pub use output::{
    check_stack_writable, check_writable, remove_temporaries, write, write_bytes, write_stack,
    write_stack_to, write_to,
};
pub use records::quoted_name;
pub use same::is_same_file;
pub use spec::{Format, Spec};
pub use stack::Stack;
pub use table::{read_labels, read_table, write_table, write_table_to};

use tilewright_core::{DType, Extremes, Value};

/// How to read a matrix.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The element type of the result; by default what the file holds.
    pub dtype: Option<DType>,
    /// What an infinity becomes on the way to an integer type.
    pub extremes: Extremes,
    /// Where a Matrix Market coordinate file has no entry, or a `.csv` file an empty cell: the zero of the semiring.
    pub fill: Value,
    /// Where a Matrix Market pattern has an entry.
    pub pattern: Value,
    /// Whether an empty cell of a `.csv` file is [`fill`](Self::fill), as pandas writes what is missing; otherwise it is refused.
    pub empty_is_absent: bool,
    /// How a `.csv` file is written.
    pub text: Dialect,
    /// The largest dense matrix, in bytes, that a coordinate file may become.
    pub max_bytes: u64,
}

impl Default for ReadOptions {
    /// The file's own type, infinities refused as integers, 0 where there is no entry, `true` where a pattern has
    /// one, no empty cells, the delimiter of the first line, no header, and at most 64 GiB.
    fn default() -> Self {
        Self {
            dtype: None,
            extremes: Extremes::Refuse,
            fill: Value::Int(0),
            pattern: Value::Bool(true),
            empty_is_absent: false,
            text: Dialect::default(),
            max_bytes: 1 << 36,
        }
    }
}

/// How to write a matrix.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// Whether `.csv` shows the extreme integers, which min-plus and max-plus read as "absent", as infinities.
    pub extremes: Extremes,
}

impl Default for WriteOptions {
    /// Integers as they are.
    fn default() -> Self {
        Self { extremes: Extremes::Refuse }
    }
}

/// What an archive holds, for hints; cut short when that is much.
fn listing(entries: impl ExactSizeIterator<Item = String>) -> String {
    const MOST: usize = 20;
    let count = entries.len();
    if count == 0 {
        return "it is empty".into();
    }
    let shown = entries.take(MOST).collect::<Vec<_>>().join(", ");
    if count > MOST {
        format!("it holds {shown} and {} more", count - MOST)
    } else {
        format!("it holds {shown}")
    }
}
