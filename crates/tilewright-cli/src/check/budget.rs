//! Bounds of what was counted: `sectors_per_request <= 4`.

use super::manifest::suggestion;
use std::{fmt, str::FromStr};
use tilewright_explain::{BankTraffic, Explanation, SectorTraffic};

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    Less,
    More,
    /// Neither: it is a fact.
    Neither,
}

/// Something that a launch has a number of.
pub struct Quantity {
    pub name: &'static str,
    pub better: Better,
    /// The number; `None` where there is nothing to count it of.
    of: fn(&Explanation) -> Option<f64>,
    pub about: &'static str,
}

const fn quantity(
    name: &'static str,
    better: Better,
    of: fn(&Explanation) -> Option<f64>,
    about: &'static str,
) -> Quantity {
    Quantity { name, better, of, about }
}

use Better::{Less, More, Neither};

/// Numbers of a launch.
pub const QUANTITIES: &[Quantity] = &[
    quantity(
        "registers",
        Less,
        |e| e.totals.occupancy.as_ref()?.registers_per_thread.map(f64::from),
        "of a thread",
    ),
    quantity(
        "occupancy",
        More,
        |e| Some(e.totals.occupancy.as_ref()?.occupancy),
        "resident warps, as a part of those that fit",
    ),
    quantity(
        "blocks_per_sm",
        More,
        |e| Some(e.totals.occupancy.as_ref()?.blocks_per_sm.into()),
        "resident blocks",
    ),
    quantity(
        "shared_memory",
        Less,
        |e| Some((e.totals.occupancy.as_ref()?.static_shared_memory + e.dynamic_shared_memory).into()),
        "bytes of a block, static and dynamic",
    ),
    quantity("sectors_per_request", Less, |e| global(e).sectors_per_request(), "of global loads and stores"),
    quantity(
        "load_sectors_per_request",
        Less,
        |e| e.totals.global_load.sectors_per_request(),
        "of global loads",
    ),
    quantity(
        "store_sectors_per_request",
        Less,
        |e| e.totals.global_store.sectors_per_request(),
        "of global stores",
    ),
    quantity(
        "efficiency",
        More,
        |e| global(e).efficiency(),
        "requested bytes, as a part of those that global memory moves",
    ),
    quantity(
        "moved_bytes",
        Less,
        |e| Some(32.0 * global(e).sectors as f64),
        "of global loads and stores, in sectors",
    ),
    quantity(
        "wavefronts_ratio",
        Less,
        |e| {
            let banks = shared(e);
            (banks.ideal_wavefronts > 0).then(|| banks.wavefronts as f64 / banks.ideal_wavefronts as f64)
        },
        "wavefronts of shared memory, over those without conflicts",
    ),
    quantity("bank_conflicts", Less, |e| Some(shared(e).conflicts() as f64), "wavefronts that conflicts add"),
    quantity("warp_instructions", Less, |e| Some(e.totals.warp_instructions as f64), "of PTX"),
    quantity(
        "active_lanes",
        More,
        |e| Some(e.totals.active_lanes()),
        "as a part of all lanes of the warps that execute",
    ),
    quantity("barriers", Less, |e| Some(e.totals.barriers as f64), "that warps execute"),
    quantity("flops", Neither, |e| Some(e.totals.flops as f64), "floating-point operations"),
];

/// Numbers of findings, without those that are suppressed.
pub const COUNTS: &[(&str, &str)] = &[
    ("races", "findings that are races, of shared or global memory"),
    ("errors", "findings that are errors"),
    ("warnings", "findings that are warnings"),
    ("advice", "findings that are advice"),
];

fn global(e: &Explanation) -> SectorTraffic {
    let mut sum = e.totals.global_load;
    sum += e.totals.global_store;
    sum
}

fn shared(e: &Explanation) -> BankTraffic {
    let mut sum = e.totals.shared_load;
    sum += e.totals.shared_store;
    sum
}

/// The numbers of a launch that it has.
pub fn measured(e: &Explanation) -> Vec<(String, f64)> {
    let number = |quantity: &Quantity| Some((quantity.name.to_owned(), (quantity.of)(e)?));
    QUANTITIES.iter().filter_map(number).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtMost,
    AtLeast,
    Equal,
    Below,
    Above,
}

const RELATIONS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("<", Relation::Below),
    (">", Relation::Above),
];

/// A bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    pub name: &'static str,
    relation: Relation,
    bound: f64,
}

impl Budget {
    pub fn holds(&self, value: f64) -> bool {
        match self.relation {
            Relation::AtMost => value <= self.bound,
            Relation::AtLeast => value >= self.bound,
            Relation::Equal => value == self.bound,
            Relation::Below => value < self.bound,
            Relation::Above => value > self.bound,
        }
    }

    /// Whether no number keeps it that is there without anything to count. Registers are unknown, though, where nothing assembles the kernel.
    pub fn holds_without(&self) -> bool {
        !matches!(self.name, "registers" | "occupancy" | "blocks_per_sm" | "shared_memory")
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("'{text}' is no bound: it is NAME <= NUMBER, with <=, >=, ==, < or >");
        let found = RELATIONS.iter().find_map(|&(sign, relation)| {
            let (name, bound) = text.split_once(sign)?;
            Some((name.trim(), relation, bound.trim()))
        });
        let (name, relation, bound) = found.ok_or_else(form)?;
        let bound: f64 = bound.parse().ok().filter(|bound: &f64| bound.is_finite()).ok_or_else(form)?;
        let names: Vec<&'static str> =
            QUANTITIES.iter().map(|q| q.name).chain(COUNTS.iter().map(|count| count.0)).collect();
        match names.iter().find(|known| **known == name) {
            Some(name) => Ok(Self { name, relation, bound }),
            None => Err(format!("there is no number {name}; {}", suggestion(name, &names))),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign =
            RELATIONS.iter().find(|(_, relation)| *relation == self.relation).map_or("", |found| found.0);
        write!(f, "{} {sign} {}", self.name, self.bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_and_kept() {
        let budget: Budget = "sectors_per_request<=4".parse().unwrap();
        assert!(budget.holds(4.0) && !budget.holds(4.5) && budget.holds_without());
        assert_eq!(budget.to_string(), "sectors_per_request <= 4");
        assert!("occupancy >= 0.5".parse::<Budget>().unwrap().holds(0.5));
        assert!(!"races == 0".parse::<Budget>().unwrap().holds(1.0));
        assert!(!"registers < 64".parse::<Budget>().unwrap().holds_without());
        for (text, why) in [
            ("registers", "is no bound"),
            ("registers <= many", "is no bound"),
            ("registers <= inf", "is no bound"),
            ("register <= 64", "registers is meant, perhaps"),
            ("time <= 1", "there are registers, occupancy"),
        ] {
            let error = text.parse::<Budget>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
