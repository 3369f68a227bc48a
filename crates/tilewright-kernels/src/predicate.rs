//! Predicated launches: a guard on the data decides which of several launches computes. See `turn.cuh`.

/// The guard of a predicated launch. The data exclude programs, a bit each; the first that is not excluded computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Predicate {
    /// The programs that come before it: all must be excluded.
    pub earlier: u32,
    /// Its own bit, which must not be; 0 for the fallback, which is right for all data.
    pub own: u32,
}

impl Predicate {
    /// Two columns a word, as distances of 16 bits.
    pub const CLOSE: u32 = 1;
    /// Distances of 32 bits.
    pub const NEAR: u32 = 2;
    /// Two terms at a time, of floats without the other sign.
    pub const PAIRS: u32 = 4;

    /// Whether it has a guard of its own: another launch is there for other data.
    pub const fn is_for_some(self) -> bool {
        self.own != 0
    }

    /// For the names of programs.
    pub const fn suffix(self) -> &'static str {
        match self.own {
            Self::PAIRS => ".guarded",
            Self::CLOSE | Self::NEAR => "",
            _ => ".fallback",
        }
    }
}

/// The workspaces by which a scan of the operands decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    /// Holds the decision.
    pub decision: usize,
    /// Holds what each of the scanning blocks has seen of A, and then of B.
    pub seen: usize,
    pub scanners: u32,
}

/// The workspace that says what is excluded, and how many blocks have said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub workspace: usize,
    pub finders: u32,
}
