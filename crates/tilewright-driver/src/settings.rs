//! What is imitated and how: the same for all devices of a process.

use std::path::PathBuf;
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::Duration;

use tilewright_arch::Gpu;
use tilewright_emulator::{LaunchOptions, Races, UnknownSchedule};

/// What is imitated, how launches are executed, and who is told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The devices that there are when a program calls `cuInit` and none was [added](crate::add_device).
    pub gpus: Vec<Gpu>,
    /// Checks, order and limits of launches.
    pub options: LaunchOptions,
    /// What is done with PTX for a newer device than the one that is imitated.
    pub newer_ptx: NewerPtx,
    /// Where to say what a program cannot be told by a code, and what its kernels print.
    pub messages: Messages,
    /// The file that each launch adds a line of JSON to.
    pub log: Option<PathBuf>,
}

/// What is done with PTX that a device is too old for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewerPtx {
    /// It is refused, as by a GPU's driver.
    #[default]
    Refused,
    /// It is executed: the emulator knows its instructions.
    Executed,
}

/// Where messages go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Messages {
    /// Nowhere: the caller asks for [failures](crate::failure).
    #[default]
    Nowhere,
    /// Remarks to standard error, what kernels print to standard output, as with a GPU.
    Streams,
}

impl Default for Settings {
    fn default() -> Self {
        let (gpus, newer_ptx, messages, log) = Default::default();
        Self { gpus, options: LaunchOptions::default(), newer_ptx, messages, log }
    }
}

/// A variable of the environment that does not say what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidVariable {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub value: String,
    /// What it should say.
    pub expected: String,
}

impl std::fmt::Display for InvalidVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}: expected {}", self.name, self.value, self.expected)
    }
}

impl std::error::Error for InvalidVariable {}

impl Settings {
    /// Names of GPUs, separated by semicolons, each with a number of them in front if there are more: `4*h200`.
    pub const GPUS: &str = "TILEWRIGHT_EMULATED_GPUS";
    /// The most warp instructions of a launch.
    pub const MAX_STEPS: &str = "TILEWRIGHT_EMULATOR_MAX_STEPS";
    /// The most seconds of a launch.
    pub const MAX_SECONDS: &str = "TILEWRIGHT_EMULATOR_MAX_SECONDS";
    /// The most bytes that a launch takes besides the program's own memory.
    pub const MAX_MEMORY: &str = "TILEWRIGHT_EMULATOR_MAX_MEMORY";
    /// `strict`, `all`, `shared` or `none`.
    pub const RACES: &str = "TILEWRIGHT_EMULATOR_RACES";
    /// When bulk copies are done: `late`, `early`, or `random:SEED`.
    pub const SCHEDULE: &str = "TILEWRIGHT_EMULATOR_SCHEDULE";
    /// The file that launches are written to.
    pub const LOG: &str = "TILEWRIGHT_EMULATOR_LOG";

    /// What the environment says, for a program that knows nothing of this library.
    ///
    /// # Errors
    /// The first variable that does not say what it should.
    pub fn from_environment() -> Result<Self, InvalidVariable> {
        Self::of(&|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn of(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, InvalidVariable> {
        let mut settings = Self { messages: Messages::Streams, ..Self::default() };
        let names = variable(Self::GPUS).unwrap_or_else(|| Gpu::default().name.into());
        for name in names.split(';') {
            let (count, name) = counted(name);
            let found = Gpu::named(name).map_err(|error| InvalidVariable {
                name: Self::GPUS,
                value: names.clone(),
                expected: format!("names of GPUs, separated by semicolons: {error}"),
            })?;
            settings.gpus.extend(std::iter::repeat_n(found, count));
        }
        let options = &mut settings.options;
        if let Some(steps) = number(variable, Self::MAX_STEPS)? {
            // As for every launch: who limits the steps does not limit the time, unless it is said, too.
            (options.step_limit, options.time_limit) = (Some(steps), None);
        }
        if let Some(seconds) = number(variable, Self::MAX_SECONDS)? {
            options.time_limit = Some(Duration::from_secs(seconds));
        }
        if let Some(bytes) = number(variable, Self::MAX_MEMORY)? {
            options.memory_limit = bytes;
        }
        if let Some(value) = variable(Self::RACES) {
            options.races = match value.as_str() {
                "strict" => Races::Strict,
                "all" => Races::All,
                "shared" => Races::Shared,
                "none" => Races::Ignore,
                _ => {
                    let expected = "strict, all, shared or none".into();
                    return Err(InvalidVariable { name: Self::RACES, value, expected });
                }
            };
        }
        if let Some(value) = variable(Self::SCHEDULE) {
            options.schedule = value.parse().map_err(|error: UnknownSchedule| InvalidVariable {
                name: Self::SCHEDULE,
                expected: error.to_string(),
                value,
            })?;
        }
        settings.log = variable(Self::LOG).map(PathBuf::from);
        Ok(settings)
    }
}

/// How many of a GPU there are, and its name.
fn counted(text: &str) -> (usize, &str) {
    let count = |text: &str| text.trim().parse::<u8>().ok();
    match text.split_once('*').and_then(|(many, name)| Some((count(many)?.into(), name))) {
        Some((count, name)) => (count, name.trim()),
        None => (1, text.trim()),
    }
}

fn number(
    variable: &dyn Fn(&str) -> Option<String>,
    name: &'static str,
) -> Result<Option<u64>, InvalidVariable> {
    let Some(value) = variable(name) else { return Ok(None) };
    match value.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(InvalidVariable { name, value, expected: "a whole number".into() }),
    }
}

static SETTINGS: OnceLock<RwLock<Settings>> = OnceLock::new();

fn settings() -> &'static RwLock<Settings> {
    SETTINGS.get_or_init(RwLock::default)
}

/// Sets how launches are executed from here on, and which devices `cuInit` finds.
pub fn configure(new: Settings) {
    *settings().write().unwrap_or_else(PoisonError::into_inner) = new;
}

/// What a part of the settings says.
pub(crate) fn read<R>(part: impl FnOnce(&Settings) -> R) -> R {
    part(&settings().read().unwrap_or_else(PoisonError::into_inner))
}

/// Says what a code cannot.
pub(crate) fn say(what: &str) {
    if read(|settings| settings.messages) == Messages::Streams {
        eprintln!("tilewright: {what}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Settings, InvalidVariable> {
        Settings::of(&|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_says_what_is_imitated() {
        let settings = of(&[]).expect("defaults");
        assert_eq!(settings.gpus.len(), 1);
        assert_eq!(settings.gpus[0].name, "H200 SXM");
        assert_eq!(settings.options.time_limit, Some(LaunchOptions::TIME));
        let settings = of(&[(Settings::GPUS, "a6000; 4090"), (Settings::MAX_STEPS, "1000")]).expect("valid");
        let names: Vec<_> = settings.gpus.iter().map(|gpu| gpu.name).collect();
        assert_eq!(names, ["RTX A6000", "GeForce RTX 4090"]);
        assert_eq!((settings.options.step_limit, settings.options.time_limit), (Some(1000), None));
        let several = of(&[(Settings::GPUS, "3*h200; 1 * a6000")]).expect("valid");
        let names: Vec<_> = several.gpus.iter().map(|gpu| gpu.name).collect();
        assert_eq!(names, ["H200 SXM", "H200 SXM", "H200 SXM", "RTX A6000"]);
    }

    #[test]
    fn races_have_four_levels() {
        for (value, races) in [
            ("strict", Races::Strict),
            ("all", Races::All),
            ("shared", Races::Shared),
            ("none", Races::Ignore),
        ] {
            assert_eq!(of(&[(Settings::RACES, value)]).expect(value).options.races, races);
        }
    }

    #[test]
    fn nonsense_names_the_variable() {
        for (name, value) in
            [(Settings::GPUS, "a600"), (Settings::MAX_STEPS, "many"), (Settings::RACES, "some")]
        {
            let error = of(&[(name, value)]).expect_err(value);
            assert!(error.name == name && error.to_string().contains(value), "{error}");
        }
    }
}
