#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tilewright_fuzz::read_and_write(tilewright_files::Format::Mtx, bytes);
});
