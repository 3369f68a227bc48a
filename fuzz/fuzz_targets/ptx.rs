#![no_main]

// Parsing and decoding end with a program or an error.
libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = tilewright_emulator::Program::new(text);
});
