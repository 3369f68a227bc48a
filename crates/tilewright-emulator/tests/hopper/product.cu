// A product of bf16 matrices as kernels for Hopper compute it: C (M x N, f32) = A (M x K) B (N x K)^T, all by rows.
//
// One warpgroup brings tiles of 128 x 64 elements by TMA, two multiply 64 rows each by wgmma. Full and empty mbarriers guard a ring of
// stages. C leaves through shared memory by TMA. `compile.sh` makes the PTX.
#include <cuda_bf16.h>
#include <stdint.h>

struct alignas(64) TensorMap { uint64_t words[16]; };

constexpr int BM = 128, BN = 128, BK = 64, STAGES = 3, CONSUMERS = 2;
constexpr uint32_t A_BYTES = BM * BK * 2, B_BYTES = BN * BK * 2, STAGE_BYTES = A_BYTES + B_BYTES;

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void barrier_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}

__device__ void barrier_expect(uint64_t* bar, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}

__device__ void barrier_arrive(uint64_t* bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

__device__ void barrier_wait(uint64_t* bar, uint32_t parity) {
    asm volatile(
        "{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra WAIT;\nDONE:\n}"
        ::"r"(shared_address(bar)), "r"(parity) : "memory");
}

__device__ void tile_load(void* to, const TensorMap* map, uint64_t* bar, int x, int y) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
        ::"r"(shared_address(to)), "l"(map), "r"(shared_address(bar)), "r"(x), "r"(y) : "memory");
}

__device__ void tile_store(const TensorMap* map, const void* from, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
        ::"l"(map), "r"(shared_address(from)), "r"(x), "r"(y) : "memory");
}

// Rows of 128 bytes along k, swizzled by 128 bytes; patterns of 8 rows.
__device__ uint64_t descriptor(const void* p) {
    uint64_t address = (shared_address(p) & 0x3ffff) >> 4;
    return address | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
}

__device__ void fence_operands() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

extern "C" __global__ void __launch_bounds__(384)
    product(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c, int k) {
    extern __shared__ __align__(1024) uint8_t room[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int group = threadIdx.x / 128, row = blockIdx.y * BM, column = blockIdx.x * BN;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            barrier_init(&full[stage], 1);
            barrier_init(&empty[stage], CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x == 0) {
            for (int step = 0; step * BK < k; ++step) {
                const int stage = step % STAGES, phase = step / STAGES & 1;
                barrier_wait(&empty[stage], phase ^ 1);
                barrier_expect(&full[stage], STAGE_BYTES);
                tile_load(room + stage * STAGE_BYTES, &a, &full[stage], step * BK, row);
                tile_load(room + stage * STAGE_BYTES + A_BYTES, &b, &full[stage], step * BK, column);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        float d[64] = {};
        const int consumer = group - 1;
        for (int step = 0; step * BK < k; ++step) {
            const int stage = step % STAGES, phase = step / STAGES & 1;
            barrier_wait(&full[stage], phase);
            const uint8_t* tile_a = room + stage * STAGE_BYTES + consumer * 64 * BK * 2;
            const uint8_t* tile_b = room + stage * STAGE_BYTES + A_BYTES;
            fence_operands();
            for (int inner = 0; inner < BK / 16; ++inner)
                multiply(d, descriptor(tile_a + 32 * inner), descriptor(tile_b + 32 * inner));
            commit();
            wait<0>();
            if (threadIdx.x % 128 == 0) barrier_arrive(&empty[stage]);
        }
        // The tile of C: 64 rows of this group, in slices of 32 columns, behind the stages.
        float* tile = reinterpret_cast<float*>(room + STAGES * STAGE_BYTES) + consumer * 64 * BN;
        const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
        for (int j = 0; j < BN / 8; ++j)
            for (int e = 0; e < 4; ++e) {
                const int y = warp * 16 + lane / 4 + 8 * (e / 2), x = 8 * j + lane % 4 * 2 + e % 2;
                tile[(x / 32 * 64 + y) * 32 + x % 32] = d[4 * j + e];
            }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
        if (threadIdx.x % 128 == 0) {
            for (int slice = 0; slice < BN / 32; ++slice)
                tile_store(&c, tile + slice * 64 * 32, column + 32 * slice, row + 64 * consumer);
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
    }
}
