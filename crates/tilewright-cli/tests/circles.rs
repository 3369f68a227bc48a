//! Modules that lie side by side import each other in one direction only.
//!
//! The rule, for every folder of a crate's `src`:
//!
//! * The modules directly in it are nodes. A folder counts as one node with all below it.
//! * There is an edge where code of one names an item that is defined in another: by `use`, or by a path in the code. Names are
//!   followed through re-exports to the module that defines the item, so that a `mod.rs` that only re-exports is in nobody's way.
//!   A re-export is no edge of its own.
//! * Between a module and those below it there is no edge: a folder's root holds what its files share, and calls them.
//! * Code under `cfg(test)` does not count.
//!
//! These edges form no circle. The reader below knows no macros and no types: methods and what macros make are not seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// A module by the names on the way to it from the crate's root.
type Place = Vec<String>;

/// A word, `::`, or a sign of one character.
type Token = String;

/// The tokens of a source text, without comments, texts, characters and lifetimes.
fn tokens(text: &str) -> Vec<Token> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let hashes = rest.strip_prefix('r').map_or(0, |raw| raw.len() - raw.trim_start_matches('#').len());
        let is_raw = first == 'r' && rest[1 + hashes..].starts_with('"');
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if is_raw {
            let close = format!("\"{}", "#".repeat(hashes));
            let open = hashes + 2;
            open + rest[open..].find(&close).map_or(rest.len() - open, |end| end + close.len())
        } else if first == '"' {
            let mut is_escaped = false;
            let closes = |(_, c): &(usize, char)| {
                let ends = *c == '"' && !is_escaped;
                is_escaped = *c == '\\' && !is_escaped;
                ends
            };
            rest[1..].char_indices().find(closes).map_or(rest.len(), |(end, _)| end + 2)
        } else if first == '\'' {
            character(rest)
        } else if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            found.push(rest[..end].to_owned());
            end
        } else if rest.starts_with("::") {
            found.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                found.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    found
}

/// The length of a character in quotes, or of the quote before a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => rest[3..].find('\'').map_or(rest.len(), |end| end + 4),
        _ => chars.next().filter(|(_, c)| *c == '\'').map_or(1, |(end, _)| end + 1),
    }
}

/// Behind the bracket that closes the one at `open`.
fn behind_brackets(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// The tokens without items under `cfg(test)`.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let (mut kept, mut i) = (Vec::new(), 0);
    while i < tokens.len() {
        let words: Vec<&str> = tokens[i..].iter().take(7).map(String::as_str).collect();
        let is_test = matches!(
            words[..],
            ["#", "[", "cfg", "(", "test", ..] | ["#", "[", "cfg", "(", "all", "(", "test"]
        );
        if !is_test {
            kept.push(tokens[i].clone());
            i += 1;
            continue;
        }
        let mut item = behind_brackets(tokens, i + 1);
        i = loop {
            match tokens.get(item).map(String::as_str) {
                None | Some(";") => break item + 1,
                Some("{") => break behind_brackets(tokens, item),
                Some("(" | "[") => item = behind_brackets(tokens, item),
                Some(_) => item += 1,
            }
        };
    }
    kept
}

/// A name that `use` brings into a module: what it is called there, and its path.
struct Import {
    name: String,
    path: Vec<String>,
    is_public: bool,
}

/// The paths of a tree of `use`, with the names that they get.
fn leaves(tree: &[Token], before: &[String], is_public: bool, found: &mut Vec<Import>) {
    let (mut path, mut i) = (before.to_vec(), 0);
    while let Some(token) = tree.get(i) {
        match token.as_str() {
            "::" => i += 1,
            "{" => {
                let inner = &tree[i + 1..behind_brackets(tree, i) - 1];
                let (mut depth, mut start) = (0, 0);
                for (j, token) in inner.iter().enumerate() {
                    match token.as_str() {
                        "{" => depth += 1,
                        "}" => depth -= 1,
                        "," if depth == 0 => {
                            leaves(&inner[start..j], &path, is_public, found);
                            start = j + 1;
                        }
                        _ => {}
                    }
                }
                return leaves(&inner[start..], &path, is_public, found);
            }
            "as" => break,
            word => {
                path.push(word.to_owned());
                i += 1;
            }
        }
    }
    if path.len() == before.len() {
        return;
    }
    if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
        path.pop();
    }
    let name = tree.get(i + 1).or(path.last()).cloned().unwrap_or_default();
    found.push(Import { name, path, is_public });
}

/// A module: what it imports, the rest of its tokens, and the modules in it that have files.
#[derive(Default)]
struct Module {
    imports: Vec<Import>,
    code: Vec<Token>,
    children: BTreeSet<String>,
}

#[derive(Default)]
struct Modules(BTreeMap<Place, Module>);

impl Modules {
    fn of_crate(source: &Path) -> Self {
        let mut modules = Self::default();
        let root = ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().find(|file| file.exists());
        modules.read(Vec::new(), &root.unwrap(), source);
        modules
    }

    fn read(&mut self, place: Place, file: &Path, folder: &Path) {
        let tokens = without_tests(&tokens(&fs::read_to_string(file).unwrap()));
        let mut module = Module::default();
        let mut i = 0;
        while i < tokens.len() {
            let end = || i + tokens[i..].iter().position(|token| token == ";").unwrap_or(tokens.len() - i);
            match tokens[i].as_str() {
                "use" => {
                    let is_public = i > 0 && matches!(tokens[i - 1].as_str(), "pub" | ")");
                    leaves(&tokens[i + 1..end()], &[], is_public, &mut module.imports);
                    i = end();
                }
                "mod" if end() == i + 2 => {
                    module.children.insert(tokens[i + 1].clone());
                    i = end();
                }
                token => {
                    module.code.push(token.to_owned());
                    i += 1;
                }
            }
        }
        let files = |name: &String| [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
        let found = |name: &String| files(name).into_iter().find(|file| file.exists());
        let children: Vec<(String, PathBuf)> =
            module.children.iter().filter_map(|name| Some((name.clone(), found(name)?))).collect();
        module.children = children.iter().map(|(name, _)| name.clone()).collect();
        self.0.insert(place.clone(), module);
        for (name, file) in children {
            self.read([place.clone(), vec![name.clone()]].concat(), &file, &folder.join(name));
        }
    }

    /// Whether a path in a module leads into this crate.
    fn is_local(&self, place: &Place, path: &[String]) -> bool {
        matches!(path[0].as_str(), "crate" | "self" | "super") || self.0[place].children.contains(&path[0])
    }

    /// The module that defines what a path in `place` names; nothing where it leads out of the crate.
    fn resolve(&self, place: &Place, path: &[String], depth: usize) -> Option<Place> {
        let Some((first, rest)) = path.split_first() else { return Some(place.clone()) };
        let module = self.0.get(place)?;
        match first.as_str() {
            _ if depth > 32 => return None,
            "crate" => return self.resolve(&Vec::new(), rest, depth + 1),
            "self" => return self.resolve(place, rest, depth + 1),
            "super" => return self.resolve(&place.split_last()?.1.to_vec(), rest, depth + 1),
            "*" => return Some(place.clone()),
            child if module.children.contains(child) => {
                return self.resolve(&[place.clone(), vec![child.to_owned()]].concat(), rest, depth + 1);
            }
            _ => {}
        }
        if let Some(import) = module.imports.iter().find(|import| import.name == *first) {
            let path = [&import.path, rest].concat();
            return self.is_local(place, &path).then(|| self.resolve(place, &path, depth + 1))?;
        }
        // A glob brings the names that stand in the module it names.
        let globs =
            module.imports.iter().filter(|import| import.name == "*" && self.is_local(place, &import.path));
        for glob in globs {
            let target = self.resolve(place, &glob.path, depth + 1).filter(|target| target != place);
            if let Some(target) = target
                && (self.0[&target].code.contains(first)
                    || self.0[&target].imports.iter().any(|i| i.name == *first))
            {
                return self.resolve(&target, path, depth + 1);
            }
        }
        Some(place.clone())
    }

    /// The paths by which a module's code names items of this crate.
    fn names(&self, place: &Place) -> Vec<Vec<String>> {
        let Module { imports, code, .. } = &self.0[place];
        let is_used = |import: &&Import| !import.is_public || code.contains(&import.name);
        let imported = imports.iter().filter(is_used).map(|import| import.path.clone());
        let starts = (0..code.len()).filter(|&i| code.get(i + 1).is_some_and(|next| next == "::"));
        let paths = starts.filter(|&i| i == 0 || code[i - 1] != "::").map(|i| {
            let is_path = |j: &usize| code.get(j - 1).is_some_and(|sign| sign == "::");
            let words = (i..).step_by(2).take_while(|j| *j == i || is_path(j));
            words.filter_map(|j| code.get(j).cloned()).collect()
        });
        let of_globs =
            imports.iter().filter(|import| import.name == "*" && self.is_local(place, &import.path));
        let of_globs = of_globs.flat_map(|glob| {
            let target = self.resolve(place, &glob.path, 0).and_then(|target| self.0.get(&target));
            let names =
                target.into_iter().flat_map(|module| module.imports.iter().map(|import| &import.name));
            let used = names.filter(|name| code.contains(name));
            used.map(|name| [&glob.path[..glob.path.len() - 1], std::slice::from_ref(name)].concat())
        });
        imported.chain(paths).chain(of_globs).filter(|path| self.is_local(place, path)).collect()
    }

    /// In each folder: which of its modules name items of which others, with an example of such a path.
    fn edges(&self) -> BTreeMap<Place, BTreeMap<String, BTreeMap<String, String>>> {
        let mut edges: BTreeMap<Place, BTreeMap<String, BTreeMap<String, String>>> = BTreeMap::new();
        for place in self.0.keys() {
            for path in self.names(place) {
                let Some(target) = self.resolve(place, &path, 0) else { continue };
                let common = place.iter().zip(&target).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (place.get(common), target.get(common)) {
                    let from =
                        edges.entry(place[..common].to_vec()).or_default().entry(from.clone()).or_default();
                    from.insert(to.clone(), format!("{} of {}", path.join("::"), place.join("/")));
                }
            }
        }
        edges
    }

    /// Every circle, as its edges, a line each: those between modules that reach each other.
    fn circles(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (folder, edges) in self.edges() {
            let reach = |from: &String| {
                let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
                while let Some(module) = next.pop() {
                    let others = edges.get(&module).into_iter().flat_map(BTreeMap::keys);
                    next.extend(others.filter(|other| seen.insert((*other).clone())).cloned());
                }
                seen
            };
            let reached: BTreeMap<&String, BTreeSet<String>> =
                edges.keys().map(|from| (from, reach(from))).collect();
            for (from, others) in &edges {
                let back = |to: &&String| reached.get(*to).is_some_and(|back| back.contains(from));
                for to in others.keys().filter(back) {
                    found.push(format!("{}: {from} -> {to} ({})", folder.join("/"), others[to]));
                }
            }
        }
        found
    }
}

/// The crates that are held to the rule.
const HELD: &[&str] = &[
    "tilewright-charts",
    "tilewright-cpu",
    "tilewright-cuda",
    "tilewright-toolchain",
    "tilewright-driver",
    "tilewright-emulator",
    "tilewright-kernels",
];

fn of(name: &str) -> Modules {
    Modules::of_crate(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src"))
}

#[test]
fn modules_of_a_folder_import_each_other_in_one_direction() {
    for name in HELD {
        let modules = of(name);
        let edges: usize = modules.edges().values().flat_map(BTreeMap::values).map(BTreeMap::len).sum();
        assert!(edges > 20, "{name}: {edges} edges were found");
        let circles = modules.circles();
        assert!(circles.is_empty(), "circles among modules of {name}:\n{}", circles.join("\n"));
    }
}

#[test]
fn circles_are_found_and_only_circles() {
    let circles = |files: &[(&str, &str)]| {
        let source = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = source.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        Modules::of_crate(source.path()).circles()
    };
    let none: [&str; 0] = [];
    let lib = ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;");
    let a = ("a.rs", "use crate::{b::{B}}; pub struct A(B);");
    let both = [": a -> b (crate::b::B of a)", ": b -> a (super::A of b)"];
    assert_eq!(circles(&[lib, a, ("b.rs", "pub struct B;")]), none);
    assert_eq!(circles(&[lib, a, ("b.rs", "pub struct B(super::A);")]), both);
    assert_eq!(circles(&[lib, a, ("b.rs", "use super::{self as lib, A}; pub struct B(A);")]), both);
    assert_eq!(circles(&[lib, a, ("b.rs", "use super::*; pub struct B(A);")]), both);
    let tests =
        "pub struct B; // crate::A\n#[cfg(test)] mod tests { use crate::A; const T: &str = \"crate::A\"; }";
    assert_eq!(circles(&[lib, a, ("b.rs", tests)]), none);
    // A folder's root and its files may name each other. Two folders may not.
    let lib = ("lib.rs", "mod a; mod b;");
    let root = ("a/mod.rs", "mod c; use c::C; pub struct A(C);");
    assert_eq!(circles(&[lib, root, ("a/c.rs", "pub struct C(super::A);"), ("b.rs", "")]), none);
    let (c, b) = (("a/c.rs", "pub struct C(crate::b::B);"), ("b.rs", "pub struct B(crate::a::A);"));
    let both = [": a -> b (crate::b::B of a/c)", ": b -> a (crate::a::A of b)"];
    assert_eq!(circles(&[lib, root, c, b]), both);
}
