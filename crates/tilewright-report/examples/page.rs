//! Prints the page on a kernel whose numbers were worked out by hand; with `compare`, beside a better one.

#[path = "../../tilewright-explain/tests/support/mod.rs"]
mod support;

use tilewright_report::html::{Exhibit, page};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (explanation, recording) = (support::explanation(), support::recording());
    let mut better = explanation.clone();
    better.kernel = "coalesced".into();
    better.findings.clear();
    let exhibit =
        Exhibit { explanation: &explanation, recording: &recording, curves: Some(support::curves()) };
    let beside = Exhibit { explanation: &better, ..exhibit };
    let exhibits =
        if std::env::args().any(|a| a == "compare") { vec![exhibit, beside] } else { vec![exhibit] };
    println!("{}", page(&exhibits)?);
    Ok(())
}
