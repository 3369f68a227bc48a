//! Tensors as arguments: the driver encodes their maps, and kernels copy boxes by them.

use tilewright_arch::{Gpu, GridLaunch};
use tilewright_core::Error;
use tilewright_cuda::{CodeLaunch, Engine};
use tilewright_kernels::{Argument, Swizzle, Tensor, TensorElement};

/// Rows and columns of the matrix of 16-bit numbers, and the bytes from one row to the next.
const ROWS: usize = 20;
const COLUMNS: usize = 72;
const PITCH: usize = 160;
/// Rows and columns of a box, whose rows have the bytes of the swizzle.
const BOX: [usize; 2] = [8, 64];

/// Each block of a cluster copies one box to shared memory, and from there, as it lies, to the output. Its first column is a parameter, its
/// first row 8 times the block's place. The block takes more than 48 KiB of shared memory, and the box lies behind them.
const COPY: &str = ".version 8.0\n.target sm_90a\n.address_size 64\n\
    .extern .shared .align 1024 .b8 room[];\n\
    .visible .entry copy(.param .u32 column, .param .align 64 .b8 map[128], .param .u64 to) {\n\
    .reg .b32 %t, %row, %column, %box, %at, %word; .reg .b64 %map, %to, %wide, %state, %bar; .reg .pred %first, %done;\n\
    .shared .align 8 .b64 bar;\n\
    mov.b64 %map, map; cvta.param.u64 %map, %map; ld.param.u64 %to, [to]; ld.param.u32 %column, [column];\n\
    mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0; mov.u32 %box, room; add.u32 %box, %box, 65536;\n\
    mov.u32 %row, %cluster_ctarank; shl.b32 %row, %row, 3;\n\
    @%first mbarrier.init.shared::cta.b64 [bar], 1;\n\
    @%first fence.mbarrier_init.release.cluster;\n\
    bar.sync 0;\n\
    @%first mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], 1024;\n\
    @%first cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%box], [%map, {%column, %row}], [bar];\n\
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0; @!%done bra WAIT;\n\
    shl.b32 %at, %t, 2; add.u32 %box, %box, %at; ld.shared.b32 %word, [%box];\n\
    shl.b32 %row, %row, 7; add.u32 %at, %at, %row;\n\
    cvt.u64.u32 %wide, %at; add.u64 %to, %to, %wide; st.global.b32 [%to], %word;\nret;\n}\n\0";

/// Blocks of the cluster.
const BLOCKS: u32 = 3;
const SHARED: u32 = 65536 + 1024;

fn tensor() -> Tensor<usize> {
    Tensor {
        memory: 0,
        element: TensorElement::Bf16,
        extents: vec![COLUMNS as u64, ROWS as u64],
        strides: vec![PITCH as u64],
        tile: vec![BOX[1] as u32, BOX[0] as u32],
        swizzle: Swizzle::B128,
    }
}

/// What lies at a row and a column; 0 outside.
fn number(row: usize, column: usize) -> u16 {
    if row < ROWS && column < COLUMNS { (1000 * row + column + 1) as u16 } else { 0 }
}

/// What the blocks have copied, as it lay in shared memory.
fn copied(tensor: Tensor<usize>, column: u32) -> Result<Vec<u16>, Error> {
    let engine = Engine::emulated(Gpu::named("h100").expect("known"))?;
    // What lies between the rows belongs to nobody.
    let mut matrix = vec![0xff; ROWS * PITCH];
    for (row, bytes) in matrix.chunks_mut(PITCH).enumerate() {
        let numbers = (0..COLUMNS).flat_map(|column| number(row, column).to_le_bytes());
        bytes.iter_mut().zip(numbers).for_each(|(to, from)| *to = from);
    }
    let mut output = vec![0; BLOCKS as usize * 1024];
    let arrays = engine.upload_arrays(&[("matrix", &matrix), ("output", &output)])?;
    let arguments =
        [Argument::i32(column.cast_signed()), Argument::Tensor(Box::new(tensor)), Argument::Pointer(1)];
    let launch = CodeLaunch {
        name: "copy",
        cubin: COPY.as_bytes(),
        entry: "copy",
        shape: GridLaunch {
            cluster: Some([BLOCKS, 1, 1]),
            dynamic_shared_memory: SHARED,
            ..GridLaunch::new([BLOCKS, 1, 1], [256, 1, 1])
        },
        arguments: &arguments,
        symbols: &[],
    };
    // SAFETY: the arguments are those of the entry, and the arrays have room for all that it copies.
    unsafe { engine.run_code(&launch, &arrays)? };
    arrays.read([&mut Vec::new(), &mut output])?;
    Ok(output.chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect())
}

#[test]
fn boxes_are_copied_by_the_map_of_a_tensor() {
    // The second is ragged on the right, and the last rows of both are below the matrix.
    for first in [0, 16] {
        let found = copied(tensor(), first as u32).expect("copied");
        let [rows, columns] = BOX;
        for (place, &found) in found.iter().enumerate() {
            // In row r, pieces of 8 numbers change places with those whose number differs by r.
            let (row, at) = (place / columns, place % columns);
            let column = ((at / 8) ^ (row % rows)) * 8 + at % 8;
            assert_eq!(found, number(row, first + column), "{place} from {first}");
        }
    }
}

#[test]
fn a_tensor_that_cuda_refuses_is_named_with_its_numbers() {
    for (wrong, part) in [
        (Tensor { strides: vec![152], ..tensor() }, "strides of [152] bytes"),
        (Tensor { tile: vec![128, 8], ..tensor() }, "boxes of [128, 8] elements, a swizzle of 128 bytes"),
        (Tensor { tile: vec![64, 257], ..tensor() }, "a box has 1 to 256 elements"),
    ] {
        let error = copied(wrong, 0).expect_err(part);
        assert_eq!(error.code(), "device");
        for part in [part, "CUDA_ERROR_INVALID_VALUE (1)", "the argument 1 of copy", "multiples of 16 bytes"]
        {
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
    }
    let error = copied(Tensor { strides: vec![], ..tensor() }, 0).expect_err("no strides");
    assert_eq!(error.code(), "unsupported");
    let error = copied(Tensor { memory: 7, ..tensor() }, 0).expect_err("no such array");
    assert!(error.to_string().contains("no array with the number 7"), "{error}");
}
