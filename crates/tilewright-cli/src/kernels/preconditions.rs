//! What a kernel refuses, found out by asking it.

use tilewright::{Layout, Problem};
use tilewright_kernels::{Alignment, Batch, Kernel, Recipe, Refusal, Request};

/// Sizes of which every kernel accepts one.
const SIZES: [usize; 2] = [1024, 16];

/// A product that the kernel accepts, and how it computes it; `None` for the gallery.
pub fn sample(kernel: &'static Kernel) -> Option<(Request, Recipe)> {
    SIZES.iter().find_map(|&n| {
        let request = request(kernel, [n; 3])?;
        kernel.recipe(&request).ok().map(|recipe| (request, recipe))
    })
}

fn request(kernel: &Kernel, [m, n, k]: [usize; 3]) -> Option<Request> {
    let [a, b, c] = [(m, k), (k, n), (m, n)].map(|(rows, cols)| Layout::row_major(rows, cols));
    with_layouts(kernel, [a, b, c])
}

fn with_layouts(kernel: &Kernel, [a, b, c]: [Layout; 3]) -> Option<Request> {
    let variant = kernel.variants.first()?;
    Some(Request::of(Problem::new(a, b, c).ok()?, *variant))
}

/// Each precondition once, as in "M to be a multiple of 32".
///
/// Every probe breaks one habit of the sample product: sizes, strides, alignment, a batch. What the kernel then says it
/// needs is the precondition, so that this list cannot differ from what it does.
pub fn of(kernel: &'static Kernel) -> Vec<String> {
    let Some((sample, _)) = sample(kernel) else { return Vec::new() };
    let mut needs: Vec<String> = Vec::new();
    for probe in probes(kernel, &sample) {
        if let Err(Refusal { needs: need, .. }) = kernel.recipe(&probe)
            && !needs.contains(&need)
        {
            needs.push(need);
        }
    }
    needs
}

fn probes(kernel: &Kernel, sample: &Request) -> Vec<Request> {
    let p = sample.problem;
    let sizes = [p.m(), p.n(), p.k()];
    let mut probes = Vec::new();
    for axis in 0..3 {
        for size in [sizes[axis] + 1, 1 << 16, 1 << 32] {
            let mut changed = sizes;
            changed[axis] = size;
            probes.extend(request(kernel, changed));
        }
    }
    for operand in 0..3 {
        let layouts = [p.a(), p.b(), p.c()];
        let Layout { rows, cols, .. } = layouts[operand];
        for layout in [Layout::col_major(rows, cols), Layout::strided(rows, cols, cols as isize + 1, 1)] {
            let mut changed = layouts;
            changed[operand] = layout;
            probes.extend(with_layouts(kernel, changed));
        }
    }
    let size = sample.dtype.size() as u64;
    probes.push(Request { alignment: Alignment { a: size, b: size, c: size }, ..*sample });
    let [a, b, c] = [p.a(), p.b(), p.c()].map(|l| l.len().unwrap_or(0) as isize);
    probes.push(Request { batch: Batch { count: 2, a, b, c }, ..*sample });
    probes
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_kernels::{Family, find, kernels};

    #[test]
    fn preconditions_are_what_the_kernel_refuses() {
        let needs = |name| of(find(name).unwrap());
        assert_eq!(
            needs("shared-tile")[..3],
            ["M to be a multiple of 32", "M of at most 2147482623", "N to be a multiple of 32"]
        );
        let vectorized = needs("vectorized");
        assert!(vectorized.iter().any(|need| need == "addresses aligned to 16 bytes"), "{vectorized:?}");
        assert!(!needs("shared-tile-ragged").iter().any(|need| need.contains("multiple")));
        assert!(needs("single-block").iter().any(|need| need.contains("1024 elements of C")));
    }

    #[test]
    fn every_kernel_that_multiplies_has_a_sample() {
        for kernel in kernels() {
            assert_eq!(sample(kernel).is_some(), kernel.family != Family::Gallery, "{}", kernel.name);
        }
    }
}
