//! Quotations are the text of the kernels, and no kernel of ladder and gallery is left out.

use super::{Chapter, GAP, console::compare, repository};
use std::collections::BTreeSet;
use tilewright_kernels::{Family, kernels};

#[test]
fn every_kernel_of_ladder_and_gallery_is_run_and_quoted() {
    let chapters = Chapter::all();
    let commands: Vec<String> =
        chapters.iter().flat_map(|chapter| chapter.runs().into_iter().map(|(command, _)| command)).collect();
    let quoted: BTreeSet<String> =
        chapters.iter().flat_map(|chapter| chapter.fences().into_iter().map(|fence| fence.info)).collect();
    for kernel in kernels().iter().filter(|kernel| kernel.family != Family::Production) {
        let is_run = commands.iter().any(|command| {
            let words: Vec<&str> = command.split(' ').collect();
            words[0] == "explain" && words.contains(&kernel.name)
        });
        assert!(is_run, "no chapter explains {}", kernel.name);
        let is_quoted = quoted.iter().any(|info| quotation(info).is_some_and(|(f, _)| f == kernel.file));
        assert!(is_quoted, "no chapter quotes {}", kernel.file);
    }
}

/// The file that a block quotes, `cuda naive.cu`, and whether as plain code: `cuda naive.cu float`.
fn quotation(info: &str) -> Option<(&str, bool)> {
    match info.strip_prefix("cuda ")?.split_once(' ') {
        None => Some((info.strip_prefix("cuda ")?, false)),
        Some((file, form)) => (form == "float").then_some((file, true)),
    }
}

#[test]
fn quotations_are_the_text_of_the_kernels() {
    let folder = repository().join("crates/tilewright-kernels/kernels");
    for chapter in Chapter::all() {
        for fence in chapter.fences() {
            let Some((name, is_plain)) = quotation(&fence.info) else {
                assert!(!fence.info.starts_with("cuda"), "{}: {} names no form", chapter.name, fence.info);
                continue;
            };
            let places = [folder.clone(), folder.join("gallery"), repository().join("docs/course/files")];
            let file = places.into_iter().map(|place| place.join(name)).find(|path| path.exists());
            let text = std::fs::read_to_string(file.unwrap_or_else(|| panic!("{}: no {name}", chapter.name)));
            let text = text.unwrap();
            let form = |line: &str| if is_plain { plain(line.trim()) } else { line.trim().to_owned() };
            let real: Vec<String> = text.lines().map(form).collect();
            let real: Vec<&str> = real.iter().map(String::as_str).collect();
            let quotation = chapter.text(fence.lines).into_iter().map(str::trim);
            let shown: Vec<&str> = [GAP].into_iter().chain(quotation).chain([GAP]).collect();
            assert_eq!(compare(&shown, &real), Ok(()), "{}: {name}", chapter.name);
        }
    }
}

/// A line of a kernel with `float` for its type, and with the numbers' own operations for those of the semiring.
fn plain(line: &str) -> String {
    let mut out = String::new();
    for word in line.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
        match word.strip_prefix('T') {
            Some(rest) if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                out += "float";
                out += rest;
            }
            _ => out += word,
        }
    }
    let mut out = out.replace("S::zero()", "0");
    const CALL: &str = " = S::multiply_add(";
    // A call that goes on in the next line stays as it is.
    while let Some((at, arguments, rest)) = out.find(CALL).and_then(|at| {
        let (arguments, rest) = call(&out[at + CALL.len()..])?;
        Some((at, arguments, rest))
    }) {
        let [a, b, sum] = arguments[..] else { panic!("{line}: three arguments") };
        assert!(out[..at].ends_with(sum), "{line}: {sum} is added to");
        out = format!("{} += {a} * {b}{rest}", &out[..at]);
    }
    out
}

/// The arguments up to the parenthesis that ends the call, and what follows it.
fn call(text: &str) -> Option<(Vec<&str>, &str)> {
    let (mut depth, mut arguments, mut start) = (1, Vec::new(), 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && c == ',' {
            arguments.push(text[start..i].trim());
            start = i + 1;
        }
        if depth == 0 {
            return Some((arguments, &text[i + 1..]));
        }
    }
    None
}

#[test]
fn plain_code_has_one_type_and_ordinary_operations() {
    for (line, expected) in [
        ("const T b = Bs[k][my_col];", "const float b = Bs[k][my_col];"),
        ("sum = S::multiply_add(A[row * lda + k], f(x, y), sum);", "sum += A[row * lda + k] * f(x, y);"),
        ("for (;;) s[i][j] = S::multiply_add(a[i], b[j], s[i][j]);", "for (;;) s[i][j] += a[i] * b[j];"),
        ("T sum = S::zero(); // TILE_K", "float sum = 0; // TILE_K"),
        ("atomicAdd(&output[b], T(1))", "atomicAdd(&output[b], float(1))"),
    ] {
        assert_eq!(plain(line), expected);
    }
}
