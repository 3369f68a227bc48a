//! Finding a GPU by whatever people call it.

use super::Device;
use std::fmt;

/// Words that a name may start with or leave out.
const BRANDS: &[&str] = &["nvidia", "geforce", "quadro", "tesla", "jetson", "rtx", "gtx"];

/// Words that a name may end with or leave out.
const ENDINGS: &[&str] = &["generation", "edition"];

/// Suggestions in an error at most.
const MAX_SUGGESTIONS: usize = 5;

impl Device {
    /// The device called `name`.
    ///
    /// Case, spaces and punctuation do not matter, and brand words (NVIDIA, GeForce, Quadro, Tesla, Jetson, RTX, GTX)
    /// may be left out. A family without its variant (A100, H100, RTX PRO 6000) is the best-known one. In order, the
    /// device whose name or alias is `name`; the one whose name is `name` without
    /// brand words; the only one whose name has all of its words; the only one with that chip.
    ///
    /// ```
    /// use tilewright_arch::Device;
    ///
    /// for name in ["4090", "rtx4090", "GeForce RTX 4090", "NVIDIA GeForce RTX 4090"] {
    ///     assert_eq!(Device::find(name)?.name, "GeForce RTX 4090");
    /// }
    /// let error = Device::find("4900").unwrap_err();
    /// assert!(error.to_string().contains("GeForce RTX 4090"));
    /// # Ok::<(), tilewright_arch::DeviceLookupError>(())
    /// ```
    ///
    /// # Errors
    /// [`DeviceLookupError::NotFound`] with the nearest names, [`DeviceLookupError::Ambiguous`] with all that fit.
    pub fn find(name: &str) -> Result<&'static Device, DeviceLookupError> {
        let query = Name::of(name);
        let rules: [&dyn Fn(&Name) -> bool; 3] = [
            &|known| known.letters == query.letters,
            &|known| !query.words.is_empty() && known.core() == query.core(),
            &|known| !query.words.is_empty() && query.words.iter().all(|word| known.words.contains(word)),
        ];
        for fits in rules {
            let matches = devices_where(|device| names(device).any(|known| fits(&Name::of(known))));
            if !matches.is_empty() {
                return only(name, matches);
            }
        }
        let chip = devices_where(|device| device.chip.eq_ignore_ascii_case(name.trim()));
        if chip.is_empty() { Err(not_found(name, &query)) } else { only(name, chip) }
    }
}

impl Device {
    /// The other devices that `name`, by which this one was found, fits as well: those whose names have all of its words. None
    /// where it is the device's own name.
    ///
    /// ```
    /// use tilewright_arch::Device;
    ///
    /// let device = Device::find("a100")?;
    /// assert!(device.others_called("a100").iter().any(|other| other.name.starts_with("A100")));
    /// assert!(Device::find("rtx 4070")?.others_called("rtx 4070").is_empty());
    /// # Ok::<(), tilewright_arch::DeviceLookupError>(())
    /// ```
    pub fn others_called(&self, name: &str) -> Vec<&'static Device> {
        let query = Name::of(name);
        if query.words.is_empty() || Name::of(self.name).core() == query.core() {
            return Vec::new();
        }
        let fits = |known: &str| {
            let known = Name::of(known);
            known.core() == query.core() || query.words.iter().all(|word| known.words.contains(word))
        };
        devices_where(|device| device.name != self.name && names(device).any(fits))
    }
}

fn devices_where(fits: impl Fn(&Device) -> bool) -> Vec<&'static Device> {
    Device::all().filter(|device| fits(device)).collect()
}

fn names(device: &Device) -> impl Iterator<Item = &'static str> {
    std::iter::once(device.name).chain(device.aliases.iter().copied())
}

fn only(query: &str, matches: Vec<&'static Device>) -> Result<&'static Device, DeviceLookupError> {
    match matches[..] {
        [device] => Ok(device),
        _ => Err(DeviceLookupError::Ambiguous {
            query: query.to_owned(),
            candidates: matches.iter().map(|device| device.name).collect(),
        }),
    }
}

fn not_found(query: &str, name: &Name) -> DeviceLookupError {
    let core = name.core();
    let mut ranked: Vec<(usize, &'static str)> = Device::all()
        .filter_map(|device| {
            let distance = names(device).map(|known| edit_distance(&core, &Name::of(known).core())).min()?;
            Some((distance, device.name))
        })
        .collect();
    ranked.sort_by_key(|&(distance, _)| distance);
    // More than half of the letters wrong is no resemblance.
    let tolerance = core.len() / 2;
    let suggestions = ranked
        .into_iter()
        .take_while(|&(distance, _)| distance <= tolerance)
        .map(|(_, name)| name)
        .take(MAX_SUGGESTIONS)
        .collect();
    DeviceLookupError::NotFound { query: query.to_owned(), suggestions }
}

/// A name, reduced to what matters.
struct Name {
    /// Its letters and digits in lower case.
    letters: String,
    /// Its words without brands and endings.
    words: Vec<String>,
}

impl Name {
    fn of(name: &str) -> Name {
        let lower = name.to_lowercase();
        let mut words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        while let Some(first) = words.first_mut() {
            match BRANDS.iter().find_map(|brand| first.strip_prefix(brand)) {
                Some("") => drop(words.remove(0)),
                // Written together: rtx4090.
                Some(rest) => *first = rest,
                None => break,
            }
        }
        words.pop_if(|word| ENDINGS.contains(word));
        Name {
            letters: lower.chars().filter(|c| c.is_alphanumeric()).collect(),
            words: words.into_iter().map(str::to_owned).collect(),
        }
    }

    fn core(&self) -> String {
        self.words.concat()
    }
}

/// The least number of letters to insert, remove, replace, or swap with their neighbour (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut distance = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            distance[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = distance[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let best = replaced.min(distance[i - 1][j] + 1).min(distance[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best.min(distance[i - 2][j - 2] + 1)
                } else {
                    best
                }
            };
        }
    }
    distance[a.len()][b.len()]
}

/// A name that is not that of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceLookupError {
    /// No device has this name.
    NotFound {
        /// What was asked for.
        query: String,
        /// Names that resemble it, the nearest first.
        suggestions: Vec<&'static str>,
    },
    /// Several devices have this name.
    Ambiguous {
        /// What was asked for.
        query: String,
        /// Their full names.
        candidates: Vec<&'static str>,
    },
}

impl fmt::Display for DeviceLookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceLookupError::NotFound { query, suggestions } => {
                write!(f, "no GPU named {query:?} is known")?;
                if suggestions.is_empty() {
                    Ok(())
                } else {
                    write!(f, "; similar: {}", suggestions.join(", "))
                }
            }
            DeviceLookupError::Ambiguous { query, candidates } => {
                write!(f, "{query:?} is the name of several GPUs: {}", candidates.join(", "))
            }
        }
    }
}

impl std::error::Error for DeviceLookupError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> &'static str {
        Device::find(name).map_or_else(|error| panic!("{error}"), |device| device.name)
    }

    #[test]
    fn forgiving_names() {
        for (query, name) in [
            ("a6000", "RTX A6000"),
            ("RTX A6000", "RTX A6000"),
            ("NVIDIA RTX A6000", "RTX A6000"),
            ("rtx_a6000", "RTX A6000"),
            ("h200", "H200 SXM"),
            ("NVIDIA H100 80GB HBM3", "H100 SXM5"),
            ("h100 pcie", "H100 PCIe"),
            ("k2200", "Quadro K2200"),
            ("geforce rtx 4090", "GeForce RTX 4090"),
            ("3080", "GeForce RTX 3080"),
            ("3080ti", "GeForce RTX 3080 Ti"),
            ("RTX 3080 Ti", "GeForce RTX 3080 Ti"),
            ("rtx 6000 ada", "RTX 6000 Ada Generation"),
            ("quadro rtx 6000", "Quadro RTX 6000"),
            (
                "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
                "RTX PRO 6000 Blackwell Workstation Edition",
            ),
            ("NVIDIA A100-SXM4-80GB", "A100 SXM4 80GB"),
            ("NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"),
            ("a100", "A100 SXM4 80GB"),
            ("Tesla V100-SXM2-32GB", "Tesla V100 SXM2"),
            ("orin", "Jetson AGX Orin 64GB"),
            ("orin nano", "Jetson Orin Nano 8GB"),
            ("titan v", "TITAN V"),
            ("NVIDIA GB10", "GB10"),
        ] {
            assert_eq!(found(query), name, "{query}");
        }
    }

    #[test]
    fn every_name_and_alias_finds_its_device() {
        for device in Device::all() {
            for name in names(device) {
                assert_eq!(found(name), device.name, "{name}");
            }
        }
    }

    #[test]
    fn names_of_several_devices_are_listed() {
        for (query, one, other) in
            [("titan", "TITAN V", "TITAN RTX"), ("gm107", "Quadro K2200", "GeForce GTX 750 Ti")]
        {
            match Device::find(query) {
                Err(DeviceLookupError::Ambiguous { candidates, .. }) => {
                    assert!(candidates.contains(&one) && candidates.contains(&other), "{candidates:?}");
                }
                other => panic!("{query}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_miss_suggests_what_is_near() {
        for (query, near) in [("a600", "RTX A6000"), ("h20", "H200 SXM"), ("rtx 5091", "GeForce RTX 5090")] {
            match Device::find(query) {
                Err(DeviceLookupError::NotFound { suggestions, .. }) => {
                    assert!(suggestions.contains(&near), "{query}: {suggestions:?}");
                    assert!(suggestions.len() <= MAX_SUGGESTIONS);
                }
                other => panic!("{query}: {other:?}"),
            }
        }
        // A laptop's chip is another one than the card's of the same number.
        assert!(Device::find("NVIDIA GeForce RTX 4090 Laptop GPU").is_err());
        for nothing in ["", "  ", "rtx", "☃", "radeon rx 7900 xtx"] {
            assert!(matches!(Device::find(nothing), Err(DeviceLookupError::NotFound { .. })), "{nothing:?}");
        }
    }

    #[test]
    fn distances() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("4900", "4090"), 1);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
