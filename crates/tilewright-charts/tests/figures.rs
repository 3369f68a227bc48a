//! Figures as their readers get them.
#![allow(clippy::unwrap_used)]

use tilewright_charts::{
    Axis, Bar, Bars, Ceiling, Figure, Hue, Mark, Plot, Point, Scale, Series, Theme, roofline,
};

fn figure() -> Figure {
    let plot = Plot::new(
        "<&\"plot\">",
        Axis::new("x \u{1}", Scale::Log2, 1.0, 64.0),
        Axis::covering("y", Scale::Linear, [7.0]),
    );
    let plot = plot
        .series(Series::line(Hue::Blue, vec![(1.0, 2.0), (64.0, f64::NAN), (64.0, 7.0)]).named("a<b"))
        .series(Series::steps(Hue::Green, vec![(1.0, 2.0), (8.0, 7.0)]).labelled("end"))
        .series(Series::dots(Hue::Red, vec![(3.0, 3.0)]))
        .mark(Mark::new(8.0, 7.0, "here"));
    let bars = Bars::new("bars", "s").bar(Bar::new("one", 1.0)).bar(Bar::new("two", 2.0).note("twice"));
    Figure::new("A & B").subtitle("sub").panel(plot).panel(bars).note("note")
}

/// Checks that tags are balanced and attributes quoted; gives the names of the elements.
fn elements(xml: &str) -> Vec<String> {
    let (mut open, mut names) = (Vec::new(), Vec::new());
    for part in xml.split('<').skip(1) {
        let (tag, _text) = part.split_once('>').expect("every tag is closed");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default().to_owned();
        if !tag.ends_with('/') {
            open.push(name.clone());
        }
        names.push(name);
    }
    assert!(open.is_empty(), "{open:?}");
    names
}

#[test]
fn svg_is_well_formed_whatever_the_words() {
    let svg = figure().to_svg(Theme::Auto);
    let names = elements(&svg);
    for name in ["svg", "title", "style", "rect", "path", "circle", "text"] {
        assert!(names.iter().any(|n| n == name), "{name}");
    }
    assert!(svg.contains("&lt;&amp;&quot;plot&quot;&gt;") && svg.contains("x \u{fffd}"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn colours_follow_the_theme() {
    let dark_text = "fill: #e6e9ee";
    let auto = figure().to_svg(Theme::Auto);
    let (light, dark) = auto.split_once("@media (prefers-color-scheme: dark)").expect("a dark part");
    assert!(!light.contains(dark_text) && dark.contains(dark_text));
    assert!(!figure().to_svg(Theme::Light).contains(dark_text));
    assert!(figure().to_svg(Theme::Dark).contains(dark_text));
    // Every class in use has its rule.
    for class in auto.split("class=\"").skip(2).filter_map(|part| part.split('"').next()) {
        for class in class.split(' ') {
            assert!(light.contains(&format!(".tilewright-chart .{class} {{")), "{class}");
        }
    }
}

#[test]
fn a_roof_rises_to_its_ridge_and_stays_level() {
    let ceilings = [Ceiling { name: "f32".into(), tera_per_second: 60.0, operations: vec!["FLOP"] }];
    let point = Point { name: "kernel".into(), intensity: 2.0, tera_per_second: 3.0 };
    let absent = Point { name: "absent".into(), intensity: 0.0, tera_per_second: 3.0 };
    let plot = roofline("Roofline", 4.0, &ceilings, &[point, absent]);
    let svg = Figure::new("").panel(plot).to_svg(Theme::Light);
    assert!(svg.contains(">kernel<") && svg.contains(">f32: ") && !svg.contains("absent"));
    let (slope, roof) = (corners(&svg, "s-grey"), corners(&svg, "s-blue"));
    assert!(slope[0].1 > slope[1].1, "{slope:?}");
    // The ridge: 60 TFLOP/s at 4 TB/s need 15 FLOP per byte.
    assert_eq!(slope[1], roof[0]);
    assert!(roof[0].1 == roof[1].1 && roof[0].0 < roof[1].0, "{roof:?}");
}

#[test]
fn the_axes_of_a_roof_name_the_operations() {
    let ceiling = |name: &str, operation| Ceiling {
        name: name.into(),
        tera_per_second: 60.0,
        operations: vec![operation],
    };
    let labels = |ceilings: &[Ceiling]| {
        let svg = Figure::new("").panel(roofline("Roofline", 4.0, ceilings, &[])).to_svg(Theme::Light);
        ["TFLOP/s", "TOP/s", "TFLOP/s or TOP/s"].map(|label| svg.contains(&format!(">{label}<")))
    };
    assert_eq!(labels(&[ceiling("f32", "FLOP")]), [true, false, false]);
    assert_eq!(labels(&[ceiling("i8", "OP")]), [false, true, false]);
    assert_eq!(labels(&[ceiling("i8", "OP"), ceiling("f32", "FLOP")]), [false, false, true]);
}

/// The corners of the first line in a colour.
fn corners(svg: &str, class: &str) -> Vec<(f64, f64)> {
    let line =
        svg.lines().find(|line| line.starts_with(&format!("<path class=\"{class}\""))).expect("a line");
    let path = line.split("d=\"M").nth(1).and_then(|rest| rest.split('"').next()).expect("a path");
    let number = |text: &str| text.parse().expect("a number");
    path.split('L').filter_map(|corner| corner.split_once(' ')).map(|(x, y)| (number(x), number(y))).collect()
}

#[cfg(feature = "png")]
mod png {
    use super::*;
    use tilewright_charts::PngError;

    #[test]
    fn png_has_the_size_and_the_colours_of_the_figure() {
        let pixels = |theme| {
            let png = figure().to_png(theme, 2.0).expect("an image");
            tiny_skia::Pixmap::decode_png(&png).expect("a PNG file")
        };
        let (light, dark) = (pixels(Theme::Light), pixels(Theme::Dark));
        assert_eq!(light.width(), 1520);
        let corner = |image: &tiny_skia::Pixmap| image.pixel(0, 0).map(|p| (p.red(), p.green(), p.blue()));
        assert_eq!((corner(&light), corner(&dark)), (Some((255, 255, 255)), Some((0x15, 0x18, 0x1d))));
        let count = |image: &tiny_skia::Pixmap, (r, g, b)| {
            image.pixels().iter().filter(|p| (p.red(), p.green(), p.blue()) == (r, g, b)).count()
        };
        // The bars are blue, the mark is red.
        assert!(count(&light, (0x1f, 0x6f, 0xb2)) > 5000 && count(&light, (0xc4, 0x32, 0x0a)) > 200);
        assert!(count(&dark, (0x6c, 0xb6, 0xff)) > 5000);
        // Letters: the title is drawn in the colour of text.
        assert!(count(&light, (0x1c, 0x21, 0x28)) > 100);
    }

    #[test]
    fn images_of_no_or_endless_size_are_refused() {
        for scale in [0.0, -1.0, f64::NAN, 1e9] {
            assert_eq!(figure().to_png(Theme::Light, scale), Err(PngError::Size));
        }
    }
}

/// Every text of a figure: its words, where they are anchored, and how.
fn texts(svg: &str) -> Vec<(String, f64, f64, String)> {
    let number = |tag: &str, name: &str| {
        tag.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
    };
    let of = |part: &str| {
        let (tag, rest) = part.split_once('>').unwrap();
        let anchor =
            tag.split("text-anchor=\"").nth(1).map_or("start", |text| text.split('"').next().unwrap());
        let words = rest.split('<').next().unwrap().to_owned();
        (words, number(tag, "x"), number(tag, "y"), anchor.to_owned())
    };
    svg.split("<text").skip(1).map(of).collect()
}

#[test]
fn bars_of_panels_with_one_unit_can_be_compared() {
    let panel = |name: &str, value| Bars::new("", "GFLOP/s").bar(Bar::new(name, value));
    let other = Bars::new("", "seconds").bar(Bar::new("x", 5.0));
    let figure = Figure::new("").panel(panel("a", 117.0)).panel(panel("a longer name", 125.0)).panel(other);
    let svg = figure.to_svg(Theme::Light);
    let widths: Vec<f64> = svg
        .split("<rect class=\"f-blue\"")
        .skip(1)
        .map(|tag| tag.split(" width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
        .collect();
    assert!((widths[0] / widths[1] - 117.0 / 125.0).abs() < 1e-3, "{widths:?}");
    // Another unit has an axis of its own.
    assert!(widths[2] > widths[1], "{widths:?}");
}

#[test]
fn spreads_are_drawn() {
    let bars = |bar| Figure::new("").panel(Bars::new("", "s").bar(bar)).to_svg(Theme::Light);
    let count = |svg: &str| svg.matches("class=\"s-text\"").count();
    assert_eq!(count(&bars(Bar::new("a", 100.0))), 0);
    assert_eq!(count(&bars(Bar::new("a", 100.0).spread(80.0, 120.0))), 3);
    assert_eq!(count(&bars(Bar::new("a", 100.0).spread(f64::NAN, 120.0))), 0);
}

#[test]
fn labels_of_a_roofline_stay_apart_and_name_their_units() {
    let ceiling = |name: &str, rate, operation| Ceiling {
        name: name.into(),
        tera_per_second: rate,
        operations: vec![operation],
    };
    let ceilings = [
        ceiling("tensor b1", 7916.0, "OP"),
        ceiling("tensor f8", 1979.0, "FLOP"),
        ceiling("tensor i8", 1980.0, "OP"),
        ceiling("tensor f16", 989.0, "FLOP"),
        ceiling("f32", 67.0, "FLOP"),
        ceiling("tensor f64", 66.0, "FLOP"),
    ];
    let point = |name: &str, intensity| Point { name: name.into(), intensity, tera_per_second: 0.3 };
    let points = [
        point("naive, no cache", 0.06),
        point("coalesced, no cache", 0.07),
        point("naive, perfect cache", 10.75),
        point("coalesced, perfect cache", 10.75),
    ];
    let svg = Figure::new("").width(520.0).panel(roofline("", 4.8, &ceilings, &points)).to_svg(Theme::Light);
    let texts = texts(&svg);
    let labels: Vec<_> = texts
        .iter()
        .filter(|t| t.0.contains("tensor") || t.0.contains("cache") || t.0.starts_with("f32"))
        .collect();
    assert!(
        labels.iter().any(|t| t.0 == "tensor i8: 1980 TOP/s")
            && labels.iter().any(|t| t.0 == "f32: 67.0 TFLOP/s")
    );
    // Marks on one place have one label.
    assert!(labels.iter().any(|t| t.0 == "naive, perfect cache; coalesced, perfect cache"), "{labels:?}");
    let area = |(words, x, y, anchor): &(String, f64, f64, String)| {
        let width = words.chars().count() as f64 * 12.0 * 0.5;
        let left = if anchor == "end" { x - width } else { *x };
        [left, y - 9.0, left + width, y + 2.0]
    };
    for (i, a) in labels.iter().enumerate() {
        for b in &labels[i + 1..] {
            let (p, q) = (area(a), area(b));
            assert!(p[2] <= q[0] || q[2] <= p[0] || p[3] <= q[1] || q[3] <= p[1], "{a:?} lies on {b:?}");
        }
    }
}
