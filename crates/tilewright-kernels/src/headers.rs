//! The headers that kernels include.

/// All of them, by name; they depend on nothing but the compiler and each other.
const HEADERS: &[(&str, &str)] = &[
    ("bits.cuh", include_str!("../kernels/bits.cuh")),
    ("bytes.cuh", include_str!("../kernels/bytes.cuh")),
    ("close.cuh", include_str!("../kernels/close.cuh")),
    ("coded.cuh", include_str!("../kernels/coded.cuh")),
    ("descriptor.cuh", include_str!("../kernels/descriptor.cuh")),
    ("dmma.cuh", include_str!("../kernels/dmma.cuh")),
    ("epilogue.cuh", include_str!("../kernels/epilogue.cuh")),
    ("finish.cuh", include_str!("../kernels/finish.cuh")),
    ("float8.cuh", include_str!("../kernels/float8.cuh")),
    ("halves.cuh", include_str!("../kernels/halves.cuh")),
    ("join.cuh", include_str!("../kernels/join.cuh")),
    ("log_plus.cuh", include_str!("../kernels/log_plus.cuh")),
    ("max_min.cuh", include_str!("../kernels/max_min.cuh")),
    ("max_plus.cuh", include_str!("../kernels/max_plus.cuh")),
    ("max_times.cuh", include_str!("../kernels/max_times.cuh")),
    ("min_max.cuh", include_str!("../kernels/min_max.cuh")),
    ("min_plus.cuh", include_str!("../kernels/min_plus.cuh")),
    ("min_times.cuh", include_str!("../kernels/min_times.cuh")),
    ("mma.cuh", include_str!("../kernels/mma.cuh")),
    ("numbers.cuh", include_str!("../kernels/numbers.cuh")),
    ("or_and.cuh", include_str!("../kernels/or_and.cuh")),
    ("order.cuh", include_str!("../kernels/order.cuh")),
    ("ordered.cuh", include_str!("../kernels/ordered.cuh")),
    ("own.cuh", include_str!("../kernels/own.cuh")),
    ("pipeline.cuh", include_str!("../kernels/pipeline.cuh")),
    ("plus_times.cuh", include_str!("../kernels/plus_times.cuh")),
    ("ptx.cuh", include_str!("../kernels/ptx.cuh")),
    ("result.cuh", include_str!("../kernels/result.cuh")),
    ("scales.cuh", include_str!("../kernels/scales.cuh")),
    ("selective.cuh", include_str!("../kernels/selective.cuh")),
    ("semiring.cuh", include_str!("../kernels/semiring.cuh")),
    ("tile_order.cuh", include_str!("../kernels/tile_order.cuh")),
    ("turn.cuh", include_str!("../kernels/turn.cuh")),
    ("vector.cuh", include_str!("../kernels/vector.cuh")),
    ("wgmma.cuh", include_str!("../kernels/wgmma.cuh")),
];

/// The header that a program generates.
const CONFIG: &str = "config.cuh";

/// The headers that a text includes and those that they include, each once: name and text.
pub(crate) fn reached<'a>(text: &str, config: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut found = Vec::new();
    reach(text, config, &mut found);
    found
}

fn reach<'a>(text: &str, config: &'a str, found: &mut Vec<(&'static str, &'a str)>) {
    for name in text.lines().filter_map(included) {
        let mut known = HEADERS.iter().copied().chain([(CONFIG, config)]);
        let Some(header) = known.find(|(known, _)| *known == name) else { continue };
        if !found.contains(&header) {
            found.push(header);
            reach(header.1, config, found);
        }
    }
}

/// The header that a line includes.
fn included(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("#include \"")?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalogue::kernels, programs::programs};

    #[test]
    fn every_header_is_known_and_reached() {
        let texts = kernels().iter().map(|kernel| kernel.source).chain(HEADERS.iter().map(|(_, text)| *text));
        for name in texts.flat_map(|text| text.lines().filter_map(included)) {
            assert!(name == CONFIG || HEADERS.iter().any(|(known, _)| *known == name), "{name}");
        }
        let all = programs();
        // That of users' semirings is for programs outside of the catalogue.
        for (name, _) in HEADERS.iter().filter(|(name, _)| *name != "own.cuh") {
            let reaches = |headers: Vec<(&str, &str)>| headers.iter().any(|(reached, _)| reached == name);
            assert!(all.iter().any(|launch| reaches(launch.program().headers())), "{name}");
        }
    }

    #[test]
    fn headers_of_headers_are_reached_once_each() {
        let names = |text, config| {
            let names = reached(text, config).into_iter().map(|(name, _)| name);
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("int x;", "#include \"order.cuh\""), "");
        let text = "#include \"ptx.cuh\"\n  #include \"config.cuh\"\n#include \"ptx.cuh\"\n";
        assert_eq!(
            names(text, "#include \"min_plus.cuh\"\n"),
            "ptx.cuh config.cuh min_plus.cuh selective.cuh numbers.cuh turn.cuh"
        );
    }
}
