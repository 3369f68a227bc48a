//! Semirings by their text: written from trees that this file makes, and evaluated by its own rules, which are C's.

use crate::{
    case::{Case, Join},
    form::Placed,
    judge::differs,
    plant::{Plant, TextEngine},
    random::Random,
    run::Outcome,
    sample::Sample,
};
use core::fmt::{self, Write};
use tilewright_core::{Error, expressions::Cell};
use tilewright_cpu::Options;

/// An expression as a tree.
enum Tree {
    X,
    Y,
    /// An integer that every type has.
    Whole(i64),
    /// Eighths, for floats.
    Eighths(i64),
    Infinity,
    Minus(Box<Tree>),
    Not(Box<Tree>),
    Absolute(Box<Tree>),
    Two(Operation, Box<Tree>, Box<Tree>),
    Choose(Box<Tree>, Box<Tree>, Box<Tree>),
}

#[derive(Clone, Copy, PartialEq)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Min,
    Max,
}

use Operation::*;

/// How strongly operators bind, as C has it; functions and what stands alone bind most.
const STRENGTHS: [(Operation, &str, u8); 12] = [
    (Or, "||", 1),
    (And, "&&", 2),
    (Equal, "==", 3),
    (NotEqual, "!=", 3),
    (Less, "<", 4),
    (LessEqual, "<=", 4),
    (Greater, ">", 4),
    (GreaterEqual, ">=", 4),
    (Add, "+", 5),
    (Subtract, "-", 5),
    (Multiply, "*", 6),
    (Divide, "/", 6),
];
const SIGN: u8 = 7;
const ALONE: u8 = 8;

/// What C computes with a type.
pub trait Number: Cell + Sample {
    /// An operation that is no comparison.
    fn arithmetic(operation: u8, x: Self, y: Self) -> Self;
    /// The magnitude.
    fn magnitude(self) -> Self;
    /// An integer.
    fn whole(x: i64) -> Self;
    /// Eighths of 1.
    fn eighths(x: i64) -> Self;
    /// What `inf` is.
    fn infinity() -> Self;
}

macro_rules! numbers {
    ($($t:ident, $add:expr, $subtract:expr, $multiply:expr, $divide:expr, $magnitude:expr, $eighths:expr, $infinity:expr;)*) => {$(
        impl Number for $t {
            fn arithmetic(operation: u8, x: Self, y: Self) -> Self {
                match operation {
                    b'+' => $add(x, y),
                    b'-' => $subtract(x, y),
                    b'*' => $multiply(x, y),
                    _ => $divide(x, y),
                }
            }
            fn magnitude(self) -> Self { $magnitude(self) }
            fn whole(x: i64) -> Self { x as $t }
            fn eighths(x: i64) -> Self { $eighths(x) }
            fn infinity() -> Self { $infinity }
        }
    )*};
}
numbers! {
    f32, |x: f32, y| x + y, |x: f32, y| x - y, |x: f32, y| x * y, |x: f32, y| x / y, f32::abs, |x| x as f32 / 8.0, f32::INFINITY;
    f64, |x: f64, y| x + y, |x: f64, y| x - y, |x: f64, y| x * y, |x: f64, y| x / y, f64::abs, |x| x as f64 / 8.0, f64::INFINITY;
    i32, i32::wrapping_add, i32::wrapping_sub, i32::wrapping_mul, |x: i32, y| x.checked_div(y).unwrap_or(if y == 0 { 0 } else { x }),
        i32::wrapping_abs, |x| x as i32, i32::MAX;
    i64, i64::wrapping_add, i64::wrapping_sub, i64::wrapping_mul, |x: i64, y| x.checked_div(y).unwrap_or(if y == 0 { 0 } else { x }),
        i64::wrapping_abs, |x| x, i64::MAX;
}

impl Tree {
    /// Any tree, of a depth at most.
    fn any(r: &mut Random, depth: usize, floats: bool) -> Self {
        let below = |r: &mut Random| Box::new(Self::any(r, depth - 1, floats));
        if depth == 0 || r.one_in(5) {
            return match r.below(7) {
                0 | 1 => Self::X,
                2 | 3 => Self::Y,
                4 if floats => Self::Eighths(r.below(200) as i64),
                5 => Self::Infinity,
                _ if r.one_in(4) => Self::Whole(i32::MAX.into()),
                _ => Self::Whole(r.below(20) as i64),
            };
        }
        match r.below(14) {
            0 => Self::Minus(below(r)),
            1 => Self::Not(below(r)),
            2 => Self::Absolute(below(r)),
            3 => Self::Choose(below(r), below(r), below(r)),
            4 => Self::Two(r.pick(&[Min, Max]), below(r), below(r)),
            _ => Self::Two(r.pick(&STRENGTHS).0, below(r), below(r)),
        }
    }

    fn strength(&self) -> u8 {
        match self {
            Self::Choose(..) => 0,
            Self::Two(operation, ..) => STRENGTHS
                .iter()
                .find(|(known, ..)| known == operation)
                .map_or(ALONE, |&(_, _, strength)| strength),
            Self::Minus(_) | Self::Not(_) => SIGN,
            _ => ALONE,
        }
    }

    /// Writes it with blanks and needless parentheses here and there; with those that are needed where `least` asks for more strength.
    fn write(&self, r: &mut Random, least: u8, text: &mut String) -> fmt::Result {
        if self.strength() < least || r.one_in(9) {
            text.push('(');
            self.write(r, 0, text)?;
            text.push(')');
            return Ok(());
        }
        if r.one_in(6) {
            text.push(' ');
        }
        match self {
            Self::X => text.push('x'),
            Self::Y => text.push('y'),
            Self::Whole(x) if r.one_in(6) => write!(text, "{x}.0")?,
            Self::Whole(x) => write!(text, "{x}")?,
            Self::Eighths(x) => write!(text, "{}{}", *x as f64 / 8.0, r.pick(&["", "e0"]))?,
            Self::Infinity => text.push_str(r.pick(&["inf", "INFINITY"])),
            Self::Minus(x) => {
                text.push('-');
                x.write(r, SIGN, text)?;
            }
            Self::Not(x) => {
                text.push('!');
                // `!=` is another operator.
                text.push(' ');
                x.write(r, SIGN, text)?;
            }
            Self::Absolute(x) => {
                text.push_str(r.pick(&["abs(", "fabs(", "fabsf("]));
                x.write(r, 0, text)?;
                text.push(')');
            }
            Self::Two(operation @ (Min | Max), x, y) => {
                let names =
                    if *operation == Min { ["min", "fmin", "fminf"] } else { ["max", "fmax", "fmaxf"] };
                write!(text, "{}(", r.pick(&names))?;
                x.write(r, 0, text)?;
                text.push(',');
                y.write(r, 0, text)?;
                text.push(')');
            }
            Self::Two(operation, x, y) => {
                let found = STRENGTHS.iter().find(|(known, ..)| known == operation);
                let &(_, symbol, strength) = found.ok_or(fmt::Error)?;
                x.write(r, strength, text)?;
                text.push_str(symbol);
                // From left to right: what is on the right needs more.
                y.write(r, strength + 1, text)?;
            }
            Self::Choose(condition, yes, no) => {
                condition.write(r, 1, text)?;
                text.push('?');
                yes.write(r, 0, text)?;
                text.push(':');
                no.write(r, 0, text)?;
            }
        }
        Ok(())
    }

    fn text(&self, r: &mut Random) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(r, 0, &mut text);
        text
    }

    fn value<T: Number>(&self, x: T, y: T) -> T {
        let of = |tree: &Self| tree.value(x, y);
        let truth = |is_true: bool| T::whole(is_true.into());
        match self {
            Self::X => x,
            Self::Y => y,
            &Self::Whole(number) => T::whole(number),
            &Self::Eighths(number) => T::eighths(number),
            Self::Infinity => T::infinity(),
            // A sign before a number belongs to it, and the negative infinity of integers is the smallest.
            Self::Minus(tree) => match tree.signed_infinity() {
                Some(is_positive) if !T::DTYPE.is_float() => {
                    if is_positive {
                        T::arithmetic(b'-', T::arithmetic(b'-', T::whole(0), T::infinity()), T::whole(1))
                    } else {
                        T::infinity()
                    }
                }
                _ if T::DTYPE.is_float() => T::arithmetic(b'*', of(tree), T::whole(-1)),
                _ => T::arithmetic(b'-', T::whole(0), of(tree)),
            },
            Self::Not(tree) => truth(of(tree) == T::whole(0)),
            Self::Absolute(tree) => of(tree).magnitude(),
            Self::Choose(condition, yes, no) => {
                if of(condition) != T::whole(0) {
                    of(yes)
                } else {
                    of(no)
                }
            }
            Self::Two(operation, left, right) => {
                let (x, y) = (of(left), of(right));
                let is_nan = |x: T| x.wide().is_nan();
                match operation {
                    Add => T::arithmetic(b'+', x, y),
                    Subtract => T::arithmetic(b'-', x, y),
                    Multiply => T::arithmetic(b'*', x, y),
                    Divide => T::arithmetic(b'/', x, y),
                    Less => truth(x < y),
                    LessEqual => truth(x <= y),
                    Greater => truth(x > y),
                    GreaterEqual => truth(x >= y),
                    Equal => truth(x == y),
                    NotEqual => truth(x != y),
                    And => truth(x != T::whole(0) && y != T::whole(0)),
                    Or => truth(x != T::whole(0) || y != T::whole(0)),
                    Min => {
                        if is_nan(y) || x < y {
                            x
                        } else {
                            y
                        }
                    }
                    Max => {
                        if is_nan(y) || x > y {
                            x
                        } else {
                            y
                        }
                    }
                }
            }
        }
    }

    /// Whether it is infinity behind signs, and which.
    fn signed_infinity(&self) -> Option<bool> {
        match self {
            Self::Infinity => Some(true),
            Self::Minus(tree) => tree.signed_infinity().map(|is_positive| !is_positive),
            _ => None,
        }
    }
}

/// A semiring whose laws hold: the same operations, written differently each time.
struct Own {
    add: Tree,
    mul: Tree,
    zero: Tree,
}

impl Own {
    fn any(r: &mut Random) -> Self {
        let two = |operation, x, y| Tree::Two(operation, Box::new(x), Box::new(y));
        let choose = |condition, yes, no| Tree::Choose(Box::new(condition), Box::new(yes), Box::new(no));
        let selection = |r: &mut Random, operation: Operation| {
            let (less, other) = if operation == Min { (Less, Greater) } else { (Greater, Less) };
            match r.below(4) {
                0 => two(operation, Tree::Y, Tree::X),
                1 => choose(two(less, Tree::X, Tree::Y), Tree::X, Tree::Y),
                2 => choose(two(other, Tree::X, Tree::Y), Tree::Y, Tree::X),
                _ => two(operation, Tree::X, Tree::Y),
            }
        };
        let constant =
            |r: &mut Random| Tree::Whole(r.pick(&[0, 1, 100, i64::from(i32::MAX) - 1, i64::from(i32::MAX)]));
        let minus = |tree| Tree::Minus(Box::new(tree));
        match r.below(4) {
            0 => Self {
                add: selection(r, Min),
                mul: two(Max, selection(r, Max), minus(constant(r))),
                zero: Tree::Infinity,
            },
            1 => Self {
                add: selection(r, Max),
                mul: two(Min, selection(r, Min), constant(r)),
                zero: minus(Tree::Infinity),
            },
            2 => Self {
                add: two(Add, Tree::X, Tree::Y),
                mul: two(Multiply, Tree::Y, Tree::X),
                zero: Tree::Whole(0),
            },
            _ => Self {
                add: two(Subtract, Tree::Y, minus(Tree::X)),
                mul: two(Multiply, two(Multiply, Tree::X, Tree::Whole(1)), Tree::Y),
                zero: two(Subtract, Tree::Whole(7), Tree::Whole(7)),
            },
        }
    }
}

/// Some expressions at hard numbers, and one product.
pub fn run(case: &Case, plant: Option<Plant>) -> Outcome {
    match Random::new(case.elements, 5).below(4) {
        0 => of_type::<f32>(case, plant),
        1 => of_type::<f64>(case, plant),
        2 => of_type::<i32>(case, plant),
        _ => of_type::<i64>(case, plant),
    }
}

fn of_type<T: Number>(case: &Case, plant: Option<Plant>) -> Outcome {
    let mut r = Random::new(case.elements, 6);
    let engine = TextEngine {
        plant,
        options: Options { threads: case.threads, isa: Some(case.isa), ..Options::default() },
    };
    for _ in 0..20 {
        let tree = Tree::any(&mut r, 4, T::DTYPE.is_float());
        let text = format!("add={}; mul=x; zero=0", tree.text(&mut r));
        let parsed = engine.parse(&text).map_err(|error| format!("refused: {error}"))?;
        for _ in 0..20 {
            let [x, y] = [(); 2].map(|()| if r.one_in(2) { r.pick(T::HARD) } else { T::any(&mut r) });
            let (got, wanted) = (parsed.add().value(x, y), tree.value(x, y));
            if got.bits() != wanted.bits() && !(got.wide().is_nan() && wanted.wide().is_nan()) {
                let element = T::DTYPE;
                return Err(format!(
                    "{text} on {element} at {x:?} and {y:?} is {got:?} instead of {wanted:?}"
                ));
            }
        }
    }
    product::<T>(case, engine, &mut r)
}

fn product<T: Number>(case: &Case, engine: TextEngine<'_>, r: &mut Random) -> Outcome {
    let own = Own::any(r);
    let text = format!("add={}; mul={}; zero={}", own.add.text(r), own.mul.text(r), own.zero.text(r));
    let (m, n, k) = case.size;
    let [a_form, b_form, c_form, _] = case.forms;
    let itself = |error: Error| format!("the hunt itself: {error}");
    let mut a = Placed::new((m, k), 1, a_form, T::POISON).map_err(itself)?;
    let mut b = Placed::new((k, n), 1, b_form, T::POISON).map_err(itself)?;
    let mut c = Placed::new((m, n), 1, c_form, T::POISON).map_err(itself)?;
    // Sums of small whole numbers are exact, and so have the same bits in every order.
    let is_selective = !matches!(own.zero, Tree::Whole(_) | Tree::Two(..));
    let mut draw = |_: usize, _: usize, _: usize| {
        let is_hard = r.one_in(4) && (is_selective || !T::DTYPE.is_float());
        if is_hard { r.pick(T::HARD) } else { T::nearest(r.below(33) as f64 - 16.0) }
    };
    a.fill(&mut draw);
    b.fill(&mut draw);
    c.fill(&mut draw);
    let joins = case.join != Join::Replace;
    let (zero, mut wanted) = (own.zero.value(T::whole(0), T::whole(0)), c.data.slice().to_vec());
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let first = if joins { own.add.value(c.get(0, i, j), zero) } else { zero };
        let sum =
            (0..k).fold(first, |sum, p| own.add.value(sum, own.mul.value(a.get(0, i, p), b.get(0, p, j))));
        wanted[c.index(0, i, j)] = T::arithmetic(b'+', sum, T::whole(0));
    }
    let semiring = engine.parse(&text).map_err(|error| format!("refused: {error}"))?;
    let report = engine.multiply(
        &semiring,
        c.view_mut(0).map_err(itself)?,
        a.view(0).map_err(itself)?,
        b.view(0).map_err(itself)?,
        joins,
    );
    let report = report.map_err(|error| format!("{text}: {error}"))?;
    if ![&a, &b, &c].iter().all(|matrix| matrix.data.band_is_whole()) {
        return Err("memory beside a matrix was written".into());
    }
    let same = |x: T, y: T| x.bits() == y.bits() || x.wide().is_nan() && y.wide().is_nan();
    match differs("C", &c, &wanted, same) {
        Some(wrong) => Err(format!("{text} on {}: {wrong}", T::DTYPE)),
        None => Ok(Some(report)),
    }
}
