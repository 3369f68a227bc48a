//! One page without network: style, script, data and charts are in it.

mod data;
mod glossary;
mod recording;

use crate::text;
use data::Data;
use tilewright_core::{visible, visible_lines};
use tilewright_explain::{Explanation, OccupancyCurves, Recording};

/// Letters of a line for readers without script.
const PLAIN_WIDTH: usize = 100;
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
/// In this order they make one module.
const SCRIPTS: &[&str] = &[
    include_str!("dom.js"),
    include_str!("state.js"),
    include_str!("memory.js"),
    include_str!("picture.js"),
    include_str!("player.js"),
    include_str!("access.js"),
    include_str!("bound.js"),
    include_str!("compare.js"),
    include_str!("race.js"),
    include_str!("findings.js"),
    include_str!("results.js"),
    include_str!("source.js"),
    include_str!("matrices.js"),
    include_str!("explore.js"),
    include_str!("details.js"),
    include_str!("main.js"),
];

/// A kernel in a page.
#[derive(Clone, Copy, Debug)]
pub struct Exhibit<'a> {
    /// Its numbers.
    pub explanation: &'a Explanation,
    /// Its pictures.
    pub recording: &'a Recording,
    /// What its occupancy depends on, where a GPU is known.
    pub curves: Option<OccupancyCurves>,
}

/// The page on one kernel, or on several beside each other.
pub fn page(exhibits: &[Exhibit<'_>]) -> serde_json::Result<String> {
    let explanations: Vec<&Explanation> = exhibits.iter().map(|exhibit| exhibit.explanation).collect();
    let names: Vec<&str> = explanations.iter().map(|e| e.kernel.as_str()).collect();
    let data = Data::new(exhibits);
    // A script element ends at the first "</script", wherever it stands.
    let data = serde_json::to_string(&data)?.replace('<', "\\u003c");
    let plain: String = explanations.iter().map(|e| strip(&text::report(e, PLAIN_WIDTH)) + "\n").collect();
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + data.len());
    // The page is walked once, so that nothing that was put in is taken for a placeholder.
    for (i, part) in PAGE.split("{{").enumerate() {
        let Some((name, rest)) = part.split_once("}}").filter(|_| i > 0) else {
            page += part;
            continue;
        };
        match name {
            "title" => page += &escaped(&visible(&names.join(" and "))),
            "style" => page += STYLE,
            "script" => SCRIPTS.iter().for_each(|script| page += script),
            "data" => page += &data,
            "plain" => page += &escaped(&visible_lines(&plain)),
            _ => unreachable!("the page has no other placeholder"),
        }
        page += rest;
    }
    Ok(page)
}

/// Text for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Text without ANSI styles, which end in `m`.
fn strip(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += part.split_once('m').map_or(part, |(_, rest)| rest);
    }
    out
}
