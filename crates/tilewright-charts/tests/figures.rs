//! Figures as their readers get them.

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
    assert!(svg.contains(">kernel<") && svg.contains(">f32<") && !svg.contains("absent"));
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
