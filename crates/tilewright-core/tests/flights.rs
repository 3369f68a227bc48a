//! The worked example of `data/flights/README.md`, by the definition of right.

use std::path::Path;
use tilewright_core::{Matrix, MinPlus, NO_ARG, Update, reference};

const AIRPORTS: usize = 60;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/flights").join(name);
    std::fs::read_to_string(path).expect("a file of data/flights")
}

fn nonstop_km() -> Matrix<f32> {
    let text = read("nonstop_km.csv");
    let cells: Vec<f32> =
        text.lines().flat_map(|line| line.split(',')).map(|cell| cell.parse().expect("a number")).collect();
    assert_eq!(cells.len(), AIRPORTS * AIRPORTS);
    Matrix::from_fn(AIRPORTS, AIRPORTS, |i, j| cells[i * AIRPORTS + j]).expect("memory")
}

fn codes() -> Vec<String> {
    let text = read("airports.csv");
    text.lines().skip(1).map(|line| line.split(',').nth(1).expect("a code").to_owned()).collect()
}

#[test]
fn the_journeys_of_the_readme_are_right() {
    let (codes, nonstop) = (codes(), nonstop_km());
    let mut journey = Matrix::filled(AIRPORTS, AIRPORTS, 0.0).unwrap();
    let mut change = Matrix::filled(AIRPORTS, AIRPORTS, 0).unwrap();
    let w = nonstop.as_ref();
    reference::multiply_arg::<MinPlus<f32>>(journey.as_mut(), change.as_mut(), w, w, &Update::Replace)
        .unwrap();

    let index = |code: &str| codes.iter().position(|c| c == code).unwrap();
    let check = |from: &str, to: &str, direct: f32, km: f32, at: &str| {
        let (i, j) = (index(from), index(to));
        assert_eq!(w.get(i, j), Some(direct), "nonstop {from} {to}");
        assert_eq!(journey.as_ref().get(i, j), Some(km), "journey {from} {to}");
        assert_eq!(change.as_ref().get(i, j), Some(index(at) as u32), "change {from} {to}");
    };
    let none = f32::INFINITY;
    check("HNL", "BOS", none, 8189.0, "MSP");
    check("BUF", "SAN", none, 3528.0, "MDW");
    check("SFO", "BOS", 4342.0, 4342.0, "SFO");
    check("SFO", "JFK", 4152.0, 4152.0, "ORD");
    assert_eq!((index("HNL"), index("BOS"), index("MSP")), (38, 17, 13));

    let stranded: Vec<usize> = (0..AIRPORTS * AIRPORTS)
        .filter(|&at| change.as_slice()[at] == NO_ARG || journey.as_slice()[at] == none)
        .collect();
    let (dal, bur) = (index("DAL"), index("BUR"));
    assert_eq!(stranded, [dal * AIRPORTS + bur, bur * AIRPORTS + dal]);
    assert_eq!(w.iter().filter(|&km| km == none).count(), 1282);
}

#[test]
fn a_change_is_never_shorter_than_a_nonstop_flight() {
    let nonstop = nonstop_km();
    let mut journey = Matrix::filled(AIRPORTS, AIRPORTS, 0.0).unwrap();
    let w = nonstop.as_ref();
    reference::multiply::<MinPlus<f32>>(journey.as_mut(), w, w, &Update::Replace).unwrap();
    for (direct, km) in w.iter().zip(journey.as_ref().iter()) {
        assert!(km == direct || direct == f32::INFINITY, "{km} instead of {direct}");
    }
}
