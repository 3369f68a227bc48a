//! The file and the headers of its project that it includes, directly or by others.
//!
//! Each gets one name, and what includes it says this name: the compiler looks such headers up by it, wherever they are included from.

use super::headers::{TORCH, UNASKED};
use super::shape::tokens;
use super::text::Text;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// More headers than that are read by the compiler alone.
const MOST_HEADERS: usize = 4096;

/// Of libraries that hosts call. Their headers are left out, also where they are found: compilers for devices do not understand them.
const OF_HOSTS: [&str; 8] =
    ["pybind11/", "nanobind/", "thrust/", "cub/device/", "nvtx3/", "tensorflow/", "Eigen/", "opencv2/"];

/// Of PyTorch: one header stands for what kernels use of them.
const OF_TORCH: [&str; 4] = ["torch/", "ATen/", "c10/", "caffe2/"];

/// Of these libraries, what kernels use.
const OF_DEVICES: [&str; 5] =
    ["thrust/functional.h", "thrust/tuple.h", "thrust/pair.h", "thrust/complex.h", "thrust/iterator/"];

/// Where headers are looked for.
pub struct Places<'a> {
    /// Beside the file, and where a person says.
    pub own: &'a [PathBuf],
    /// Of the toolkit.
    pub toolkit: &'a [PathBuf],
    /// Name and text of those that stand for headers of hosts.
    pub made: &'a [(&'static str, String)],
}

/// The texts of a program.
pub struct Tree {
    /// The file, and the headers of its project.
    pub texts: Vec<Text>,
    /// A hash of the headers of the toolkit that they include, directly or by others. `None` where what they include depends on more than their text.
    pub toolkit: Option<String>,
}

/// Reads the file's headers.
pub fn read(name: String, text: String, places: &Places<'_>) -> Tree {
    let (mut elsewhere, mut is_known) = (Vec::new(), true);
    let main = Path::new(&name).to_owned();
    let mut names: HashMap<PathBuf, String> = HashMap::new();
    let mut texts = Vec::new();
    let mut waiting = VecDeque::from([(name, main, text)]);
    while let Some((name, path, mut text)) = waiting.pop_front() {
        let mut missing = Vec::new();
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        for include in includes(&text) {
            match places.find(&include, &path) {
                Found::Own(found) => {
                    let real = found.canonicalize().unwrap_or_else(|_| found.clone());
                    let is_new = !names.contains_key(&real);
                    if is_new && names.len() >= MOST_HEADERS {
                        is_known = false;
                        continue;
                    }
                    let name = names.entry(real).or_insert_with(|| found.display().to_string()).clone();
                    changes.push((include.bytes, format!("\"{name}\"")));
                    if is_new && let Ok(text) = std::fs::read_to_string(&found) {
                        waiting.push_back((name, found, text));
                    }
                }
                Found::Elsewhere => elsewhere.push(include.name),
                Found::Made(name) => {
                    changes.push((include.bytes, format!("<{name}>")));
                    elsewhere.push(name.to_owned());
                }
                Found::Nowhere => {
                    changes.push((include.line.clone(), " ".repeat(include.line.len())));
                    missing.push(include.name);
                }
            }
        }
        // From the end, as positions behind a change move.
        for (bytes, new) in changes.into_iter().rev() {
            text.replace_range(bytes, &new);
        }
        is_known &= !asks_for_more(&text);
        texts.push(Text::new(name, text, missing));
    }
    let toolkit = is_known.then(|| hash_of_toolkit(elsewhere, places));
    Tree { texts, toolkit }
}

/// Whether headers are named by macros, or asked for whether they exist.
fn asks_for_more(text: &str) -> bool {
    let is_computed = |line: &str| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        let rest = rest.and_then(|rest| rest.strip_prefix("include")).map(str::trim_start);
        rest.is_some_and(|rest| !rest.starts_with(['"', '<']))
    };
    text.contains("__has_include") || text.lines().any(is_computed)
}

/// Of all headers of the toolkit that these names lead to.
fn hash_of_toolkit(names: Vec<String>, places: &Places<'_>) -> String {
    let of_made = |name: &str| places.made.iter().find(|made| made.0 == name).map(|made| made.1.as_str());
    let unasked = UNASKED.iter().map(|name| (*name).to_owned());
    let mut waiting: Vec<(String, Option<PathBuf>)> = unasked.chain(names).map(|name| (name, None)).collect();
    let mut seen = BTreeMap::new();
    let mut seen_made = BTreeSet::new();
    while let Some((name, from)) = waiting.pop() {
        if let Some(text) = of_made(&name) {
            if seen_made.insert(name.clone()) {
                waiting.extend(includes(text).into_iter().map(|include| (include.name, None)));
            }
            continue;
        }
        let beside = from.iter().filter_map(|from| Some(from.parent()?.join(&name)));
        let found =
            beside.chain(places.toolkit.iter().map(|one| one.join(&name))).find(|path| path.is_file());
        if let Some(path) = found
            && !seen.contains_key(&path)
            && let Ok(bytes) = std::fs::read(&path)
        {
            let inside = includes(&String::from_utf8_lossy(&bytes));
            waiting.extend(inside.into_iter().map(|include| (include.name, Some(path.clone()))));
            seen.insert(path, Sha256::digest(&bytes));
        }
    }
    let mut hash = Sha256::new();
    for (path, digest) in &seen {
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update(digest);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

enum Found {
    /// Text of the project, or of a library of the toolkit that hosts call.
    Own(PathBuf),
    /// The compiler has it.
    Elsewhere,
    /// Another header stands for it.
    Made(&'static str),
    Nowhere,
}

impl Places<'_> {
    fn find(&self, include: &Include, from: &Path) -> Found {
        let name = include.name.as_str();
        let beside = from.parent().filter(|_| include.is_quoted).map(|directory| directory.join(name));
        if let Some(beside) = beside.filter(|path| path.is_file()) {
            return Found::Own(beside);
        }
        let is_made = |name: &str| self.made.iter().any(|made| made.0 == name);
        if is_made(name) {
            return Found::Elsewhere;
        }
        let starts = |all: &[&str]| all.iter().any(|prefix| name.starts_with(prefix));
        if starts(&OF_TORCH) {
            return if is_made(TORCH) { Found::Made(TORCH) } else { Found::Nowhere };
        }
        if starts(&OF_HOSTS) && !starts(&OF_DEVICES) {
            return Found::Nowhere;
        }
        let within = |directories: &[PathBuf]| {
            directories.iter().map(|directory| directory.join(name)).find(|path| path.is_file())
        };
        if let Some(path) = within(self.own).filter(|path| !self.is_of_toolkit(path)) {
            return Found::Own(path);
        }
        match within(self.toolkit) {
            Some(path) if speaks_of_no_device(&path) => Found::Own(path),
            Some(_) => Found::Elsewhere,
            None => Found::Nowhere,
        }
    }

    /// Directories of the toolkit may be named by `-I`, too.
    fn is_of_toolkit(&self, path: &Path) -> bool {
        let Ok(real) = path.canonicalize() else { return false };
        self.toolkit.iter().filter_map(|one| one.canonicalize().ok()).any(|one| real.starts_with(one))
    }
}

/// Whether a header of the toolkit declares functions that hosts call, such as `cuda.h`: nothing in it is marked, nor does it know of this compiler.
fn speaks_of_no_device(path: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(path) else { return false };
    let plain = without_comments(&text);
    let words = tokens(&plain);
    let knows = |word: &&&str| OF_DEVICE_TEXTS.iter().any(|start| word.starts_with(start));
    !words.iter().any(|word| knows(&word)) && words.contains(&"extern")
}

/// How words begin that only texts for devices have.
const OF_DEVICE_TEXTS: [&str; 6] = ["__CUDACC", "__CUDA_ARCH", "_CCCL", "__device__", "__host__", "__DEVICE"];

fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            plain.push('/');
            1
        };
        rest = &rest[end..];
    }
    plain + rest
}

/// A line that includes a header.
struct Include {
    name: String,
    is_quoted: bool,
    /// The name with its quotes.
    bytes: Range<usize>,
    line: Range<usize>,
}

fn includes(text: &str) -> Vec<Include> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        found.extend(include(line, start));
        start += line.len();
    }
    found
}

fn include(line: &str, start: usize) -> Option<Include> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let is_quoted = rest.starts_with('"');
    let end = if is_quoted { '"' } else { '>' };
    let name = rest.strip_prefix(['"', '<'])?.split_once(end)?.0;
    let at = start + line.len() - rest.len();
    let bytes = at..at + name.len() + 2;
    let from = start + line.len() - line.trim_start().len();
    // A comment may begin behind it, and go on.
    Some(Include { name: name.to_owned(), is_quoted, line: from..bytes.end, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    #[test]
    fn headers_of_a_project_have_one_name_each() {
        let root = tempfile::tempdir().expect("a directory");
        let at = |name: &str| root.path().join(name);
        for directory in ["src/sub", "include", "toolkit/cuda"] {
            create_dir_all(at(directory)).expect("a directory");
        }
        write(
            at("src/sub/common.h"),
            "#include \"other.h\"\n#include <../src/sub/other.h>\n#include <cuda.h>\n",
        )
        .expect("written");
        write(at("src/sub/other.h"), "int other();\n").expect("written");
        write(at("toolkit/cuda.h"), "/* of __device__ variables */ extern \"C\" { int cuInit(unsigned); }\n")
            .expect("written");
        write(at("toolkit/cuda_fp16.h"), "#include \"cuda/more.h\"\n__device__ int h();\n").expect("written");
        write(at("toolkit/cuda/more.h"), "__device__ int m();\n").expect("written");
        let (own, toolkit) = ([at("src"), at("include")], [at("toolkit")]);
        let made = [("cstdio", String::new()), (TORCH, String::new())];
        let places = Places { own: &own, toolkit: &toolkit, made: &made };
        let text = "#include \"sub/common.h\"\n#include <cstdio>\n#include <torch/all.h> // of hosts\n#include <cuda_fp16.h>\n#include <nowhere.h>\n# include <thrust/sort.h>\nint a;\n";
        let read = |text: &str| read(at("src/k.cu").display().to_string(), text.to_owned(), &places);
        let tree = read(text);
        let names: Vec<&str> = tree.texts.iter().map(|text| text.name.as_str()).collect();
        let expected = ["src/k.cu", "src/sub/common.h", "src/sub/other.h", "toolkit/cuda.h"];
        assert_eq!(names, expected.map(|name| at(name).display().to_string()));
        let lines: Vec<&str> = tree.texts[0].text.lines().map(str::trim).collect();
        let common = format!("#include \"{}\"", names[1]);
        let torch = format!("#include <{TORCH}> // of hosts");
        assert_eq!(lines, [&common, "#include <cstdio>", &torch, "#include <cuda_fp16.h>", "", "", "int a;"]);
        let other = format!("#include \"{}\"", names[2]);
        assert!(tree.texts[1].text.starts_with(&format!("{other}\n{other}\n")));
        let note = super::super::text::note(&tree.texts).expect("some are missing");
        assert_eq!(note, "left out: headers that were not found: nowhere.h, thrust/sort.h");
        // Headers of the toolkit count, also those that others include.
        let before = tree.toolkit.expect("known");
        assert_eq!(read(text).toolkit, Some(before.clone()));
        write(at("toolkit/cuda/more.h"), "__device__ int n();\n").expect("written");
        assert_ne!(read(text).toolkit, Some(before));
        assert_eq!(read("#if __has_include(<x.h>)\n#endif\n").toolkit, None);
    }
}
