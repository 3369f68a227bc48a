//! The keys of a manifest, as data: what is read, what is refused, and the JSON Schema follow from these tables.

/// A table of a manifest.
pub struct Table {
    /// The title in the schema.
    pub name: &'static str,
    pub about: &'static str,
    pub keys: &'static [Key],
}

pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub is_required: bool,
    pub about: &'static str,
}

/// What a value may be.
pub enum Kind {
    Text,
    /// One, or a list that is not empty.
    Texts,
    /// The same, of bounds of numbers.
    Budgets,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The name of a kind of finding.
    Finding,
    /// `true` or `false`.
    Flag,
    /// A whole number from 1.
    Count,
    /// A whole number from 0, or a text with expressions.
    Bytes,
    /// A number from 0.
    Number,
    /// A number or text, or one to three of them.
    Extent,
    /// By name: texts, numbers and booleans.
    Values,
    /// By name: texts.
    TextsByName,
    /// By name: lists of texts and whole numbers.
    Matrix,
    /// A table.
    One(&'static Table),
    /// A list of tables.
    Many(&'static Table),
    /// Tables by name.
    Named(&'static Table),
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, is_required: false, about }
}

const fn required(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, is_required: true, about }
}

/// Severities that make a check fail.
pub const SEVERITIES: &[&str] = &["error", "warning", "advice"];

/// The whole file.
pub const MANIFEST: Table = Table {
    name: "manifest",
    about: "Kernels that `tilewright check` runs, and what is expected of them",
    keys: &[
        key("defaults", Kind::One(&DEFAULTS), "What holds for every kernel that does not say otherwise"),
        required("kernel", Kind::Many(&KERNEL), "Kernels, or several launches in a row"),
        key("suppress", Kind::Many(&SUPPRESS), "Findings of any kernel that are known and accepted"),
    ],
};

const DEFAULTS: Table = Table {
    name: "defaults",
    about: "What holds for every kernel that does not say otherwise",
    keys: &[
        key(
            "gpus",
            Kind::Texts,
            "GPUs to check for: names such as h200, or compute capabilities such as 8.6",
        ),
        key("budgets", Kind::Budgets, "Bounds of every kernel, beside its own"),
        key(
            "fail-on",
            Kind::Word(SEVERITIES),
            "The least grave finding that makes a check fail; error unless given",
        ),
        key("max-time", Kind::Number, "Seconds that a launch may take; 60 unless given"),
        key("tolerance", Kind::Number, "How far results may be from what is expected; 0 unless given"),
    ],
};

// What kernels and launches have alike.
const FILE: Key = key("file", Kind::Text, "A .cu or .ptx file, seen from the manifest");
const GRID: Key = key("grid", Kind::Extent, "Blocks; 1 unless given");
const BLOCK: Key = key("block", Kind::Extent, "Threads of a block");
const CLUSTER: Key = key(
    "cluster",
    Kind::Extent,
    "Blocks of a cluster, which reach each other's shared memory; what the kernel was compiled for unless given",
);
const COOPERATIVE: Key = key(
    "cooperative",
    Kind::Flag,
    "Whether blocks may wait for each other (`grid.sync()`): all of them are on the GPU at once",
);
const DYNAMIC_SHARED_MEMORY: Key = key("dynamic-shared-memory", Kind::Bytes, "Bytes of a block");

const KERNEL: Table = Table {
    name: "kernel",
    about: "A kernel with a launch, or several launches one after another",
    keys: &[
        required("name", Kind::Text, "The name of the check"),
        FILE,
        key("catalogue", Kind::Text, "A kernel of `tilewright kernels` in place of a file"),
        key("entry", Kind::Text, "Which kernel of the file; needed where there are several"),
        key("include", Kind::Texts, "Directories of headers, seen from the manifest"),
        key("define", Kind::Texts, "Macros of the compiler, NAME or NAME=VALUE"),
        GRID,
        BLOCK,
        CLUSTER,
        COOPERATIVE,
        DYNAMIC_SHARED_MEMORY,
        key(
            "args",
            Kind::Values,
            "Arguments by name, as `tilewright explain --arg` takes them, or names of `arrays`",
        ),
        key("arrays", Kind::TextsByName, "Arrays that several launches share, by name"),
        key(
            "launch",
            Kind::Many(&LAUNCH),
            "Launches one after another on the same arrays, in place of a single one",
        ),
        key("gpus", Kind::Texts, "GPUs to check for, in place of the default's"),
        key(
            "matrix",
            Kind::Matrix,
            "Values that `{expressions}` of this kernel name: it is checked with each combination",
        ),
        key("expect", Kind::Named(&EXPECT), "What arrays hold behind the last launch, by name"),
        key("budgets", Kind::Budgets, "Bounds of every launch, such as `registers <= 64`"),
        key("suppress", Kind::Many(&SUPPRESS), "Findings that are known and accepted"),
        key("fail-on", Kind::Word(SEVERITIES), "The least grave finding that makes it fail"),
        key("max-time", Kind::Number, "Seconds that a launch may take"),
        key("max-steps", Kind::Count, "Warp instructions that a launch may take"),
        key("schedule", Kind::Text, "When bulk copies are done: late unless given, early, or random:SEED"),
        key("strict", Kind::Flag, "Whether what the hardware of today forgives is reported"),
    ],
};

const LAUNCH: Table = Table {
    name: "launch",
    about: "One of several launches; what is left out is that of the kernel",
    keys: &[
        FILE,
        key("entry", Kind::Text, "Which kernel of the file"),
        GRID,
        BLOCK,
        CLUSTER,
        COOPERATIVE,
        DYNAMIC_SHARED_MEMORY,
        key("args", Kind::Values, "Arguments by name, or names of the kernel's `arrays`"),
        key("budgets", Kind::Budgets, "Bounds of this launch, beside those of the kernel"),
    ],
};

const EXPECT: Table = Table {
    name: "expect",
    about: "What an array holds behind the last launch: that of a file, of another kernel, or of a Python expression",
    keys: &[
        key("file", Kind::Text, "A file of a matrix, seen from the manifest"),
        key("kernel", Kind::Text, "Another kernel of the manifest, run with the same values of the matrix"),
        key("array", Kind::Text, "The array of the other kernel; the same name unless given"),
        key(
            "python",
            Kind::Text,
            "An expression on arrays as they were before, with NumPy as np; skipped without Python and NumPy",
        ),
        key("tolerance", Kind::Number, "How far elements may be apart: |a - b| <= tolerance * max(1, |b|)"),
    ],
};

const SUPPRESS: Table = Table {
    name: "suppress",
    about: "A finding that is known and accepted",
    keys: &[
        required("finding", Kind::Finding, "Its kind, such as bank-conflict"),
        required("reason", Kind::Text, "Why it is accepted"),
        key(
            "severity",
            Kind::Word(&["error", "warning", "advice"]),
            "Only of this severity; without it, warnings and advice: an error is accepted where it is named",
        ),
        key("file", Kind::Text, "Only in this file"),
        key("line", Kind::Count, "Only on this line"),
        key("source", Kind::Text, "Only on lines that contain this text"),
    ],
};
