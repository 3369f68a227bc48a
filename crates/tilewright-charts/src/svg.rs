//! Shapes as SVG.
//!
//! Colours are style classes, so that one file suits light and dark pages; what ignores media queries shows the
//! light colours. Rules are scoped to the figure's own class and disturb no page around it.

use crate::{
    scene::{Anchor, Dash, Halo, Place, Scene, Shape, Text, Turn},
    theme::{Ink, Rgb, Theme},
};
use std::{collections::BTreeSet, fmt::Write};

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif";

pub(crate) fn write(scene: &Scene, theme: Theme) -> String {
    let (width, height) = (scene.width, scene.height);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tilewright-chart\" role=\"img\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"{FONT}\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escape(&scene.title));
    let _ = writeln!(out, "<style>\n{}</style>", style(scene, theme));
    let _ = writeln!(out, "<rect class=\"f-page\" width=\"{width}\" height=\"{height}\"/>");
    for shape in &scene.shapes {
        let _ = writeln!(out, "{}", element(shape));
    }
    out + "</svg>\n"
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Rect { x, y, width, height, ink, opacity } => format!(
            "<rect class=\"f-{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>",
            ink.class(),
            short(*x),
            short(*y),
            short(*width),
            short(*height),
            opaque(*opacity)
        ),
        Shape::Line { places, ink, width, dash } => {
            let dash = if *dash == Dash::Dashed { " stroke-dasharray=\"4 4\"" } else { "" };
            let (class, path) = (ink.class(), path(places));
            format!("<path class=\"s-{class}\" d=\"{path}\" fill=\"none\" stroke-width=\"{width}\"{dash}/>")
        }
        Shape::Area { places, ink, opacity } => {
            format!("<path class=\"f-{}\" d=\"{}Z\"{}/>", ink.class(), path(places), opaque(*opacity))
        }
        Shape::Dot { at, radius, ink } => {
            format!(
                "<circle class=\"f-{}\" cx=\"{}\" cy=\"{}\" r=\"{radius}\"/>",
                ink.class(),
                short(at.0),
                short(at.1)
            )
        }
        Shape::Text(text) => text_element(text),
    }
}

fn text_element(text: &Text) -> String {
    let (x, y) = (short(text.at.0), short(text.at.1));
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let turn = match text.turn {
        Turn::Level => String::new(),
        Turn::Upwards => format!(" transform=\"rotate(-90 {x} {y})\""),
    };
    let (halo, rest) = match text.halo {
        Halo::None => ("", ""),
        Halo::Page => (" s-page", " stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\""),
    };
    format!(
        "<text class=\"f-{}{halo}\" x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{turn}{rest}>{}</text>",
        text.ink.class(),
        text.size,
        escape(&text.words)
    )
}

fn opaque(opacity: f64) -> String {
    if opacity < 1.0 { format!(" fill-opacity=\"{opacity}\"") } else { String::new() }
}

fn path(places: &[Place]) -> String {
    let mut path = String::new();
    for (i, (x, y)) in places.iter().enumerate() {
        let command = if i == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{} {}", short(*x), short(*y));
    }
    path
}

/// A hundredth of a pixel is exact enough.
fn short(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn style(scene: &Scene, theme: Theme) -> String {
    let inks = inks(scene);
    let rules = |colour: fn((Rgb, Rgb)) -> Rgb| {
        inks.iter().fold(String::new(), |mut rules, ink| {
            let ([r, g, b], class) = (colour(ink.colours()), ink.class());
            for (prefix, property) in [("f", "fill"), ("s", "stroke")] {
                let _ = writeln!(
                    rules,
                    ".tilewright-chart .{prefix}-{class} {{ {property}: #{r:02x}{g:02x}{b:02x} }}"
                );
            }
            rules
        })
    };
    match theme {
        Theme::Light => rules(|pair| pair.0),
        Theme::Dark => rules(|pair| pair.1),
        Theme::Auto => {
            let dark = rules(|pair| pair.1);
            format!("{}@media (prefers-color-scheme: dark) {{\n{dark}}}\n", rules(|pair| pair.0))
        }
    }
}

/// The inks in use.
fn inks(scene: &Scene) -> BTreeSet<Ink> {
    let ink = |shape: &Shape| match shape {
        Shape::Rect { ink, .. }
        | Shape::Line { ink, .. }
        | Shape::Area { ink, .. }
        | Shape::Dot { ink, .. }
        | Shape::Text(Text { ink, .. }) => *ink,
    };
    scene.shapes.iter().map(ink).chain([Ink::Page]).collect()
}

/// Text as it may stand in a document; characters that XML does not admit are replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
