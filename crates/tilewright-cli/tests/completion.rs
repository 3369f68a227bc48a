//! Completion in the shells themselves; a shell that is not here is skipped, with a line.
#![cfg(unix)]
use crate::support::Desk;
use std::{
    ffi::OsString,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

/// What is typed, and what must be offered; an empty last word is an empty word.
const CASES: [(&str, &[&str]); 9] = [
    ("mul ", &["a.npy", "real.csv", "whole.csv"]),
    ("mul a.npy ", &["a.npy", "real.csv"]),
    ("mul a.npy b.npy --semiring ", &["plus-times", "min-plus", "or-and", "log-plus"]),
    ("mul a.npy b.npy --gpu ", &["h200-sxm", "rtx-a6000"]),
    ("gpus ", &["h200-sxm", "rtx-4090"]),
    ("kernels ", &["naive", "shared-tile", "copy-offset"]),
    ("explain ", &["naive", "simt", "k.cu"]),
    ("occupancy --gpu h", &["h100-sxm5", "h200-sxm"]),
    ("mul a.npy b.npy --alp", &["--alpha"]),
];

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("a.npy", "");
    desk.put("k.cu", "");
    desk
}

/// A shell with our command first in its path, or none where there is no such shell.
fn shell(name: &str, desk: &Desk, arguments: &[&str]) -> Option<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_tilewright")).parent().unwrap();
    let mut path = OsString::from(program);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new(name);
    command.args(arguments).env("PATH", path).env("HOME", desk.path()).current_dir(desk.path());
    let Ok(child) = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        eprintln!("skipped: there is no {name}");
        return None;
    };
    let (id, (done, wait)) = (child.id().to_string(), mpsc::channel());
    std::thread::spawn(move || done.send(child.wait_with_output()));
    let Ok(output) = wait.recv_timeout(LONGEST) else {
        Command::new("kill").arg(&id).status().unwrap();
        panic!("{name} does not answer");
    };
    Some(String::from_utf8_lossy(&output.unwrap().stdout).into_owned())
}

/// What a shell may take on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

fn check(shell: &str, typed: &str, expected: &[&str], offered: &str) {
    for name in expected {
        let is_there = offered.split(|c: char| c.is_whitespace() || c.is_control()).any(|word| word == *name);
        assert!(is_there, "{shell}, {typed:?}: {name} is not offered\n{offered}");
    }
    // Options wait for a dash.
    assert!(typed.ends_with("--alp") || !offered.contains("--"), "{shell}, {typed:?}: {offered}");
}

#[test]
fn bash_completes() {
    let desk = desk();
    let script = "source <(tilewright completions bash); COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                  _clap_complete_tilewright tilewright \"${COMP_WORDS[COMP_CWORD]}\" ''; \
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    for (typed, expected) in CASES {
        let words: Vec<&str> = std::iter::once("tilewright").chain(typed.split(' ')).collect();
        let arguments: Vec<&str> = ["--norc", "-c", script, "bash"].into_iter().chain(words).collect();
        let Some(offered) = shell("bash", &desk, &arguments) else { return };
        check("bash", typed, expected, &offered);
    }
}

#[test]
fn fish_completes() {
    let desk = desk();
    for (typed, expected) in CASES {
        let script = format!("tilewright completions fish | source; complete -C 'tilewright {typed}'");
        let Some(offered) = shell("fish", &desk, &["--no-config", "-c", &script]) else { return };
        // Behind a tab stands what a name means.
        let names: String =
            offered.lines().map(|line| line.split('\t').next().unwrap().to_owned() + "\n").collect();
        check("fish", typed, expected, &names);
    }
}

/// An interactive zsh in a terminal of its own, in which the words are typed, a tab is pressed, and a key that says when the list is there.
const ZSH: &str = r#"
zmodload zsh/zpty || exit 1
zpty shell env TERM=vt100 zsh -f -i
zpty -w shell "stty rows 500 cols 200; PS1= LISTMAX=9999; autoload -Uz compinit && compinit -u -D; source <(tilewright completions zsh)"
zpty -w shell "finish() { print -r FINI''SHED }; zle -N finish; bindkey '^I' list-choices '^X' finish; echo RE''ADY"
zpty -r -m shell ready '*READY*'
zpty -w -n shell "$1"$'\t\x18'
zpty -r -m shell offered '*FINISHED*'
print -r -- "$offered"
zpty -d shell
"#;

#[test]
fn zsh_completes() {
    let desk = desk();
    desk.put("type.zsh", ZSH);
    for (typed, expected) in CASES.into_iter().filter(|(typed, _)| !typed.ends_with("--alp")) {
        let line = format!("tilewright {typed}");
        let Some(offered) = shell("zsh", &desk, &["-f", "type.zsh", &line]) else { return };
        let plain = anstream::adapter::strip_str(&offered).to_string();
        // What was typed is shown again, and behind two dashes stands what a name means.
        let listed =
            plain.replace(&line, "").replace("-- ", " ").replace("--semiring", "").replace("--gpu", "");
        check("zsh", typed, expected, &listed);
    }
}
