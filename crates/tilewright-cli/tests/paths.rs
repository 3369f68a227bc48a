//! Best paths: graphs in every form, routes, cycles, plans.

use crate::support::{self, DISTANCES, Desk, keys};

const EDGES: &str = "from,to,km\nBergen,Voss,100\nVoss,Oslo,360\nBergen,Oslo,480\nOslo,Bergen,470\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("edges.csv", EDGES);
    desk
}

/// A file of the repository.
fn data(name: &str) -> String {
    format!("{}/../../data/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_matrix_gives_all_distances() {
    let desk = desk();
    assert_eq!(desk.ok("paths roads.csv -o - -q"), DISTANCES);
    let shown = desk.ok("paths roads.csv");
    for part in ["3 vertices, 7 edges, min-plus on f64", "dense on the processor", "  0  3  7\n"] {
        assert!(shown.contains(part), "{shown}");
    }
    for file in ["d.npy", "d.csv", "d.mtx", "d.safetensors"] {
        let run = desk.run(&format!("paths roads.csv -o {file} --predecessors p.npy"));
        assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{}", run.err);
        assert!(run.err.contains(&format!("wrote {file}")) && run.err.contains("wrote p.npy"), "{}", run.err);
        assert_eq!(desk.ok(&format!("paths {file} --input matrix -o - -q")), DISTANCES);
    }
    desk.ok("paths roads.csv --predecessors p.csv");
    assert_eq!(desk.get("p.csv"), "-1,0,1\n1,-1,1\n1,2,-1\n");
    assert!(desk.list().iter().all(|name| !name.starts_with('.')), "{:?}", desk.list());
}

#[test]
fn names_travel_from_edges_to_tables_and_back() {
    let desk = desk();
    let table = ",Bergen,Voss,Oslo\nBergen,0,100,460\nVoss,830,0,360\nOslo,470,570,0\n";
    for method in ["dense", "dijkstra"] {
        assert_eq!(desk.ok(&format!("paths edges.csv -o - -q --method {method}")), table);
    }
    desk.ok("paths edges.csv -o km.csv --predecessors p.csv");
    assert_eq!(desk.get("km.csv"), table);
    assert_eq!(desk.get("p.csv"), ",Bergen,Voss,Oslo\nBergen,-1,0,1\nVoss,2,-1,1\nOslo,2,0,-1\n");
    assert_eq!(desk.ok("paths km.csv -o - -q"), table);
    assert!(
        desk.ok("paths edges.csv --undirected --from Oslo --to Voss")
            .starts_with("Oslo to Voss: 360, 1 edge\n")
    );
}

#[test]
fn routes_are_shown_stop_by_stop() {
    let desk = desk();
    let expected = "Bergen to Oslo: 460, 2 edges\n  Bergen -> Voss  100\n  Voss   -> Oslo  360\n";
    assert_eq!(desk.ok("paths edges.csv --from Bergen --to Oslo"), expected);
    desk.put("pairs.csv", "from,to\nBergen,Oslo\nOslo,Oslo\n");
    let both = desk.ok("paths edges.csv --pairs pairs.csv");
    assert_eq!(both, format!("{expected}Oslo to Oslo: 0, 0 edges\n"));
    // The same from predecessors.
    let run = desk.run("paths edges.csv --pairs pairs.csv --predecessors p.npy -q");
    assert_eq!(run.out, both);
    let json = desk.json("paths edges.csv --from Bergen --to Oslo");
    assert_eq!(json["routes"][0]["stops"], serde_json::json!(["Bergen", "Voss", "Oslo"]));
    assert_eq!(
        (&json["routes"][0]["weight"], &json["routes"][0]["edge_weights"]),
        (&460.into(), &serde_json::json!([100, 360]))
    );
    assert_eq!(
        keys(&json),
        [
            "backend",
            "device_seconds",
            "dtype",
            "edges",
            "gpu",
            "input",
            "memory_bytes",
            "method",
            "output",
            "predecessors_output",
            "prepare_seconds",
            "read_seconds",
            "routes",
            "schema",
            "seconds",
            "semiring",
            "steps",
            "transfer_seconds",
            "vertices",
            "write_seconds"
        ]
    );
    desk.put("split.csv", "a,b,1\nc,d,1\n");
    assert_eq!(desk.ok("paths split.csv --from a --to d"), "a to d: no path\n");
}

#[test]
fn the_flights_of_the_repository() {
    let desk = Desk::new();
    let line =
        format!("paths {} --labels {}:iata", data("flights/nonstop_km.csv"), data("flights/airports.csv"));
    let route = |ends: &str| desk.ok(&format!("{line} {ends}"));
    assert_eq!(
        route("--from HNL --to BOS"),
        "HNL to BOS: 8189, 2 edges\n  HNL -> MSP  6385\n  MSP -> BOS  1804\n"
    );
    assert!(route("--from SFO --to JFK").starts_with("SFO to JFK: 4152, 1 edge\n"));
    assert!(
        route("--from DAL --to BUR").starts_with("DAL to BUR: 2054, 3 edges\n"),
        "{}",
        route("--from DAL --to BUR")
    );
    assert_eq!(route("--from DAL --to BUR --steps 2"), "DAL to BUR: no path\n");
    let run = desk.run(&format!("{line} --from hnl --to BOS"));
    assert_eq!(
        (run.code, run.err.contains("--from: there is no vertex 'hnl'") && run.err.contains("is it HNL?")),
        (Some(2), true),
        "{}",
        run.err
    );
}

#[test]
fn the_drives_of_the_repository() {
    let desk = Desk::new();
    let drives = data("roads/drives.csv");
    let ask = |options: &[&str]| {
        let mut command = desk.command("paths");
        let ends = ["--undirected", "--from", "San Francisco, CA", "--to", "Washington, DC"];
        let run = support::Run::of(command.arg(&drives).args(ends).args(options).output().unwrap());
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.out
    };
    assert!(ask(&[]).starts_with("San Francisco, CA to Washington, DC: 2927, 6 edges\n"));
    assert!(ask(&["--steps", "5"]).ends_with("no path\n"));
    let widest = ask(&["-s", "min-max"]);
    assert!(
        widest.contains(": 418, ") && widest.contains("Walla Walla, WA   -> Twin Falls, ID    418"),
        "{widest}"
    );
}

#[test]
fn other_semirings() {
    let desk = desk();
    desk.put("width.csv", "a,b,10\nb,c,4\na,c,3\n");
    assert!(desk.ok("paths width.csv -s max-min --from a --to c").starts_with("a to c: 4, 2 edges"));
    desk.put("odds.csv", "a,b,0.9\nb,c,0.5\na,c,0.4\n");
    assert!(desk.ok("paths odds.csv -s max-times --from a --to c").starts_with("a to c: 0.45, 2 edges"));
    assert_eq!(desk.ok("paths odds.csv -s or-and --from a --to c"), "a to c: 1 edge\n  a -> c\n");
    assert_eq!(
        desk.ok("paths width.csv -s or-and -o - -q"),
        ",a,b,c\na,true,true,true\nb,false,true,true\nc,false,false,true\n"
    );
    let run = desk.run("paths width.csv -s or-and --dtype f32");
    assert!(run.code == Some(2) && run.err.contains("or-and has no best paths on f32"), "{}", run.err);
}

#[test]
fn bounded_paths_and_the_shortcut_problem() {
    let desk = desk();
    desk.put("line.csv", "0,1,inf\ninf,0,1\ninf,inf,0\n");
    assert_eq!(desk.ok("paths line.csv --steps 1 -o - -q"), "0.0,1.0,inf\ninf,0.0,1.0\ninf,inf,0.0\n");
    assert_eq!(desk.ok("paths line.csv --steps 2 -o - -q"), "0.0,1.0,2.0\ninf,0.0,1.0\ninf,inf,0.0\n");
    desk.ok("paths line.csv --steps 2 --predecessors p.csv -o d.csv -q");
    assert_eq!(desk.get("p.csv"), "-1,0,1\n-1,-1,1\n-1,-1,-1\n");
    assert_eq!(desk.get("d.csv"), "0.0,1.0,2.0\ninf,0.0,1.0\ninf,inf,0.0\n");
    assert_eq!(desk.run("paths line.csv --steps 0").code, Some(2));
}

#[test]
fn a_negative_cycle_is_named_and_nothing_is_written() {
    let desk = desk();
    desk.put("loss.csv", "a,b,1\nb,c,-3\nc,a,1\nc,d,5\n");
    for method in ["dense", "dijkstra"] {
        let run = desk.run(&format!("paths loss.csv -o d.npy --method {method}"));
        assert_eq!(run.code, Some(1), "{}", run.err);
        assert!(run.err.contains("a negative cycle: a -> b -> c -> a, weight -1"), "{}", run.err);
        assert!(run.err.contains("hint: ") && !desk.list().contains(&"d.npy".to_owned()));
    }
    assert!(desk.ok("paths loss.csv --steps 3 --from a --to d").starts_with("a to d: 3, 3 edges"));
    // Dear edges alone are none.
    desk.put("debt.csv", "a,b,-5\nb,a,6\n");
    assert_eq!(desk.ok("paths debt.csv -o - -q"), ",a,b\na,0,-5\nb,6,0\n");
}

#[test]
fn cycles_that_weigh_about_nothing_end_and_routes_weigh_their_distance() {
    let desk = desk();
    // Its cycle weighs -2e-19.
    desk.put("g.csv", "a,b,-0.0009120601173427901\nb,c,-0.0008992663401934466\nc,a,0.0018113264575362366\n");
    for method in ["auto", "dense", "dijkstra"] {
        let run = desk.ok(&format!("paths g.csv --method {method} -o - -q"));
        assert!(run.contains("a,0.0,-0.0009120601173427901,-0.0018113264575362366\n"), "{run}");
        desk.ok(&format!("paths g.csv --method {method} --predecessors p.csv -q"));
        assert_eq!(desk.get("p.csv"), ",a,b,c\na,-1,0,1\nb,2,-1,1\nc,2,0,-1\n");
        let route = desk.ok(&format!("paths g.csv --method {method} --from a --to c"));
        assert!(route.starts_with("a to c: -0.0018113264575362366, 2 edges\n"), "{route}");
    }
    desk.put("w.csv", "s,t,0.4861576653663252\ns,x,-1\nx,s,1\nx,e,0.3044108938074692\ne,t,3\n");
    for method in ["dense", "dijkstra"] {
        let route = desk
            .ok(&format!("paths w.csv --method {method} -o d.npy -q --predecessors p.npy --from s --to t"));
        assert!(route.starts_with("s to t: 0.4861576653663252, 1 edge\n"), "{route}");
    }
}

#[test]
fn sparse_formats_and_zeros() {
    let desk = desk();
    desk.put("g.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 5\n2 3 6\n");
    let expected = "0,5,11\ninf,0,6\ninf,inf,0\n";
    assert_eq!(desk.ok("paths g.mtx -o - -q"), expected);
    desk.put("z.csv", "0,5,0\n0,0,6\n0,0,0\n");
    assert_eq!(desk.ok("paths z.csv --zero-means-absent -o - -q"), expected);
    desk.put("n.csv", "0,1,5\n1,2,6\n");
    assert_eq!(desk.ok("paths n.csv --vertices 3 -o - -q"), expected);
    let scipy = format!("{}/../tilewright-files/tests/data/sparse_csr.npz", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(desk.ok(&format!("paths {scipy} -o - -q")), "0.0,1.5,-0.5\n1.0,0.0,-2.0\n3.0,4.5,0.0\n");
    assert_eq!(desk.ok("paths roads.csv --dtype i16 -o - -q"), "0,3,7\n3,0,4\n7,4,0\n");
}

#[test]
fn plans_compare_both_methods() {
    let desk = desk();
    let mut edges = String::new();
    (0..3000).for_each(|i| edges += &format!("{i},{},1\n", (i * 7 + 1) % 3000));
    desk.put("many.csv", &edges);
    let plan = desk.json("paths many.csv --plan --threads 1");
    assert_eq!(
        (&plan["method"], &plan["vertices"], &plan["edges"]),
        (&"dijkstra".into(), &3000.into(), &3000.into())
    );
    assert!(plan["dense_seconds"].as_f64() > plan["dijkstra_seconds"].as_f64());
    assert!(desk.ok("paths roads.csv --plan").contains("dense      about"));
    assert_eq!(desk.json("paths many.csv --plan --method dense")["method"], "dense");
}

#[cfg(target_os = "linux")]
#[test]
fn more_memory_than_is_free_is_refused_before_anything_is_computed() {
    let desk = Desk::new();
    desk.put("n.csv", "0,1,5\n1,2,6\n");
    let run = desk.run("paths n.csv --vertices 4000000 -o d.npy");
    assert_eq!(run.code, Some(5), "{}", run.err);
    assert!(
        run.err.contains("memory: 119209.3 GiB are needed, ") && run.err.contains("could not be allocated"),
        "{}",
        run.err
    );
    assert!(!desk.list().contains(&"d.npy".to_owned()));
    // One route needs one row.
    assert!(desk.ok("paths n.csv --vertices 4000000 --from 0 --to 2").starts_with("0 to 2: 11, 2 edges\n"));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let desk = desk();
    desk.put("bad.csv", "a,b,1\nb,c,x\n");
    desk.put("twice.txt", "a\nb\na\n");
    desk.put("pairs.csv", "Bergen,Oslo\nBergen,Rome\n");
    for (line, code, expected) in [
        ("paths bad.csv", 3, "bad.csv: line 2, column 3: 'x' is not a number"),
        ("paths wide.csv --input matrix", 3, "W is 2x3, but a graph has as many rows as columns"),
        (
            "paths roads.csv --labels twice.txt",
            3,
            "twice.txt: line 3, column 1: 'a' is the name of line 1 already",
        ),
        ("paths edges.csv --pairs pairs.csv", 2, "pairs.csv: line 2, column 2: there is no vertex 'Rome'"),
        ("paths roads.csv --from 0 --to 3", 2, "--to: there is no vertex '3'"),
        ("paths roads.csv --to 0", 2, "--from"),
        ("paths roads.csv --undirected", 2, "--undirected with a matrix"),
        ("paths roads.csv -s plus-times", 2, "plus-times"),
        ("paths roads.csv -o d.npy --predecessors ./d.npy", 2, "both write to d.npy"),
        ("paths none.csv", 3, "none.csv"),
    ] {
        let run = desk.run(line);
        assert_eq!(run.code, Some(code), "{line}: {}", run.err);
        assert!(run.err.contains(expected), "{line}: {}", run.err);
    }
}

#[test]
fn a_gpu_closes_and_multiplies_and_gives_the_same() {
    let desk = Desk::new();
    for line in
        ["random:70", "random:65 -s max-times --dtype f64", "random:70 -s or-and", "random:66 --steps 3"]
    {
        desk.ok(&format!("paths {line} --backend cpu -o here.npy -q"));
        let json = desk.json(&format!("paths {line} --backend emulator -o there.npy --repeat 2"));
        assert!(
            std::fs::read(desk.file("here.npy")).unwrap() == std::fs::read(desk.file("there.npy")).unwrap(),
            "{line}"
        );
        assert_eq!((&json["backend"], &json["method"]), (&"emulator".into(), &"dense".into()));
        assert!(json["device_seconds"].as_f64() > Some(0.0) && json["transfer_seconds"].as_f64() > Some(0.0));
    }
    // A list of edges, too, and the routes are the processor's.
    desk.put("edges.csv", "from,to,km\nOslo,Voss,300\nVoss,Bergen,100\nOslo,Bergen,450\n");
    desk.ok("paths edges.csv -o here.csv --predecessors p.npy -q");
    desk.ok("paths edges.csv -o there.csv --predecessors q.npy --backend emulator -q");
    assert!(
        desk.get("here.csv") == desk.get("there.csv")
            && std::fs::read(desk.file("p.npy")).unwrap() == std::fs::read(desk.file("q.npy")).unwrap()
    );
    assert!(desk.ok("paths random:9 --backend emulator").contains("dense on the emulator, which imitates"));
    let run = desk.run("paths edges.csv --backend emulator --method dijkstra");
    assert!(run.code == Some(2) && run.err.contains("searches are the processor's"), "{}", run.err);
    let run = desk.run("paths random:4097 --dtype i16 --backend emulator");
    assert!(run.code == Some(2) && run.err.contains("too many for the emulator"), "{}", run.err);
    let run = desk.run("paths random:x");
    assert!(run.code == Some(2) && run.err.contains("random:N is a complete graph"), "{}", run.err);
    assert_eq!(desk.run("paths random:9 --backend reference").code, Some(2));
    desk.put("loss.csv", "a,b,1\nb,c,-4\nc,a,2\n");
    let run = desk.run("paths loss.csv --backend emulator -o d.npy");
    assert!(run.code == Some(1) && run.err.contains("a -> b -> c -> a, weight -1"), "{}", run.err);
}

#[test]
fn a_cycle_is_named_where_the_matrix_became_the_result() {
    let desk = Desk::new();
    // Within a block of vertices, and across two.
    for (n, stops) in [(3, "0 -> 1 -> 2 -> 0"), (130, "0 -> 1 -> 129 -> 0")] {
        let edge = |i: usize, j: usize| match (i, j) {
            (0, 1) => "1",
            (1, j) if j == n - 1 => "-4",
            (i, 0) if i == n - 1 => "2",
            _ => "inf",
        };
        let row = |i: usize| (0..n).map(|j| edge(i, j)).collect::<Vec<_>>().join(",") + "\n";
        desk.put("loss.csv", &(0..n).map(row).collect::<String>());
        let run = desk.run("paths loss.csv --input matrix --method dense -o d.npy");
        assert!(run.code == Some(1) && run.err.contains(&format!("{stops}, weight -1")), "{}", run.err);
        assert!(!desk.list().contains(&"d.npy".to_owned()));
    }
}
