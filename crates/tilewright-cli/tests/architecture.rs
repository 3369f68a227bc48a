//! What ARCHITECTURE.md says of the crates holds.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

/// The crates of the code map, in its order.
fn code_map(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let map = text.split("## Code map").nth(1).unwrap().split("\n##").next().unwrap();
    let rows = map.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    rows.map(str::to_owned).collect()
}

/// The crates of this workspace that a crate needs, those of its tests left out.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut is_dependency = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_dependency = line.ends_with("dependencies]") && !line.ends_with("dev-dependencies]");
        } else if is_dependency && line.starts_with("tilewright") {
            found.push(line.split(['.', ' ', '=']).next().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn a_crate_depends_only_on_crates_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let map = code_map(&root);
    let mut crates: Vec<String> = fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    crates.sort();
    let mut listed = map.clone();
    listed.sort();
    assert_eq!(listed, crates, "the code map lists every crate once");
    let mut edges = 0;
    for (place, name) in map.iter().enumerate() {
        let manifest = fs::read_to_string(root.join("crates").join(name).join("Cargo.toml")).unwrap();
        for dependency in dependencies(&manifest) {
            edges += 1;
            assert!(map[..place].contains(&dependency), "{name} depends on {dependency}, which is below it");
        }
    }
    assert!(edges > 15, "{edges} dependencies were found");
}
