use super::*;
use tilewright_core::ErrorKind;

#[test]
fn every_item_is_done_once() {
    for count in 0..40 {
        for threads in [0, 1, 2, 5] {
            let done: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            let add = |item: &AtomicUsize| {
                item.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            share(&done, threads, &add).expect("no item fails");
            assert!(done.iter().all(|item| item.load(Ordering::Relaxed) == 1));
        }
    }
}

#[test]
fn the_first_error_is_returned() {
    let items: Vec<usize> = (0..64).collect();
    let fail = |&item: &usize| match item {
        17.. => Err(ErrorKind::InnerMismatch { m: 1, k: item, bk: 1, n: 1 }.into()),
        _ => Ok(()),
    };
    let error = share(&items, 4, &fail).expect_err("many items fail");
    assert!(error.to_string().contains("17"), "{error}");
}

#[test]
fn a_panic_reaches_the_caller() {
    let items: Vec<usize> = (0..8).collect();
    let caught = catch_unwind(|| share(&items, 3, &|&item| if item == 5 { panic!("five") } else { Ok(()) }));
    assert_eq!(caught.expect_err("an item panics").downcast_ref(), Some(&"five"));
}

/// A few items of many pieces: each piece is done once, whoever does it, and before the item ends.
#[test]
fn pieces_of_items_are_done_once() {
    for (items, threads) in [(1, 4), (3, 2), (5, 3), (2, 1)] {
        let pieces: Vec<Vec<_>> =
            (0..items).map(|_| (0..500).map(|_| AtomicUsize::new(0)).collect()).collect();
        let all_once = |pieces: &[AtomicUsize]| pieces.iter().all(|piece| piece.load(Ordering::Relaxed) == 1);
        share_with_help(&pieces, threads, &|pieces, help| {
            let next = AtomicUsize::new(0);
            let take_part = || {
                for piece in untaken(&next, pieces.len()) {
                    thread::sleep(Duration::from_micros(2));
                    pieces[piece].fetch_add(1, Ordering::Relaxed);
                }
            };
            help.with(&take_part, take_part);
            assert!(all_once(pieces), "an item ended before its pieces");
            Ok(())
        })
        .expect("no item fails");
        assert!(pieces.iter().all(|pieces| all_once(pieces)));
    }
}

/// Offers `offer` until another thread has taken it. The thread that offers it, which need not be this one, only waits
/// meanwhile.
fn until_somebody_helps(offer: &(dyn Fn() + Sync)) {
    let helped = AtomicUsize::new(0);
    let offer = || {
        helped.fetch_add(1, Ordering::Release);
        offer();
    };
    let is_helped = || helped.load(Ordering::Acquire) > 0;
    let since = Instant::now();
    while !is_helped() {
        assert!(since.elapsed() < Duration::from_secs(60), "nobody helps");
        share_with_help(&[()], 2, &|(), help| {
            let since = Instant::now();
            help.with(&offer, || {
                while !is_helped() && since.elapsed() < Duration::from_millis(5) {
                    thread::yield_now();
                }
            });
            Ok(())
        })
        .expect("no item fails");
    }
}

#[test]
fn idle_threads_help() {
    until_somebody_helps(&|| {});
}

#[test]
fn a_panic_of_a_helper_reaches_the_caller() {
    let caught = catch_unwind(|| until_somebody_helps(&|| panic!("five")));
    assert_eq!(caught.expect_err("the helper panics").downcast_ref(), Some(&"five"));
}

/// What panics once more when it is dropped.
struct Bomb(usize);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// The number of the bomb that the caller of `f` has been thrown.
fn thrown(f: impl FnOnce()) -> usize {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("items panic");
    let number = panic.downcast_ref::<Bomb>().map(|bomb| bomb.0);
    forget(panic);
    number.expect("the panic is one of an item")
}

/// Every item panics, on the caller and on others, with something that must not be dropped. All the same the caller goes on
/// when all are done, not before.
#[test]
fn later_panics_are_forgotten() {
    for threads in [2, 5] {
        let ended: Vec<_> = (0..40).map(|_| AtomicUsize::new(0)).collect();
        let number = thrown(|| {
            let items: Vec<usize> = (0..ended.len()).collect();
            let result = share(&items, threads, &|&item| {
                thread::sleep(Duration::from_micros(200));
                ended[item].fetch_add(1, Ordering::Relaxed);
                resume_unwind(Box::new(Bomb(item)));
            });
            assert!(result.is_ok());
        });
        assert!(number < ended.len());
        assert!(ended.iter().all(|item| item.load(Ordering::Relaxed) == 1));
    }
}

/// Owner and helper both panic.
#[test]
fn panics_of_helpers_are_forgotten() {
    thrown(|| {
        until_somebody_helps(&|| {
            thread::sleep(Duration::from_millis(1));
            resume_unwind(Box::new(Bomb(1)));
        });
    });
}

/// However the caller leaves: threads that have taken items finish them first, and take no others.
#[test]
fn nobody_works_for_a_caller_that_has_left() {
    let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let slow = |_: usize, _: &Help| {
        begun.fetch_add(1, Ordering::Release);
        thread::sleep(Duration::from_millis(50));
        ended.fetch_add(1, Ordering::Relaxed);
    };
    // SAFETY: only the lifetime changes, and all threads that call it end before this function does.
    let run = unsafe { core::mem::transmute::<&Run<'_>, &'static Run<'static>>(&slow) };
    let work = Work::new(1000, 2, run);
    thread::scope(|scope| {
        let worker = scope.spawn(|| work.join());
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _completion = Completion(&work);
            while begun.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
            panic!("five");
        }));
        let (begun, ended) = (begun.load(Ordering::Relaxed), ended.load(Ordering::Relaxed));
        assert!(caught.is_err());
        assert!(begun == ended && begun < 1000, "{begun} begun, {ended} ended");
        worker.join().expect("no item panics");
    });
    assert_eq!(begun.into_inner(), ended.into_inner());
}
