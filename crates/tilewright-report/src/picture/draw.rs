//! Cells, sectors and labels as SVG, with the colours of the page.

use std::fmt::Write;
use tilewright_core::visible;

const WIDTH: usize = 18;
const HEIGHT: usize = 14;
const LEFT: usize = 74;
const COLUMNS: usize = 32;
const SECTOR_COLUMNS: usize = 8;
const RIGHT: usize = LEFT + COLUMNS * WIDTH;

/// Rules of both themes; what ignores media queries shows the light one. They are scoped to the picture's own class.
const STYLE: &str = "\
.tilewright-lanes text { font: 10px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #525b66; text-anchor: middle }
.tilewright-lanes .title, .tilewright-lanes .heading { font-size: 13px; fill: #1c2128; text-anchor: start }
.tilewright-lanes .heading { font-weight: bold }
.tilewright-lanes .end { text-anchor: end }
.tilewright-lanes .lane { fill: #ffffff; font-size: 9px }
.tilewright-lanes .wanted { fill: #15457a }
.tilewright-lanes .waste { fill: #fbe4da }
.tilewright-lanes .page { fill: #ffffff }
.tilewright-lanes .grid { fill: none; stroke: #ccd3da; stroke-width: 0.6 }
.tilewright-lanes .hatch { fill: none; stroke: #b3263a; stroke-width: 0.8 }
.tilewright-lanes .sector { fill: none; stroke: #1c2128 }
@media (prefers-color-scheme: dark) {
.tilewright-lanes text { fill: #a3adb8 }
.tilewright-lanes .title, .tilewright-lanes .heading { fill: #e6e9ee }
.tilewright-lanes .lane { fill: #0c131b }
.tilewright-lanes .wanted { fill: #9ccfff }
.tilewright-lanes .waste { fill: #3b2226 }
.tilewright-lanes .page { fill: #15181d }
.tilewright-lanes .grid { stroke: #3f4852 }
.tilewright-lanes .hatch { stroke: #ff8a94 }
.tilewright-lanes .sector { stroke: #e6e9ee }
}
";

/// A word that lanes want.
pub struct Cell {
    pub row: usize,
    pub column: usize,
    pub lanes: Vec<u32>,
}

/// A picture that grows downwards. Writing to a string cannot fail.
pub struct Sheet {
    title: String,
    body: String,
    y: usize,
}

impl Sheet {
    pub fn new(title: &str) -> Self {
        let mut sheet = Self { title: title.into(), body: String::new(), y: 18 };
        sheet.text("title", 6, sheet.y, title);
        sheet.y += 6;
        sheet
    }

    pub fn heading(&mut self, words: &str) {
        self.y += 20;
        self.text("heading", 6, self.y, words);
        self.y += 8;
    }

    /// Rows of lines of memory: `moved` has the row and number of each sector.
    pub fn sectors(&mut self, labels: &[String], moved: &[(usize, usize)], words: &[Cell]) {
        let top = self.grid(labels, &|column| {
            (column % SECTOR_COLUMNS == 4).then(|| format!("sector {}", column / SECTOR_COLUMNS))
        });
        let corner =
            |&(row, sector): &(usize, usize)| (LEFT + sector * SECTOR_COLUMNS * WIDTH, top + row * HEIGHT);
        let width = SECTOR_COLUMNS * WIDTH;
        for (x, y) in moved.iter().map(corner) {
            let _ = writeln!(
                self.body,
                "<rect class=\"waste\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\"/>"
            );
        }
        let strokes = moved.iter().map(corner).flat_map(|(x, y)| {
            (0..width / 6).map(move |i| format!("M{} {}l6 -{HEIGHT}", x + 6 * i, y + HEIGHT))
        });
        let hatch: String = strokes.collect();
        let _ = writeln!(self.body, "<path class=\"hatch\" d=\"{hatch}\"/>");
        self.cells(top, words);
        for (x, y) in moved.iter().map(corner) {
            let _ = writeln!(
                self.body,
                "<rect class=\"sector\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\"/>"
            );
        }
    }

    /// Rows over the banks.
    pub fn banks(&mut self, labels: &[String], words: &[Cell]) {
        let top = self.grid(labels, &|column| (column % 4 == 0 || column == 31).then(|| format!("{column}")));
        self.cells(top, words);
    }

    /// Empty rows with their labels; gives where they begin.
    fn grid(&mut self, labels: &[String], column_label: &dyn Fn(usize) -> Option<String>) -> usize {
        self.y += 10;
        for column in 0..COLUMNS {
            if let Some(label) = column_label(column) {
                let middle = if label.starts_with("sector") { 0 } else { WIDTH / 2 };
                self.text("", LEFT + column * WIDTH + middle, self.y, &label);
            }
        }
        self.y += 5;
        let top = self.y;
        let bottom = top + labels.len() * HEIGHT;
        let rows = (0..=labels.len()).map(|row| format!("M{LEFT} {}H{RIGHT}", top + row * HEIGHT));
        let columns = (0..=COLUMNS / SECTOR_COLUMNS)
            .map(|i| format!("M{} {top}V{bottom}", LEFT + i * SECTOR_COLUMNS * WIDTH));
        let lines: String = rows.chain(columns).collect();
        let _ = writeln!(self.body, "<path class=\"grid\" d=\"{lines}\"/>");
        for (row, label) in labels.iter().enumerate() {
            self.text("end", LEFT - 6, top + row * HEIGHT + 11, label);
        }
        self.y = bottom;
        top
    }

    fn cells(&mut self, top: usize, words: &[Cell]) {
        for Cell { row, column, lanes } in words {
            let (x, y) = (LEFT + column * WIDTH, top + row * HEIGHT);
            let _ = writeln!(
                self.body,
                "<rect class=\"wanted\" x=\"{}.5\" y=\"{}.5\" width=\"{}\" height=\"{}\"/>",
                x,
                y,
                WIDTH - 1,
                HEIGHT - 1
            );
            let label = match lanes[..] {
                [lane] => lane.to_string(),
                _ => format!("×{}", lanes.len()),
            };
            self.text("lane", x + WIDTH / 2, y + 10, &label);
        }
    }

    fn text(&mut self, class: &str, x: usize, y: usize, words: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(self.body, "<text{class} x=\"{x}\" y=\"{y}\">{}</text>", escaped(words));
    }

    /// The document, with what the fills mean.
    pub fn finish(mut self) -> String {
        self.y += 20;
        let y = self.y - 10;
        let _ =
            writeln!(self.body, "<rect class=\"wanted\" x=\"{LEFT}\" y=\"{y}\" width=\"12\" height=\"12\"/>");
        self.text("title", LEFT + 18, self.y, "wanted by a lane, which has this number");
        if self.body.contains("class=\"waste\"") {
            let x = LEFT + 340;
            let _ =
                writeln!(self.body, "<rect class=\"waste\" x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\"/>");
            let _ = writeln!(
                self.body,
                "<path class=\"hatch\" d=\"M{x} {0}l12 -12M{x} {1}l6 -6M{2} {0}l6 -6\"/>",
                y + 12,
                y + 6,
                x + 6
            );
            let _ = writeln!(
                self.body,
                "<rect class=\"sector\" x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\"/>"
            );
            self.text("title", x + 18, self.y, "moved for nothing");
        }
        let (width, height, title) = (RIGHT + 6, self.y + 10, escaped(&self.title));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tilewright-lanes\" role=\"img\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
             <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// Text as it may stand in a document.
pub fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
