//! The promises of the cache, one by one.

use super::*;
use tempfile::TempDir;

const VERSION: NvrtcVersion = NvrtcVersion { major: 13, minor: 0 };

fn key(text: &str) -> CacheKey {
    CacheKey::new(
        &Source { name: "k.cu", text, headers: &[] },
        "sm_90",
        Output::Cubin,
        &["-lineinfo"],
        VERSION,
    )
}

fn cache(capacity: u64) -> (TempDir, CubinCache) {
    let root = tempfile::tempdir().expect("temporary directory");
    let cache = CubinCache::new(root.path().join("deeper").join("cubins"), capacity);
    (root, cache)
}

fn path(cache: &CubinCache, key: CacheKey) -> PathBuf {
    cache.directory.join(key.file_name())
}

#[test]
fn what_is_stored_comes_back_and_nothing_else() {
    let (_root, cache) = cache(1 << 20);
    assert_eq!(cache.load(key("a")), None);
    cache.store(key("a"), b"machine code").expect("stored");
    assert_eq!(cache.load(key("a")).as_deref(), Some(&b"machine code"[..]));
    assert_eq!(cache.load(key("b")), None);
    cache.store(key("a"), b"newer").expect("stored again");
    assert_eq!(cache.load(key("a")).as_deref(), Some(&b"newer"[..]));
    assert_eq!((cache.info().entries, cache.info().bytes), (1, 8 + 64 + 5));
}

#[test]
fn everything_that_changes_the_code_changes_the_key() {
    let source = Source { name: "k.cu", text: "text", headers: &[("a.cuh", "1"), ("b.cuh", "2")] };
    let make = |source: &Source<'_>, target, output, options: &[&str], version| {
        CacheKey::new(source, target, output, options, version)
    };
    let newer = NvrtcVersion { minor: 1, ..VERSION };
    let keys = [
        make(&source, "sm_90", Output::Cubin, &["-a", "-b"], VERSION),
        make(&source, "sm_90a", Output::Cubin, &["-a", "-b"], VERSION),
        make(&source, "sm_90", Output::Ptx, &["-a", "-b"], VERSION),
        make(&source, "sm_90", Output::Cubin, &["-a"], VERSION),
        make(&source, "sm_90", Output::Cubin, &["-a-b"], VERSION),
        make(&source, "sm_90", Output::Cubin, &["-a", "-b"], newer),
        make(&Source { name: "l.cu", ..source }, "sm_90", Output::Cubin, &["-a", "-b"], VERSION),
        make(&Source { text: "other", ..source }, "sm_90", Output::Cubin, &["-a", "-b"], VERSION),
        make(
            &Source { headers: &[("a.cuh", "1"), ("b.cuh", "3")], ..source },
            "sm_90",
            Output::Cubin,
            &["-a", "-b"],
            VERSION,
        ),
        // A header is not an option, whatever its text.
        make(
            &Source { headers: &[("a.cuh", "1")], ..source },
            "sm_90",
            Output::Cubin,
            &["b.cuh", "2", "-a", "-b"],
            VERSION,
        ),
    ];
    for (i, one) in keys.iter().enumerate() {
        assert!(keys[..i].iter().all(|other| other != one), "key {i} is not new");
    }
}

#[test]
fn damaged_and_foreign_entries_are_misses_and_go_away() {
    let (_root, cache) = cache(1 << 20);
    cache.store(key("a"), b"machine code").expect("stored");
    let whole = fs::read(path(&cache, key("a"))).expect("the entry");
    let mut damages: Vec<Vec<u8>> = (0..whole.len()).map(|end| whole[..end].to_vec()).collect();
    for index in 0..whole.len() {
        let mut changed = whole.clone();
        changed[index] ^= 0x10;
        damages.push(changed);
    }
    damages.push([whole.as_slice(), b"more"].concat());
    for damaged in damages {
        fs::write(path(&cache, key("a")), &damaged).expect("written");
        assert_eq!(cache.load(key("a")), None);
        assert!(!path(&cache, key("a")).exists());
    }
    // A whole entry under the name of another one.
    cache.store(key("b"), b"of b").expect("stored");
    fs::copy(path(&cache, key("b")), path(&cache, key("a"))).expect("copied");
    assert_eq!(cache.load(key("a")), None);
    assert_eq!(cache.load(key("b")).as_deref(), Some(&b"of b"[..]));
}

#[test]
fn the_oldest_entries_go_when_the_capacity_is_reached() {
    let (_root, cache) = cache(1000);
    let age = |name: &str, seconds| {
        let file = File::open(path(&cache, key(name))).expect("the entry");
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).expect("dated");
    };
    for (name, seconds) in [("a", 300), ("b", 200), ("c", 100)] {
        cache.store(key(name), &[0; 228]).expect("stored"); // 300 bytes each
        age(name, seconds);
    }
    // Reading makes "a" the newest.
    assert!(cache.load(key("a")).is_some());
    cache.store(key("d"), &[0; 228]).expect("stored");
    let kept = ["a", "b", "c", "d"].map(|name| path(&cache, key(name)).exists());
    assert_eq!(kept, [true, false, false, true]);
    assert!(cache.info().bytes <= 1000);
}

#[test]
fn what_a_dead_process_left_is_removed_and_other_files_stay() {
    let (_root, cache) = cache(1 << 20);
    cache.store(key("a"), b"code").expect("stored");
    let [old, new, other] = [".new-old", ".new-now", "README"].map(|name| cache.directory.join(name));
    for file in [&old, &new, &other] {
        fs::write(file, "").expect("written");
        let hours = if file == &new { 0 } else { 2 };
        let date = SystemTime::now() - Duration::from_secs(3600 * hours);
        File::open(file).and_then(|file| file.set_modified(date)).expect("dated");
    }
    cache.store(key("b"), b"code").expect("stored");
    assert_eq!([&old, &new, &other].map(|file| file.exists()), [false, true, true]);
    assert_eq!(cache.clear().expect("cleared").entries, 2);
    assert_eq!(cache.info().entries, 0);
    assert!(other.exists());
}

#[cfg(unix)]
#[test]
fn the_directory_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let (_root, cache) = cache(1 << 20);
    cache.store(key("a"), b"code").expect("stored");
    let mode = |path: &Path| fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
    assert_eq!(mode(&cache.directory), 0o700);
    assert_eq!(mode(&path(&cache, key("a"))), 0o600);
    // A directory that others can write to holds nothing that may be run.
    fs::set_permissions(&cache.directory, fs::Permissions::from_mode(0o777)).expect("opened");
    assert_eq!(cache.load(key("a")), None);
    cache.store(key("b"), b"code").expect("stored");
    assert_eq!(mode(&cache.directory), 0o700);
}

#[test]
fn a_directory_that_cannot_be_is_a_miss_and_an_error_of_storing_alone() {
    let file = tempfile::NamedTempFile::new().expect("file");
    let cache = CubinCache::new(file.path().join("cubins"), 1 << 20);
    assert_eq!(cache.load(key("a")), None);
    assert!(cache.store(key("a"), b"code").is_err());
    assert_eq!(cache.info().entries, 0);
    assert_eq!(cache.clear().expect("nothing to do").entries, 0);
}

#[test]
fn many_threads_share_a_directory() {
    let (_root, cache) = cache(1 << 16);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let cache = &cache;
            scope.spawn(move || {
                for round in 0..100_u32 {
                    let number = (round * 7 + thread) % 23;
                    let key = key(&number.to_string());
                    let image = vec![number as u8; 3000];
                    cache.store(key, &image).expect("stored");
                    // It may be gone, but it is never another one or half of one.
                    if let Some(found) = cache.load(key) {
                        assert_eq!(found, image);
                    }
                }
            });
        }
    });
    assert!(cache.info().bytes <= 1 << 16);
}
