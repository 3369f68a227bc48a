//! What is advised on a kernel whose numbers were worked out by hand.

use crate::support;
use tilewright_explain::{FindingKind, Operation, advise};

#[test]
fn advice_is_given_where_it_applies_and_nowhere_else() {
    let explanation = support::explanation();
    let advice: Vec<(&str, u32)> = explanation
        .findings
        .iter()
        .filter(|f| f.participants.len() == 1)
        .map(|f| (f.kind.name(), f.participants[0].location.as_ref().unwrap().line.unwrap()))
        .collect();
    // Not the load of B: one sector for all lanes. What costs most comes first.
    assert_eq!(advice, [("uncoalesced", 7), ("bank-conflict", 9), ("uncoalesced", 8)]);
    assert!(explanation.has_errors());
}

#[test]
fn atomics_are_blamed_where_lanes_meet_and_nowhere_else() {
    let kinds = |lanes_per_address| {
        let mut explanation = support::explanation();
        let access = &mut explanation.lines[2].accesses[0];
        (access.operation, access.lanes_per_address) = (Operation::Atomic, Some(lanes_per_address));
        advise(&explanation)
            .into_iter()
            .filter(|finding| finding.kind == FindingKind::AtomicContention)
            .count()
    };
    assert_eq!((kinds(1.0), kinds(2.0)), (0, 1));
}
