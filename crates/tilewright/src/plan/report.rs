//! Plans in words.

use super::{
    CpuPlan, How, Plan, Rejected,
    numbers::{digits, scaled},
    query::Results,
};
use core::fmt;
use tilewright_core::Joining;
use tilewright_cpu::Sums;

impl Plan {
    /// The plan as rows of a table, name and text; names repeat where a name has several rows.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![("product", self.product()), ("work", self.amount())];
        match &self.how {
            How::Cpu(cpu) => rows.extend(cpu_rows(cpu)),
            #[cfg(feature = "cuda")]
            How::Gpu(gpu) => rows.extend(gpu.rows(&self.query)),
            How::Reference => rows.push(("kernel", "the definition, one term at a time".into())),
        }
        rows.extend(self.rejections());
        rows
    }

    /// A row for each reason, with all candidates that it keeps out.
    fn rejections(&self) -> impl Iterator<Item = (&'static str, String)> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for Rejected { candidate, reason } in &self.rejected {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, candidates)) => candidates.push(candidate),
                None => reasons.push((reason, vec![candidate])),
            }
        }
        reasons
            .into_iter()
            .map(|(reason, candidates)| ("rejected", format!("{}: {reason}", candidates.join(", "))))
    }

    fn product(&self) -> String {
        let query = &self.query;
        let p = &query.problem;
        let formula = match query.joining {
            Joining::Replace => "A x B".to_owned(),
            Joining::Accumulate => "C + A x B".into(),
            Joining::Scale { alpha, beta: None } => format!("{alpha} A x B"),
            Joining::Scale { alpha, beta: Some(beta) } => format!("{alpha} A x B + {beta} C"),
        };
        let arg = match query.results {
            Results::Product => "",
            Results::ProductAndArg => ", and which term won",
        };
        let epilogue = match query.epilogue.is_none() {
            true => String::new(),
            false => format!(", then {}", query.epilogue.name()),
        };
        let scales = match query.scales.is_none() {
            true => String::new(),
            false => format!(", with {}", query.scales.name()),
        };
        let (m, n, k) = (p.m(), p.n(), p.k());
        let semiring = query.own_name().unwrap_or(query.semiring.name());
        format!("C {m}x{n} = {formula}, k = {k}, {semiring} on {}{scales}{arg}{epilogue}", query.dtype)
    }

    fn amount(&self) -> String {
        let flops = self.work.flops.map_or(String::new(), |flops| format!(" ({})", scaled(flops, "FLOP")));
        let (terms, bytes) = (scaled(self.work.pair_ops, "pair-ops"), scaled(self.work.bytes, "bytes"));
        format!(
            "{terms}{flops}, {bytes} to move at least: {} pair-ops per byte",
            digits(self.work.intensity())
        )
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows().iter().try_for_each(|(name, text)| writeln!(f, "{name:<10} {text}"))
    }
}

fn cpu_rows(cpu: &CpuPlan) -> Vec<(&'static str, String)> {
    let (rows, columns) = cpu.kernel.tile;
    let (down, across) = cpu.regions;
    let packs = |packs| if packs { "packed" } else { "read in place" };
    let sums = match cpu.sums {
        Sums::InC => "in C",
        Sums::Buffered => "in a buffer",
    };
    let plural = if cpu.threads == 1 { "" } else { "s" };
    let terms = match cpu.parts_of_terms {
        1 => String::new(),
        parts => format!(", terms into {parts} parts"),
    };
    let mut told = vec![
        ("kernel", cpu.kernel.to_string()),
        ("tile", format!("{rows}x{columns} in registers, sums {sums}")),
        ("threads", format!("{} thread{plural}, C cut into {down}x{across} regions{terms}", cpu.threads)),
        ("blocks", format!("{} terms x {} columns of B", cpu.block_terms, cpu.block_columns)),
        ("operands", format!("A {}, B {}", packs(cpu.packs_a), packs(cpu.packs_b))),
    ];
    if cpu.narrows {
        told.push((
            "narrowing",
            "to 16 bits, with another kernel, if the elements lie close together".into(),
        ));
    }
    if cpu.prunes {
        told.push(("pruning", "by few terms, with another kernel, if few can be the best".into()));
    }
    told
}
