"""Whether the loops of `rates` hold the instructions that they claim: reads the machine code.

    check.py LIST SASS [--verbose]     LIST is the output of `rates list`, SASS that of `cuobjdump --dump-sass rates | c++filt`

Prints for each case what its loop executes; exit code 1 where it is something else. Standard library only.
"""

import csv
import re
import sys
from collections import Counter
from pathlib import Path

INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?([A-Z0-9_.]+)(.*?);")


def functions(sass):
    """The instructions of each function: {name: [(address, opcode, operands)]}."""
    found, body = {}, None
    for line in sass.splitlines():
        if "Function :" in line:
            body = found.setdefault(line.split("Function :")[1].strip(), [])
        elif body is not None and (match := INSTRUCTION.search(line)):
            body.append((int(match[1], 16), match[2], match[3]))
    return found


def loops(body):
    """Loops by their backward branches: lists of opcodes."""
    for address, opcode, operands in body:
        target = re.search(r"0x([0-9a-f]+)", operands)
        if opcode.startswith("BRA") and target and int(target[1], 16) < address:
            start = int(target[1], 16)
            yield [name for at, name, _ in body if start <= at <= address]


def squeezed(name):
    name = name.replace("(Through)0", "L1").replace("(Through)1", "L2")
    return re.sub(r"\(\w+\)|\s+", "", name)


def opcodes(body, pattern):
    """The loop with the most instructions of PATTERN, as counts."""
    every = [Counter(loop) for loop in loops(body)]
    wanted = lambda counts: sum(n for name, n in counts.items() if re.match(pattern, name))
    return max(every, key=wanted, default=Counter())


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    code = {squeezed(name): body for name, body in functions(Path(arguments[1]).read_text()).items()}
    wrong = 0
    for name, pattern, count, kind in csv.reader(Path(arguments[0]).read_text().splitlines()):
        key = squeezed(f"repeat<{kind}>")
        body = next((body for entry, body in code.items() if key in entry), None)
        if body is None:
            print(f"{name}: no code for {kind}")
            wrong += 1
            continue
        if not pattern:
            continue
        counts = opcodes(body, pattern)
        found = sum(n for opcode, n in counts.items() if re.match(pattern, opcode))
        listed = ", ".join(f"{n} {opcode}" for opcode, n in counts.most_common(7))
        if found != int(count):
            wrong += 1
        if found != int(count) or "--verbose" in arguments:
            print(f"{name}: {found} of {count} {pattern}: {listed}")
    print(f"{wrong} cases differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
