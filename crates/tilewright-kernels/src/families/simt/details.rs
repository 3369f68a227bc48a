//! What a plan says of the candidate that it has chosen.

use super::{Plan, cost::Candidate, division::Division, launches::Product};
use crate::request::Form;

impl Plan {
    pub(super) fn details(
        &self,
        chosen: &Candidate,
        product: &Product,
        form: Form,
    ) -> Vec<(&'static str, String)> {
        let Candidate { tile, arithmetic, division, packed, .. } = chosen;
        let packed = match packed {
            [false, false] => "nothing",
            [true, false] => "A",
            [false, true] => "B",
            [true, true] => "A and B",
        };
        let Division { tiles, whole, parts, k_split } = division;
        let parts = if *whole == 0 || *parts == 1 {
            parts.to_string()
        } else {
            format!(
                "1; {parts} of up to {k_split} terms in the last {} of {tiles} tiles",
                division.split_tiles()
            )
        };
        vec![
            ("tile", format!("{}x{}, {} terms a step", tile.block[0], tile.block[1], tile.k)),
            (
                "outputs per thread",
                (tile.thread[0] * tile.thread[1] * arithmetic.encoding.columns()).to_string(),
            ),
            (
                "arithmetic",
                match arithmetic.name() {
                    "" => "a term at a time".into(),
                    name => name.to_owned(),
                },
            ),
            ("slices of the block", tile.slices.to_string()),
            ("stages", tile.stages.to_string()),
            ("parts of k", parts),
            ("packed first", packed.into()),
            ("edge tiles", if product.edges { "guarded" } else { "none" }.into()),
            ("program", if form == Form::Plain { "plain, for all layouts" } else { "tuned" }.into()),
        ]
    }
}
