//! Links: those of all Markdown of the repository, and those of the book that mdBook makes of `docs`.
//!
//! The book needs mdBook; without it the test says so and is skipped, unless `TILEWRIGHT_REQUIRE_MDBOOK` is set.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
    process::Command,
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Files below a folder whose names end so; not those that builds and other tools make.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            let is_made = ["target", "node_modules", "corpus", "artifacts"].contains(&name.as_str());
            if !is_made && !name.starts_with('.') {
                found.extend(files(&path, ending));
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// `a/b/../c` is `a/c`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// Text without code, in which nothing is a link.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let prose = prose.collect::<Vec<_>>().join("\n");
    prose.split('`').step_by(2).collect::<Vec<_>>().join("code")
}

/// Where the links and pictures of a Markdown text point: `[words](TARGET)`, `![words](TARGET "title")`.
fn targets(text: &str) -> Vec<String> {
    let text = without_code(text);
    let inside = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    inside.filter_map(|target| target.split_whitespace().next()).map(str::to_owned).collect()
}

fn is_remote(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:") || target.starts_with("data:")
}

/// The anchors of a text's headings, as they are made of their words.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if let (false, Some(heading)) = (is_code, line.strip_prefix('#')) {
            let words = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    found
}

/// What is wrong with the links of a Markdown file.
fn dead(path: &Path, text: &str) -> Vec<String> {
    let is_dead = |target: &String| {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let file = if file.is_empty() { path.to_owned() } else { path.parent().unwrap().join(file) };
        let is_page = file.extension().is_some_and(|extension| extension == "md");
        match std::fs::read_to_string(&file) {
            _ if !file.exists() => true,
            Ok(text) if is_page && !anchor.is_empty() => !anchors(&text).contains(anchor),
            _ => false,
        }
    };
    let local = targets(text).into_iter().filter(|target| !is_remote(target));
    local.filter(is_dead).map(|target| format!("{}: {target}", path.display())).collect()
}

#[test]
fn no_link_of_the_repository_is_dead() {
    let pages = files(&repository(), ".md");
    assert!(pages.len() > 50, "{}", pages.len());
    let dead: Vec<String> =
        pages.iter().flat_map(|path| dead(path, &std::fs::read_to_string(path).unwrap())).collect();
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn a_dead_link_is_noticed() {
    let path = repository().join("docs/course/README.md");
    for right in [
        "[a](00-thirteen-times.md)",
        "[b](#first)",
        "`[c](none.md)`",
        "```\n[d](none.md)\n```",
        "[e](../json.md)",
    ] {
        assert_eq!(dead(&path, &format!("# First\n{right}")), [""; 0], "{right}");
    }
    for wrong in ["[a](none.md)", "![b](../images/none.svg \"title\")", "[c](00-thirteen-times.md#six-words)"]
    {
        assert_eq!(dead(&path, wrong).len(), 1, "{wrong}");
    }
}

/// The pages of the book, in its order: titles and paths below `docs`.
fn summary() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(repository().join("docs/SUMMARY.md")).unwrap();
    let page = |line: &str| {
        let (title, rest) = line.split_once('[')?.1.split_once("](")?;
        Some((title.to_owned(), rest.strip_suffix(')')?.to_owned()))
    };
    text.lines().filter_map(page).collect()
}

/// What is read without the repository does not need it.
#[test]
fn pages_of_the_book_link_to_pages_of_the_book() {
    let docs = repository().join("docs");
    let pages: BTreeSet<PathBuf> = summary().iter().map(|(_, path)| docs.join(path)).collect();
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap();
        for target in targets(&text).iter().filter(|target| !is_remote(target) && !target.starts_with('#')) {
            let file = normal(&page.parent().unwrap().join(target.split('#').next().unwrap()));
            let is_inside = pages.contains(&file) || file.starts_with(docs.join("images"));
            assert!(is_inside, "{}: {target} is no page of docs/SUMMARY.md", page.display());
        }
    }
}

#[test]
fn the_book_has_the_chapters_of_the_course_under_their_titles() {
    let docs = repository().join("docs");
    let chapters: Vec<(String, String)> = summary()
        .into_iter()
        .filter(|(_, path)| path.starts_with("course/") && !path.ends_with("README.md"))
        .collect();
    let files = files(&docs.join("course"), ".md");
    let files: Vec<&PathBuf> = files.iter().filter(|path| !path.ends_with("README.md")).collect();
    assert_eq!(chapters.len(), files.len());
    let contents = std::fs::read_to_string(docs.join("course/README.md")).unwrap();
    for ((title, path), file) in chapters.iter().zip(files) {
        assert_eq!(&docs.join(path), file);
        let (number, name) = title.split_once(". ").unwrap();
        let entry = format!("{number}. [{name}]({})", path.strip_prefix("course/").unwrap());
        assert!(contents.contains(&entry), "the contents of the course have no {entry}");
    }
}

/// The values of an attribute in a page.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    html.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn the_book_builds_without_a_dead_link() {
    let program = std::env::var("MDBOOK").unwrap_or_else(|_| "mdbook".into());
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(&program);
    command.arg("build").arg(repository().join("docs")).arg("--dest-dir").arg(folder.path());
    let output = match command.output() {
        Ok(output) => output,
        Err(_) if std::env::var_os("TILEWRIGHT_REQUIRE_MDBOOK").is_none() => {
            eprintln!("skipped: no mdbook");
            return;
        }
        Err(error) => panic!("TILEWRIGHT_REQUIRE_MDBOOK is set, but {program}: {error}"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("ERROR"), "{said}");
    // Its page for addresses that do not exist is for servers.
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    for path in files(folder.path(), ".html").into_iter().filter(|path| !path.ends_with("404.html")) {
        let html = std::fs::read_to_string(&path).unwrap();
        pages.insert(path, html);
    }
    assert!(pages.len() > summary().len(), "{}", pages.len());
    let mut dead = Vec::new();
    for (page, html) in &pages {
        for target in [values(html, "href"), values(html, "src")].concat() {
            if is_remote(target) || target.is_empty() {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file =
                if file.is_empty() { page.clone() } else { normal(&page.parent().unwrap().join(file)) };
            let has_anchor = || {
                anchor.is_empty() || pages.get(&file).is_some_and(|html| values(html, "id").contains(&anchor))
            };
            if !file.starts_with(folder.path()) || !file.is_file() || !has_anchor() {
                dead.push(format!("{}: {target}", page.strip_prefix(folder.path()).unwrap().display()));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}
