//! What a kernel needs that the emulator does not execute, said before it runs.

use std::collections::BTreeMap;
use tilewright_emulator::Program;

/// PTX lines that are named for one instruction; of more, the number is told.
const LINES: usize = 4;

/// A sentence that lists the instructions which an entry may reach and which are not executed, by reason and opcode; `None` where all are.
pub fn missing(program: &Program, entry: &str) -> Option<String> {
    let mut reasons: BTreeMap<&str, BTreeMap<&str, Vec<u32>>> = BTreeMap::new();
    for (line, opcode, why) in program.unsupported_in(entry) {
        reasons.entry(why).or_default().entry(opcode).or_default().push(line);
    }
    let reason = |(why, opcodes): (&&str, &BTreeMap<&str, Vec<u32>>)| {
        let opcodes: Vec<String> =
            opcodes.iter().map(|(opcode, lines)| format!("`{opcode}` ({})", places(lines))).collect();
        format!("{}: {why}", opcodes.join(", "))
    };
    let reasons: Vec<String> = reasons.iter().map(reason).collect();
    (!reasons.is_empty()).then(|| {
        format!("the kernel has instructions that the emulator does not execute; {}", reasons.join("; "))
    })
}

fn places(lines: &[u32]) -> String {
    let named: Vec<String> = lines.iter().take(LINES).map(u32::to_string).collect();
    let word = if lines.len() == 1 { "PTX line" } else { "PTX lines" };
    let more = if lines.len() > LINES { format!(" and {} more", lines.len() - LINES) } else { String::new() };
    format!("{word} {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_listed_by_reason_for_the_entry_and_what_it_calls() {
        let program = Program::new(
            ".version 8.0
.target sm_90a
.address_size 64
.func deep() {
    multimem.st.global.f32 [0], 0f00000000;
    ret;
}
.visible .entry clean() { ret; }
.visible .entry needs() {
    .reg .b32 %r<2>;
    bar.frob 0;
    multimem.red.global.add.f32 [0], 0f00000000;
    multimem.st.global.f32 [0], 0f00000000;
    call deep, ();
    ret;
}",
        )
        .unwrap();
        assert_eq!(missing(&program, "clean"), None);
        assert_eq!(missing(&program, "other"), None);
        let text = missing(&program, "needs").unwrap();
        for part in [
            "`multimem.red.global.add.f32` (PTX line 12), `multimem.st.global.f32` (PTX lines 5, 13)",
            "(`multimem`) is not supported yet",
            "`bar.frob` (PTX line 11)",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
