//! Where results go: no file loses what it holds.

use crate::support::{self, Desk};

const W: &str = "mul whole.csv whole.csv";

#[test]
fn a_tensor_joins_the_others_of_its_file() {
    let desk = Desk::new();
    let read = |name: &str| desk.ok(&format!("mul m.safetensors:{name} one.csv -o - -q"));
    desk.put("one.csv", "1,0\n0,1\n");
    desk.ok(&format!("{W} --dtype f64 -o m.safetensors:a"));
    desk.ok("mul wide.csv wide.csv --transpose-b --dtype i8 -o m.safetensors:b");
    desk.ok(&format!("{W} --dtype f32 -o m.safetensors:c"));
    assert_eq!(
        [read("a"), read("b"), read("c")],
        ["7.0,10.0\n15.0,22.0\n", "14,32\n32,77\n", "7.0,10.0\n15.0,22.0\n"]
    );
    // One that is there is replaced, and the others stay.
    desk.ok("mul one.csv one.csv --dtype i64 -o m.safetensors:a");
    assert_eq!([read("a"), read("b")], ["1,0\n0,1\n", "14,32\n32,77\n"]);
    assert!(desk.list().iter().all(|name| !name.starts_with('.')), "{:?}", desk.list());
}

#[test]
fn one_file_by_two_names_is_refused_before_anything_is_computed() {
    let desk = Desk::new();
    std::fs::create_dir(desk.file("dir")).unwrap();
    let mut names =
        vec!["./Z.npy".to_owned(), "dir/../Z.npy".into(), desk.file("Z.npy").display().to_string()];
    let refuse = |names: &[String], state: &str| {
        for name in names {
            let run = desk.run(&format!("{W} -s min-plus -o Z.npy --arg-out {name}"));
            assert_eq!(run.code, Some(2), "{state}, {name}: {}", run.err);
            assert!(run.err.contains("both write to Z.npy"), "{}", run.err);
            assert!(run.err.contains("hint: choose two files"), "{}", run.err);
        }
    };
    refuse(&names, "no file yet");
    assert!(!desk.list().contains(&"Z.npy".to_owned()));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("Z.npy", desk.file("link.npy")).unwrap();
        std::os::unix::fs::symlink(".", desk.file("here")).unwrap();
        names.extend(["link.npy".into(), "here/Z.npy".into()]);
        refuse(&names, "links to no file yet");
    }
    desk.ok(&format!("{W} -o Z.npy"));
    let before = std::fs::read(desk.file("Z.npy")).unwrap();
    std::fs::hard_link(desk.file("Z.npy"), desk.file("hard.npy")).unwrap();
    names.push("hard.npy".into());
    refuse(&names, "a file");
    assert_eq!(std::fs::read(desk.file("Z.npy")).unwrap(), before);
    desk.ok(&format!("{W} -s min-plus -o Z.npy --arg-out K.npy"));
}

#[test]
fn two_tensors_of_one_file_are_both_written() {
    let desk = Desk::new();
    let line = "mul roads.csv roads.csv -s min-plus";
    desk.ok(&format!("{line} -o x.safetensors:c --arg-out ./x.safetensors:k"));
    assert_eq!(desk.ok("mul x.safetensors:c x.safetensors:c -s min-plus -o - -q"), support::DISTANCES);
    desk.ok("mul x.safetensors:k x.safetensors:k -o - -q");
    // Without a name, or with the same one, one of them would be lost.
    for (c, k) in [("x", "x:k"), ("x:c", "x"), ("x:c", "x:c")] {
        let with_extension = |name: &str| name.replacen('x', "x.safetensors", 1);
        let run = desk.run(&format!("{line} -o {} --arg-out {}", with_extension(c), with_extension(k)));
        assert_eq!(run.code, Some(2), "{c} {k}: {}", run.err);
    }
}

#[test]
fn a_file_whose_tensors_cannot_be_kept_is_refused_at_once() {
    let desk = Desk::new();
    desk.put("m.safetensors", "not a header");
    let run = desk.run(&format!("{W} -o m.safetensors:c"));
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert!(
        run.err.contains("its other tensors cannot be kept") && run.err.contains("hint: "),
        "{}",
        run.err
    );
    assert_eq!(desk.get("m.safetensors"), "not a header");
    // Without a name the file is replaced.
    desk.ok(&format!("{W} -o m.safetensors"));
}

#[test]
fn an_output_may_be_an_input_in_the_same_container() {
    let desk = Desk::new();
    desk.ok(&format!("{W} -o m.safetensors:a"));
    desk.ok("mul m.safetensors:a m.safetensors:a -o m.safetensors:a");
    assert_eq!(desk.ok("mul m.safetensors m.safetensors -o - -q"), "165751,241570\n362355,528106\n");
}
