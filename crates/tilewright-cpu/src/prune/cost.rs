//! What pruning costs beside all terms: a model that tells whether to begin, and an account that tells when to stop.
//!
//! Costs are in units of the time in which a byte of a wide element takes part in a term where all are computed. They were
//! measured with AVX-512, where all terms take least.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Of sorting an element of A.
const SORT: f64 = 80.0;
/// Of packing a byte of B.
const PACK: f64 = 5.0;
/// Of a term and byte of a pruned row: its row of B comes from the second-level cache, and no tile shares it.
const TERM: f64 = 2.5;
/// Of looking at a term of the outputs that are looked at.
const LOOK: f64 = 16_000.0;
/// Bytes of a term where all are computed in 16 bits.
const NARROWED: f64 = 2.0;
/// How much of the cost of all terms pruning may be expected to have. What is expected to have more was lost more often than won: what is left where pruning
/// stops has narrow parts, which take up to half as long again.
const PAYS: f64 = 0.6;
/// The same where all terms would be computed in 16 bits: those of few terms are not lost there.
const PAYS_NARROWED: f64 = 0.85;
/// How much of it sorting and packing may have: that is lost where pruning stops.
const PREPARATION: f64 = 0.25;
/// How much of it the look may have.
const LOOKED: f64 = 0.1;
/// How much of the cost of all their terms rows may have for pruning to go on.
const GOES_ON: f64 = 0.75;
/// The part of the cost of all terms that may be lost before pruning stops.
const STAKE: f64 = 1.0 / 32.0;
/// How many more terms a panel needs than the columns that are looked at: the worst of more columns counts.
const PANEL: f64 = 1.5;

/// The size of a product, and how it would be computed otherwise.
#[derive(Clone, Copy)]
pub struct Model {
    shape: (f64, f64, f64),
    /// Bytes of an element, and of a term where all are computed.
    size: f64,
    all: f64,
}

impl Model {
    /// Of `m x k` and `k x n` elements of so many bytes; `narrowed` if all terms would be computed in 16 bits.
    pub fn new((m, n, k): (usize, usize, usize), size: usize, narrowed: bool) -> Self {
        let size = size as f64;
        Self { shape: (m as f64, n as f64, k as f64), size, all: if narrowed { NARROWED } else { size } }
    }

    /// Of so many terms where all are computed.
    pub fn all(&self, terms: f64) -> f64 {
        terms * self.all
    }

    /// Of so many terms of pruned rows.
    fn few(&self, terms: f64) -> f64 {
        terms * self.size * TERM
    }

    /// Of packing so many elements.
    fn packing(&self, elements: f64) -> f64 {
        elements * self.size * PACK
    }

    /// Terms of the whole product.
    pub fn terms(&self) -> f64 {
        let (m, n, k) = self.shape;
        m * n * k
    }

    /// Whether pruning pays, if so large a part of the terms is needed.
    pub fn pays(&self, needed: f64) -> bool {
        let (m, n, k) = self.shape;
        let (all, preparation) = (self.all(self.terms()), SORT * m * k + self.packing(n * k));
        let pays = if self.all < self.size { PAYS_NARROWED } else { PAYS };
        preparation <= PREPARATION * all && preparation + self.few(needed * self.terms()) <= pays * all
    }

    /// Whether pruning may pay: of random elements, a panel needs about `sqrt(2 k ln w)` terms where ⊗ adds.
    pub fn may_pay(&self) -> bool {
        let k = self.shape.2;
        self.pays((8.0 * k).sqrt() / k)
    }

    /// Whether pruning pays, if some columns that were looked at need so large a part of their terms.
    pub fn pays_in_panels(&self, needed: f64) -> bool {
        self.pays(needed * PANEL)
    }

    /// Terms to look at, which cost little beside the product.
    pub fn terms_to_look_at(&self) -> usize {
        (self.all(self.terms()) * LOOKED / LOOK) as usize
    }
}

#[cfg(test)]
impl Model {
    /// Of looking at some of `k` terms.
    pub fn look(&self, k: usize) -> f64 {
        LOOK * k.min(self.terms_to_look_at()) as f64
    }
}

/// What a product has cost so far.
pub struct Account {
    model: Model,
    /// Sorting A, and packing B.
    preparation: AtomicU64,
    /// Terms of pruned rows, and what they would cost if all were computed.
    rows: AtomicU64,
    instead: AtomicU64,
    stopped: AtomicBool,
}

impl Account {
    pub fn new(model: Model) -> Self {
        let [preparation, rows, instead] = [const { AtomicU64::new(0) }; 3];
        Self { model, preparation, rows, instead, stopped: AtomicBool::new(false) }
    }

    /// So many elements of A were sorted.
    pub fn sorted(&self, elements: usize) {
        add(&self.preparation, SORT * elements as f64);
    }

    /// So many elements were packed.
    pub fn packed(&self, elements: usize) {
        add(&self.preparation, self.model.packing(elements as f64));
    }

    /// Some rows are complete, `all` terms of them, of which so many were computed. Stops where pruning costs so much more than all
    /// terms that what is lost cannot be hoped to be won back.
    pub fn computed(&self, few: usize, all: usize) {
        // In this order, what another thread has added in part never looks dearer than it is.
        let instead = add(&self.instead, self.model.all(all as f64));
        let rows = add(&self.rows, self.model.few(few as f64));
        if rows > GOES_ON * instead + STAKE * self.model.all(self.model.terms()) {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Whether all other terms are to be computed without pruning.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// All that was spent.
    #[cfg(test)]
    pub fn spent(&self) -> f64 {
        (self.preparation.load(Ordering::Relaxed) + self.rows.load(Ordering::Relaxed)) as f64
    }
}

/// Adds whole units, and returns the sum.
fn add(to: &AtomicU64, cost: f64) -> f64 {
    let cost = cost as u64;
    (to.fetch_add(cost, Ordering::Relaxed) + cost) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_and_columns_pay() {
        let may = |shape, narrowed| Model::new(shape, 4, narrowed).may_pay();
        assert!(may((1024, 1024, 1024), false) && may((1024, 1024, 1024), true));
        assert!(
            !may((1024, 16, 1024), false) && !may((8, 1024, 1024), false) && !may((1024, 1024, 64), false)
        );
        assert!(may((256, 256, 256), false) && !may((256, 256, 256), true));
    }

    #[test]
    fn an_account_stops_when_the_stake_is_lost() {
        let account = Account::new(Model::new((100, 100, 100), 4, false));
        (0..100).for_each(|_| account.computed(2_000, 10_000));
        assert!(!account.is_stopped(), "a fifth of the terms is few");
        let account = Account::new(Model::new((100, 100, 100), 4, false));
        let pieces = (0..100)
            .take_while(|_| {
                account.computed(10_000, 10_000);
                !account.is_stopped()
            })
            .count();
        assert!((1..4).contains(&pieces), "{pieces}");
    }
}
