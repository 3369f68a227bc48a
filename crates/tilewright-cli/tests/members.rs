//! Members of one file that many processes write at once.

use crate::support::Desk;

#[test]
fn members_that_are_written_at_once_are_all_there() {
    let desk = Desk::new();
    for file in ["s.npz", "s.safetensors"] {
        let writer =
            |i: usize| desk.command(&format!("mul whole.csv whole.csv -o {file}:m{i} -q")).spawn().unwrap();
        let writers: Vec<_> = (0..16).map(writer).collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        for i in 0..16 {
            assert_eq!(desk.ok(&format!("mul {file}:m{i} whole.csv -o - -q")), "37,54\n81,118\n");
        }
    }
    // Locks and temporary files are gone.
    assert!(desk.list().iter().all(|name| !name.starts_with('.')), "{:?}", desk.list());
}
