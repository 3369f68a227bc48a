//! Console blocks are what the command prints.

use super::{Chapter, GAP, desk_of_the_course};
use std::{collections::BTreeMap, sync::Mutex};

/// Whether the real lines are the shown ones with something in place of each gap.
pub(super) fn compare(shown: &[&str], real: &[&str]) -> Result<(), String> {
    let pieces: Vec<&[&str]> = shown.split(|line| *line == GAP).collect();
    let mut rest = real;
    for (index, piece) in pieces.iter().enumerate() {
        // The first piece begins the output, the last one ends it; those between stand anywhere.
        let (is_first, is_last) = (index == 0, index + 1 == pieces.len());
        let places = match rest.len().checked_sub(piece.len()) {
            Some(0) => 0..1,
            Some(_) if is_first && is_last => 0..0,
            Some(_) if is_first => 0..1,
            Some(last) if is_last => last..last + 1,
            Some(last) => 0..last + 1,
            None => 0..0,
        };
        let Some(place) = places.into_iter().find(|&at| rest[at..].starts_with(piece)) else {
            return Err(format!("not printed there:\n{}", piece.join("\n")));
        };
        rest = &rest[place + piece.len()..];
    }
    Ok(())
}

/// The form of a line: its words, whatever the numbers and the width of the columns.
fn form(line: &str) -> String {
    let word = |word: &str| -> String {
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        word.chars().filter(|&c| !is_number(c)).collect()
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// The shown lines as they are printed now; an error names a line that there is no more.
fn renew(shown: &[&str], real: &[&str]) -> Result<Vec<String>, String> {
    let (mut out, mut next) = (Vec::new(), 0);
    for line in shown.iter().filter(|line| **line != GAP) {
        let found = real[next..].iter().position(|candidate| form(candidate) == form(line));
        let at = next + found.ok_or_else(|| format!("no line of this form any more: {line}"))?;
        if at > next {
            out.push(GAP.to_owned());
        }
        out.push(real[at].to_owned());
        next = at + 1;
    }
    if next < real.len() {
        out.push(GAP.to_owned());
    }
    Ok(out)
}

/// What the commands print, each run once, two at a time. They find no compiler, and so use the PTX of the catalogue.
pub(super) fn outputs(commands: BTreeMap<String, i32>) -> BTreeMap<String, String> {
    let (desk, waiting, done) = (desk_of_the_course(), Mutex::new(commands), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let Some((line, code)) = waiting.lock().unwrap().pop_first() else { return };
            let output = desk
                .command(&line)
                .envs([("TILEWRIGHT_NVRTC_PATH", "none"), ("COLUMNS", "80")])
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(code), "tilewright {line}: {error}");
            done.lock().unwrap().insert(line, String::from_utf8(output.stdout).unwrap());
        }
    };
    std::thread::scope(|scope| {
        for thread in [scope.spawn(work), scope.spawn(work)] {
            thread.join().unwrap();
        }
    });
    done.into_inner().unwrap()
}

#[test]
fn console_blocks_are_what_the_command_prints() {
    let chapters = Chapter::all();
    let outputs = outputs(chapters.iter().flat_map(Chapter::commands).collect());
    let bless = std::env::var_os("TILEWRIGHT_BLESS").is_some();
    let mut wrong = Vec::new();
    for chapter in &chapters {
        let mut lines = chapter.lines.clone();
        // From the last to the first, so that the numbers of the lines stay.
        for (command, shown) in chapter.runs().into_iter().rev() {
            let real: Vec<&str> = outputs[&command].lines().map(str::trim_end).collect();
            let text = chapter.text(shown.clone());
            let Err(difference) = compare(&text, &real) else { continue };
            match renew(&text, &real) {
                Ok(new) if bless => drop(lines.splice(shown, new)),
                Err(why) if bless => wrong.push(format!("{}: tilewright {command}: {why}", chapter.name)),
                _ => wrong.push(format!("{}: tilewright {command}: {difference}", chapter.name)),
            }
        }
        if bless && lines != chapter.lines {
            std::fs::write(&chapter.path, lines.join("\n") + "\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}\n\nTILEWRIGHT_BLESS=1 renews the numbers", wrong.join("\n\n"));
}

#[test]
fn a_wrong_block_is_noticed() {
    let real = ["one 1", "two 2", "three 3", "four 4"];
    for right in [
        &["one 1", "two 2", "three 3", "four 4"][..],
        &["one 1", GAP, "four 4"],
        &[GAP, "two 2", GAP],
        &[GAP, "two 2", "three 3", GAP, "four 4"],
        &["one 1", GAP],
        &[GAP],
        &["one 1", "two 2", "three 3", "four 4", GAP],
    ] {
        assert_eq!(compare(right, &real), Ok(()), "{right:?}");
    }
    for wrong in [
        &["one 1", "two 2", "three 3"][..],
        &["two 2", GAP],
        &[GAP, "three 3"],
        &["one 1", "three 3", GAP],
        &[GAP, "three 3", GAP, "two 2", GAP],
        &[GAP, "two 3", GAP],
        &[GAP, "two 2", GAP, "two 2", GAP],
        &["one 1", "two 2", "three 3", "four 4", "five 5"],
        &[],
    ] {
        assert!(compare(wrong, &real).is_err(), "{wrong:?}");
    }
}

#[test]
fn blocks_are_renewed_by_the_form_of_their_lines() {
    let real = ["one 1", "two   22 x", "three 3"];
    assert_eq!(renew(&[GAP, "two 2 x", GAP], &real), Ok(vec![GAP.into(), real[1].into(), GAP.into()]));
    assert_eq!(renew(&["one 7", "three 3,000.5"], &real).unwrap(), ["one 1", GAP, "three 3"]);
    assert!(renew(&["two 2 y"], &real).is_err());
}
