//! Warnings in what the compiler said.

/// Each warning with the lines that show its place.
pub fn warnings(log: &str) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    let mut is_of_warning = false;
    for line in log.lines().map(str::trim_end) {
        if line.contains("): warning ") {
            warnings.push(line.to_owned());
            is_of_warning = true;
        } else if line.is_empty() || !line.starts_with(' ') {
            // A blank line stands before the caret of some versions: what goes on is indented.
            is_of_warning &= line.is_empty();
        } else if let Some(warning) = warnings.last_mut().filter(|_| is_of_warning) {
            warning.push('\n');
            warning.push_str(line);
        }
    }
    warnings.dedup();
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_have_their_places_and_remarks_are_left_out() {
        let log = "w.cu(3): warning #187-D: use of \"=\" where \"==\" may have been intended\n      if (a = 1)\n          ^\n\n\
                   Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n\
                   w.cu(4): warning #186-D: pointless comparison of unsigned integer with zero\n      u >= 0\n\n\
                   ptxas info    : 0 bytes gmem\n  of a stack\n";
        let found = warnings(log);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("w.cu(3): warning #187-D") && found[0].ends_with('^'), "{found:?}");
        assert!(found[1].ends_with("u >= 0"), "{found:?}");
        assert!(warnings("ptxas info    : 0 bytes gmem\n").is_empty());
    }
}
