//! The assembler's log under `-v`, for what machine code does not say.

use super::Spills;

/// The kernels and device functions of a log, each with its spills.
pub(super) fn spills(log: &str) -> Vec<(&str, Spills)> {
    let mut name = None;
    let mut found = Vec::new();
    for line in log.lines() {
        if let Some((_, function)) = line.split_once("Function properties for ") {
            name = Some(function.trim().trim_matches('\''));
        } else if let (Some(name), Some(stores), Some(loads)) =
            (name, number_before(line, " bytes spill stores"), number_before(line, " bytes spill loads"))
        {
            found.push((name, Spills { stores, loads }));
        }
    }
    found
}

/// The number that stands in front of `words`.
fn number_before(line: &str, words: &str) -> Option<u32> {
    let (before, _) = line.split_once(words)?;
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spills_are_attributed_to_their_function() {
        let log = "ptxas info    : 0 bytes gmem\n\
                   ptxas info    : Compiling entry function 'spill' for 'sm_90'\n\
                   ptxas info    : Function properties for spill\n    \
                   360 bytes stack frame, 424 bytes spill stores, 432 bytes spill loads\n\
                   ptxas info    : Used 64 registers, used 1 barriers, 360 bytes cumulative stack size\n\
                   ptxas info    : Function properties for bars\n    \
                   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
        let expected = vec![("spill", Spills { stores: 424, loads: 432 }), ("bars", Spills::default())];
        assert_eq!(spills(log), expected);
        assert_eq!(spills("1 bytes spill stores, x bytes spill loads"), []);
    }
}
