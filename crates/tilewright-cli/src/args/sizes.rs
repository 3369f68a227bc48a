//! `--sizes LIST`.

use std::str::FromStr;

/// The shape of a product: A is m x k, B is k x n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// One part of the list: a side, three sides, or a range of sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<Size>);

/// More sizes than this in a range are a slip of the pen.
const MOST: usize = 10_000;

impl Size {
    pub const fn square(side: usize) -> Self {
        Self { m: side, n: side, k: side }
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((first, rest)) = text.split_once("..") {
            return range(text, first, rest).map(|sides| Self(sides.into_iter().map(Size::square).collect()));
        }
        let sides = text.split(['x', 'X']).map(side).collect::<Result<Vec<_>, _>>()?;
        match sides[..] {
            [side] => Ok(Self(vec![Size::square(side)])),
            [m, n, k] => Ok(Self(vec![Size { m, n, k }])),
            _ => Err(format!("'{text}' is neither one side nor MxNxK")),
        }
    }
}

/// `first..last:step`, or `first..last`, which doubles.
fn range(text: &str, first: &str, rest: &str) -> Result<Vec<usize>, String> {
    let (last, step) = match rest.split_once(':') {
        Some((last, step)) => (side(last)?, Some(side(step)?)),
        None => (side(rest)?, None),
    };
    let first = side(first)?;
    if first > last {
        return Err(format!("'{text}' has no sizes: the range must ascend"));
    }
    let sides: Vec<usize> = match step {
        Some(step) => (first..=last).step_by(step).take(MOST + 1).collect(),
        None => {
            std::iter::successors(Some(first), |&x| x.checked_mul(2)).take_while(|&x| x <= last).collect()
        }
    };
    if sides.len() > MOST { Err(format!("'{text}' has more than {MOST} sizes")) } else { Ok(sides) }
}

fn side(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(side) if side > 0 => Ok(side),
        _ => Err(format!("'{text}' is no size: expected 512, 16x4096x4096 or 256..4096:256")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_sides_shapes_and_ranges() {
        let sides = |text: &str| text.parse::<Sizes>().unwrap().0.iter().map(|s| s.m).collect::<Vec<_>>();
        assert_eq!(sides("512"), [512]);
        assert_eq!("16x4096x32".parse::<Sizes>().unwrap().0, [Size { m: 16, n: 4096, k: 32 }]);
        assert_eq!(sides("256..1024:256"), [256, 512, 768, 1024]);
        // The end is not reached exactly.
        assert_eq!(sides("1..10:4"), [1, 5, 9]);
        assert_eq!(sides("256..4096"), [256, 512, 1024, 2048, 4096]);
        assert_eq!(sides("3..3"), [3]);
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for (text, part) in [
            ("", "'' is no size"),
            ("0", "'0' is no size"),
            ("-4", "no size"),
            ("16x16", "neither one side nor MxNxK"),
            ("1x2x3x4", "neither"),
            ("9..1", "must ascend"),
            ("1..9:0", "'0' is no size"),
            ("1..", "'' is no size"),
            ("1..99999999999:1", "more than 10000 sizes"),
            ("99999999999999999999999", "no size"),
        ] {
            let error = text.parse::<Sizes>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
