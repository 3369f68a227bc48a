//! Running the command in a directory of its own.
#![allow(dead_code)] // Each test program uses its part.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Three towns in a line, as weights of edges.
pub const ROADS: &str = "0,3,inf\n3,0,4\ninf,4,0\n";
/// The distances between them.
pub const DISTANCES: &str = "0.0,3.0,7.0\n3.0,0.0,4.0\n7.0,4.0,0.0\n";

/// A directory with matrices, gone after the test.
pub struct Desk(tempfile::TempDir);

impl Desk {
    pub fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        desk.put("roads.csv", ROADS);
        desk.put("whole.csv", "1,2\n3,4\n");
        desk.put("real.csv", "0.5,2\n3,4\n");
        desk.put("wide.csv", "1,2,3\n4,5,6\n");
        desk
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn put(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).unwrap();
    }

    pub fn get(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// The command, in this directory, in 120 columns, and without settings from outside.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
        command.args(line.split_whitespace()).current_dir(self.path());
        command.env("COLUMNS", "120");
        for name in
            ["TILEWRIGHT_BACKEND", "TILEWRIGHT_THREADS", "TILEWRIGHT_FORCE_ISA", "NO_COLOR", "CLICOLOR_FORCE"]
        {
            command.env_remove(name);
        }
        #[cfg(unix)]
        with_default_signals(&mut command);
        command
    }

    pub fn run(&self, line: &str) -> Run {
        Run::of(self.command(line).output().unwrap())
    }

    /// Runs in so many columns, which must succeed; gives stdout.
    pub fn in_columns(&self, columns: &str, line: &str) -> String {
        let run = Run::of(self.command(line).env("COLUMNS", columns).output().unwrap());
        assert_eq!(run.code, Some(0), "{line}: {}", run.err);
        run.out
    }

    /// Runs, which must succeed; gives stdout.
    pub fn ok(&self, line: &str) -> String {
        let run = self.run(line);
        assert_eq!(run.code, Some(0), "{line}: {}", run.err);
        run.out
    }

    /// Runs with JSON output, which must succeed.
    pub fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.ok(&format!("{line} --format json"))).unwrap()
    }

    /// Names of the files in the directory.
    pub fn list(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// The command starts with every signal as a terminal's shell leaves it: neither ignored, as under `nohup` and in the background of a script, nor blocked.
#[cfg(unix)]
fn with_default_signals(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let reset = || {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE, libc::SIGXFSZ] {
            // SAFETY: the function takes any number of a signal, and is safe between fork and exec.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        // SAFETY: an empty set is made before it is used; both functions are safe between fork and exec.
        unsafe {
            let mut none = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: what runs in the child allocates nothing and takes no lock.
    unsafe { command.pre_exec(reset) };
}

/// What a run said.
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// The keys of a JSON object, sorted.
pub fn keys(value: &serde_json::Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
