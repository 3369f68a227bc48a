"""Makes airports.csv and nonstop_km.csv from the two tables of the npm package vega-datasets.

    npm pack vega-datasets@3.2.1 && tar xzf vega-datasets-3.2.1.tgz
    python3 derive.py package/data

Needs Python 3 only. The result is written beside this file and is the same on every run.
"""

import collections
import csv
import math
import pathlib
import sys

AIRPORTS = 60
FLIGHTS_A_YEAR = 52  # Once a week, each way: fewer are diversions and ferry flights, not a service.
EARTH_RADIUS_KM = 6371.0


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def kilometres(a, b):
    """Great-circle distance, by the haversine formula, on a sphere."""
    lat_a, lon_a, lat_b, lon_b = (
        math.radians(float(x)) for x in (a["latitude"], a["longitude"], b["latitude"], b["longitude"])
    )
    h = math.sin((lat_b - lat_a) / 2) ** 2
    h += math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(h))


def main(source):
    flights = {(f["origin"], f["destination"]): int(f["count"]) for f in read(source / "flights-airport.csv")}
    places = {place["iata"]: place for place in read(source / "airports.csv")}

    traffic = collections.Counter()
    for (origin, destination), count in flights.items():
        traffic[origin] += count
        traffic[destination] += count
    busiest = sorted(traffic, key=lambda code: (-traffic[code], code))[:AIRPORTS]

    def cell(origin, destination):
        if origin == destination:
            return "0"
        both_ways = min(flights.get((origin, destination), 0), flights.get((destination, origin), 0))
        if both_ways < FLIGHTS_A_YEAR:
            return "inf"
        # Rounded up, distances keep the triangle inequality: a change never looks shorter than a nonstop.
        return str(math.ceil(kilometres(places[origin], places[destination])))

    here = pathlib.Path(__file__).resolve().parent
    with open(here / "airports.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["index", "iata", "city", "state", "flights_2008"])
        for index, code in enumerate(busiest):
            out.writerow([index, code, places[code]["city"], places[code]["state"], traffic[code]])
    with open(here / "nonstop_km.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerows([[cell(i, j) for j in busiest] for i in busiest])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
