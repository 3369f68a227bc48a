//! Files and folders that several ranks read and write.

use crate::common::{dealt, on_grid, same_bits, weights};
use std::{fs, path::Path};
use tilewright::{
    DType, Extremes, SemiringId,
    files::{self, ReadOptions, Spec, WriteOptions},
};
use tilewright_distributed::store;

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn matrices_are_written_and_read_by_other_grids_and_in_other_blocks() {
    let desk = tempfile::tempdir().unwrap();
    for (dtype, rows, cols) in
        [(DType::F32, 23, 41), (DType::Bool, 16, 16), (DType::I64, 3, 50), (DType::F64, 0, 4)]
    {
        let semiring = if dtype == DType::Bool { SemiringId::OrAnd } else { SemiringId::MinPlus };
        let whole = weights(semiring, dtype, rows, cols);
        for name in [format!("{dtype}.npy"), format!("{dtype}-blocks")] {
            let path = desk.path().join(&name);
            for written in on_grid((2, 3), |grid| {
                store::check_writable(grid.world(), &path, dtype)?;
                store::write(&dealt(grid, whole.as_ref(), 8)?, &path)
            }) {
                written.unwrap();
            }
            for block in [8, 5, 64] {
                for found in on_grid((3, 1), |grid| {
                    let stored = store::stored(grid.world(), &path)?;
                    assert_eq!((stored.rows, stored.cols, stored.dtype), (rows, cols, dtype));
                    store::read(grid, &path, block, dtype, Extremes::Refuse)?.gather()
                }) {
                    assert!(same_bits(found.unwrap().as_ref(), whole.as_ref()), "{name} by {block}");
                }
            }
        }
        // The file is one that everything else reads.
        let read = files::read(
            &Spec::parse(desk.path().join(format!("{dtype}.npy"))).unwrap(),
            &ReadOptions::default(),
        );
        assert!(same_bits(read.unwrap().as_ref(), whole.as_ref()));
    }
    // Nothing temporary is left.
    assert_eq!(count(desk.path()), 8);
}

#[test]
fn elements_are_converted_on_the_way() {
    let desk = tempfile::tempdir().unwrap();
    let (path, whole) = (desk.path().join("w.npy"), weights(SemiringId::MinPlus, DType::F64, 9, 9));
    files::write(&Spec::parse(&path).unwrap(), whole.as_ref(), &WriteOptions::default()).unwrap();
    let expected = whole.as_ref().convert(DType::F32, Extremes::Absent).unwrap();
    for found in on_grid((1, 2), |grid| store::read(grid, &path, 2, DType::F32, Extremes::Absent)?.gather()) {
        assert!(same_bits(found.unwrap().as_ref(), expected.as_ref()));
    }
    // Fractions are no integers, and the first is named by its place in the whole matrix.
    for refused in
        on_grid((1, 2), |grid| store::read(grid, &path, 2, DType::I32, Extremes::Absent).map(|_| ()))
    {
        let error = refused.unwrap_err();
        assert_eq!(error.code(), "conversion");
        let text = error.to_string();
        assert!(text.starts_with("element [") && text.ends_with("cannot be represented as i32"), "{text}");
    }
}

#[test]
fn what_cannot_be_written_leaves_what_was_there() {
    let desk = tempfile::tempdir().unwrap();
    let whole = weights(SemiringId::MinPlus, DType::F32, 9, 9);
    let write = |path: &Path| {
        let all = on_grid((2, 2), |grid| store::write(&dealt(grid, whole.as_ref(), 4)?, path));
        all.into_iter().map(|done| done.err().map(|error| error.to_string())).collect::<Vec<_>>()
    };
    // A folder that is not one of blocks is never replaced.
    let other = desk.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("precious"), "1").unwrap();
    let errors = write(&other);
    assert!(
        errors.iter().all(|error| error.as_ref().is_some_and(|text| text.contains("no folder of blocks"))),
        "{errors:?}"
    );
    assert_eq!((count(&other), count(desk.path())), (1, 1));
    // Nor is there anything where no file can be.
    let errors = write(&desk.path().join("nowhere/d.npy"));
    assert!(errors.iter().all(Option::is_some));
    assert_eq!(count(desk.path()), 1);
    // A folder of blocks is replaced as a whole.
    let blocks = desk.path().join("blocks");
    assert!(write(&blocks).iter().all(Option::is_none));
    fs::write(blocks.join("stale"), "1").unwrap();
    assert!(write(&blocks).iter().all(Option::is_none));
    assert!(!blocks.join("stale").exists());
    assert_eq!(count(desk.path()), 2);
}

#[test]
fn files_that_are_none_are_named() {
    let desk = tempfile::tempdir().unwrap();
    let path = desk.path().join("a.csv");
    fs::write(&path, "1,2\n3,4\n").unwrap();
    for path in [path, desk.path().join("missing.npy"), desk.path().to_path_buf()] {
        let all = on_grid((2, 1), |grid| store::stored(grid.world(), &path).map(|_| ()));
        let texts: Vec<_> = all.into_iter().map(|error| error.unwrap_err().to_string()).collect();
        assert!(texts[0] == texts[1] && texts[0].contains(path.to_str().unwrap()), "{texts:?}");
    }
    // A block is missing: the rank that needs it says so.
    let (blocks, whole) = (desk.path().join("blocks"), weights(SemiringId::MinPlus, DType::F32, 9, 9));
    let _ = on_grid((1, 2), |grid| store::write(&dealt(grid, whole.as_ref(), 4)?, &blocks));
    fs::remove_file(blocks.join("00002-00001.npy")).unwrap();
    for error in
        on_grid((1, 2), |grid| store::read(grid, &blocks, 4, DType::F32, Extremes::Refuse).map(|_| ()))
    {
        let text = error.unwrap_err().to_string();
        assert!(text.contains("rank 1 on") && text.contains("00002-00001.npy"), "{text}");
    }
}

#[test]
fn blocks_of_another_size_or_type_are_refused() {
    let desk = tempfile::tempdir().unwrap();
    let blocks = desk.path().join("blocks");
    let whole = weights(SemiringId::MinPlus, DType::F32, 9, 9);
    for (rows, cols, dtype) in
        [(3, 4, DType::F32), (4, 1, DType::F32), (5, 4, DType::F32), (4, 4, DType::F64)]
    {
        for done in on_grid((1, 2), |grid| store::write(&dealt(grid, whole.as_ref(), 4)?, &blocks)) {
            done.unwrap();
        }
        let other = weights(SemiringId::MinPlus, dtype, rows, cols);
        let spec = Spec::parse(blocks.join("00001-00000.npy")).unwrap();
        files::write(&spec, other.as_ref(), &WriteOptions::default()).unwrap();
        for (grid, block) in [((1, 1), 4), ((1, 2), 4), ((2, 2), 3)] {
            for error in on_grid(grid, |grid| {
                store::read(grid, &blocks, block, DType::F32, Extremes::Refuse).map(|_| ())
            }) {
                let error = error.unwrap_err();
                assert_eq!(error.code(), "bad-file");
                let text = error.to_string();
                assert!(text.contains("00001-00000.npy") && text.contains("says 4x4 of f32"), "{text}");
            }
        }
    }
}
