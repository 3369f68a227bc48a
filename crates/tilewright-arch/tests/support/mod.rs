//! Reads the tables of recorded answers.

use tilewright_arch::{
    CachePreference, Carveout, ComputeCapability, GlobalCaching, KernelResources, LaunchConfig,
    SharedMemoryOptIn,
};

/// A CSV file with a header line.
pub struct Table<'a> {
    columns: Vec<&'a str>,
    lines: Vec<&'a str>,
}

/// One of its rows.
pub struct Row<'a> {
    pub line: &'a str,
    columns: &'a [&'a str],
}

impl<'a> Table<'a> {
    pub fn new(text: &'a str) -> Self {
        let mut lines = text.lines();
        let columns = lines.next().expect("a header line").split(',').collect();
        Table { columns, lines: lines.collect() }
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.lines.iter().map(|&line| Row { line, columns: &self.columns })
    }
}

impl Row<'_> {
    pub fn text(&self, column: &str) -> &str {
        let index = self.columns.iter().position(|&name| name == column).expect(column);
        self.line.split(',').nth(index).expect(self.line)
    }

    pub fn number(&self, column: &str) -> u32 {
        self.text(column).parse().expect(self.line)
    }
}

pub fn capability(row: &Row<'_>) -> ComputeCapability {
    let part = |column| u8::try_from(row.number(column)).expect(row.line);
    ComputeCapability::new(part("cc_major"), part("cc_minor"))
}

pub fn resources(row: &Row<'_>) -> KernelResources {
    KernelResources {
        registers_per_thread: row.number("regs_per_thread"),
        static_shared_memory: row.number("static_smem"),
        max_threads_per_block: row.number("attr_max_threads_per_block"),
        barriers: row.number("block_barriers"),
        shared_memory_opt_in: match row.number("shmem_optin") {
            0 => SharedMemoryOptIn::Off,
            _ => SharedMemoryOptIn::Bytes(row.number("max_dynamic_smem_attr")),
        },
        global_caching: match row.number("partitioned_gc") {
            0 => GlobalCaching::Off,
            1 => GlobalCaching::PreferPartitioned,
            _ => GlobalCaching::RequirePartitioned,
        },
    }
}

/// The preferences of a row, for a launch whose threads and dynamic shared memory are to be filled in.
pub fn launch_state(row: &Row<'_>) -> LaunchConfig {
    LaunchConfig {
        carveout: match row.text("carveout") {
            "-1" => Carveout::Default,
            percent => Carveout::Percent(percent.parse().expect(row.line)),
        },
        cache_preference: match row.number("cache_config") {
            0 => CachePreference::None,
            1 => CachePreference::SharedMemory,
            2 => CachePreference::L1,
            _ => CachePreference::Equal,
        },
        ..LaunchConfig::threads(1)
    }
}
