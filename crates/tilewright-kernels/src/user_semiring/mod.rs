//! Semirings that users bring: the header that their expressions become.

mod print;
#[cfg(test)]
mod tests;

use crate::scalar::Scalar;
use core::{
    fmt,
    hash::{Hash, Hasher},
};
use print::{body, literal, operations, sum_of_selection};
use std::sync::{Mutex, PoisonError};
use tilewright_core::{
    DType, Error, ErrorKind, Value,
    expressions::{DTYPES, Expressions},
};

/// A semiring of a user on one element type, as kernels compute it: [`Request::own`](crate::Request::own).
///
/// It is small and copied freely. What it stands for is kept until the process ends, once for each semiring and type, as compiled kernels
/// are.
#[derive(Clone, Copy)]
pub struct UserSemiring {
    text: &'static Text,
    /// Whether kernels compute `B^T A^T`: ⊗ need not commute.
    exchanges: bool,
}

#[derive(Debug, PartialEq)]
struct Text {
    name: String,
    dtype: DType,
    /// ⊕ and ⊗ as functions `add` and `times`, and `joined_term` for a sum and a term.
    functions: String,
    zero: Scalar,
    any_order: bool,
    /// Operations of a term, roughly.
    operations: usize,
}

impl UserSemiring {
    /// The semiring of a text on elements of type `dtype`. Kernels compute what the processor computes, bit for bit, apart from the order of
    /// the terms of a sum: what is printed is the parsed text, and not the text.
    ///
    /// ```
    /// use tilewright_core::{DType, expressions::Expressions};
    /// use tilewright_kernels::UserSemiring;
    /// let text: Expressions = "add=fminf(x,y); mul=x+y; zero=inf".parse()?;
    /// let own = UserSemiring::of_expressions(&text, DType::F32)?;
    /// assert!(own.header().contains("Operations<T>::smaller("));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `unsupported` where the text breaks a law of semirings on this type, or has no such numbers.
    pub fn of_expressions(text: &Expressions, dtype: DType) -> Result<Self, Error> {
        text.check(dtype)?;
        // The laws were tried, and so the type has it.
        let zero = text.zero_value(dtype).unwrap_or(Value::Int(0));
        let term = sum_of_selection(text.add()).unwrap_or("add(sum, term)");
        let functions = format!(
            "    static __device__ T add(T x, T y)\n    {{\n{}    }}\n\
             \x20   static __device__ T times(T x, T y)\n    {{\n{}    }}\n\
             \x20   static __device__ T joined_term(T sum, T term) {{ return {term}; }}\n",
            body(text.add(), dtype),
            body(text.mul(), dtype),
        );
        let operations = operations(text.add()) + operations(text.mul());
        // The laws hold on samples.
        Ok(Self::new("expressions", dtype, functions, zero, true, operations))
    }

    /// A semiring by the CUDA C++ expressions of its operations on `x` and `y`, which have the type `T`. What the compiler says of them names
    /// them `ADD` and `MUL`. With `any_order` sums may be computed in any order of their terms, otherwise they are in increasing `k`.
    ///
    /// # Errors
    /// `unsupported` for an element type that is none of [`DTYPES`].
    pub fn of_cuda(
        name: &str,
        dtype: DType,
        [add, mul]: [&str; 2],
        zero: Value,
        any_order: bool,
    ) -> Result<Self, Error> {
        if !DTYPES.contains(&dtype) {
            let known = DTYPES.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
            let (what, why) = (format!("CUDA expressions on {dtype}"), "they are for other types".into());
            return Err(ErrorKind::Unsupported { what, why, hint: format!("one of {known}").into() }.into());
        }
        let function = |name: &str, line: &str, text: &str| {
            format!(
                "    static __device__ T {name}(T x, T y)\n    {{\n        return (\n#line 1 \"{line}\"\n{text}\n#line 1 \"config.cuh\"\n        );\n    }}\n"
            )
        };
        let functions = function("add", "ADD", add)
            + &function("times", "MUL", mul)
            + "    static __device__ T joined_term(T sum, T term) { return add(sum, term); }\n";
        // Nothing is known of them: two operations are what a term takes at least.
        Ok(Self::new(name, dtype, functions, zero, any_order, 2))
    }

    fn new(
        name: &str,
        dtype: DType,
        functions: String,
        zero: Value,
        any_order: bool,
        operations: usize,
    ) -> Self {
        let (name, zero) = (name.to_owned(), Scalar::of(dtype, zero));
        let text = keep(Text { name, dtype, functions, zero, any_order, operations });
        Self { text, exchanges: false }
    }

    /// Its name in messages.
    pub fn name(&self) -> &'static str {
        &self.text.name
    }

    /// The type of its elements.
    pub fn dtype(&self) -> DType {
        self.text.dtype
    }

    /// Whether sums may be computed in any order of their terms.
    pub fn any_order(&self) -> bool {
        self.text.any_order
    }

    /// The class that programs compute with, on elements of type `T`.
    pub fn header(&self) -> String {
        let Text { functions, zero, .. } = self.text;
        let term = if self.exchanges { "times(b, a)" } else { "times(a, b)" };
        format!(
            "#include \"own.cuh\"\nstruct Own {{\n    enum : bool {{ HAS_ABSENT = false, IN_ORDER = true }};\n{functions}\
             \x20   static __device__ T zero() {{ return {}; }}\n\
             \x20   static __device__ T one() {{ return T(1); }}  // the only factor there is\n\
             \x20   static __device__ T multiply(T, T x) {{ return x; }}\n\
             \x20   static __device__ T multiply_add(T a, T b, T sum) {{ return joined_term(sum, {term}); }}\n\
             \x20   static __device__ T operand(T x) {{ return x; }}\n\
             \x20   static __device__ T widen(T x) {{ return x; }}\n\
             \x20   static __device__ T number(T word, int) {{ return word; }}\n\
             \x20   template <class O> static __device__ O narrow(T x) {{ return x + T(0); }}  // zeros are positive\n}};\n",
            literal(*zero)
        )
    }

    /// The same of A and B exchanged.
    pub(crate) fn exchanged(self) -> Self {
        Self { exchanges: !self.exchanges, ..self }
    }

    /// The factors of the product, and of the old C where it is joined, and where it is not. Kernels compare the latter with zero, and
    /// multiply by none.
    pub(crate) fn factors(&self) -> [Scalar; 3] {
        let Text { dtype, zero, .. } = *self.text;
        let number = |x| Scalar::of(dtype, Value::Int(x));
        [number(1), if zero == number(0) { number(1) } else { number(0) }, zero]
    }

    /// How fast a term is beside one that takes two operations.
    pub(crate) fn pace(&self) -> f64 {
        2.0 / self.text.operations.max(2) as f64
    }
}

/// One text for all that are equal.
fn keep(text: Text) -> &'static Text {
    static KNOWN: Mutex<Vec<&'static Text>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.iter().find(|one| ***one == text) {
        return found;
    }
    let kept: &'static Text = Box::leak(Box::new(text));
    known.push(kept);
    kept
}

impl PartialEq for UserSemiring {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.text, other.text) && self.exchanges == other.exchanges
    }
}

impl Eq for UserSemiring {}

impl Hash for UserSemiring {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (core::ptr::from_ref(self.text), self.exchanges).hash(state);
    }
}

impl fmt::Debug for UserSemiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UserSemiring({} on {})", self.text.name, self.text.dtype)
    }
}
