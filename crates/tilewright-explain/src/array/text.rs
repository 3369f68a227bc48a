//! Arrays described by a text: `f32[256,256]:random`.

use super::{Array, ElementType, Number, Scalar, expression::evaluate};
use crate::case::unsupported;
use tilewright_core::Error;

/// More bytes than this are a mistake rather than a wish.
const MOST_BYTES: usize = 1 << 32;
const MOST_EXTENTS: usize = 8;

/// What the elements of a new array are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filling {
    /// Reproducible. Unless bounds are given, floats are from 0 to 1, integers from -100 or 0 to 100. Both bounds may occur for integers, the second does
    /// not for floats. Arrays of other names have other numbers.
    Random {
        /// The smallest and the largest number.
        bounds: Option<[f64; 2]>,
        /// Another seed gives other numbers.
        seed: u64,
    },
    /// 0, 1, 2 ...
    Range,
    /// All the same.
    Same(Scalar),
}

impl Filling {
    /// The usual bounds and seed.
    pub const RANDOM: Self = Self::Random { bounds: None, seed: 0 };

    /// `random`, `random(-1,1)`, `random(0,9,seed=7)`, `range`, `zeros`, `ones` or a number.
    fn parse(text: &str, number: Number) -> Result<Self, String> {
        let filling = match text {
            "random" => Self::RANDOM,
            "range" => Self::Range,
            "zeros" => Self::Same(Scalar::Integer(0)),
            "ones" => Self::Same(Scalar::Integer(1)),
            _ => match text.strip_prefix("random(").and_then(|rest| rest.strip_suffix(')')) {
                Some(list) => Self::random(list)?,
                None => Self::Same(scalar(text).ok_or_else(|| {
                    format!("'{text}' is no filling: random, range, zeros, ones or a number are")
                })?),
            },
        };
        let bounds = match filling {
            Self::Random { bounds: Some(bounds), .. } => bounds.map(Scalar::Real).to_vec(),
            Self::Same(value) => vec![value],
            _ => Vec::new(),
        };
        match bounds.into_iter().find(|bound| !number.holds(*bound)) {
            Some(bound) => Err(format!("{bound} cannot be represented as {}", number.name())),
            None => Ok(filling),
        }
    }

    /// What stands in the brackets.
    fn random(list: &str) -> Result<Self, String> {
        let (mut bounds, mut seed) = (Vec::new(), 0);
        for part in list.split(',').map(str::trim) {
            match part.strip_prefix("seed=") {
                Some(number) => seed = number.parse().map_err(|_| format!("'{number}' is no seed"))?,
                None => bounds.push(part.parse().map_err(|_| format!("'{part}' is no bound"))?),
            }
        }
        let bounds = match bounds[..] {
            [] => None,
            [low, high] if low <= high => Some([low, high]),
            _ => return Err("random takes two bounds, the lower first, and seed=N".into()),
        };
        Ok(Self::Random { bounds, seed })
    }
}

/// A number, or a truth.
pub fn scalar(text: &str) -> Option<Scalar> {
    match text {
        "true" => return Some(Scalar::Integer(1)),
        "false" => return Some(Scalar::Integer(0)),
        _ => {}
    }
    text.parse().map(Scalar::Integer).or_else(|_| text.parse().map(Scalar::Real)).ok()
}

impl Array {
    /// The array that a text such as `f32[256,256]:random` describes; `None` for a text of another form, a file's name for
    /// one.
    ///
    /// The part behind the colon is a [`Filling`]: `random`, `random(-1,1,seed=7)`, `range`, `zeros`, `ones` or a number; without it the elements are 0.
    ///
    /// ```
    /// use tilewright_explain::Array;
    /// let array = Array::parse("x", "i32[2,3]:range").unwrap()?;
    /// assert_eq!((array.rows(), array.columns(), array.bytes[4]), (2, 3, 1));
    /// assert!(Array::parse("x", "weights.npy").is_none());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// For a type, an extent or a filling that does not exist.
    pub fn parse(name: &str, text: &str) -> Option<Result<Self, Error>> {
        Self::parse_with(name, text, &|_| None)
    }

    /// As [`Array::parse`], with extents that are expressions of sizes, `f32[M,N]` or `f32[2*n]`; `known` has their values.
    ///
    /// # Errors
    /// As for [`Array::parse`].
    pub fn parse_with(
        name: &str,
        text: &str,
        known: &dyn Fn(&str) -> Option<i128>,
    ) -> Option<Result<Self, Error>> {
        let (element, rest) = text.split_once('[')?;
        let (extents, filling) = rest.split_once(']')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ');
        let is_filling = filling.is_empty() || filling.starts_with(':') || !filling.starts_with('.');
        if !is_filling || element.is_empty() || !element.chars().all(is_name) {
            return None;
        }
        let array = Self::from_parts(name, element, extents, filling, known);
        Some(array.map_err(|why| {
            let hint = "an array is TYPE[EXTENTS]:FILLING, as in f32[256,256]:random";
            unsupported(format!("{name}={text}"), why, hint)
        }))
    }

    fn from_parts(
        name: &str,
        element: &str,
        extents: &str,
        filling: &str,
        known: &dyn Fn(&str) -> Option<i128>,
    ) -> Result<Self, String> {
        let element: ElementType = element.parse().map_err(|()| {
            let known = Number::all().map(Number::name).collect::<Vec<_>>().join(", ");
            format!("element types are {known}, vectors such as float4, complex64 and complex128")
        })?;
        let extent = |text: &str| -> Result<usize, String> {
            let value =
                evaluate(text, known).map_err(|why| format!("'{}' is no extent: {why}", text.trim()))?;
            usize::try_from(value).map_err(|_| format!("'{}' is no extent: it is {value}", text.trim()))
        };
        let shape: Vec<usize> = split(extents).into_iter().map(extent).collect::<Result<_, _>>()?;
        if shape.len() > MOST_EXTENTS {
            return Err(format!("an array has {MOST_EXTENTS} extents at most"));
        }
        let bytes = shape.iter().try_fold(element.size(), |all, &extent| all.checked_mul(extent));
        if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
            return Err("that is more than 4 GiB".into());
        }
        let filling = match filling.strip_prefix(':') {
            Some(filling) => Filling::parse(filling, element.number())?,
            None if filling.is_empty() => Filling::Same(Scalar::Integer(0)),
            None => return Err(format!("'{filling}' is not expected here")),
        };
        let mut array = Self::zeros(name, element, &shape);
        array.fill(&filling);
        Ok(array)
    }

    /// Gives every number a value.
    pub(super) fn fill(&mut self, filling: &Filling) {
        let number = self.element.number();
        let start = match filling {
            Filling::Random { seed, .. } => seed.wrapping_mul(0xd134_2543_de82_ef95),
            _ => 0,
        };
        // Another array has other numbers.
        let mut state = self.name.bytes().fold(0x9e37_79b9_7f4a_7c15 ^ start, |h: u64, b| {
            (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
        });
        for (index, element) in self.bytes.chunks_exact_mut(number.size()).enumerate() {
            let value = match *filling {
                Filling::Same(value) => value,
                Filling::Range => Scalar::Integer(index as i128),
                Filling::Random { bounds, .. } => random_of(number, bounds, random(&mut state)),
            };
            number.write(value, element);
        }
    }
}

/// The number that random bits stand for.
fn random_of(number: Number, bounds: Option<[f64; 2]>, bits: u64) -> Scalar {
    if number.is_float() {
        let part = (bits >> 40) as f64 / f64::from(1 << 24);
        let [low, high] = bounds.unwrap_or([0.0, 1.0]);
        return Scalar::Real(low + part * (high - low));
    }
    let [low, high] = match (bounds, number) {
        (Some(bounds), _) => bounds.map(|bound| bound as i128),
        (None, Number::Bool) => return Scalar::Integer((bits % 201 > 100).into()),
        (None, Number::U8 | Number::U16 | Number::U32 | Number::U64) => [0, 100],
        (None, _) => [-100, 100],
    };
    Scalar::Integer(low + i128::from(bits) % (high - low + 1))
}

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The parts between commas outside of brackets.
pub fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (i, c) in list.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(text: &str) -> Array {
        Array::parse("x", text).unwrap().unwrap()
    }

    fn numbers(text: &str) -> Vec<f64> {
        parse(text).numbers().map(Scalar::to_f64).collect()
    }

    #[test]
    fn fillings() {
        assert_eq!(numbers("f32[3]"), [0.0; 3]);
        assert_eq!(numbers("f32[3]:ones"), [1.0; 3]);
        assert_eq!(numbers("f32[2, 2]:range"), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(numbers("f32[2]:-1.5e3"), [-1500.0; 2]);
        assert_eq!(numbers("u64[1]:18446744073709551615"), [18446744073709551615.0]);
        assert_eq!(numbers("bool[2]:true"), [1.0; 2]);
        assert_eq!(numbers("float4[2]:range"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(parse("half[2,3,4]").shape, [2, 3, 4]);
        assert_eq!((parse("complex64[5]").bytes.len(), parse("unsigned int[5]").bytes.len()), (40, 20));
    }

    #[test]
    fn random_numbers_have_bounds_and_seeds() {
        let usual = numbers("f32[1000]:random");
        assert!(usual.iter().all(|x| (0.0..1.0).contains(x)));
        assert!((usual.iter().sum::<f64>() / 1000.0 - 0.5).abs() < 0.05);
        let wide = numbers("f64[1000]:random(-2, 6)");
        assert!(wide.iter().all(|x| (-2.0..6.0).contains(x)) && wide.iter().any(|x| *x > 5.5));
        let few = numbers("u8[1000]:random(3,5)");
        assert!(
            [3.0, 4.0, 5.0].iter().all(|n| few.contains(n)) && few.iter().all(|n| (3.0..=5.0).contains(n))
        );
        assert!(numbers("u8[1000]:random").iter().all(|n| (0.0..=100.0).contains(n)));
        assert_ne!(numbers("f32[4]:random"), numbers("f32[4]:random(seed=1)"));
        assert_eq!(numbers("f32[4]:random(seed=1)"), numbers("f32[4]:random(0,1,seed=1)"));
        assert_ne!(parse("f32[4]:random").bytes, Array::parse("y", "f32[4]:random").unwrap().unwrap().bytes);
    }

    #[test]
    fn extents_are_expressions_of_sizes() {
        let sizes = |name: &str| [("M", 6), ("N", 7)].into_iter().find(|(n, _)| *n == name).map(|(_, v)| v);
        let array = Array::parse_with("x", "f32[M, (N+1)/2, max(M,N)]", &sizes).unwrap().unwrap();
        assert_eq!(array.shape, [6, 4, 7]);
        let error = Array::parse_with("x", "f32[M, K]", &sizes).unwrap().unwrap_err().to_string();
        assert!(error.contains("'K' is no extent: 'K' is not known"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, word) in [
            ("f33[4]", "element types are"),
            ("f32[1,1,1,1,1,1,1,1,1]", "8 extents"),
            ("f32[four]", "'four'"),
            ("f32[-4]", "it is -4"),
            ("f32[4]:much", "'much'"),
            ("f32[4]:1e39", "1e39 cannot be represented as f32"),
            ("i8[4]:300", "300 cannot be represented as i8"),
            ("u8[4]:-1", "-1 cannot be represented as u8"),
            ("u8[4]:random(-1,4)", "-1 cannot be represented as u8"),
            ("f32[4]:random(2,1)", "the lower first"),
            ("f32[4]:random(seed=x)", "'x' is no seed"),
            ("f32[4]random", "not expected"),
            ("f64[99999999,99999999]", "4 GiB"),
            ("f64[99999999999999999999]", "no extent"),
        ] {
            let error = Array::parse("x", text).unwrap().unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        for other in ["../data[1].npy", "a.csv", "data[1].npy", "[1,2]"] {
            assert!(Array::parse("x", other).is_none(), "{other}");
        }
    }
}
