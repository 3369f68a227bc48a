//! Numbers in text files: lines, cells, and what may stand in a cell.

use super::fault::{Fault, bad, excerpt};
use std::{
    fmt,
    io::{BufRead, Write},
};
use tilewright_core::{E4m3, E5m2, Element, Error, ErrorKind, Extremes, Value, bf16, f16};

/// The lines of a text file, with their numbers.
pub(super) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    buffer: Vec<u8>,
    number: usize,
}

impl<'a> Lines<'a> {
    pub fn new(input: &'a mut dyn BufRead) -> Self {
        Self { input, buffer: Vec::new(), number: 0 }
    }

    /// The next line and its number, from 1; a UTF-8 mark at the start and white space around it are dropped.
    pub fn any(&mut self) -> Result<Option<(usize, &str)>, Fault> {
        if self.advance()? { self.line().map(Some) } else { Ok(None) }
    }

    /// The next line that is neither blank nor starts with `comment`.
    pub fn content(&mut self, comment: u8) -> Result<Option<(usize, &str)>, Fault> {
        while self.advance()? {
            let line = self.bytes().trim_ascii();
            if !line.is_empty() && line[0] != comment {
                return self.line().map(Some);
            }
        }
        Ok(None)
    }

    /// The next line as it is, with its end.
    pub fn raw(&mut self) -> Result<Option<(usize, &str)>, Fault> {
        if !self.advance()? {
            return Ok(None);
        }
        Ok(Some((self.number, self.text()?)))
    }

    /// Passes over a line, whatever it holds.
    pub fn pass(&mut self) -> Result<(), Fault> {
        self.advance().map(|_| ())
    }

    fn advance(&mut self) -> Result<bool, Fault> {
        self.buffer.clear();
        self.number += 1;
        Ok(self.input.read_until(b'\n', &mut self.buffer)? > 0)
    }

    fn bytes(&self) -> &[u8] {
        match self.buffer.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if self.number == 1 => rest,
            _ => &self.buffer,
        }
    }

    fn line(&self) -> Result<(usize, &str), Fault> {
        Ok((self.number, self.text()?.trim()))
    }

    fn text(&self) -> Result<&str, Fault> {
        match std::str::from_utf8(self.bytes()) {
            Ok(line) => Ok(line),
            Err(_) => Err(bad!("line {} is not UTF-8 text", self.number)
                .hint("save the file as UTF-8, or give it the extension of its real format")),
        }
    }
}

/// An element that a text file can hold.
pub(super) trait Text: Element {
    /// The element that `text` names; `None` when it names none or does not fit.
    fn parse(text: &str, extremes: Extremes) -> Option<Self>;
    /// Writes text that reads back as the same element; an extreme integer that stands for "absent" becomes
    /// an infinity.
    fn print(self, extremes: Extremes, out: &mut dyn Write) -> std::io::Result<()>;
    /// The element with the opposite sign.
    fn negate(self) -> Option<Self>;
}

/// What `text` means, without a type in mind; `None` when it is no number, infinity, NaN or boolean.
pub(super) fn value(text: &str) -> Option<Value> {
    if let Ok(x) = text.parse() {
        return Some(Value::Int(x));
    }
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return Some(Value::Bool(text.eq_ignore_ascii_case("true")));
    }
    text.parse().ok().map(Value::Float)
}

/// A number with digits that parsed as an infinity was too large, and is refused rather than changed.
fn overflowed(text: &str, is_infinite: bool) -> bool {
    is_infinite && text.bytes().any(|b| b.is_ascii_digit())
}

macro_rules! wide_floats {
    ($($t:ty),*) => {$(
        impl Text for $t {
            fn parse(text: &str, extremes: Extremes) -> Option<Self> {
                match text.parse::<$t>() {
                    Ok(x) => (!overflowed(text, x.is_infinite())).then_some(x),
                    Err(_) => Self::from_value(value(text)?, extremes),
                }
            }
            fn print(self, _: Extremes, out: &mut dyn Write) -> std::io::Result<()> {
                // Debug keeps the ".0" of whole numbers, so that they read back as floats.
                write!(out, "{self:?}")
            }
            fn negate(self) -> Option<Self> {
                Some(-self)
            }
        }
    )*};
}
wide_floats!(f32, f64);

macro_rules! narrow_floats {
    ($($t:ty),*) => {$(
        impl Text for $t {
            fn parse(text: &str, extremes: Extremes) -> Option<Self> {
                match text.parse::<f64>() {
                    Ok(x) => {
                        let narrow = <$t>::from_f32(to_odd(x));
                        let lost = !narrow.is_finite() && narrow.is_nan() != x.is_nan();
                        (!lost && !overflowed(text, !narrow.is_finite())).then_some(narrow)
                    }
                    Err(_) => Self::from_value(value(text)?, extremes),
                }
            }
            fn print(self, _: Extremes, out: &mut dyn Write) -> std::io::Result<()> {
                write!(out, "{:?}", self.to_f32())
            }
            fn negate(self) -> Option<Self> {
                Some(-self)
            }
        }
    )*};
}
narrow_floats!(f16, bf16, E4m3, E5m2);

/// `x` as f32, rounded to odd: an inexact result is truncated and its last bit set, so that rounding it
/// once more, to a narrower type, gives what rounding `x` directly would give.
fn to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest) == x || x.is_nan() || nearest.is_infinite() {
        return nearest;
    }
    let away = f64::from(nearest).abs() > x.abs();
    f32::from_bits((nearest.to_bits() - u32::from(away)) | 1)
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Text for $t {
            fn parse(text: &str, extremes: Extremes) -> Option<Self> {
                match value(text)? {
                    // From 2^53 on the float no longer tells which integer was written.
                    Value::Float(x) if x.is_finite() && x.abs() >= (1u64 << 53) as f64 => None,
                    Value::Float(x) if overflowed(text, x.is_infinite()) => None,
                    // Digits have no other type than this: those of an extreme spell it, as they must in .mtx.
                    Value::Int(x) => x.try_into().ok(),
                    value => Self::from_value(value, extremes),
                }
            }
            fn print(self, extremes: Extremes, out: &mut dyn Write) -> std::io::Result<()> {
                match self {
                    Self::MAX if extremes == Extremes::Absent => write!(out, "inf"),
                    Self::MIN if extremes == Extremes::Absent => write!(out, "-inf"),
                    _ => write!(out, "{self}"),
                }
            }
            fn negate(self) -> Option<Self> {
                self.checked_neg()
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8);

impl Text for bool {
    fn parse(text: &str, extremes: Extremes) -> Option<Self> {
        Self::from_value(value(text)?, extremes)
    }
    fn print(self, _: Extremes, out: &mut dyn Write) -> std::io::Result<()> {
        write!(out, "{self}")
    }
    fn negate(self) -> Option<Self> {
        None
    }
}

/// Why the text at `place` is no element of type `T`.
pub(super) fn refuse<T: Text>(place: impl fmt::Display, text: &str) -> Fault {
    let shown = excerpt(text);
    match value(text) {
        None => bad!("{place}: '{shown}' is not a number"),
        Some(_) => {
            let value = if text.len() > LONGEST_NUMBER { shown.clone() } else { text.to_owned() };
            let error = Error::from(ErrorKind::Conversion { row: 0, col: 0, value, to: T::DTYPE });
            let fault = bad!("{place}: {shown} cannot be represented as {}", T::DTYPE);
            match error.kind().hint() {
                Some(hint) => fault.hint(hint),
                None => fault,
            }
        }
    }
}

/// Digits that a hint is made for.
const LONGEST_NUMBER: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<T: Text>(text: &str) -> Option<T> {
        T::parse(text, Extremes::Refuse)
    }

    #[test]
    fn integers_take_whole_numbers_only() {
        assert_eq!(parse::<i32>("+7"), Some(7));
        assert_eq!(parse::<i32>("3.0"), Some(3));
        assert_eq!(parse::<i32>("1e3"), Some(1000));
        assert_eq!(parse::<i8>("128"), None);
        assert_eq!(parse::<i32>("3.5"), None);
        assert_eq!(parse::<i64>("9223372036854775807"), Some(i64::MAX));
        assert_eq!(parse::<i64>("9223372036854775808"), None);
        assert_eq!(parse::<i64>("9007199254740993.0"), None);
        assert_eq!(parse::<i32>("inf"), None);
        assert_eq!(i32::parse("-inf", Extremes::Absent), Some(i32::MIN));
        assert_eq!(i32::parse("1e999", Extremes::Absent), None);
        assert_eq!(parse::<i64>("true"), Some(1));
        assert_eq!(parse::<i64>("nan"), None);
    }

    #[test]
    fn floats_are_rounded_once() {
        // 1 + 2^-24 + 2^-60: f64 drops the last term, and a tie to even would then round down.
        assert_eq!(parse::<f32>("1.00000005960464477626204541"), Some(1.000_000_1));
        // Just above the middle of two f16 neighbours, invisible after rounding to f32.
        let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(parse::<f16>(&format!("{x:?}")).map(f16::to_f64), Some(1.0 + 2f64.powi(-10)));
        assert_eq!(parse::<f32>("1e39"), None);
        assert_eq!(parse::<f16>("65520"), None);
        assert_eq!(parse::<f16>("65519.99").map(f16::to_f32), Some(65504.0));
        for text in ["inf", "+Infinity", "INF", "1e-400", "-nan", "NaN", ".5", "5."] {
            assert!(parse::<f64>(text).is_some(), "{text}");
        }
        assert_eq!(parse::<f64>("-inf"), Some(f64::NEG_INFINITY));
    }

    #[test]
    fn every_narrow_float_reads_back_bit_for_bit() {
        for bits in 0..=u16::MAX {
            let mut text = Vec::new();
            let x = f16::from_bits(bits);
            x.print(Extremes::Refuse, &mut text).unwrap();
            let back = parse::<f16>(std::str::from_utf8(&text).unwrap()).unwrap();
            assert!(back.to_bits() == bits || x.is_nan() && back.is_nan());
            text.clear();
            let x = bf16::from_bits(bits);
            x.print(Extremes::Refuse, &mut text).unwrap();
            let back = parse::<bf16>(std::str::from_utf8(&text).unwrap()).unwrap();
            assert!(back.to_bits() == bits || x.is_nan() && back.is_nan());
        }
    }

    #[test]
    fn lines_skip_marks_comments_and_blanks() {
        let mut bytes: &[u8] = b"\xEF\xBB\xBF# c\r\n\r\n 1,2 \r\n#\n3";
        let mut lines = Lines::new(&mut bytes);
        assert_eq!(lines.content(b'#').unwrap(), Some((3, "1,2")));
        assert_eq!(lines.content(b'#').unwrap(), Some((5, "3")));
        assert_eq!(lines.content(b'#').unwrap(), None);
    }
}
