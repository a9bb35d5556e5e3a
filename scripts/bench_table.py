#!/usr/bin/python3
"""The medians of kernel_bench, from its JSON, as a table: kernels and peers side by side."""

import json
import re
import sys

# Names end with the peer, where there is one, and the number of threads.
NAME = re.compile(r"(?P<work>.+?)(?:/(?P<peer>OpenBLAS|PyTorch|oneDNN))?/threads:(?P<threads>\d+)"
                  r"(?:/real_time)?$")


def medians(document):
    """{(work, threads): {peer or "": (GFLOP/s, GB/s)}}, rates of 0 where there are none."""
    table = {}
    for row in document["benchmarks"]:
        # One repeat has no aggregates: it is its own median.
        if row.get("aggregate_name", "median" if row.get("repetitions") == 1 else "") != "median":
            continue
        name = NAME.match(row["run_name"])
        rates = (row.get("FLOP", 0) / 1e9, row.get("B", 0) / 1e9)
        key = (name["work"], int(name["threads"]))
        table.setdefault(key, {})[name["peer"] or ""] = rates
    return table


def share(rate, limit):
    return f"{100 * rate / limit:.0f} %" if rate and limit else "-"


def number(rate):
    return f"{rate:.1f}" if rate else "-"


def peer_rate(rates):
    """In GFLOP/s or, where the work has no arithmetic that counts, in GB/s."""
    return rates[0] or rates[1]


def show(table, out):
    peers = sorted({peer for rates in table.values() for peer in rates if peer})
    width = max([len(work) for work, _ in table] + [4])
    columns = ["threads", "GFLOP/s", *peers, "of limit", "GB/s", "of limit"]
    print(f"{'work':{width}}" + "".join(f"{each:>10}" for each in columns), file=out)
    for (work, threads), rates in sorted(table.items(), key=lambda row: (row[0][1], row[0][0])):
        flop, bytes_ = rates.get("", (0, 0))
        arithmetic = table.get(("limit/multiply-add", threads), {}).get("", (0, 0))[0]
        reading = table.get(("limit/read", threads), {}).get("", (0, 0))[1]
        fields = [str(threads), number(flop), *(number(peer_rate(rates.get(p, (0, 0)))) for p in peers),
                  share(flop, arithmetic), number(bytes_), share(bytes_, reading)]
        print(f"{work:{width}}" + "".join(f"{each:>10}" for each in fields), file=out)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        show(medians(json.load(file)), sys.stdout)


if __name__ == "__main__":
    main()
