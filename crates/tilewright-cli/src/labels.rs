//! `--labels FILE[:COLUMN]`.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};
use tilewright::{
    Error,
    files::{self, Labels},
    visible,
};

/// The names in `FILE`, one a line, or those in a column of it, `FILE:COLUMN`.
pub fn read(text: &OsStr) -> Result<Labels, Error> {
    let whole = Path::new(text);
    let split = text.to_str().and_then(|text| text.rsplit_once(':')).filter(|_| !whole.exists());
    let (path, column): (PathBuf, _) = match split {
        Some((path, column)) => (path.into(), Some(column)),
        None => (whole.into(), None),
    };
    files::read_labels(&path, column)
}

/// A name for a message, in quotes where it has blanks around it.
fn shown(name: &str) -> String {
    let seen = visible(name);
    if name.trim() == name { seen.into_owned() } else { format!("'{seen}'") }
}

/// A name like one that is not there, for a hint.
pub fn like(labels: &Labels, name: &str) -> String {
    match labels.like(name).as_slice() {
        [] => "names are as in the file, upper and lower case included".into(),
        like => {
            let quoted: Vec<String> = like.iter().map(|name| shown(name)).collect();
            let blanks = if like.iter().any(|name| name.trim() != *name) {
                "; --trim drops blanks around names"
            } else {
                ""
            };
            format!("is it {}?{blanks}", quoted.join(" or "))
        }
    }
}
