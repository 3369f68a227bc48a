//! `printf` of kernels.

/// Bytes of the longest string that is read.
pub const LONGEST: usize = 4096;

/// What a conversion needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
    /// An f64.
    Double,
    /// The address of a string.
    Text,
}

impl Request {
    /// Bytes in the argument list, and their alignment.
    pub fn bytes(self) -> u64 {
        if self == Request::Int { 4 } else { 8 }
    }
}

/// An argument.
pub enum Argument {
    /// A number.
    Bits(u64),
    /// A string.
    Text(String),
}

/// A conversion: `%-08.3lld`.
#[derive(Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
}

/// Formats as C does; `next` gives the arguments in order.
pub fn format(format: &str, next: &mut dyn FnMut(Request) -> Argument) -> String {
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut conversion = Conversion::default();
        while let Some(&flag) = chars.peek() {
            match flag {
                '-' => conversion.left = true,
                '+' => conversion.plus = true,
                ' ' => conversion.space = true,
                '0' => conversion.zero = true,
                '#' => conversion.alternate = true,
                _ => break,
            }
            chars.next();
        }
        conversion.width = number(&mut chars, next).unwrap_or(0);
        if chars.next_if_eq(&'.').is_some() {
            conversion.precision = Some(number(&mut chars, next).unwrap_or(0));
        }
        while let Some(&length) = chars.peek() {
            match length {
                'l' | 'z' | 'j' | 't' | 'q' => conversion.long = true,
                'h' => {}
                _ => break,
            }
            chars.next();
        }
        match chars.next() {
            Some('%') => out.push('%'),
            Some(kind) => convert(&mut out, &conversion, kind, next),
            None => {}
        }
    }
    out
}

fn number(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    next: &mut dyn FnMut(Request) -> Argument,
) -> Option<usize> {
    if chars.next_if_eq(&'*').is_some() {
        return match next(Request::Int) {
            Argument::Bits(bits) => Some((bits as u32 as usize).min(LONGEST)),
            Argument::Text(_) => None,
        };
    }
    let mut value = None;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
        value = Some((value.unwrap_or(0) * 10 + digit as usize).min(LONGEST));
        chars.next();
    }
    value
}

fn convert(out: &mut String, how: &Conversion, kind: char, next: &mut dyn FnMut(Request) -> Argument) {
    let request = match kind {
        's' => Request::Text,
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => Request::Double,
        'p' => Request::Long,
        _ if how.long => Request::Long,
        _ => Request::Int,
    };
    let (sign, digits) = match next(request) {
        Argument::Text(text) => {
            (String::new(), text.chars().take(how.precision.unwrap_or(LONGEST)).collect())
        }
        Argument::Bits(bits) => match kind {
            'd' | 'i' => {
                let value = if how.long { bits as i64 } else { i64::from(bits as i32) };
                (sign_of(how, value < 0), padded(value.unsigned_abs().to_string(), how))
            }
            'u' => (String::new(), padded(bits.to_string(), how)),
            'x' => (prefix(how, "0x"), padded(format!("{bits:x}"), how)),
            'X' => (prefix(how, "0X"), padded(format!("{bits:X}"), how)),
            'o' => (prefix(how, "0"), padded(format!("{bits:o}"), how)),
            'c' => (String::new(), char::from(bits as u8).to_string()),
            'p' => ("0x".into(), format!("{bits:x}")),
            _ => {
                let value = f64::from_bits(bits);
                (sign_of(how, value.is_sign_negative()), float(value.abs(), kind, how))
            }
        },
    };
    let fill = how.width.saturating_sub(sign.chars().count() + digits.chars().count());
    if how.left {
        out.extend([sign.as_str(), &digits, &" ".repeat(fill)]);
    } else if how.zero && kind != 's' {
        out.extend([sign.as_str(), &"0".repeat(fill), &digits]);
    } else {
        out.extend([" ".repeat(fill).as_str(), &sign, &digits]);
    }
}

fn sign_of(how: &Conversion, negative: bool) -> String {
    match () {
        () if negative => "-".into(),
        () if how.plus => "+".into(),
        () if how.space => " ".into(),
        () => String::new(),
    }
}

fn prefix(how: &Conversion, text: &str) -> String {
    if how.alternate { text.into() } else { String::new() }
}

fn padded(digits: String, how: &Conversion) -> String {
    let missing = how.precision.unwrap_or(0).saturating_sub(digits.len());
    "0".repeat(missing) + &digits
}

fn float(value: f64, kind: char, how: &Conversion) -> String {
    let precision = how.precision.unwrap_or(6);
    let upper = kind.is_ascii_uppercase();
    let text = if value.is_nan() {
        "nan".into()
    } else if value.is_infinite() {
        "inf".into()
    } else {
        match kind.to_ascii_lowercase() {
            'f' => format!("{value:.precision$}"),
            'e' => exponent(value, precision),
            _ => shortest(value, precision.max(1), how.alternate),
        }
    };
    if upper { text.to_uppercase() } else { text }
}

/// C writes at least two digits of an exponent and always its sign.
fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let Some((mantissa, power)) = text.split_once('e') else { return text };
    let (sign, digits) = match power.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', power),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// `%g`: the shorter of `%e` and `%f`, without trailing zeros.
fn shortest(value: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponent(value, precision - 1);
    let power: i32 = scientific.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    let trim = |text: String| {
        if keep_zeros || !text.contains('.') {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    if power < -4 || power >= precision as i32 {
        match scientific.split_once('e') {
            Some((mantissa, power)) => format!("{}e{power}", trim(mantissa.into())),
            None => scientific,
        }
    } else {
        let decimals = (precision as i32 - 1 - power).max(0) as usize;
        trim(format!("{value:.decimals$}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str, arguments: &[u64]) -> String {
        let mut arguments = arguments.iter();
        format(text, &mut |_| Argument::Bits(arguments.next().copied().unwrap_or(0)))
    }

    #[test]
    fn as_c_does() {
        assert_eq!(print("%d|%5d|%-5d|%05d|%+d", &[1, 2, 3, 4, 5]), "1|    2|3    |00004|+5");
        assert_eq!(print("%d %lld %u", &[u64::from(u32::MAX), u64::MAX, 7]), "-1 -1 7");
        assert_eq!(print("%x %#X %o %c %%", &[255, 255, 8, 65]), "ff 0XFF 10 A %");
        let pi = std::f64::consts::PI.to_bits();
        assert_eq!(print("%f %.2f %8.3f|%e|%g", &[pi; 5]), "3.141593 3.14    3.142|3.141593e+00|3.14159");
        assert_eq!(
            print("%g %g %g", &[1e10f64.to_bits(), 1e-5f64.to_bits(), 100f64.to_bits()]),
            "1e+10 1e-05 100"
        );
        assert_eq!(print("%f %F", &[f64::NAN.to_bits(), f64::NEG_INFINITY.to_bits()]), "nan -INF");
    }
}
