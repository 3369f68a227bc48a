//! A problem, all of which follows from two numbers.

use crate::{form::Form, kind::Kind, random::Random};
use core::fmt;
use tilewright_cpu::{Dots, Isa};

/// How the product meets the old C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    Replace,
    Accumulate,
    /// With alpha and beta, where the semiring has them; elsewhere as [`Join::Accumulate`].
    Scale(i8, i8),
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Product,
    /// With winners, where ⊕ selects.
    Winners,
    /// So many products at once.
    Batch(usize),
    /// A product with an element that the semiring does not admit, where there are such.
    Refusal,
    /// A product over a semiring by its text, and expressions at numbers.
    Text,
    /// The best paths of a graph.
    Paths,
}

/// A problem.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub seed: u64,
    pub index: u64,
    pub ask: Ask,
    /// Rows and columns of C, and terms; of graphs the vertices.
    pub size: (usize, usize, usize),
    /// Of A, B, C and the winners.
    pub forms: [Form; 4],
    /// Of A and B.
    pub kinds: [Kind; 2],
    pub join: Join,
    pub isa: Isa,
    /// The best instructions for dot products of integers.
    pub dots: Dots,
    /// Whether elements are integers of 8 or 16 bits under plus-times.
    pub small_integers: bool,
    pub threads: usize,
    /// What elements follow from.
    pub elements: u64,
    /// What is no longer as drawn, because a smaller problem fails as well.
    pub smaller: Smaller,
}

/// Changes to what was drawn; the options of the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Smaller {
    pub size: Option<(usize, usize, usize)>,
    pub threads: Option<usize>,
    pub plain: bool,
}

impl Case {
    /// Problem `index` of a hunt, made smaller.
    pub fn new(seed: u64, index: u64, isas: &[Isa], smaller: Smaller) -> Self {
        let mut r = Random::new(seed, index);
        let ask = match r.below(26) {
            0..9 => Ask::Product,
            9..14 => Ask::Winners,
            14..18 => Ask::Batch(r.within(0, 12)),
            18..20 => Ask::Refusal,
            20..23 => Ask::Text,
            _ => Ask::Paths,
        };
        let mut size = draw_size(&mut r);
        match ask {
            Ask::Batch(_) => size = (size.0 % 90, size.1 % 90, size.2 % 90),
            // Trees are evaluated slowly.
            Ask::Text => size = (size.0 % 12, size.1 % 300, size.2 % 150),
            // So many vertices.
            Ask::Paths => size = (1 + size.0 % 60, 0, 0),
            _ => {}
        }
        let mut forms =
            [Form::read(&mut r), Form::read(&mut r), Form::written(&mut r), Form::written(&mut r)];
        if let Ask::Batch(_) = ask {
            forms = forms.map(Form::forward);
        }
        let join = match r.below(4) {
            0 | 1 => Join::Replace,
            2 => Join::Accumulate,
            _ => Join::Scale(r.below(6) as i8 - 2, r.below(6) as i8 - 2),
        };
        let kinds = match r.below(3) {
            0 => [Kind::Window, r.pick(&[Kind::Window, Kind::WindowWithAbsent])],
            1 => [r.pick(Kind::ALL); 2],
            _ => [r.pick(Kind::ALL), r.pick(Kind::ALL)],
        };
        let (isa, threads, elements) = (r.pick(isas), r.within(1, 8), r.bits());
        // Of few semirings, which have ways of their own to be computed.
        let dots = r.pick(&[Dots::Plain, Dots::Vnni, Dots::Amx, Dots::Amx]);
        let small_integers = r.one_in(8);
        let Smaller { size: new_size, threads: new_threads, plain } = smaller;
        Self {
            seed,
            index,
            ask,
            size: new_size.unwrap_or(size),
            forms: if plain { [Form::PLAIN; 4] } else { forms },
            kinds,
            join,
            isa,
            dots,
            small_integers,
            threads: new_threads.unwrap_or(threads),
            elements,
            smaller,
        }
    }

    /// Smaller problems of the same kind, the most different first.
    pub fn shrunk(&self) -> Vec<Smaller> {
        let ((m, n, k), smaller) = (self.size, self.smaller);
        let mut all = Vec::new();
        if !smaller.plain {
            all.push(Smaller { plain: true, ..smaller });
        }
        if self.threads > 1 {
            all.push(Smaller { threads: Some(1), ..smaller });
        }
        for (less, one) in [(m / 2, m), (m.saturating_sub(1), m)] {
            all.extend((less < one).then_some(Smaller { size: Some((less, n, k)), ..smaller }));
        }
        for (less, one) in [(n / 2, n), (n.saturating_sub(1), n)] {
            all.extend((less < one).then_some(Smaller { size: Some((m, less, k)), ..smaller }));
        }
        for (less, one) in [(k / 2, k), (k.saturating_sub(1), k)] {
            all.extend((less < one).then_some(Smaller { size: Some((m, n, less)), ..smaller }));
        }
        all
    }
}

/// The options that give this problem again, and what it is.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed, index, ask, size: (m, n, k), forms, kinds, join, isa, dots, threads, smaller, ..
        } = self;
        write!(f, "--seed {seed} --case {index}")?;
        if let Some((m, n, k)) = smaller.size {
            write!(f, " --size {m}x{n}x{k}")?;
        }
        if let Some(threads) = smaller.threads {
            write!(f, " --threads {threads}")?;
        }
        if smaller.plain {
            write!(f, " --plain")?;
        }
        write!(f, "\n  {ask:?}, {m}x{n}x{k}, {join:?}, {isa} with {dots:?}, {threads} threads, {kinds:?}")?;
        for (name, form) in ["A", "B", "C", "winners"].iter().zip(forms) {
            write!(f, "\n  {name}: {form:?}")?;
        }
        Ok(())
    }
}

/// Terms of sums that are split, where C is small.
pub const LONG: usize = 16_384;

/// Mostly small sizes; some cross the edges of every block, some are narrowed, pruned, long or shared among threads.
fn draw_size(r: &mut Random) -> (usize, usize, usize) {
    let any = |r: &mut Random, m: [usize; 2], n: [usize; 2], k: [usize; 2]| {
        (r.within(m[0], m[1]), r.within(n[0], n[1]), r.within(k[0], k[1]))
    };
    match r.below(44) {
        0..18 => any(r, [0, 12], [0, 12], [0, 12]),
        18..28 => any(r, [0, 40], [0, 140], [0, 40]),
        28..30 => any(r, [1, 3], [1, 10], [0, 4300]),
        30..32 => any(r, [1, 120], [1, 4], [0, 40]),
        32 => any(r, [1, 3], [1, 2200], [200, 300]),
        33 => any(r, [4000, 4200], [1, 4], [1, 5]),
        34..37 => any(r, [32, 70], [32, 150], [32, 300]),
        37 => any(r, [60, 160], [60, 160], [100, 700]),
        38 => any(r, [16, 20], [16, 20], [LONG, LONG + 300]),
        _ => any(r, [128, 160], [128, 200], [256, 560]),
    }
}
