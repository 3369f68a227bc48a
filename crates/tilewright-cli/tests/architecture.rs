//! What ARCHITECTURE.md says of the crates holds.

use std::{collections::BTreeMap, fs, path::Path};

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

/// The workspace's crates: the name and the manifest of each.
fn crates(root: &Path) -> BTreeMap<String, String> {
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let members = workspace.split("\nmembers = [").nth(1).unwrap().split(']').next().unwrap();
    let manifest = |folder: &str| fs::read_to_string(root.join(folder).join("Cargo.toml")).unwrap();
    let manifests = members.split('"').skip(1).step_by(2).map(manifest);
    let name =
        |manifest: &str| manifest.split("\nname = \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    manifests.map(|manifest| (name(&manifest), manifest)).collect()
}

#[test]
fn a_crate_depends_only_on_crates_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (map, crates) = (code_map(&root), crates(&root));
    let mut listed = map.clone();
    listed.sort();
    assert_eq!(listed, crates.keys().cloned().collect::<Vec<_>>(), "the code map lists every crate once");
    let mut edges = 0;
    for (place, name) in map.iter().enumerate() {
        for dependency in dependencies(&crates[name]) {
            edges += 1;
            assert!(map[..place].contains(&dependency), "{name} depends on {dependency}, which is below it");
        }
    }
    assert!(edges > 15, "{edges} dependencies were found");
}
