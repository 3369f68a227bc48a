//! What every command can be told: how to print, and how much to say.

use clap::{Args, ValueEnum};

/// Options of every command.
#[derive(Args, Debug)]
pub struct Common {
    /// How to print results on stdout
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, help_heading = "Output")]
    pub format: Format,
    /// Print nothing on stderr but errors
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Say on stderr what is being done
    #[arg(short, long, global = true, help_heading = "Output")]
    pub verbose: bool,
    /// Colour the output
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Output")]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// One JSON object, SI units
    Json,
    /// A line for each row: sweeps of `occupancy`, `gpus`, `bench`, and routes of `paths`
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Even into a pipe
    Always,
    /// Not at all
    Never,
}
