//! Every program of the catalogue, for tests, for shipping and for warming caches.

use crate::{
    catalogue::kernels,
    kernel::{Kernel, Make, Variant},
    launch::Launch,
    request::Request,
};
use tilewright_core::{Layout, Problem};

/// One launch of every program that the recipes use, each program once.
///
/// Exhibits appear with their parameters' defaults.
pub fn programs() -> Vec<Launch> {
    let mut all: Vec<Launch> = Vec::new();
    for kernel in kernels() {
        for launch in launches(kernel) {
            if all.iter().all(|other| other.program != launch.program) {
                all.push(launch);
            }
        }
    }
    all
}

fn launches(kernel: &'static Kernel) -> Vec<Launch> {
    match kernel.make {
        Make::Exhibit(_) => kernel.show(&[]).map(|s| s.recipe.launches).unwrap_or_default(),
        Make::Product(_) => kernel.variants.iter().flat_map(|v| products(kernel, *v)).collect(),
    }
}

/// The launches for a product of a size that the kernel accepts.
fn products(kernel: &'static Kernel, variant: Variant) -> Vec<Launch> {
    const SIZES: [usize; 2] = [256, 16];
    let recipe = SIZES.iter().find_map(|&n| {
        let l = Layout::row_major(n, n);
        let request = Request::new(Problem::new(l, l, l).ok()?, variant.semiring, variant.dtype);
        kernel.recipe(&request).ok()
    });
    recipe.map(|r| r.launches).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_kernel_and_variant_has_a_program_with_a_name_of_its_own() {
        let all = programs();
        let names: HashSet<_> = all.iter().map(|l| l.program.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        for kernel in kernels() {
            for variant in kernel.variants {
                let (stem, variant) = (kernel.entry().replace('_', "-"), variant.to_string());
                assert!(
                    names.iter().any(|n| n.starts_with(&stem) && n.contains(&variant)),
                    "{stem} {variant}"
                );
            }
        }
    }

    #[test]
    fn sources_name_their_entries_and_parameters() {
        for launch in programs() {
            let source = launch.program.source;
            let at = source.find(&format!("{}(", launch.entry)).expect("the entry is in the file");
            let list = &source[at..at + source[at..].find(')').expect("a parameter list")];
            let list = &list[list.find('(').expect("checked") + 1..];
            let names: Vec<_> =
                list.split(',').filter_map(|p| p.split([' ', '*', '\n']).next_back()).collect();
            let given: Vec<_> = launch.arguments.iter().map(|a| a.name).collect();
            assert_eq!(names, given, "{}", launch.program.name);
        }
    }
}
