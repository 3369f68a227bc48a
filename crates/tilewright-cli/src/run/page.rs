//! A page with the kernels; it needs no network.

use super::{
    launches::Kernel,
    report::{COLUMNS, row},
};
use std::ffi::OsString;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid #8884}\
th:first-child,td:first-child{text-align:left}code{font-family:ui-monospace,monospace}\
.finding{border-left:4px solid #888;padding:.1rem 1rem;margin:1rem 0}.error{border-color:#c33}.warning{border-color:#c90}";

/// The page.
pub fn page(program: &[OsString], gpus: &str, kernels: &[Kernel]) -> String {
    let program: Vec<_> = program.iter().map(|part| part.to_string_lossy()).collect();
    let cells = |tag: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect()
    };
    let head = cells("th", &COLUMNS.map(str::to_owned));
    let rows: String =
        kernels.iter().map(|kernel| format!("<tr>{}</tr>\n", cells("td", &row(kernel)))).collect();
    let findings: String = kernels.iter().map(findings).collect();
    let findings = if findings.is_empty() { "<p>Nothing was found.</p>".into() } else { findings };
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n\
         <h1>{name}</h1>\n<p><code>{line}</code> on {gpus}, by an emulator: counts are of PTX instructions, and seconds are those of the \
         emulator.</p>\n<table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>\n<h2>Findings</h2>\n{findings}\n</body></html>\n",
        name = escaped(program.first().map_or("", |name| name)),
        line = escaped(&program.join(" ")),
        gpus = escaped(gpus),
    )
}

fn findings(kernel: &Kernel) -> String {
    let failures = kernel.failures.iter().map(|failure| {
        format!(
            "<div class=\"finding error\"><p><b>{}</b>: {}</p></div>\n",
            escaped(&kernel.name),
            escaped(failure)
        )
    });
    let findings = kernel.findings.iter().map(|finding| {
        let with = finding.with.as_ref().map_or(String::new(), |with| format!("<br>with {}", escaped(with)));
        format!(
            "<div class=\"finding {severity}\"><p><b>{severity}: {kind}</b> in <code>{kernel}</code>: {message}<br>at {at}{with}<br>{fix} ({count}\u{d7})</p></div>\n",
            severity = escaped(&finding.severity),
            kind = escaped(&finding.kind),
            kernel = escaped(&kernel.name),
            message = escaped(&finding.message),
            at = escaped(&finding.at),
            fix = escaped(&finding.fix),
            count = finding.count,
        )
    });
    failures.chain(findings).collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_is_called_is_no_markup() {
        let page = page(&["<b>&\"".into()], "H200 SXM", &[]);
        assert!(page.contains("<h1>&lt;b&gt;&amp;&quot;</h1>") && !page.contains("<b>&\""), "{page}");
    }
}
