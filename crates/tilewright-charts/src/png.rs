//! Shapes as pixels.

use crate::{
    scene::{Anchor, Dash, Halo, Place, Scene, Shape, Text, Turn},
    theme::{Ink, Theme},
};
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Printable ASCII and a few signs of DejaVu Sans; see `assets/LICENSE-DejaVu.txt`.
const FONT: &[u8] = include_bytes!("../assets/DejaVuSans-subset.ttf");

/// Why a figure has no PNG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PngError {
    /// The image would have no pixels, or too many to be held.
    Size,
    /// The encoder or the font reader failed.
    Encoding,
}

impl std::fmt::Display for PngError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Size => "the scale gives an image without pixels, or one too large to be held",
            Self::Encoding => "the image could not be encoded",
        })
    }
}

impl std::error::Error for PngError {}

/// Pixels on a side beyond which no image is wanted.
const MOST_PIXELS: f64 = 16_384.0;

pub(crate) fn write(scene: &Scene, theme: Theme, scale: f64) -> Result<Vec<u8>, PngError> {
    let pixels = |length: f64| {
        let pixels = (length * scale).round();
        if (1.0..=MOST_PIXELS).contains(&pixels) { Ok(pixels as u32) } else { Err(PngError::Size) }
    };
    let pixmap = Pixmap::new(pixels(scene.width)?, pixels(scene.height)?).ok_or(PngError::Size)?;
    let face = Face::parse(FONT, 0).map_err(|_| PngError::Encoding)?;
    let mut canvas = Canvas { pixmap, theme, scale: scale as f32, face };
    let [r, g, b] = canvas.colour(Ink::Page);
    canvas.pixmap.fill(tiny_skia::Color::from_rgba8(r, g, b, 255));
    scene.shapes.iter().for_each(|shape| canvas.draw(shape));
    canvas.pixmap.encode_png().map_err(|_| PngError::Encoding)
}

struct Canvas {
    pixmap: Pixmap,
    theme: Theme,
    scale: f32,
    face: Face<'static>,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { x, y, width, height, ink, opacity } => {
                let corners = [(*x, *y), (x + width, *y), (x + width, y + height), (*x, y + height)];
                self.fill(polygon(&corners, Ends::Joined), *ink, *opacity);
            }
            Shape::Line { places, ink, width, dash } => {
                let dash = match dash {
                    Dash::Solid => None,
                    Dash::Dashed => StrokeDash::new(vec![4.0, 4.0], 0.0),
                };
                let stroke = Stroke { width: *width as f32, dash, ..Stroke::default() };
                self.stroke(polygon(places, Ends::Open), *ink, &stroke);
            }
            Shape::Area { places, ink, opacity } => {
                self.fill(polygon(places, Ends::Joined), *ink, *opacity);
            }
            Shape::Dot { at, radius, ink } => {
                self.fill(PathBuilder::from_circle(at.0 as f32, at.1 as f32, *radius as f32), *ink, 1.0);
            }
            Shape::Text(text) => self.draw_text(text),
        }
    }

    fn draw_text(&mut self, text: &Text) {
        let letters = self.letters(text);
        if text.halo == Halo::Page {
            let (line_cap, line_join) = (LineCap::Round, LineJoin::Round);
            let stroke = Stroke { width: 4.0, line_cap, line_join, ..Stroke::default() };
            self.stroke(letters.clone(), Ink::Page, &stroke);
        }
        self.fill(letters, text.ink, 1.0);
    }

    /// The outlines of a text; nothing when all its characters are blank.
    fn letters(&self, text: &Text) -> Option<Path> {
        let unit = text.size as f32 / f32::from(self.face.units_per_em());
        let glyphs: Vec<(GlyphId, f32)> = text
            .words
            .chars()
            .map(|c| {
                // Glyph 0 is the box for what a font does not have.
                let glyph = self.face.glyph_index(c).unwrap_or(GlyphId(0));
                (glyph, f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) * unit)
            })
            .collect();
        let width: f32 = glyphs.iter().map(|(_, advance)| advance).sum();
        let mut pen = Pen {
            path: PathBuilder::new(),
            unit,
            x: match text.anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => -width / 2.0,
                Anchor::End => -width,
            },
        };
        for (glyph, advance) in glyphs {
            self.face.outline_glyph(glyph, &mut pen);
            pen.x += advance;
        }
        let (x, y) = (text.at.0 as f32, text.at.1 as f32);
        let turn = match text.turn {
            Turn::Level => Transform::identity(),
            Turn::Upwards => Transform::from_rotate(-90.0),
        };
        pen.path.finish()?.transform(turn.post_translate(x, y))
    }

    fn fill(&mut self, path: Option<Path>, ink: Ink, opacity: f64) {
        if let Some(path) = path {
            let paint = self.paint(ink, opacity);
            self.pixmap.fill_path(&path, &paint, FillRule::Winding, self.transform(), None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, ink: Ink, stroke: &Stroke) {
        if let Some(path) = path {
            let paint = self.paint(ink, 1.0);
            self.pixmap.stroke_path(&path, &paint, stroke, self.transform(), None);
        }
    }

    fn transform(&self) -> Transform {
        Transform::from_scale(self.scale, self.scale)
    }

    fn paint(&self, ink: Ink, opacity: f64) -> Paint<'static> {
        let [r, g, b] = self.colour(ink);
        let mut paint = Paint::default();
        paint.set_color_rgba8(r, g, b, (opacity * 255.0).round() as u8);
        paint
    }

    fn colour(&self, ink: Ink) -> [u8; 3] {
        let (light, dark) = ink.colours();
        if self.theme == Theme::Dark { dark } else { light }
    }
}

enum Ends {
    Open,
    Joined,
}

fn polygon(places: &[Place], ends: Ends) -> Option<Path> {
    let mut path = PathBuilder::new();
    let (first, rest) = places.split_first()?;
    path.move_to(first.0 as f32, first.1 as f32);
    rest.iter().for_each(|(x, y)| path.line_to(*x as f32, *y as f32));
    if matches!(ends, Ends::Joined) {
        path.close();
    }
    path.finish()
}

/// Draws the outline of a glyph at `x`; fonts count upwards, pages downwards.
struct Pen {
    path: PathBuilder,
    unit: f32,
    x: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.unit, -y * self.unit)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
