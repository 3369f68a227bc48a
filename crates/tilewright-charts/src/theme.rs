//! Colours, by what a shape is for.

/// Which page a figure is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark where the reader prefers it (`prefers-color-scheme`), light elsewhere and in PNG.
    Auto,
    /// Dark on white.
    Light,
    /// Light on near-black.
    Dark,
}

/// The colour of a series. Neighbours in this order stay apart for colour-blind readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Hue {
    Blue,
    Orange,
    Green,
    Purple,
    Red,
    Teal,
    Grey,
}

impl Hue {
    /// All, in the order in which to give them to series.
    pub const ALL: &'static [Self] =
        &[Self::Blue, Self::Orange, Self::Green, Self::Purple, Self::Red, Self::Teal, Self::Grey];

    /// A hue for the series number `index`, repeating.
    pub fn of(index: usize) -> Self {
        Self::ALL[index % Self::ALL.len()]
    }
}

/// What a shape is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ink {
    Page,
    Text,
    Faint,
    Grid,
    Mark,
    Data(Hue),
}

/// Red, green, blue.
pub(crate) type Rgb = [u8; 3];

impl Ink {
    /// The name of its style class.
    pub fn class(self) -> &'static str {
        self.row().0
    }

    /// The colour on a light and on a dark page.
    pub fn colours(self) -> (Rgb, Rgb) {
        let (_, light, dark) = self.row();
        let rgb = |hex: u32| [(hex >> 16) as u8, (hex >> 8) as u8, hex as u8];
        (rgb(light), rgb(dark))
    }

    fn row(self) -> (&'static str, u32, u32) {
        match self {
            Self::Page => ("page", 0xffffff, 0x15181d),
            Self::Text => ("text", 0x1c2128, 0xe6e9ee),
            Self::Faint => ("faint", 0x57606a, 0x9aa4b0),
            Self::Grid => ("grid", 0xdde1e6, 0x31373f),
            Self::Mark => ("mark", 0xc4320a, 0xff8f66),
            Self::Data(Hue::Blue) => ("blue", 0x1f6fb2, 0x6cb6ff),
            Self::Data(Hue::Orange) => ("orange", 0xb35900, 0xf0a04b),
            Self::Data(Hue::Green) => ("green", 0x1a7f5a, 0x56d4a0),
            Self::Data(Hue::Purple) => ("purple", 0x7a4bb5, 0xc8a2ff),
            Self::Data(Hue::Red) => ("red", 0xb3263a, 0xff8a94),
            Self::Data(Hue::Teal) => ("teal", 0x0e7c86, 0x5cd3de),
            Self::Data(Hue::Grey) => ("grey", 0x6b7280, 0xa8b0bb),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contrast of WCAG 2: from 1, the same, to 21.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let luminance = |c: Rgb| {
            let linear = c.map(|v| {
                let v = f64::from(v) / 255.0;
                if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        };
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn everything_but_the_grid_is_legible_on_both_pages() {
        let page = Ink::Page.colours();
        let inks = [Ink::Text, Ink::Faint, Ink::Mark];
        for ink in inks.into_iter().chain(Hue::ALL.iter().map(|&hue| Ink::Data(hue))) {
            let (light, dark) = ink.colours();
            assert!(contrast(light, page.0) >= 4.5, "{ink:?} {:.2}", contrast(light, page.0));
            assert!(contrast(dark, page.1) >= 4.5, "{ink:?} {:.2}", contrast(dark, page.1));
        }
    }
}
