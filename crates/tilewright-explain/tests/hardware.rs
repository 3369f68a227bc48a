//! What is counted and predicted, beside what an H200 counted: `scripts/nsight/results/h200.csv`.

use crate::plain;
use std::collections::HashMap;

use tilewright_explain::{BankTraffic, Case, Explanation, Gpu, Operation};

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/nsight/results/h200.csv");

/// The kernel whose additions of floats in shared memory are a loop: optimised, warps go round as often as timing has it.
const TIMED: &str = "atomics-shared";

/// By kernel and counter: measured with `ptxas -O0` and `-O3`.
fn recorded() -> Vec<(String, HashMap<String, [u64; 2]>)> {
    let text = std::fs::read_to_string(RECORDED).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|&cell| cell == name).unwrap();
    let [kernel, counter] = ["kernel", "counter"].map(column);
    let levels = ["hardware_O0", "hardware_O3"].map(column);
    let mut kernels: Vec<(String, HashMap<String, [u64; 2]>)> = Vec::new();
    for cells in lines {
        if kernels.last().is_none_or(|last| last.0 != cells[kernel]) {
            kernels.push((cells[kernel].into(), HashMap::new()));
        }
        let numbers = levels.map(|level| cells[level].parse().unwrap());
        kernels.last_mut().unwrap().1.insert(cells[counter].into(), numbers);
    }
    kernels
}

fn explain(name: &str) -> Explanation {
    let gpu = Gpu::default();
    let request = plain::request(gpu, &[]);
    let case = Case::of_kernel(tilewright_kernels::find(name).unwrap(), &request).unwrap();
    case.explain(&gpu).unwrap().explanation
}

fn shared_atomic_wavefronts(explanation: &Explanation) -> u64 {
    let atomics = explanation.accesses().filter(|access| access.operation == Operation::Atomic);
    atomics.filter_map(|access| access.banks()).map(|banks| banks.wavefronts).sum()
}

#[test]
fn shared_memory_is_as_measured_unoptimised_and_as_predicted_optimised() {
    let (mut kernels, mut merged) = (0, 0);
    for (name, measured) in recorded() {
        if !measured.contains_key("shared load instructions") {
            continue;
        }
        kernels += 1;
        let explained = explain(&name);
        if let Some([measured, _]) = measured.get("shared atomic wavefronts") {
            assert_eq!(shared_atomic_wavefronts(&explained), *measured, "{name}");
        }
        let totals = explained.totals;
        let sides: [(&str, &BankTraffic); 2] =
            [("load", &totals.shared_load), ("store", &totals.shared_store)];
        for (side, counted) in sides {
            let instructions = measured[&format!("shared {side} instructions")];
            let wavefronts = measured[&format!("shared {side} wavefronts")];
            let optimised = counted.optimised;
            assert_eq!(
                [counted.requests, counted.wavefronts],
                [instructions[0], wavefronts[0]],
                "{name} {side}"
            );
            if name == TIMED && side == "load" {
                // Never more rounds than if warps come together, and most of those.
                let predicted = optimised.requests;
                assert!((instructions[1]..=instructions[1] * 11 / 10).contains(&predicted), "{predicted}");
                continue;
            }
            assert_eq!(optimised.requests, instructions[1], "{name} {side}");
            merged += usize::from(counted.is_merged());
            // Passes of a store that were lost to another unit are counted too: never fewer than the addresses ask for, a few more.
            let lost = wavefronts[1].checked_sub(optimised.wavefronts).unwrap();
            assert!(lost == 0 || side == "store" && lost * 3 <= wavefronts[1], "{name} {side}: {lost} more");
        }
    }
    assert_eq!((kernels, merged), (14, 5));
}
