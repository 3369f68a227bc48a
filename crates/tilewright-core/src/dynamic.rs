//! Matrices whose element type is only known at run time: what files hold and the command line multiplies.

use crate::{
    dtype::{DType, Element},
    error::{Error, ErrorKind},
    layout::Layout,
    matrix::Matrix,
    view::MatRef,
};
use core::{marker::PhantomData, ptr::NonNull};
use half::{bf16, f16};

/// A borrowed matrix with a run-time element type.
#[derive(Clone, Copy, Debug)]
pub struct DynRef<'a> {
    ptr: NonNull<u8>,
    dtype: DType,
    layout: Layout,
    life: PhantomData<&'a [u8]>,
}

// SAFETY: all element types are plain data, and a DynRef gives shared access only.
unsafe impl Send for DynRef<'_> {}
// SAFETY: as above.
unsafe impl Sync for DynRef<'_> {}

impl<'a> DynRef<'a> {
    /// Shape and strides.
    pub fn layout(&self) -> Layout {
        self.layout
    }
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }
    /// The transpose, without moving an element.
    #[must_use]
    pub fn t(self) -> Self {
        Self { layout: self.layout.t(), ..self }
    }

    /// The typed view, or `None` when the elements are not `T`.
    pub fn typed<T: Element>(self) -> Option<MatRef<'a, T>> {
        // SAFETY: the pointer and layout came from a `MatRef` of this element type.
        (T::DTYPE == self.dtype).then(|| unsafe { MatRef::from_raw_parts(self.ptr.cast(), self.layout) })
    }

    /// A row-major copy with elements of type `dtype`.
    ///
    /// Floats round to nearest, but a number beyond the range of the type is refused and does not become infinite;
    /// integers must fit, and a float becomes an integer only when it is whole. `extremes` says what happens to infinities
    /// on the way to integers, and what the extreme integers mean on the way from one type to another.
    ///
    /// # Errors
    /// `conversion` names the first element that cannot be represented; `out-of-memory`.
    pub fn convert(self, dtype: DType, extremes: Extremes) -> Result<DynMatrix, Error> {
        with_dtype!(dtype, To => {
            let mut bad = None;
            let source = self.values();
            let m = Matrix::from_fn(self.layout.rows, self.layout.cols, |i, j| {
                let value = source(i, j);
                To::from_value(extremes.meaning(self.dtype, value), extremes).unwrap_or_else(|| {
                    bad.get_or_insert((i, j, value));
                    To::DEFAULT
                })
            })?;
            match bad {
                None => Ok(m.into()),
                Some((row, col, v)) => {
                    // A large float as 1e39, not digit by digit.
                    let value = if let Value::Float(x) = v { format!("{x:?}") } else { v.to_string() };
                    Err(ErrorKind::Conversion { row, col, value, to: dtype }.into())
                }
            }
        })
    }

    /// Element `(row, col)`, or `None` outside the matrix.
    pub fn get(&self, row: usize, col: usize) -> Option<Value> {
        (row < self.layout.rows && col < self.layout.cols).then(|| self.values()(row, col))
    }

    fn values(self) -> impl Fn(usize, usize) -> Value + 'a {
        move |i, j| {
            assert!(i < self.layout.rows && j < self.layout.cols);
            with_dtype!(self.dtype, T => {
                // SAFETY: the indices are inside the layout, whose elements are of this type.
                unsafe { self.ptr.cast::<T>().as_ptr().offset(self.layout.offset(i, j)).read() }.to_value()
            })
        }
    }
}

impl<'a, T: Element> From<MatRef<'a, T>> for DynRef<'a> {
    fn from(m: MatRef<'a, T>) -> Self {
        // A view's pointer is never null.
        let ptr = NonNull::new(m.as_ptr().cast_mut().cast()).unwrap_or(NonNull::dangling());
        Self { ptr, dtype: T::DTYPE, layout: m.layout(), life: PhantomData }
    }
}

/// What becomes of an infinity that is converted to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremes {
    /// It is an error.
    Refuse,
    /// It becomes `MAX` or `MIN`, which min-plus and max-plus read as "absent". These stay infinite in every type, and no
    /// finite number becomes one of them.
    Absent,
}

impl Extremes {
    /// What an element of type `dtype` stands for: an infinity, where it is an extreme integer that means one.
    fn meaning(self, dtype: DType, value: Value) -> Value {
        let (min, max) = match dtype {
            DType::I8 => (i8::MIN.into(), i8::MAX.into()),
            DType::I16 => (i16::MIN.into(), i16::MAX.into()),
            DType::I32 => (i32::MIN.into(), i32::MAX.into()),
            _ => (i64::MIN, i64::MAX),
        };
        match (self, value) {
            (Self::Absent, Value::Int(x)) if x == max => Value::Float(f64::INFINITY),
            (Self::Absent, Value::Int(x)) if x == min => Value::Float(f64::NEG_INFINITY),
            _ => value,
        }
    }
}

/// One element of a matrix with a run-time element type, without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A floating-point element, exactly.
    Float(f64),
    /// An integer element.
    Int(i64),
    /// A boolean element.
    Bool(bool),
}

impl core::fmt::Display for Value {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Float(x) => x.fmt(f),
            Self::Int(x) => x.fmt(f),
            Self::Bool(x) => x.fmt(f),
        }
    }
}

/// Conversion of built-in elements to and from [`Value`].
pub trait ValueElement: Element {
    /// The same value.
    fn to_value(self) -> Value;
    /// The value as this type, or `None` when it cannot be represented; see [`DynRef::convert`].
    fn from_value(value: Value, extremes: Extremes) -> Option<Self>;
}

macro_rules! float_values {
    ($($t:ty, $to:expr, $from:expr, $from_int:expr;)*) => {$(
        impl ValueElement for $t {
            fn to_value(self) -> Value { Value::Float($to(self)) }
            fn from_value(value: Value, _: Extremes) -> Option<Self> {
                let nearest = match value {
                    Value::Float(x) if !x.is_finite() => return Some($from(x)),
                    Value::Float(x) => $from(x),
                    Value::Int(x) => $from_int(x),
                    Value::Bool(x) => $from(f64::from(u8::from(x))),
                };
                nearest.is_finite().then_some(nearest)
            }
        }
    )*};
}
float_values! {
    f16, f64::from, |x| f16::from_f32(f32_to_odd(x)), |x| f16::from_f32(f32_to_odd(f64_to_odd(x)));
    bf16, f64::from, |x| bf16::from_f32(f32_to_odd(x)), |x| bf16::from_f32(f32_to_odd(f64_to_odd(x)));
    f32, f64::from, |x: f64| x as f32, |x: i64| x as f32;
    f64, f64::from, f64::from, |x: i64| x as f64;
}

/// `x` as f64; where that is not exact, the neighbour whose last bit is odd.
///
/// A number rounded to odd still says on which side of every tie of a narrower type it lies, so that rounding
/// it again, to that type, gives what rounding once would have given (Boldo and Melquiond, "Emulation of FMA
/// and correctly rounded sums", 2008).
fn f64_to_odd(x: i64) -> f64 {
    const LOST: u32 = i64::BITS - f64::MANTISSA_DIGITS;
    match x.unsigned_abs() >> f64::MANTISSA_DIGITS {
        0 => x as f64,
        _ => (x >> LOST | i64::from(x & ((1 << LOST) - 1) != 0)) as f64 * (1u64 << LOST) as f64,
    }
}

/// As [`f64_to_odd`], from f64 to f32.
fn f32_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let wide = f64::from(nearest);
    if wide == x || x.is_nan() {
        return nearest;
    }
    let towards_zero = nearest.to_bits() - u32::from(wide.abs() > x.abs());
    f32::from_bits(towards_zero | 1)
}

macro_rules! int_values {
    ($($t:ty),*) => {$(
        impl ValueElement for $t {
            fn to_value(self) -> Value { Value::Int(i64::from(self)) }
            fn from_value(value: Value, extremes: Extremes) -> Option<Self> {
                let finite: Option<$t> = match value {
                    Value::Int(x) => x.try_into().ok(),
                    Value::Bool(x) => Some(x.into()),
                    Value::Float(x) if x.is_infinite() => return (extremes == Extremes::Absent)
                        .then_some(if x > 0.0 { <$t>::MAX } else { <$t>::MIN }),
                    // `as` saturates, so only a whole number in range survives the way back; 2^63 itself
                    // would, and is excluded.
                    Value::Float(x) => (x as $t as f64 == x && x < <$t>::MAX as f64 + 1.0).then_some(x as $t),
                };
                finite.filter(|&x| extremes == Extremes::Refuse || !matches!(x, <$t>::MIN | <$t>::MAX))
            }
        }
    )*};
}
int_values!(i8, i16, i32, i64);

impl ValueElement for bool {
    fn to_value(self) -> Value {
        Value::Bool(self)
    }
    fn from_value(value: Value, _: Extremes) -> Option<Self> {
        match value {
            Value::Bool(x) => Some(x),
            Value::Int(x) => (x == 0 || x == 1).then_some(x == 1),
            Value::Float(x) => (x == 0.0 || x == 1.0).then_some(x == 1.0),
        }
    }
}

macro_rules! with_dtype {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            DType::F16 => {
                type $t = f16;
                $body
            }
            DType::Bf16 => {
                type $t = bf16;
                $body
            }
            DType::F32 => {
                type $t = f32;
                $body
            }
            DType::F64 => {
                type $t = f64;
                $body
            }
            DType::I8 => {
                type $t = i8;
                $body
            }
            DType::I16 => {
                type $t = i16;
                $body
            }
            DType::I32 => {
                type $t = i32;
                $body
            }
            DType::I64 => {
                type $t = i64;
                $body
            }
            DType::Bool => {
                type $t = bool;
                $body
            }
        }
    };
}
use with_dtype;

macro_rules! dyn_matrix {
    ($($variant:ident $t:ty;)*) => {
        /// An owned matrix with a run-time element type.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum DynMatrix { $(#[doc = concat!("Elements of type `", stringify!($t), "`.")] $variant(Matrix<$t>),)* }

        impl DynMatrix {
            /// A view to read.
            pub fn as_ref(&self) -> DynRef<'_> {
                match self { $(Self::$variant(m) => m.as_ref().into(),)* }
            }
            /// The typed matrix, or the matrix itself when the elements are not `T`.
            pub fn into_typed<T: Element>(self) -> Result<Matrix<T>, Self> {
                match self {
                    $(Self::$variant(m) => {
                        let mut slot = Some(m);
                        let any: &mut dyn core::any::Any = &mut slot;
                        match any.downcast_mut::<Option<Matrix<T>>>().and_then(Option::take) {
                            Some(m) => Ok(m),
                            None => Err(Self::$variant(slot.unwrap_or_else(|| unreachable!("taken only on success")))),
                        }
                    })*
                }
            }
        }

        $(impl From<Matrix<$t>> for DynMatrix {
            fn from(m: Matrix<$t>) -> Self { Self::$variant(m) }
        })*
    };
}
dyn_matrix! {
    F16 f16; Bf16 bf16; F32 f32; F64 f64; I8 i8; I16 i16; I32 i32; I64 i64; Bool bool;
}

impl DynMatrix {
    /// Shape and strides.
    pub fn layout(&self) -> Layout {
        self.as_ref().layout()
    }
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.as_ref().dtype()
    }
}
