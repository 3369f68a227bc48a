"""Makes drives.csv from miles.dat of the Stanford GraphBase: python3 derive.py miles.dat > drives.csv"""

import re
import sys

LONGEST = 600  # miles

cities, rows = [], []
for line in open(sys.argv[1]):
    if line.startswith("*"):
        continue
    city = re.match(r"(.+)\[\d+,\d+\]\d+$", line.strip())
    if city:
        cities.append(city.group(1))
        rows.append([])
    else:
        rows[-1] += [int(word) for word in line.split()]

print("# Drives of at most %d miles, from the mileages of the Stanford GraphBase; not a part of it: see README.md" % LONGEST)
print("from,to,miles")
for i, row in enumerate(rows):
    # The distances to the cities before this one, the nearest in the file first.
    assert len(row) == i
    for back, miles in enumerate(row):
        if miles <= LONGEST:
            print('"%s","%s",%d' % (cities[i], cities[i - 1 - back], miles))
