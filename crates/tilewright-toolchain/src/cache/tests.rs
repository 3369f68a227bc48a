//! The promises of the cache, one by one.

use super::*;
use std::fs::File;
use tempfile::TempDir;

const BUILD: NvrtcBuild = NvrtcBuild([7; 32]);

fn key(text: &str) -> CacheKey {
    CacheKey::new(&Source { name: "k.cu", text, headers: &[] }, "sm_90", Output::Cubin, &["-lineinfo"], BUILD)
}

fn cache(capacity: u64) -> (TempDir, CubinCache) {
    let root = tempfile::tempdir().expect("temporary directory");
    let cache = CubinCache::new(root.path().join("deeper").join("cubins"), capacity);
    (root, cache)
}

fn path(cache: &CubinCache, key: CacheKey) -> PathBuf {
    cache.directory.join(key.file_name(EXTENSION))
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
    let make = |source: &Source<'_>, target, output, options: &[&str], build| {
        CacheKey::new(source, target, output, options, build)
    };
    let newer = NvrtcBuild([8; 32]);
    let keys = [
        make(&source, "sm_90", Output::Cubin, &["-a", "-b"], BUILD),
        make(&source, "sm_90a", Output::Cubin, &["-a", "-b"], BUILD),
        make(&source, "sm_90", Output::Ptx, &["-a", "-b"], BUILD),
        make(&source, "sm_90", Output::Cubin, &["-a"], BUILD),
        make(&source, "sm_90", Output::Cubin, &["-a-b"], BUILD),
        make(&source, "sm_90", Output::Cubin, &["-a", "-b"], newer),
        make(&Source { name: "l.cu", ..source }, "sm_90", Output::Cubin, &["-a", "-b"], BUILD),
        make(&Source { text: "other", ..source }, "sm_90", Output::Cubin, &["-a", "-b"], BUILD),
        make(
            &Source { headers: &[("a.cuh", "1"), ("b.cuh", "3")], ..source },
            "sm_90",
            Output::Cubin,
            &["-a", "-b"],
            BUILD,
        ),
        // A header is not an option, whatever its text.
        make(
            &Source { headers: &[("a.cuh", "1")], ..source },
            "sm_90",
            Output::Cubin,
            &["b.cuh", "2", "-a", "-b"],
            BUILD,
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

#[cfg(unix)]
mod on_unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode is set");
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).expect("metadata").mode() & 0o7777
    }

    /// A cache with one entry.
    fn filled() -> (TempDir, CubinCache) {
        let (root, cache) = cache(1 << 20);
        cache.store(key("a"), b"code").expect("stored");
        assert!(cache.load(key("a")).is_some());
        assert_eq!(cache.info().refused, None);
        (root, cache)
    }

    /// Nothing is read, written, counted or removed, and the reason is told.
    fn is_refused(cache: &CubinCache, reason: &str) {
        assert_eq!(cache.load(key("a")), None);
        let error = cache.store(key("b"), b"code").expect_err("refused");
        assert!(error.to_string().contains(reason), "{error}");
        let info = cache.info();
        assert!(info.refused.as_ref().is_some_and(|why| why.contains(reason)), "{info:?}");
        assert_eq!(info.entries, 0);
        assert!(cache.clear().is_err());
    }

    #[test]
    fn what_is_stored_is_for_its_owner_alone() {
        let (_root, cache) = filled();
        assert_eq!((mode(&cache.directory), mode(&path(&cache, key("a")))), (0o700, 0o600));
    }

    #[test]
    fn a_directory_that_others_could_write_to_is_never_adopted() {
        for open in [0o777, 0o770, 0o722, 0o1777] {
            let (_root, cache) = filled();
            set_mode(&cache.directory, open);
            is_refused(&cache, "others can write to it");
            assert_eq!(mode(&cache.directory), open, "it stays as it is");
            assert!(path(&cache, key("a")).exists());
        }
    }

    #[test]
    fn a_directory_that_is_a_link_is_not_used() {
        let (root, cache) = filled();
        let elsewhere = root.path().join("elsewhere");
        fs::rename(&cache.directory, &elsewhere).expect("moved");
        symlink(&elsewhere, &cache.directory).expect("a link");
        is_refused(&cache, "symbolic link");
        assert!(elsewhere.join(key("a").file_name(EXTENSION)).exists());
    }

    #[test]
    fn entries_that_others_can_write_to_and_links_are_misses() {
        let (root, cache) = filled();
        let entry = path(&cache, key("a"));
        for open in [0o620, 0o602, 0o666] {
            set_mode(&entry, open);
            assert_eq!(cache.load(key("a")), None, "{open:o}");
        }
        set_mode(&entry, 0o600);
        assert!(cache.load(key("a")).is_some());
        let elsewhere = root.path().join("entry");
        fs::rename(&entry, &elsewhere).expect("moved");
        symlink(&elsewhere, &entry).expect("a link");
        assert_eq!(cache.load(key("a")), None);
        // What is stored takes the link's place, and leaves alone what it led to.
        cache.store(key("a"), b"newer").expect("stored");
        assert_eq!(cache.load(key("a")).as_deref(), Some(&b"newer"[..]));
        assert!(fs::read(&elsewhere).expect("still there").ends_with(b"code"));
    }

    #[test]
    fn an_entry_that_is_a_pipe_is_not_waited_for() {
        let (_root, cache) = filled();
        let entry = path(&cache, key("a"));
        fs::remove_file(&entry).expect("removed");
        let made = std::process::Command::new("mkfifo").arg(&entry).status();
        if made.is_ok_and(|status| status.success()) {
            assert_eq!(cache.load(key("a")), None);
        }
    }

    /// Only the superuser can give files away.
    #[test]
    fn what_belongs_to_another_user_is_not_used() {
        const OTHER: Option<u32> = Some(12_345);
        let (_root, cache) = filled();
        let entry = path(&cache, key("a"));
        if chown(&entry, OTHER, None).is_err() {
            eprintln!("skipped: files cannot be given away");
            return;
        }
        assert_eq!(cache.load(key("a")), None);
        // A newer entry of one's own takes its place.
        cache.store(key("a"), b"mine").expect("stored");
        assert_eq!(cache.load(key("a")).as_deref(), Some(&b"mine"[..]));
        chown(&cache.directory, OTHER, None).expect("given away");
        is_refused(&cache, "belongs to user 12345");
    }
}
