//! Arrays in device memory.

mod compare;
pub mod expression;
mod number;
mod text;

pub use compare::{Comparison, Difference, Tolerance, compare};
pub use number::{ElementType, Number, Scalar};
pub use text::Filling;
pub(crate) use text::{scalar, split};

use crate::{case::unsupported, model::Buffer};
use serde::Serialize;
use tilewright_core::{DynRef, Error};

/// An array of any dimension, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The parameter that points to it.
    pub name: String,
    /// The type of the elements.
    pub element: ElementType,
    /// The extents; a vector has one.
    pub shape: Vec<usize>,
    /// The elements, little-endian.
    pub bytes: Vec<u8>,
}

/// The values of an array, for JSON: those of vectors and complex numbers are lists.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Values {
    /// The array.
    pub name: String,
    /// Such as `f32`.
    #[serde(rename = "type")]
    pub element: String,
    /// The extents.
    pub shape: Vec<usize>,
    /// The elements, row after row.
    pub values: Vec<serde_json::Value>,
}

impl Array {
    /// An array of zeros.
    pub fn zeros(name: &str, element: impl Into<ElementType>, shape: &[usize]) -> Self {
        let element = element.into();
        let bytes = vec![0; shape.iter().product::<usize>() * element.size()];
        Self { name: name.into(), element, shape: shape.into(), bytes }
    }

    /// An array of random elements, the same every time; see [`Filling::Random`].
    pub fn random(name: &str, element: impl Into<ElementType>, shape: &[usize]) -> Self {
        let mut array = Self::zeros(name, element, shape);
        array.fill(&Filling::RANDOM);
        array
    }

    /// A copy of a matrix, packed row after row.
    pub fn from_matrix(name: &str, matrix: DynRef<'_>) -> Self {
        let layout = matrix.layout();
        let mut array = Self::zeros(name, matrix.dtype(), &[layout.rows, layout.cols]);
        let number = array.element.number();
        for (index, element) in array.bytes.chunks_exact_mut(number.size()).enumerate() {
            let scalar = match matrix.get(index / layout.cols, index % layout.cols) {
                Some(tilewright_core::Value::Float(real)) => Scalar::Real(real),
                Some(tilewright_core::Value::Int(integer)) => Scalar::Integer(integer.into()),
                Some(tilewright_core::Value::Bool(is_set)) => Scalar::Integer(is_set.into()),
                // Kinds of numbers that there are not yet.
                _ => continue,
            };
            number.write(scalar, element);
        }
        array
    }

    /// The array that a text stands for: it describes one, see [`Array::parse`], or it is the name of a file that `load` reads.
    ///
    /// # Errors
    /// As for [`Array::parse`] and `load`.
    pub fn given(name: &str, text: &str, load: &dyn Fn(&str) -> Result<Self, Error>) -> Result<Self, Error> {
        let array = Self::parse(name, text).unwrap_or_else(|| load(text))?;
        Ok(Self { name: name.into(), ..array })
    }

    /// The array of this name.
    ///
    /// # Errors
    /// `unsupported` where there is none, with the names that there are.
    pub fn find<'a>(arrays: &'a [Self], name: &str) -> Result<&'a Self, Error> {
        arrays.iter().find(|array| array.name == name).ok_or_else(|| {
            let known: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
            let hint = match known[..] {
                [] => "it has none: arrays are arguments that are pointers, and variables of the file"
                    .to_owned(),
                _ => format!("it has {}", known.join(", ")),
            };
            unsupported(format!("the array {name}"), "the launch has none of this name", hint)
        })
    }

    /// All but the last extent, multiplied: 1 for a vector.
    pub fn rows(&self) -> usize {
        self.shape.iter().rev().skip(1).product()
    }

    /// The last extent.
    pub fn columns(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same numbers in another type; the first that it does not have as an error.
    pub(crate) fn converted(&self, number: Number) -> Result<Self, String> {
        let mut array = Self::zeros(&self.name, number, &self.shape);
        for (value, element) in self.numbers().zip(array.bytes.chunks_exact_mut(number.size())) {
            if !number.holds(value) {
                return Err(format!("{value} cannot be represented as {}", number.name()));
            }
            number.write(value, element);
        }
        Ok(array)
    }

    /// Every number: those of vectors and complex numbers one after the other.
    pub fn numbers(&self) -> impl Iterator<Item = Scalar> {
        let number = self.element.number();
        self.bytes.chunks_exact(number.size()).map(move |bytes| number.read(bytes))
    }

    /// Its elements as JSON has them.
    pub fn values(&self) -> Values {
        let numbers: Vec<serde_json::Value> = self.numbers().map(Scalar::to_json).collect();
        let values = match self.element {
            ElementType::Number(_) => numbers,
            _ => numbers.chunks(self.element.lanes()).map(|lanes| lanes.to_vec().into()).collect(),
        };
        let (name, element) = (self.name.clone(), self.element.to_string());
        Values { name, element, shape: self.shape.clone(), values }
    }

    /// How pictures see it.
    pub(crate) fn buffer(&self) -> Buffer {
        Buffer {
            name: self.name.clone(),
            dtype: self.element.to_string(),
            element_bytes: self.element.size() as u32,
            rows: self.rows() as u64,
            columns: self.columns() as u64,
            row_stride: self.columns().max(1) as u64,
            column_stride: 1,
        }
    }
}
