"""Checks the journeys named in README.md without Tilewright, in plain Python.

    python3 check.py
"""

import csv
import math
import pathlib

here = pathlib.Path(__file__).resolve().parent
with open(here / "airports.csv", newline="", encoding="utf-8") as file:
    codes = [row["iata"] for row in csv.DictReader(file)]
with open(here / "nonstop_km.csv", newline="", encoding="utf-8") as file:
    nonstop = [[float(cell) for cell in row] for row in csv.reader(file)]
everywhere = range(len(codes))


def journey(origin, destination):
    """Kilometres with at most one change, and the first airport that gives them."""
    i, j = codes.index(origin), codes.index(destination)
    km, change = min((nonstop[i][k] + nonstop[k][j], k) for k in everywhere)
    return km, None if km == math.inf else codes[change]


def main():
    assert len(nonstop) == len(codes) == 60 and all(len(row) == 60 for row in nonstop)
    assert all(nonstop[i][j] == nonstop[j][i] for i in everywhere for j in everywhere)
    absent = [(i, j) for i in everywhere for j in everywhere if nonstop[i][j] == math.inf]
    stranded = {(codes[i], codes[j]) for i, j in absent if journey(codes[i], codes[j])[1] is None}
    assert len(absent) == 1282 and stranded == {("DAL", "BUR"), ("BUR", "DAL")}
    assert journey("HNL", "BOS") == (8189, "MSP")
    assert journey("BUF", "SAN") == (3528, "MDW")
    assert journey("SFO", "BOS") == (4342, "SFO")
    assert journey("SFO", "JFK") == (4152, "ORD")
    nonstops = [(i, j) for i in everywhere for j in everywhere if i != j and nonstop[i][j] < math.inf]
    journeys = [(nonstop[i][j], *journey(codes[i], codes[j]), codes[i], codes[j]) for i, j in nonstops]
    assert all(direct == km for direct, km, *_ in journeys)
    assert sum(change not in ends for _, _, change, *ends in journeys) == 60
    print("ok")


if __name__ == "__main__":
    main()
