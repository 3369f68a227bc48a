//! The command line.

use crate::{case::Smaller, plant::Plant};
use core::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const HELP: &str = "\
Hunts for wrong products on this processor. Exit code 1 when something is found.

tilewright-hunt [OPTIONS]
  --seed N        what all problems follow from [default: the time]
  --seconds N     how long to hunt [default: 60]
  --cases N       how many problems at most
  --case N        this problem alone
  --size MxNxK    of this size
  --threads N     on so many threads
  --plain         with plain layouts
  --plant NAME    with a fault in the product, which must be found
  --plants        lists the faults
  --help          this text";

/// What to hunt for.
pub struct Hunt {
    pub seed: u64,
    pub time: Duration,
    pub cases: Option<u64>,
    pub case: Option<u64>,
    pub smaller: Smaller,
    pub plant: Option<Plant>,
}

/// The hunt that these words ask for; `None` when it was a question that has been answered.
///
/// # Errors
/// In words, where an option is wrong.
pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Hunt>, String> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let time = Duration::from_secs(60);
    let mut hunt = Hunt { seed, time, cases: None, case: None, smaller: Smaller::default(), plant: None };
    while let Some(option) = words.next() {
        let mut value = || words.next().ok_or(format!("{option} needs a value"));
        match option.as_str() {
            "--seed" => hunt.seed = number(&option, &value()?)?,
            "--seconds" => hunt.time = Duration::from_secs(number(&option, &value()?)?),
            "--cases" => hunt.cases = Some(number(&option, &value()?)?),
            "--case" => hunt.case = Some(number(&option, &value()?)?),
            "--size" => hunt.smaller.size = Some(size(&value()?)?),
            "--threads" => hunt.smaller.threads = Some(number(&option, &value()?)?),
            "--plain" => hunt.smaller.plain = true,
            "--plant" => hunt.plant = Some(plant(&value()?)?),
            "--plants" => {
                Plant::ALL.iter().for_each(|plant| println!("{}", plant.name()));
                return Ok(None);
            }
            "--help" => {
                println!("{HELP}");
                return Ok(None);
            }
            _ => return Err(format!("{option} is not an option")),
        }
    }
    Ok(Some(hunt))
}

fn number<T: FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{option} {text}: not a number"))
}

fn size(text: &str) -> Result<(usize, usize, usize), String> {
    let lengths: Vec<_> = text.split('x').map(|length| number("--size", length)).collect::<Result<_, _>>()?;
    let [m, n, k] = lengths[..] else {
        return Err(format!("--size {text}: three lengths are needed, as 5x3x2"));
    };
    Ok((m, n, k))
}

fn plant(name: &str) -> Result<Plant, String> {
    let found = Plant::ALL.iter().copied().find(|plant| plant.name() == name);
    found.ok_or(format!("--plant {name}: no such fault; --plants lists them"))
}
