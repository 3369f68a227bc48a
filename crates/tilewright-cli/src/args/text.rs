//! How text files are written: options of the commands that read tables.

use super::formats;
use clap::Args;
use tilewright::files::{Comments, Delimiter, Dialect, Format};

/// Options of text files.
#[derive(Args, Debug)]
pub struct TextFiles {
    /// What `-` and files of other extensions hold, such as .txt
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Files")]
    pub format_in: Option<Format>,
    /// What is between the cells of .csv files: a character, or comma, semicolon, tab, blanks
    #[arg(long, value_name = "CHAR", help_heading = "Files")]
    pub delimiter: Option<Delimiter>,
    /// Pass over so many lines at the beginning of .csv files
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Files")]
    pub skip_rows: usize,
    /// Numbers of .csv files have a comma in front of their fraction, as in 12,5
    #[arg(long, help_heading = "Files")]
    pub decimal_comma: bool,
    /// What a comment in .csv files begins with, or none; unless given #, where the line could be no row
    #[arg(long, value_name = "CHAR", help_heading = "Files")]
    pub comments: Option<Comments>,
    /// Blanks around names in .csv files do not count
    #[arg(long, help_heading = "Files")]
    pub trim: bool,
}

impl TextFiles {
    /// How `.csv` files are written.
    pub fn dialect(&self) -> Dialect {
        Dialect {
            delimiter: self.delimiter,
            skip_rows: self.skip_rows,
            comments: self.comments.unwrap_or_default(),
            trim: self.trim,
            decimal_comma: self.decimal_comma,
        }
    }
}
