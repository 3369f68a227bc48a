//! Help, completions, manual pages and `doctor`.

use crate::support::{Desk, keys};

/// Compares with `tests/help/NAME`; `UPDATE_HELP=1 cargo test` writes it.
fn matches_file(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help").join(name);
    // Blank lines are indented in the original.
    let text = text.lines().map(|line| line.trim_end().to_owned() + "\n").collect::<String>();
    if std::env::var_os("UPDATE_HELP").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(text == expected, "help differs from tests/help/{name}; UPDATE_HELP=1 renews it:\n{text}");
}

#[test]
fn help_is_as_recorded() {
    let desk = Desk::new();
    matches_file("tilewright.txt", &desk.ok("--help"));
    matches_file("mul.txt", &desk.ok("mul --help"));
    matches_file("paths.txt", &desk.ok("paths --help"));
    matches_file("occupancy.txt", &desk.ok("occupancy --help"));
    matches_file("gpus.txt", &desk.ok("gpus --help"));
    matches_file("doctor.txt", &desk.ok("doctor --help"));
    matches_file("bench.txt", &desk.ok("bench --help"));
    matches_file("tune.txt", &desk.ok("tune --help"));
    matches_file("kernels.txt", &desk.ok("kernels --help"));
    matches_file("cache.txt", &desk.ok("cache --help"));
    matches_file("run.txt", &desk.ok("run --help"));
    matches_file("check.txt", &desk.ok("check --help"));
}

#[test]
fn version_is_that_of_the_package() {
    assert_eq!(Desk::new().ok("--version"), format!("tilewright {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_shell_has_completions() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = desk.ok(&format!("completions {shell}"));
        assert!(script.contains("TILEWRIGHT_COMPLETE") && script.contains("tilewright"), "{shell}: {script}");
    }
    assert_eq!(desk.run("completions csh").code, Some(2));
}

#[test]
fn the_manual_shows_values_and_every_help_has_exit_codes() {
    let desk = Desk::new();
    desk.ok("man --dir man");
    let page = desk.get("man/tilewright-mul.1");
    let synopsis = page.split(".SH DESCRIPTION").next().unwrap().split(".SH SYNOPSIS").nth(1).unwrap();
    let plain = synopsis.replace("\\fB", "").replace("\\fI", "").replace("\\fR", "").replace("\\-", "-");
    for part in ["[-o|--output C]", "[-s|--semiring SEMIRING]", "[--alpha X]", "[-q|--quiet]", "A B"] {
        assert!(plain.contains(part), "{part}: {plain}");
    }
    for command in
        ["mul", "bench", "explain", "occupancy", "gpus", "kernels", "doctor", "cache", "cache info"]
    {
        let help = desk.ok(&format!("{command} --help"));
        assert!(
            help.contains("Exit codes: 0 done") && help.contains("130, 143 and 129"),
            "{command}: {help}"
        );
    }
}

/// Examples are not filled, and nothing is justified or hyphenated.
#[test]
fn examples_of_the_manual_keep_their_lines() {
    let desk = Desk::new();
    desk.ok("man --dir man");
    let page = desk.get("man/tilewright-mul.1");
    assert!(page.find(".ad l\n.nh\n").unwrap() < page.find(".SH NAME").unwrap(), "{page}");
    let examples = page.split(".nf\n").skip(1).filter_map(|block| block.split_once(".fi\n"));
    let kept: String = examples.map(|(block, _)| block).collect();
    let help = desk.ok("mul --help");
    let shown: Vec<&str> = help.lines().filter(|line| line.starts_with("  tilewright mul ")).collect();
    assert!(shown.len() > 2, "{help}");
    for line in shown {
        assert!(kept.replace("\\-", "-").replace("\\*(Aq", "'").contains(line), "{line}\n{kept}");
    }
}

#[test]
fn manual_pages_are_printed_and_written() {
    let desk = Desk::new();
    assert!(desk.ok("man").contains(".TH tilewright 1"));
    desk.ok("man --dir pages/man1");
    for page in [
        "tilewright.1",
        "tilewright-mul.1",
        "tilewright-paths.1",
        "tilewright-explain.1",
        "tilewright-occupancy.1",
        "tilewright-gpus.1",
        "tilewright-doctor.1",
    ] {
        assert!(desk.get(&format!("pages/man1/{page}")).contains(".SH NAME"), "{page}");
    }
    desk.put("file", "");
    let run = desk.run("man --dir file");
    assert_eq!((run.code, run.err.starts_with("error: file: ")), (Some(3), true), "{}", run.err);
}

#[test]
fn doctor_finds_this_machine_well() {
    let desk = Desk::new();
    let text = desk.ok("doctor");
    for part in [
        "processor",
        "portable     ok",
        "in use",
        "cuda         ",
        "driver       ",
        "nvrtc        ",
        "cache        ",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let json = desk.json("doctor");
    assert_eq!(
        keys(&json),
        [
            "backends",
            "chosen",
            "chosen_because",
            "cpu",
            "cuda",
            "environment",
            "instruction_sets",
            "passed",
            "run",
            "schema",
            "version"
        ]
    );
    assert_eq!((&json["schema"], &json["passed"]), (&1.into(), &true.into()));
    for component in json["cuda"]["components"].as_array().unwrap() {
        // Found, and by which rule; or what to do about it.
        let key = if component["available"] == true { "rule" } else { "hint" };
        assert!(component[key].is_string(), "{component}");
    }
}

#[test]
fn the_cache_is_shown_and_emptied() {
    let desk = Desk::new();
    let run = |line: &str| {
        let output = desk.command(line).env("TILEWRIGHT_CACHE_DIR", desk.file("cache")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // Only entries are counted and removed.
    std::fs::create_dir_all(desk.file("cache/cubins")).unwrap();
    desk.put("cache/cubins/0123.cubin", "12345");
    desk.put("cache/cubins/note.txt", "keep me");
    std::fs::create_dir_all(desk.file("cache/programs")).unwrap();
    desk.put("cache/programs/0123.texts", "1234567");
    let info = |text: &str| {
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        let [entries, bytes, removed] =
            ["entries", "bytes", "removed"].map(|key| json[key].as_u64().unwrap());
        (entries, bytes, removed)
    };
    assert_eq!(info(&run("cache info --format json")), (1, 5, 0));
    let programs = |text: &str| {
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        info(&json["programs"].to_string())
    };
    assert_eq!(programs(&run("cache info --format json")), (1, 7, 0));
    let table = run("cache info");
    assert!(table.contains("cubins") && table.contains("programs"), "{table}");
    let cleared = run("cache clear --format json");
    assert_eq!((info(&cleared), programs(&cleared)), ((0, 0, 1), (0, 0, 1)));
    assert_eq!(desk.get("cache/cubins/note.txt"), "keep me");
    let disabled = desk.command("cache info").env("TILEWRIGHT_NO_CACHE", "1").output().unwrap();
    assert_eq!(disabled.status.code(), Some(4));
}

#[cfg(unix)]
#[test]
fn a_cache_that_others_can_write_to_is_not_used_and_that_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let directory = desk.file("cache/cubins");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
    desk.put("cache/cubins/0123.cubin", "12345");
    for line in ["cache info", "doctor"] {
        let output = desk.command(line).env("TILEWRIGHT_CACHE_DIR", desk.file("cache")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("not used") && text.contains("others can write to it (mode 777)"), "{text}");
    }
    let output =
        desk.command("cache clear").env("TILEWRIGHT_CACHE_DIR", desk.file("cache")).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(desk.get("cache/cubins/0123.cubin"), "12345");
}

#[test]
fn doctor_says_which_rule_chose_and_what_is_wrong_with_it() {
    let desk = Desk::new();
    let output = desk.command("doctor").env("TILEWRIGHT_FORCE_ISA", "portable").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("in use       portable: TILEWRIGHT_FORCE_ISA says so"), "{text}");
    let output = desk.command("doctor").env("TILEWRIGHT_FORCE_ISA", "sse").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("TILEWRIGHT_FORCE_ISA=sse is not valid") && err.contains("hint: unset"), "{err}");
}
