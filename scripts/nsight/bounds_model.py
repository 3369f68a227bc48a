"""What `tilewright explain` says of a launch, from what it says of smaller ones that stand for it.

Blocks of these launches do the same, so what a multiprocessor does grows with its blocks, and with the depth of a product in a straight line. Nothing else is
put in here: bounds and likely cycles are the emulator's, and `predict` is the formula of `crates/tilewright-explain/src/bound/predict.rs`: bounds_table.py
says how far it is from the prediction of launches that are executed whole.
"""

import json
import math
from pathlib import Path

CHIP = {"l2", "dram", "atomics", "launch"}
# Paths of one request, or no units: they do not add up with others.
APART = {"l1_address", "l1_data", "barriers", "launch"}
# An H200: bytes of device memory in a cycle, bytes of L2; cycles of a launch at least and likely, of the first access, and of each block; bytes from L2 in a
# cycle, for the chip and for one multiprocessor; the same to L2.
DRAM, L2 = 4.8e12 / 1.98e9, 60 << 20
LAUNCH, LIKELY_LAUNCH, FIRST_ACCESS, BLOCK = 1.2 * 1980, 1.35 * 1980, 1.05 * 1980, 1.19
FROM_L2, FROM_L2_TO_ONE = 5400.0, 128.0
TO_L2, TO_L2_FROM_ONE = 2460.0, 32.0
# Of the formula.
EXPONENT, CHAIN = 2.5, 0.75


class Said:
    """What the emulator says of one launch: cycles of parts, and chains of dependences."""

    def __init__(self, bound, grid):
        self.sms, self.mhz = bound["sms"], bound["clock_hz"] / 1e6
        self.blocks = math.prod(grid)
        self.on_busiest = bound["blocks_on_busiest_sm"]
        self.least_on_busiest = max(self.blocks / self.sms, 1.0)
        self.cycles = {part["part"]: part["cycles"] for part in bound["parts"]}
        self.likely = {part["part"]: part["likely_cycles"] for part in bound["parts"]}
        self.once = bound["traffic"]["l2_bytes"][0]
        traffic = bound["traffic"]
        self.moved = [traffic[f"likely_l2_{which}bytes"] for which in ("", "load_", "store_")]
        latency = bound["latency"]
        self.resident = latency["resident_blocks"]
        # At least; and likely, if what is new to a block lies in L2, and if it lies in device memory.
        self.chains = [latency["chain_cycles_per_warp"][0], *latency["new_data_chain_cycles_per_warp"]]
        self.prediction = bound["prediction"]["likely_cycles"]
        self.bound = bound["cycles"]
        self.waits = [wait["reason"] for wait in bound["waits"]]
        self.grown = False

    def at_depth(self, other, depths, depth):
        """In a straight line through what it is at two depths."""
        line = lambda a, b: max(a + (b - a) * (depth - depths[0]) / (depths[1] - depths[0]), 0.0)
        each = lambda a, b: {part: line(a.get(part, 0.0), b.get(part, 0.0)) for part in {*a, *b}}
        self.cycles, self.likely = each(self.cycles, other.cycles), each(self.likely, other.likely)
        self.chains = [line(a, b) for a, b in zip(self.chains, other.chains, strict=True)]
        self.once = line(self.once, other.once)
        self.moved = [line(a, b) for a, b in zip(self.moved, other.moved, strict=True)]

    def grow(self, ratio, once):
        """With so many times as many blocks, which touch so many bytes once."""
        blocks = self.blocks * ratio
        even = blocks / self.sms
        on_busiest = math.ceil(even) if self.on_busiest == int(self.on_busiest) else max(even, 1.0)
        # A bound knows no more of the busiest than that it has the mean, and a whole block.
        least_on_busiest = max(even, 1.0)
        grown = lambda parts, share: {part: cycles * (ratio if part in CHIP else share) for part, cycles in parts.items()}
        self.cycles = grown(self.cycles, least_on_busiest / self.least_on_busiest)
        self.likely = grown(self.likely, on_busiest / self.on_busiest)
        once = once or self.once * ratio
        self.moved = [moved * ratio for moved in self.moved]
        _, loads, stores = self.moved
        share = on_busiest / blocks
        self.likely["l2"] = max(loads / FROM_L2, loads * share / FROM_L2_TO_ONE, stores / TO_L2, stores * share / TO_L2_FROM_ONE)
        self.cycles["l2"] = self.cycles.get("l2", 0.0) * once / (self.once * ratio or 1.0)
        self.likely["dram"] = self.likely.get("dram", 0.0) * once / (self.once * ratio or 1.0)
        # What is loaded may be in L2 before, and what is stored may stay there.
        self.cycles["dram"] = max(once - 2 * L2, 0.0) / DRAM
        self.cycles["launch"] = self.likely["launch"] = max(LAUNCH, blocks * BLOCK)
        self.blocks, self.on_busiest, self.least_on_busiest, self.once = blocks, on_busiest, least_on_busiest, once
        self.likely = {part: max(cycles, self.cycles.get(part, 0.0)) for part, cycles in self.likely.items()}
        self.bound = max(self.cycles.values())
        self.prediction = self.predict()
        self.grown = True

    def predict(self):
        of = lambda part: self.likely.get(part, 0.0)
        l1 = max(of("l1_address"), of("l1_data"))
        others = [cycles for part, cycles in self.likely.items() if part not in APART]
        together = sum(cycles**EXPONENT for cycles in [*others, l1, self.blocks * BLOCK]) ** (1 / EXPONENT)
        resident = min(max(self.resident, 1), math.ceil(self.on_busiest))
        rounds = max(self.on_busiest / resident, 1.0)
        if self.on_busiest == int(self.on_busiest):
            rounds = math.ceil(rounds)
        # The part of the new data of blocks that no other has loaded, or that others load now.
        new = min(max(self.once / self.moved[0] if self.moved[0] else 0.0, 1.0 / rounds), 1.0)
        low = max(self.least_on_busiest / resident, 1.0) * self.chains[0]
        likely = rounds * (self.chains[1] + new * (self.chains[2] - self.chains[1]))
        start = LIKELY_LAUNCH + (FIRST_ACCESS if self.once else 0.0)
        return max(start + max(together + CHAIN * likely / resident, likely), self.bound, low)

    def busiest(self):
        """The part that works the most of those that a profiler lists."""
        listed = [(cycles, part) for part, cycles in self.likely.items() if part not in {"launch", "barriers"}]
        return max(listed, default=(0.0, "launch"))[1]


def read(directory, name):
    path = Path(directory) / f"{name.replace('/', '_')}.json"
    document = json.loads(path.read_text()) if path.is_file() and path.stat().st_size else {}
    bound = document.get("bound")
    return Said(bound, document["grid"]) if bound else None


def said_of(launch, directory):
    """What the emulator says of a launch of launches.py; None where it says nothing."""
    found = [read(directory, name) for name, _, _ in launch.stands]
    if None in found:
        return None
    said = found[0]
    if len(found) == 2:
        said.at_depth(found[1], [depth for _, depth, _ in launch.stands], launch.depth)
    if launch.begun and (begun := read(directory, launch.begun[0])):
        said.resident = begun.resident
    if len(found) == 2 or launch.ratio != 1.0:
        said.grow(launch.ratio, launch.once)
    return said
