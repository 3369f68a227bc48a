//! Loops of a PTX text: a jump back, and what lies between it and its target.

use std::collections::HashMap;

/// The loops of a text.
pub struct Loops(Vec<(u32, u32)>);

impl Loops {
    /// All loops of a text, by their first and last line.
    pub fn of(ptx: &str) -> Self {
        let mut labels: HashMap<&str, u32> = HashMap::new();
        let mut loops = Vec::new();
        for (line, text) in (1..).zip(ptx.lines()) {
            let text = text.trim();
            if let Some(label) = text.strip_suffix(':') {
                labels.insert(label, line);
            } else if let Some(target) = jump(text)
                && let Some(&start) = labels.get(target)
            {
                loops.push((start, line));
            }
        }
        Self(loops)
    }

    /// Whether two lines lie in one loop.
    pub fn have_both(&self, a: u32, b: u32) -> bool {
        self.0.iter().any(|&(first, last)| first <= a.min(b) && a.max(b) <= last)
    }
}

/// The target of a jump.
fn jump(text: &str) -> Option<&str> {
    let text = text.strip_suffix(';')?;
    let mut words = text.split_whitespace();
    let is_jump = |word: &str| word == "bra" || word == "bra.uni";
    words.find(|word| is_jump(word))?;
    words.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_back_makes_a_loop() {
        let text = "top:\n\tld.shared.f32 \t%f1, [%r1];\n\t@%p1 bra \tskip;\n\tbra.uni top;\nskip:\n\tret;";
        let loops = Loops::of(text);
        assert!(loops.have_both(2, 3) && loops.have_both(3, 3));
        assert!(!loops.have_both(2, 6));
    }
}
