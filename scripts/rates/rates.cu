// The rates of a GPU's parts, as rows "part,case,value,unit". README.md says how to read them.
//
//     rates OUT.csv [START]     all cases, or those whose part or name begins with START
//     rates list                case, machine instruction, how many in a loop, entry: what check.py looks for
#include "arithmetic.cuh"
#include "tensor.cuh"
#include "shared.cuh"
#include "global.cuh"
#include "both.cuh"
#include "chip.cuh"
#include <cstring>
#include <numeric>

struct Row {
    const char *part, *name, *opcode, *type;
    int count, blocks, threads, rounds;
    const char* unit;
    double (*measure)(const Bench&, int blocks, int threads, int rounds);
};

const char* const EACH = "cycles/warp instruction";
const char* const LATENCY = "cycles of latency";

// On every multiprocessor, 32 warps. OPCODE appears in the loop as often as COUNT says.
#define RATE(PART, NAME, OPCODE, ROUNDS, ...) \
    {PART, NAME, OPCODE, #__VA_ARGS__, __VA_ARGS__::COUNT, 0, 1024, ROUNDS, EACH, cycles_each<__VA_ARGS__>}
// One block alone, so that nobody else uses L2.
#define ALONE(PART, NAME, OPCODE, ROUNDS, ...) \
    {PART, NAME, OPCODE, #__VA_ARGS__, __VA_ARGS__::COUNT, 1, 1024, ROUNDS, EACH, cycles_each<__VA_ARGS__>}
// One warp.
#define WAIT(NAME, OPCODE, ROUNDS, ...) \
    {"latency", NAME, OPCODE, #__VA_ARGS__, __VA_ARGS__::COUNT, 1, 32, ROUNDS, LATENCY, cycles_each<__VA_ARGS__>}

const Row ROWS[] = {
    RATE("fma", "ffma", "FFMA", 200, Many<Ffma>),
    RATE("fma", "ffma_outer_product", "FFMA", 200, OuterProduct),
    RATE("fma", "ffma_constant_operand", "FFMA", 200, ConstantOperand),
    RATE("fma", "fadd", "FADD", 200, Many<Fadd>),
    RATE("fma", "fmul", "FMUL", 200, Many<Fmul>),
    RATE("fma_heavy", "imad", "IMAD", 200, Many<Imad>),
    RATE("fma_heavy", "imad_high", "IMAD.HI", 200, Many<ImadHigh>),
    RATE("fma_heavy", "imad_wide", "IMAD.WIDE", 200, Many<ImadWide>),
    RATE("fma_heavy", "dp4a", "IDP", 200, Many<Dp4a>),
    RATE("alu", "fmnmx", "FMNMX", 200, Many<Fmin>),
    RATE("alu", "fsetp_and_fsel", "FSETP|FSEL", 200, Many<FsetSel>),
    RATE("alu", "iadd3", "IADD3", 200, Many<Iadd3>),
    RATE("alu", "add_s32_as_ptxas_mixes", "IADD3|IMAD.IADD", 200, Many<Iadd>),
    RATE("alu", "add_s64_two_instructions", "IADD3|IMAD.X", 200, Many<Iadd64>),
    RATE("alu", "lop3", "LOP3", 200, Many<Lop3>),
    RATE("alu", "shift", "SHF", 200, Many<Shift>),
    RATE("alu", "funnel_shift", "SHF", 200, Many<Funnel>),
    RATE("alu", "vimnmx", "VIMNMX", 200, Many<Imin>),
    RATE("alu", "isetp_and_sel", "ISETP.GE|SEL", 200, Many<IsetSel>),
    RATE("alu", "prmt", "PRMT", 200, Many<Prmt>),
    RATE("alu", "vimnmx3", "VIMNMX3", 200, Many<Imin3>),
    RATE("alu", "viaddmnmx", "VIADDMNMX", 200, Many<IaddMin>),
    RATE("alu", "viaddmnmx_16x2", "VIADDMNMX", 200, Many<IaddMin16x2>),
    RATE("alu", "cvt_pack_bf16x2", "F2FP", 200, Many<PackBf16>),
    RATE("f16", "hfma2", "HFMA2", 200, Many<Hfma2>),
    RATE("f16", "hadd2", "HADD2|HFMA2", 200, Many<Hadd2>),
    RATE("f16", "hmnmx2", "HMNMX2", 200, Many<Hmin2>),
    RATE("f16", "hfma2_bf16", "HFMA2", 200, Many<BfFma2>),
    RATE("f64", "dfma", "DFMA", 100, Many<Dfma>),
    RATE("f64", "dadd", "DADD", 100, Many<Dadd>),
    RATE("f64", "dmul", "DMUL", 100, Many<Dmul>),
    RATE("xu", "popc", "POPC", 100, Many<Popc>),
    RATE("xu", "flo", "FLO", 100, Many<Flo>),
    RATE("xu", "brev", "BREV", 100, Many<Brev>),
    RATE("xu", "f2i", "F2I", 100, Many<FloatToInt>),
    RATE("xu", "i2f", "I2F", 100, Many<IntToFloat>),
    RATE("xu", "i2f_u8", "I2F", 100, Many<ByteToFloat>),
    RATE("xu", "frnd", "FRND", 100, Many<Round>),
    RATE("f16", "cvt_f16_to_f32", "HADD2.F32", 100, Many<HalfToFloat>),
    RATE("xu", "f32_to_f64_and_back", "F2F", 100, Many<DoubleAndBack>),
    RATE("xu", "i32_to_f64_and_back", "I2F|F2I", 100, Many<IntToDoubleAndBack>),
    RATE("xu", "mufu_ex2", "MUFU", 100, Many<Exp2>),
    RATE("xu", "mufu_lg2", "MUFU", 100, Many<Log2>),
    RATE("xu", "mufu_rcp", "MUFU", 100, Many<Rcp>),
    RATE("xu", "mufu_rsq", "MUFU", 100, Many<Rsqrt>),
    RATE("xu", "mufu_sqrt", "MUFU", 100, Many<Sqrt>),
    RATE("xu", "mufu_sin_with_fmul", "MUFU", 100, Many<Sin>),
    RATE("xu", "mufu_tanh", "MUFU", 100, Many<Tanh>),
    RATE("warp", "shfl_bfly", "SHFL", 100, Many<Shuffle>),
    RATE("warp", "shfl_idx", "SHFL", 100, Many<ShuffleIndex>),
    RATE("warp", "ballot_with_isetp", "VOTE", 100, Many<Ballot>),
    RATE("warp", "redux", "REDUX", 100, Many<Redux>),
    RATE("warp", "match_any", "MATCH", 20, Many<MatchAny>),


    RATE("issue", "ffma_iadd3_1_1", "FFMA|IADD3", 200, Mix<Ffma, 4, Iadd3, 4>),
    RATE("issue", "ffma_iadd3_3_1", "FFMA|IADD3", 200, Mix<Ffma, 6, Iadd3, 2>),
    RATE("issue", "ffma_lop3_1_1", "FFMA|LOP3", 200, Mix<Ffma, 4, Lop3, 4>),
    RATE("issue", "ffma_imad_1_1", "FFMA|IMAD", 200, Mix<Ffma, 4, Imad, 4>),
    RATE("issue", "ffma_imad_3_1", "FFMA|IMAD", 200, Mix<Ffma, 6, Imad, 2>),
    RATE("issue", "imad_iadd3_1_1", "IMAD|IADD3", 200, Mix<Imad, 4, Iadd3, 4>),
    RATE("issue", "fadd_fmnmx_1_1", "FADD|FMNMX", 200, Mix<Fadd, 4, Fmin, 4>),
    RATE("issue", "ffma_hfma2_1_1", "FFMA|HFMA2", 200, Mix<Ffma, 4, Hfma2, 4>),
    RATE("issue", "imad_hfma2_1_1", "IMAD|HFMA2", 200, Mix<Imad, 4, Hfma2, 4>),
    RATE("issue", "hfma2_hmnmx2_1_1", "HFMA2|HMNMX2", 200, Mix<Hfma2, 4, Hmin2, 4>),
    RATE("issue", "hmnmx2_iadd3_1_1", "HMNMX2|IADD3", 200, Mix<Hmin2, 4, Iadd3, 4>),
    RATE("issue", "ffma_dfma_1_1", "FFMA|DFMA", 100, Mix<Ffma, 4, Dfma, 4>),
    RATE("issue", "ffma_mufu_7_1", "FFMA|MUFU", 100, Mix<Ffma, 7, Exp2, 1>),
    RATE("issue", "mufu_f2i_1_1", "MUFU|F2I", 100, Mix<Exp2, 4, FloatToInt, 4>),
    RATE("issue", "mufu_popc_1_1", "MUFU|POPC", 100, Mix<Exp2, 4, Popc, 4>),
    RATE("issue", "mufu_shfl_1_1", "MUFU|SHFL", 100, Mix<Exp2, 4, Shuffle, 4>),

    RATE("tensor", "mma_bf16_m16n8k16", "HMMA", 200, MmaBf16<4>),
    RATE("tensor", "mma_f16_m16n8k16", "HMMA", 200, MmaF16<4>),
    RATE("tensor", "mma_f16_sums_f16_m16n8k16", "HMMA", 200, MmaF16Short<4>),
    RATE("tensor", "mma_tf32_m16n8k8", "HMMA", 200, MmaTf32<4>),
    RATE("tensor", "mma_i8_m16n8k32", "IMMA", 100, MmaI8<4>),
    RATE("tensor", "mma_b1_m16n8k256", "BMMA", 100, MmaB1<4>),
    RATE("tensor", "mma_f64_m8n8k4", "DMMA", 100, MmaF64<4>),
    RATE("tensor", "mma_f64_m16n8k16", "DMMA", 50, MmaF64Large<2>),

    RATE("shared", "load_4_bytes", "LDS", 200, LoadShared<4, 1>),
    RATE("shared", "load_4_bytes_2_way", "LDS", 100, LoadShared<4, 2>),
    RATE("shared", "load_4_bytes_4_way", "LDS", 100, LoadShared<4, 4>),
    RATE("shared", "load_4_bytes_8_way", "LDS", 100, LoadShared<4, 8>),
    RATE("shared", "load_4_bytes_16_way", "LDS", 100, LoadShared<4, 16>),
    RATE("shared", "load_4_bytes_32_way", "LDS", 100, LoadShared<4, 32>),
    RATE("shared", "load_8_bytes", "LDS.64", 100, LoadShared<8, 1>),
    RATE("shared", "load_16_bytes", "LDS.128", 100, LoadShared<16, 1>),
    RATE("shared", "load_16_bytes_2_way", "LDS.128", 100, LoadShared<16, 2>),
    RATE("shared", "load_4_bytes_one_address", "LDS", 200, LoadSharedBroadcast<4>),
    RATE("shared", "load_8_bytes_one_address", "LDS.64", 100, LoadSharedBroadcast<8>),
    RATE("shared", "load_16_bytes_one_address", "LDS.128", 100, LoadSharedBroadcast<16>),
    RATE("shared", "store_4_bytes", "STS", 100, StoreShared<4, 1>),
    RATE("shared", "store_4_bytes_2_way", "STS", 100, StoreShared<4, 2>),
    RATE("shared", "store_4_bytes_8_way", "STS", 100, StoreShared<4, 8>),
    RATE("shared", "store_4_bytes_32_way", "STS", 100, StoreShared<4, 32>),
    RATE("shared", "store_8_bytes", "STS.64", 100, StoreShared<8, 1>),
    RATE("shared", "store_16_bytes", "STS.128", 100, StoreShared<16, 1>),
    RATE("shared", "ldmatrix_x1", "LDSM", 100, LoadMatrix<1>),
    RATE("shared", "ldmatrix_x2", "LDSM", 100, LoadMatrix<2>),
    RATE("shared", "ldmatrix_x4", "LDSM", 100, LoadMatrix<4>),
    RATE("shared", "load_4_bytes_and_1_ffma", "LDS", 200, SharedAndFma<1>),
    RATE("shared", "load_4_bytes_and_3_ffma", "LDS", 200, SharedAndFma<3>),

    RATE("shared_atomic", "add_words_apart", "ATOMS", 50, AddShared<1, false>),
    RATE("shared_atomic", "add_2_lanes_a_word", "ATOMS", 50, AddShared<2, false>),
    RATE("shared_atomic", "add_4_lanes_a_word", "ATOMS", 50, AddShared<4, false>),
    RATE("shared_atomic", "add_8_lanes_a_word", "ATOMS", 50, AddShared<8, false>),
    RATE("shared_atomic", "add_32_lanes_a_word", "ATOMS", 50, AddShared<32, false>),
    RATE("shared_atomic", "add_words_apart_with_result", "ATOMS", 50, AddShared<1, true>),
    RATE("shared_atomic", "add_32_lanes_a_word_with_result", "ATOMS", 50, AddShared<32, true>),
    RATE("shared_atomic", "add_2_words_a_bank", "ATOMS", 50, AddSharedConflict<2>),
    RATE("shared_atomic", "add_32_words_a_bank", "ATOMS", 50, AddSharedConflict<32>),
    RATE("shared_atomic", "cas_words_apart", "ATOMS", 50, SwapShared),
    RATE("shared_atomic", "add_f32_words_apart_one_round", "", 50, AddFloatShared),

    RATE("constant", "1_address", "LDC", 100, LoadConstant<1>),
    RATE("constant", "2_addresses", "LDC", 100, LoadConstant<2>),
    RATE("constant", "4_addresses", "LDC", 100, LoadConstant<4>),
    RATE("constant", "8_addresses", "LDC", 100, LoadConstant<8>),
    RATE("constant", "32_addresses", "LDC", 100, LoadConstant<32>),

    RATE("l1", "load_4_bytes_row", "LDG", 100, LoadRow<4>),
    RATE("l1", "load_8_bytes_row", "LDG", 100, LoadRow<8>),
    RATE("l1", "load_16_bytes_row", "LDG", 100, LoadRow<16>),
    RATE("l1", "load_4_bytes_one_address", "LDG", 100, LoadSame<4>),
    RATE("l1", "load_16_bytes_one_address", "LDG", 100, LoadSame<16>),
    RATE("l1", "load_4_bytes_2_lines", "LDG", 100, LoadLines<4, 2, 2>),
    RATE("l1", "load_4_bytes_4_lines", "LDG", 100, LoadLines<4, 4, 1>),
    RATE("l1", "load_4_bytes_8_lines", "LDG", 100, LoadLines<4, 8, 1>),
    RATE("l1", "load_4_bytes_16_lines", "LDG", 100, LoadLines<4, 16, 1>),
    RATE("l1", "load_4_bytes_32_lines", "LDG", 100, LoadLines<4, 32, 1>),
    RATE("l1", "load_4_bytes_1_line_1_sector", "LDG", 100, LoadLines<4, 1, 1>),
    RATE("l1", "load_4_bytes_1_line_2_sectors", "LDG", 100, LoadLines<4, 1, 2>),
    RATE("l1", "load_4_bytes_1_line_4_sectors", "LDG", 100, LoadLines<4, 1, 4>),
    RATE("l1", "load_4_bytes_4_lines_2_sectors", "LDG", 100, LoadLines<4, 4, 2>),
    RATE("l1", "load_4_bytes_4_lines_4_sectors", "LDG", 100, LoadLines<4, 4, 4>),
    RATE("l1", "load_4_bytes_8_lines_4_sectors", "LDG", 100, LoadLines<4, 8, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_256", "LDG", 100, LoadColumn<32, 256, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_132", "LDG", 100, LoadColumn<32, 132, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_136", "LDG", 100, LoadColumn<32, 136, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_144", "LDG", 100, LoadColumn<32, 144, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_160", "LDG", 100, LoadColumn<32, 160, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_192", "LDG", 100, LoadColumn<32, 192, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_260", "LDG", 100, LoadColumn<32, 260, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_1028", "LDG", 100, LoadColumn<32, 1028, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_64", "LDG", 100, LoadColumn<32, 64, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_32", "LDG", 100, LoadColumn<32, 32, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_16", "LDG", 100, LoadColumn<32, 16, 4>),
    RATE("l1", "load_4_bytes_32_rows_pitch_8", "LDG", 100, LoadColumn<32, 8, 4>),
    RATE("l1", "load_4_bytes_16_rows_pitch_256", "LDG", 100, LoadColumn<16, 256, 4>),
    RATE("l1", "load_4_bytes_16_rows_pitch_132", "LDG", 100, LoadColumn<16, 132, 4>),
    RATE("l1", "load_4_bytes_4_rows_pitch_132", "LDG", 100, LoadColumn<4, 132, 4>),
    RATE("l1", "load_4_bytes_2_rows_pitch_256", "LDG", 100, LoadColumn<2, 256, 4>),
    RATE("l1", "load_8_bytes_32_rows_pitch_256", "LDG", 100, LoadColumn<32, 256, 8>),
    RATE("l1", "load_8_bytes_32_rows_pitch_136", "LDG", 100, LoadColumn<32, 136, 8>),
    RATE("l1", "load_16_bytes_32_rows_pitch_256", "LDG", 100, LoadColumn<32, 256, 16>),
    RATE("l1", "load_16_bytes_32_rows_pitch_144", "LDG", 100, LoadColumn<32, 144, 16>),
    RATE("l1", "load_16_bytes_2_rows_pitch_256", "LDG", 100, LoadColumn<2, 256, 16>),
    RATE("l1", "load_4_bytes_8_rows_of_16_bytes_pitch_256", "LDG", 100, LoadTile<256>),
    RATE("l1", "load_4_bytes_8_rows_of_16_bytes_pitch_144", "LDG", 100, LoadTile<144>),
    RATE("l1", "store_shared_and_global_in_turns", "STS|STG", 50, StoreSharedAndGlobal),
    RATE("l1", "shuffle_and_load_shared_in_turns", "LDS|SHFL", 100, ShuffleAndShared),
    RATE("l1", "shared_and_global_rows_4_bytes_in_turns", "LDS|LDG", 100, SharedAndGlobal<4, 0>),
    RATE("l1", "shared_and_global_rows_16_bytes_in_turns", "LDS|LDG", 100, SharedAndGlobal<16, 0>),
    RATE("l1", "shared_and_global_8_lines_in_turns", "LDS|LDG", 100, SharedAndGlobal<4, 8>),
    RATE("texture", "row", "TEX", 100, LoadTexture<false>),
    RATE("texture", "column", "TEX", 100, LoadTexture<true>),

    RATE("l2", "load_16_bytes_8_MiB_chip", "LDG", 50, LoadRegion<8, 16, 16, L2>),
    RATE("l2", "load_16_bytes_16_MiB_chip", "LDG", 50, LoadRegion<16, 16, 16, L2>),
    RATE("l2", "load_16_bytes_28_MiB_chip", "LDG", 50, LoadRegion<28, 16, 16, L2>),
    RATE("l2", "load_16_bytes_16_MiB_chip_through_l1", "LDG", 50, LoadRegion<16, 16, 16, L1>),
    RATE("l2", "load_4_bytes_16_MiB_chip", "LDG", 50, LoadRegion<16, 4, 4, L2>),
    RATE("l2", "load_4_bytes_16_MiB_chip_through_l1", "LDG", 50, LoadRegion<16, 4, 4, L1>),
    RATE("l2", "load_4_bytes_1_sector_a_lane_chip", "LDG", 50, LoadRegion<16, 4, 32, L2>),
    RATE("l2", "load_4_bytes_1_line_a_lane_chip", "LDG", 50, LoadRegion<16, 4, 128, L2>),
    RATE("l2", "store_4_bytes_16_MiB_chip", "STG", 50, StoreRegion<16, 4, 4>),
    RATE("l2", "store_16_bytes_16_MiB_chip", "STG", 50, StoreRegion<16, 16, 16>),
    RATE("l2", "store_4_bytes_1_sector_a_lane_chip", "STG", 50, StoreRegion<16, 4, 32>),
    RATE("l2", "store_4_bytes_1_line_a_lane_chip", "STG", 50, StoreRegion<16, 4, 128>),
    ALONE("l2", "load_16_bytes_4_MiB_alone", "LDG", 50, LoadRegion<4, 16, 16, L2>),
    ALONE("l2", "load_4_bytes_4_MiB_alone", "LDG", 50, LoadRegion<4, 4, 4, L2>),
    ALONE("l2", "load_4_bytes_1_line_a_lane_alone", "LDG", 50, LoadRegion<4, 4, 128, L2>),
    ALONE("l2", "store_16_bytes_4_MiB_alone", "STG", 50, StoreRegion<4, 16, 16>),
    ALONE("l2", "store_4_bytes_4_MiB_alone", "STG", 50, StoreRegion<4, 4, 4>),
    ALONE("l2", "store_4_bytes_1_line_a_lane_alone", "STG", 50, StoreRegion<4, 4, 128>),

    RATE("global_atomic", "add_words_apart", "REDG", 20, AddGlobal<1, false, false>),
    RATE("global_atomic", "add_32_lanes_a_word", "REDG", 20, AddGlobal<32, false, false>),
    RATE("global_atomic", "add_all_to_one_word", "REDG", 5, AddGlobal<32, true, false>),
    RATE("global_atomic", "add_all_to_one_line", "REDG", 5, AddGlobal<1, true, false>),
    RATE("global_atomic", "add_words_apart_with_result", "ATOM", 20, AddGlobal<1, false, true>),
    RATE("global_atomic", "add_f32_words_apart", "REDG", 20, AddFloatGlobal<1, false>),
    RATE("global_atomic", "add_f32_all_to_one_word", "REDG", 5, AddFloatGlobal<32, true>),
    RATE("global_atomic", "add_f32_all_to_16_words", "REDG", 5, AddFloatGlobal<2, true>),
    RATE("global_atomic", "add_all_to_16_words", "REDG", 5, AddGlobal<2, true, false>),
    RATE("global_atomic", "add_f32_all_to_one_line", "REDG", 5, AddFloatGlobal<1, true>),
    ALONE("global_atomic", "add_words_apart_alone", "REDG", 20, AddGlobal<1, false, false>),
    ALONE("global_atomic", "add_one_word_alone", "REDG", 5, AddGlobal<32, true, false>),

    WAIT("ffma", "FFMA", 100, Chain<Ffma>),
    WAIT("fadd", "FADD", 100, Chain<Fadd>),
    WAIT("fmnmx", "FMNMX", 100, Chain<Fmin>),
    WAIT("iadd3", "IADD3", 100, Chain<Iadd3>),
    WAIT("imad", "IMAD", 100, Chain<Imad>),
    WAIT("imad_wide", "IMAD.WIDE", 100, Chain<ImadWide>),
    WAIT("lop3", "LOP3", 100, Chain<Lop3>),
    WAIT("shift", "SHF", 100, Chain<Shift>),
    WAIT("hfma2", "HFMA2", 100, Chain<Hfma2>),
    WAIT("dfma", "DFMA", 100, Chain<Dfma>),
    WAIT("mufu_ex2", "MUFU", 100, Chain<Exp2>),
    WAIT("mufu_rcp", "MUFU", 100, Chain<Rcp>),
    WAIT("f2i", "F2I", 100, Chain<FloatToInt>),
    WAIT("i2f", "I2F", 100, Chain<IntToFloat>),
    WAIT("popc", "POPC", 100, Chain<Popc>),
    WAIT("shfl_bfly", "SHFL", 100, Chain<Shuffle>),
    WAIT("ballot_with_isetp", "VOTE", 100, Chain<Ballot>),
    WAIT("redux", "REDUX", 100, Chain<Redux>),
    WAIT("mma_bf16_m16n8k16", "HMMA", 100, MmaBf16<1>),
    WAIT("mma_tf32_m16n8k8", "HMMA", 100, MmaTf32<1>),
    WAIT("mma_f64_m8n8k4", "DMMA", 100, MmaF64<1>),
    WAIT("shared_load_with_iadd3", "LDS", 100, ChaseShared),
    WAIT("shared_atomic_with_iadd3", "ATOMS", 100, ChaseAddShared),
    WAIT("constant_load_with_iadd3", "LDC", 100, ChaseConstant),
    WAIT("l1_hit_with_iadd3_64_bits", "LDG", 100, ChaseGlobal<L1>),
    WAIT("l2_hit_with_iadd3_64_bits", "LDG", 100, ChaseGlobal<L2>),
    WAIT("global_atomic_with_iadd3_64_bits", "ATOM", 100, ChaseAddGlobal),
};

// One round trip through places in random order.
void measure_chases(const Bench& bench) {
    for (size_t megabytes : {1, 8, 24, 512}) {
        size_t line = 32, places = (megabytes << 20) / 4 / line;
        std::vector<unsigned> order(places), next(places * line);
        std::iota(order.begin(), order.end(), 0);
        unsigned long long state = 1;
        for (size_t i = places - 1; i > 0; --i) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            std::swap(order[i], order[(state >> 33) % (i + 1)]);
        }
        for (size_t i = 0; i < places; ++i) next[order[i] * line] = order[(i + 1) % places] * line;
        CHECK(cudaMemcpy(bench.in.buffer, next.data(), next.size() * 4, cudaMemcpyHostToDevice));
        int rounds = int(std::min<size_t>(places / 16, 4096));
        // What fits in L2 is gone through once before; of more, each launch sees places that none has seen.
        bool fits = megabytes < 40;
        Bench second = bench;
        if (fits) block_cycles<ChasePlaces>(bench, 1, 32, int(places / 16));
        else second.in.zero = unsigned(order[places / 2] * line);
        double few = block_cycles<ChasePlaces>(bench, 1, 32, rounds), more = block_cycles<ChasePlaces>(second, 1, 32, 2 * rounds);
        bench.row("latency", "random_places_in_" + std::to_string(megabytes) + "_MiB", (more - few) / (rounds * 16.0), LATENCY);
    }
    CHECK(cudaMemset(bench.in.buffer, 0, size_t(512) << 20));
}

template <class Kernel>
void measure_wgmma(const Bench& bench, const char* name, Kernel kernel) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES + 16384));
    double cycles[2];
    for (int turn : {0, 0, 1}) {
        kernel<<<bench.multiprocessors, 256, SHARED_BYTES + 16384>>>(bench.in, 500 * (1 + 2 * turn), bench.spans);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        Span spans[8];
        CHECK(cudaMemcpy(spans, bench.spans, sizeof spans, cudaMemcpyDeviceToHost));
        long long first = spans[0].start, last = spans[0].stop;
        for (Span s : spans) first = std::min(first, s.start), last = std::max(last, s.stop);
        cycles[turn] = double(last - first);
    }
    bench.row("tensor", name, (cycles[1] - cycles[0]) / (1000.0 * 8 * 2), "cycles/instruction of four warps");
}

void measure_barriers(const Bench& bench) {
    for (int warps : {1, 2, 4, 8, 16, 32})
        for (int blocks : {1, 2, 4}) {
            if (warps * blocks > 64) continue;
            std::string name = std::to_string(warps) + "_warps_" + std::to_string(blocks) + "_resident_blocks";
            double cycles = cycles_each<Barrier>(bench, blocks * bench.multiprocessors, warps * 32, 100) * warps;
            bench.row("barrier", name, cycles, "cycles/barrier of each block");
        }
}

void measure_clock(const Bench& bench) {
    long long* out = (long long*)bench.in.buffer;
    long long found[2];
    repeat<Many<Ffma>><<<bench.multiprocessors, 1024, SHARED_BYTES>>>(bench.in, 20000, bench.spans);
    clocks<<<1, 1>>>(out, 1000);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    bench.row("clock", "multiprocessors", found[0] * 1e3 / found[1], "MHz");
    // The whole chip at work on multiply-adds, by its own clock and by the events'.
    double cycles = block_cycles<Many<Ffma>>(bench, bench.multiprocessors, 1024, 20000);
    double us = microseconds(3, [&] { repeat<Many<Ffma>><<<bench.multiprocessors, 1024, SHARED_BYTES>>>(bench.in, 20000, bench.spans); });
    bench.row("clock", "multiprocessors_busy_with_ffma", cycles / us, "MHz");
}

int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "rates OUT.csv [START] | rates list\n"), 2;
    if (!std::strcmp(argv[1], "list")) {
        for (const Row& row : ROWS) std::printf("%s,%s,%d,\"%s\"\n", row.name, row.opcode, row.count, row.type);
        return 0;
    }
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    Bench bench{};
    bench.multiprocessors = properties.multiProcessorCount;
    bench.only = argc > 2 ? argv[2] : nullptr;
    bench.out = std::fopen(argv[1], "w");
    if (!bench.out) return std::perror(argv[1]), 2;
    CHECK(cudaMalloc(&bench.in.seeds, 65536));
    CHECK(cudaMalloc(&bench.in.buffer, BUFFER_BYTES));
    CHECK(cudaMalloc(&bench.spans, sizeof(Span) * 65536));
    CHECK(cudaMemset(bench.in.buffer, 0, BUFFER_BYTES));
    bench.in.never = 0x9e3779b9;
    std::vector<unsigned> seeds(16384);
    unsigned state = 1;
    for (unsigned& s : seeds) s = state = state * 1664525 + 1013904223;
    CHECK(cudaMemcpy(bench.in.seeds, seeds.data(), 65536, cudaMemcpyHostToDevice));
    bind_texture(bench);

    int driver;
    CHECK(cudaDriverGetVersion(&driver));
    std::fprintf(bench.out, "part,case,value,unit\n");
    bench.row("machine", properties.name, properties.multiProcessorCount, "multiprocessors");
    bench.row("machine", "cuda_of_the_driver", driver, "version");
    bench.row("machine", "l2", properties.l2CacheSize, "bytes");
    if (bench.wants("clock", "")) measure_clock(bench);
    for (const Row& row : ROWS)
        if (bench.wants(row.part, row.name)) {
            // Those that follow pointers need zeros.
            CHECK(cudaMemset(bench.in.buffer, 0, size_t(64) << 20));
            int blocks = row.blocks ? row.blocks : bench.multiprocessors;
            bench.row(row.part, row.name, row.measure(bench, blocks, row.threads, row.rounds), row.unit);
        }
    if (bench.wants("latency", "random")) measure_chases(bench);
    if (bench.wants("barrier", "")) measure_barriers(bench);
    if (bench.wants("tensor", "wgmma")) {
        measure_wgmma(bench, "wgmma_bf16_m64n256k16", wgmma_bf16);
        measure_wgmma(bench, "wgmma_tf32_m64n256k8", wgmma_tf32);
        measure_wgmma(bench, "wgmma_e4m3_m64n256k32", wgmma_e4m3);
        measure_wgmma(bench, "wgmma_i8_m64n256k32", wgmma_i8);
        measure_wgmma(bench, "wgmma_b1_m64n256k256", wgmma_b1);
    }
    if (bench.wants("dram", "launch")) measure_chip(bench);
    return std::fclose(bench.out);
}
