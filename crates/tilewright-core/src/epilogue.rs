//! What follows a product before it is rounded: a bias for each column of C, and an activation.

use crate::{
    dtype::DType,
    dynamic::DynRef,
    error::{Error, ErrorKind},
    problem::Problem,
    semiring::{Semiring, SemiringId},
    update::Update,
    view::MatRef,
};
use core::{fmt, str::FromStr};

/// What follows a product of floats under plus-times: `C = activation(alpha A B + beta C + bias)`.
///
/// The bias is a vector, a matrix of one row or of one column. Element `j` is added to all of column `j` of C, in each product of a batch.
/// Its elements have C's type, as in cuBLASLt. All is computed in the type of the sums (f32 for f16 and bf16) and rounded once.
///
/// `B` is what holds the bias: a [`DynRef`] on this processor.
///
/// ```
/// use tilewright_core::{Activation, Epilogue, MatRef};
/// let bias = [0.5f32, -1.0];
/// let epilogue = Epilogue { bias: Some(MatRef::row(&bias).into()), activation: Activation::Relu };
/// assert_eq!(epilogue.name(), "bias and relu");
/// assert!(!epilogue.is_none() && Epilogue::<()>::default().is_none());
/// # let _: Epilogue<tilewright_core::DynRef<'_>> = epilogue;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Epilogue<B> {
    /// What is added to the columns of C.
    pub bias: Option<B>,
    /// What becomes of the sums then.
    pub activation: Activation,
}

/// A function of each element of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Activation {
    /// The element as it is.
    #[default]
    None,
    /// `max(x, 0)`; NaN stays NaN.
    Relu,
    /// `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`, the approximation by tanh that cuBLASLt and PyTorch's `approximate='tanh'` compute. It is 0
    /// at `-inf`.
    Gelu,
}

/// The name of the bias in errors.
pub(crate) const BIAS: &str = "the bias";

impl Activation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Relu, Self::Gelu];

    /// The name: `none`, `relu`, `gelu`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Relu => "relu",
            Self::Gelu => "gelu",
        }
    }

    /// The function.
    ///
    /// ```
    /// use tilewright_core::Activation::{Gelu, Relu};
    /// assert_eq!((Relu.of(-2.0), Relu.of(3.0), Gelu.of(0.0)), (0.0, 3.0, 0.0));
    /// assert!((Gelu.of(1.0) - 0.841192).abs() < 1e-6);
    /// ```
    pub fn of(self, x: f64) -> f64 {
        f64::activate(self, x)
    }

    /// How much a difference of sums grows at most.
    pub const fn steepness(self) -> f64 {
        match self {
            Self::None | Self::Relu => 1.0,
            Self::Gelu => 1.13,
        }
    }
}

/// Activations of sums of type `A`.
pub(crate) type Activate<A> = fn(Activation, A) -> A;

/// The exponent of GELU: `-2y = x (LINEAR + CUBIC x^2)`.
const LINEAR: f64 = -1.595_769_121_605_730_8;
const CUBIC: f64 = LINEAR * 0.044_715;

/// A type in which activations are computed.
pub(crate) trait Activated: Copy {
    /// The function of a sum.
    fn activate(activation: Activation, x: Self) -> Self;
}

macro_rules! activated {
    ($($t:ident)*) => {$(
        impl Activated for $t {
            #[inline]
            fn activate(activation: Activation, x: $t) -> $t {
                match activation {
                    Activation::None => x,
                    // The comparison is false for NaN.
                    Activation::Relu => if x < 0.0 { 0.0 } else { x },
                    Activation::Gelu => {
                        // (1 + tanh(y)) / 2 = 1 / (1 + exp(-2y)), without the cancellation where y is negative.
                        let e = (x * (CUBIC as $t * x * x + LINEAR as $t)).exp();
                        if e == $t::INFINITY { 0.0 } else { x / (1.0 + e) }
                    }
                }
            }
        }
    )*};
}
activated!(f32 f64);

impl<B> Default for Epilogue<B> {
    fn default() -> Self {
        Self { bias: None, activation: Activation::None }
    }
}

impl<B> Epilogue<B> {
    /// Whether nothing follows.
    pub const fn is_none(&self) -> bool {
        self.bias.is_none() && matches!(self.activation, Activation::None)
    }

    /// In words: `bias and gelu`, `bias`, `relu`, `none`.
    pub fn name(&self) -> String {
        match (&self.bias, self.activation) {
            (Some(_), Activation::None) => "bias".into(),
            (Some(_), activation) => format!("bias and {activation}"),
            (None, activation) => activation.name().into(),
        }
    }

    /// The same with another holder of the bias.
    ///
    /// # Errors
    /// Those of `hold`.
    pub fn try_map<C, E>(self, hold: impl FnOnce(B) -> Result<C, E>) -> Result<Epilogue<C>, E> {
        Ok(Epilogue { bias: self.bias.map(hold).transpose()?, activation: self.activation })
    }

    /// Refuses an epilogue where there is none: outside of plus-times on floats.
    ///
    /// `semiring` is `None` for one of the user's, and `name` what it is called.
    ///
    /// # Errors
    /// `unsupported`.
    pub fn check(&self, semiring: Option<SemiringId>, name: &str, output: DType) -> Result<(), Error> {
        let hint = if semiring == Some(SemiringId::PlusTimes) {
            "choose f16, bf16, f32 or f64"
        } else {
            "use plus-times on floats"
        };
        if self.is_none() || (semiring == Some(SemiringId::PlusTimes) && output.is_float()) {
            return Ok(());
        }
        Err(ErrorKind::Unsupported {
            what: format!("{} after {name} to {output}", self.name()),
            why: "a bias and activations are for sums of floats".into(),
            hint: hint.into(),
        }
        .into())
    }

    /// Refuses an epilogue beside a result that has none, by its name.
    ///
    /// # Errors
    /// `unsupported`.
    pub fn check_absent(&self, of: &str) -> Result<(), Error> {
        if self.is_none() {
            return Ok(());
        }
        Err(ErrorKind::Unsupported {
            what: format!("{} with {of}", self.name()),
            why: "only C of plus-times has an epilogue".into(),
            hint: "leave out the bias and the activation".into(),
        }
        .into())
    }
}

impl<'a> Epilogue<DynRef<'a>> {
    /// The same with the bias as a row, once everything about it is known to be right for a product.
    ///
    /// # Errors
    /// `unsupported` outside of plus-times on floats; `dtype-mismatch` for a bias of another type than C's; `result-mismatch` for one that has
    /// not an element for each column of C.
    pub fn checked(
        self,
        semiring: Option<SemiringId>,
        name: &str,
        output: DType,
        problem: &Problem,
    ) -> Result<Self, Error> {
        self.check(semiring, name, output)?;
        self.try_map(|bias| {
            if bias.dtype() != output {
                let (expected, found) = (output, bias.dtype());
                return Err(ErrorKind::DTypeMismatch { what: BIAS, expected, found }.into());
            }
            let is_row = problem.bias_layout(bias.layout())? == bias.layout();
            Ok(if is_row { bias } else { bias.t() })
        })
    }
}

/// From complete sums over `S` to elements of C: an update and an epilogue.
pub struct Finish<'a, S: Semiring> {
    update: &'a Update<S>,
    bias: Option<MatRef<'a, S::Out>>,
    activation: Option<(Activation, Activate<S::Acc>)>,
}

impl<S: Semiring> Clone for Finish<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Semiring> Copy for Finish<'_, S> {}

impl<'a, S: Semiring> Finish<'a, S> {
    /// What follows a product with these layouts.
    ///
    /// # Errors
    /// As [`Epilogue::checked`].
    pub fn new(
        update: &'a Update<S>,
        epilogue: Epilogue<DynRef<'a>>,
        problem: &Problem,
    ) -> Result<Self, Error> {
        let plain = Self { update, bias: None, activation: None };
        if epilogue.is_none() {
            return Ok(plain);
        }
        let Some(built_in) = S::BUILT_IN else {
            let hint = "use plus-times on floats".into();
            let what = format!("{} after {}", epilogue.name(), S::NAME);
            let why = "a bias and activations are for sums of floats".into();
            return Err(ErrorKind::Unsupported { what, why, hint }.into());
        };
        let Epilogue { bias, activation } =
            epilogue.checked(Some(built_in.id()), S::NAME, built_in.output(), problem)?;
        let activate = built_in.activate().filter(|_| activation != Activation::None);
        Ok(Self {
            bias: bias.and_then(|bias| built_in.row(bias)),
            activation: activate.map(|f| (activation, f)),
            ..plain
        })
    }

    /// The new element of C in column `j` for a complete sum. `old` is called only when the old element takes part.
    ///
    /// # Panics
    /// When there is a bias that has no element `j`.
    #[inline(always)]
    pub fn apply(&self, j: usize, sum: S::Acc, old: impl FnOnce() -> S::Out) -> S::Out {
        let mut sum = self.update.join(sum, old);
        if let Some(bias) = self.bias {
            let Some(bias) = bias.get(0, j) else { panic!("the bias has no element {j}") };
            sum = S::add(sum, S::resume(bias));
        }
        if let Some((activation, activate)) = self.activation {
            sum = activate(activation, sum);
        }
        S::finish(sum)
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Activation {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|activation| activation.name() == name);
        known.ok_or_else(|| {
            let (what, why) = (format!("the activation '{name}'"), "it is not known".into());
            ErrorKind::Unsupported { what, why, hint: "choose none, relu or gelu".into() }.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, Matrix, MinPlus, PlusTimes, f16, reference};

    #[test]
    fn gelu_is_its_formula() {
        for i in -400..400 {
            let x = f64::from(i) / 40.0;
            let y = (2.0 / core::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
            let right = x / 2.0 * (1.0 + y.tanh());
            assert!((Activation::Gelu.of(x) - right).abs() <= 1e-14, "{x}");
            assert!((f64::from(f32::activate(Activation::Gelu, x as f32)) - right).abs() <= 2e-6, "{x}");
        }
        for x in [-1e30, -1e300, f64::NEG_INFINITY] {
            assert_eq!(Activation::Gelu.of(x), 0.0);
        }
        assert!(Activation::Gelu.of(f64::NAN).is_nan() && Activation::Relu.of(f64::NAN).is_nan());
        assert_eq!(Activation::Gelu.of(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn gelu_is_nowhere_steeper_than_said() {
        let steep = |x: f64| (Activation::Gelu.of(x + 1e-6) - Activation::Gelu.of(x)).abs() / 1e-6;
        let most = (-10_000..10_000).map(|i| steep(f64::from(i) / 1000.0)).fold(0.0, f64::max);
        assert!(most <= Activation::Gelu.steepness() && most > 1.12, "{most}");
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for activation in Activation::ALL {
            assert_eq!(activation.to_string().parse::<Activation>().unwrap(), activation);
        }
        let error = "swish".parse::<Activation>().unwrap_err();
        assert!(error.to_string().contains("'swish'") && error.hint().unwrap().contains("gelu"));
    }

    fn problem(m: usize, k: usize, n: usize) -> Problem {
        let l = Layout::row_major;
        Problem::new(l(m, k), l(k, n), l(m, n)).unwrap()
    }

    #[test]
    fn sums_are_rounded_once() {
        // 2048 + 1 is no f16, and 2048 + 1 - 1 is.
        let (sums, bias) = ([2049.0f32], [f16::from_f32(-1.0)]);
        let epilogue = Epilogue { bias: Some(MatRef::row(&bias).into()), activation: Activation::None };
        let finish = Finish::<PlusTimes<f16>>::new(&Update::Replace, epilogue, &problem(1, 1, 1)).unwrap();
        assert_eq!(finish.apply(0, sums[0], || f16::NAN).to_f32(), 2048.0);
    }

    #[test]
    fn the_reference_adds_the_bias_to_columns_and_then_activates() {
        let (a, b) = (Matrix::from([[1.0f32], [-1.0]]), Matrix::from([[1.0f32, 2.0, 3.0]]));
        let bias = [0.5f32, -2.5, 0.0];
        for view in [MatRef::row(&bias), MatRef::column(&bias)] {
            let mut c = Matrix::filled(2, 3, 1.0f32).unwrap();
            let epilogue = Epilogue { bias: Some(view.into()), activation: Activation::Relu };
            let update = Update::<PlusTimes<f32>>::scale(2.0, 1.0);
            reference::multiply_with(c.as_mut(), a.as_ref(), b.as_ref(), &update, epilogue).unwrap();
            assert_eq!(c.as_slice(), [3.5, 2.5, 7.0, 0.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        static FLOATS: [f32; 2] = [0.0; 2];
        static HALVES: [f16; 3] = [f16::ZERO; 3];
        let bias = |view: DynRef<'static>| Epilogue { bias: Some(view), activation: Activation::Gelu };
        let p = problem(2, 2, 3);
        let sums = |e| Finish::<PlusTimes<f32>>::new(&Update::Replace, e, &p).err().unwrap();
        let short = sums(bias(MatRef::row(&FLOATS).into()));
        assert_eq!(short.code(), "result-mismatch");
        assert!(short.to_string().contains("the bias is 1x2") && short.hint().is_some(), "{short:?}");
        assert_eq!(sums(bias(MatRef::row(&HALVES).into())).code(), "dtype-mismatch");
        let relu = Epilogue { bias: None, activation: Activation::Relu };
        let min_plus = Finish::<MinPlus<f32>>::new(&Update::Replace, relu, &p).err().unwrap();
        assert!(min_plus.to_string().contains("relu after min-plus"), "{min_plus}");
        let integers = Finish::<PlusTimes<i32>>::new(&Update::Replace, relu, &p).err().unwrap();
        assert!(integers.hint().unwrap().contains("f32"), "{integers:?}");
        assert!(Finish::<MinPlus<f32>>::new(&Update::Replace, Epilogue::default(), &p).is_ok());
    }
}
