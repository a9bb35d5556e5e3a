#!/usr/bin/env python3
"""Packs and programs that know nothing of each other.

Python's zipfile reads what mllm-pack writes; mllm-pack and mllm-interp take what a writer made with
zipfile and NumPy alone, with hashes computed here from the description of XXH64. Then packs that
break one rule each are refused with the name of that rule, and nothing is written outside a folder.

usage: pack_files.py TOOLS EXAMPLES
"""

import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
from itertools import chain
from pathlib import Path

import numpy as np

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)


def rotate(value, bits):
    value &= MASK
    return (value << bits | value >> (64 - bits)) & MASK


def add_lane(lane, word):
    return rotate(lane + word * P2, 31) * P1 & MASK


def xxh64(data):
    """Seed 0; by the specification of xxHash."""
    at, total = 0, len(data)
    if total >= 32:
        lanes = [P1 + P2 & MASK, P2, 0, -P1 & MASK]
        while at + 32 <= total:
            words = struct.unpack_from("<4Q", data, at)
            lanes = [add_lane(lane, word) for lane, word in zip(lanes, words)]
            at += 32
        value = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = (value ^ add_lane(0, lane)) * P1 + P4 & MASK
    else:
        value = P5
    value = value + total & MASK
    while at + 8 <= total:
        value = rotate(value ^ add_lane(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4 & MASK
        at += 8
    if at + 4 <= total:
        value = rotate(value ^ struct.unpack_from("<I", data, at)[0] * P1, 23) * P2 + P3 & MASK
        at += 4
    for byte in data[at:]:
        value = rotate(value ^ byte * P5, 11) * P1 & MASK
    value = (value ^ value >> 33) * P2 & MASK
    value = (value ^ value >> 29) * P3 & MASK
    return f"{value ^ value >> 32:016x}"


MODULE = b"""@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%y:tensor<[2, 3], Float32, CPU>) {
    linalg.CPU.NegOp (%x:tensor<[2, 3], Float32, CPU>) -> (%y:tensor<[2, 3], Float32, CPU>)
    cf.ReturnOp (%y:tensor<[2, 3], Float32, CPU>) -> ()
}
"""


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def members():
    values = np.array([[1.5, -2, 0], [3, 4, 5]], dtype=np.float32)
    return {"m.mir": MODULE, "x.npy": npy(values), "y.npy": npy(-values)}


def manifest(files, **changes):
    document = {"schema": 1, "module": "m.mir",
                "arguments": {"input": ["x=x.npy"], "expect": ["y=y.npy"], "tolerance": ["exact"]},
                "members": [{"name": name, "bytes": len(data), "xxh64": xxh64(data)}
                            for name, data in files.items()], **changes}
    return json.dumps(document).encode()


def write_pack(path, files, text=None, aligned=True, method=zipfile.ZIP_STORED, first=True):
    """A pack by zipfile; an extra field of a private kind fills up to a multiple of 64 bytes."""
    everything = {"manifest.json": manifest(files) if text is None else text, **files}
    if not first:
        everything = dict(reversed(everything.items()))
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in everything.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = method
            position = archive.fp.tell() + 30 + len(name.encode()) + 4
            padding = -position % 64
            if aligned:
                entry.extra = struct.pack("<HH", 0xD935, padding) + bytes(padding)
            archive.writestr(entry, data)
    return path


def edited(path, change):
    data = bytearray(Path(path).read_bytes())
    change(data)
    Path(path).write_bytes(data)
    return path


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def refused(what, command, code, text):
    result = run(*command)
    if result.returncode != 1 or f"error[{code}]" not in result.stderr or text not in result.stderr:
        sys.exit(f"{what}: exit status {result.returncode}, expected {code} with '{text}' in\n{result.stderr}")


def entry_field(data, number, offset, form, value):
    """Changes a field in the directory entry of member `number`."""
    at = data.index(b"PK\1\2")
    for _ in range(number):
        at = data.index(b"PK\1\2", at + 4)
    struct.pack_into("<" + form, data, at + offset, value)


def hostile(pack):
    """Packs that break one rule each, with what must be said of them."""
    files = members()
    renamed = lambda name: {**{k: v for k, v in files.items() if k != "y.npy"}, name: files["y.npy"]}
    local = lambda data, n: [i for i in range(len(data)) if data[i:i + 4] == b"PK\3\4"][n]
    yield "absolute path", write_pack(pack, renamed("/tmp/y.npy")), "its name is a path out of"
    yield "parent folder", write_pack(pack, renamed("../y.npy")), "its name is a path"
    yield "backslash", write_pack(pack, renamed("..\\y.npy")), "its name is a path"
    yield "folder itself", write_pack(pack, renamed("..")), "its name is a path"
    yield "subfolder", write_pack(pack, renamed("d/y.npy")), "its name is no plain file name"
    yield "hidden file", write_pack(pack, renamed(".bashrc")), "its name is no plain file name"
    yield "deflated", write_pack(pack, files, method=zipfile.ZIP_DEFLATED), "it is compressed"
    yield "unaligned", write_pack(pack, files, aligned=False), "expected at a multiple of 64"
    yield "manifest last", write_pack(pack, files, first=False), "its first member is not 'manifest.json'"
    yield "unlisted", write_pack(pack, files, manifest({k: files[k] for k in ("m.mir", "x.npy")})), "which lists 2"
    yield "other size", write_pack(pack, files, manifest({**files, "y.npy": b""})), "the manifest says 0"
    yield "other schema", write_pack(pack, files, manifest(files, schema=2)), "schema 2, this toolkit reads 1"
    yield "other option", write_pack(pack, files, manifest(files, arguments={"output": ["/tmp/x.npy"]})), \
        "no run takes the option 'output'"
    yield "module missing", write_pack(pack, files, manifest(files, module="n.mir")), 'the module "n.mir" is no member'
    yield "encrypted", edited(write_pack(pack, files), lambda d: (
        entry_field(d, 1, 8, "H", 1), struct.pack_into("<H", d, local(d, 1) + 6, 1))), "it is encrypted"
    yield "wrong size", edited(write_pack(pack, files), lambda d: entry_field(d, 1, 24, "I", 5)), "bytes cannot be packed"
    yield "overlap", edited(write_pack(pack, files), lambda d: entry_field(
        d, 3, 42, "I", local(d, 2))), "its local header is not that of the directory"
    yield "local header differs", edited(write_pack(pack, files), lambda d: struct.pack_into(
        "<I", d, local(d, 2) + 14, 1)), "its local header is not that of the directory"
    yield "64-bit fields missing", edited(write_pack(pack, files), lambda d: (
        entry_field(d, 1, 20, "I", 0xFFFFFFFF), entry_field(d, 1, 24, "I", 0xFFFFFFFF))), "its directory entry is damaged"
    yield "trailing bytes", edited(write_pack(pack, files), lambda d: d.extend(b"x")), "does not end with the end records"
    yield "bytes before", edited(write_pack(pack, files), lambda d: d.insert(0, 0x50)), ""

    def duplicate(data):
        for place in (data.rindex(b"y.npy", 0, data.index(b"PK\1\2")), data.rindex(b"y.npy")):
            data[place:place + 5] = b"x.npy"
    yield "duplicate", edited(write_pack(pack, files), duplicate), "two members are named 'x.npy'"


def hostile_64(made, pack):
    """The same for 64-bit fields, in a pack that mllm-pack made."""
    def fresh(change):
        Path(pack).write_bytes(made)
        return edited(pack, change)
    entry = lambda d: d.rindex(b"PK\1\2")
    extra = lambda d: entry(d) + 46 + struct.unpack_from("<H", d, entry(d) + 28)[0] + 4
    end = lambda d: d.rindex(b"PK\6\6")
    put = lambda d, at, value: struct.pack_into("<Q", d, at, value & MASK)
    no_end, no_local = "does not end with the end records", "its local header is not that of the directory"
    yield "64-bit size", fresh(lambda d: put(d, extra(d), -1)), "bytes cannot be packed"
    yield "64-bit sizes that wrap", fresh(lambda d: (put(d, extra(d), -8), put(d, extra(d) + 8, -8))), no_local
    yield "64-bit offset", fresh(lambda d: put(d, extra(d) + 16, -1)), no_local
    yield "64-bit count", fresh(lambda d: put(d, end(d) + 32, -1)), no_end
    yield "64-bit directory size", fresh(lambda d: put(d, end(d) + 40, -1)), no_end
    yield "64-bit directory offset", fresh(lambda d: put(d, end(d) + 48, 1 << 63)), no_end
    yield "place of the 64-bit end record", fresh(lambda d: put(d, d.rindex(b"PK\6\7") + 8, 0)), no_end
    yield "short 64-bit field", fresh(lambda d: struct.pack_into("<H", d, extra(d) - 2, 8)), "its directory entry is damaged"


def check_hostile(tools, folder):
    count = 0
    (folder / "m.mir").write_bytes(MODULE)
    subprocess.run([tools / "mllm-pack", "create", "m.mir", "-o", "made.mirz"], check=True)
    made = (folder / "made.mirz").read_bytes()
    for what, path, text in chain(hostile(folder / "hostile.mirz"), hostile_64(made, folder / "hostile.mirz")):
        for command in (["mllm-pack", "list"], ["mllm-interp"], ["mllm-pack", "extract", "-o", "out"]):
            if what == "bytes before" and command == ["mllm-interp"]:
                continue  # that is no pack at all
            refused(f"{what}: {command}", [tools / command[0], *command[1:], path], "MIR0615", text)
        count += 1
    # What lists and extracts well enough: a changed byte is found when the member is used.
    broken = edited(write_pack(folder / "b.mirz", members()), lambda d: d.__setitem__(d.index(b"NegOp"), 0x4D))
    for command in (["mllm-pack", "check"], ["mllm-interp"], ["mllm-pack", "extract", "-o", folder / "out"]):
        refused(f"wrong CRC: {command}", [tools / command[0], *command[1:], broken], "MIR0615", "has the hash")
    assert not (folder / "out" / "m.mir").exists(), "a damaged member was written"
    print(f"{count + 1} packs that break a rule are refused")


def check_extraction(tools, folder):
    """Links in the target folder are replaced, not followed."""
    outside = folder / "outside"
    outside.write_text("untouched")
    target = folder / "target"
    target.mkdir()
    (target / "y.npy").symlink_to(outside)
    (target / "x.npy").symlink_to(folder / "nowhere")
    pack = write_pack(folder / "good.mirz", members())
    subprocess.run([tools / "mllm-pack", "extract", pack, "-o", target], check=True)
    assert outside.read_text() == "untouched" and not (folder / "nowhere").exists(), "a link was followed"
    for name, data in members().items():
        assert (target / name).read_bytes() == data and not (target / name).is_symlink(), name
    print("extraction stays in its folder")


def check_written(tools, examples, folder):
    """zipfile reads a pack of the bundled decoder: equal files, equal hashes, aligned data."""
    arguments = ["create", "model.mir", "-w", "model.safetensors", "-i", "ids=ids.npy", "-i",
                 "positions=positions.npy", "--expect=expected_logits.npy", "--tolerance=abs=1e-6,rel=1e-5"]
    packs = [folder / "a.mirz", folder / "b.mirz"]
    for pack in packs:
        subprocess.run([tools / "mllm-pack", *arguments, "-o", pack], check=True, cwd=examples)
    assert packs[0].read_bytes() == packs[1].read_bytes(), "two packs of the same files differ"
    with zipfile.ZipFile(packs[0]) as archive:
        assert archive.testzip() is None
        stated = json.loads(archive.read("manifest.json"))
        assert [each["name"] for each in stated["members"]] == archive.namelist()[1:]
        for each, entry in zip(stated["members"], archive.infolist()[1:]):
            data = archive.read(entry)
            assert data == (examples / entry.filename).read_bytes(), entry.filename
            assert (each["bytes"], each["xxh64"]) == (len(data), xxh64(data)), entry.filename
            header = packs[0].read_bytes()[entry.header_offset:entry.header_offset + 30]
            begin = entry.header_offset + 30 + sum(struct.unpack_from("<HH", header, 26))
            assert begin % 64 == 0 and entry.compress_type == zipfile.ZIP_STORED, entry.filename
    subprocess.run([tools / "mllm-interp", packs[0]], check=True, stdout=subprocess.DEVNULL)
    print(f"zipfile reads {len(stated['members'])} members of a pack of the bundled decoder")


def check_foreign(tools, folder):
    pack = write_pack(folder / "foreign.mirz", members())
    subprocess.run([tools / "mllm-pack", "check", pack], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([tools / "mllm-interp", pack], check=True, stdout=subprocess.DEVNULL)
    wrong = {**members(), "y.npy": npy(np.ones((2, 3), dtype=np.float32))}
    refused("other values", [tools / "mllm-interp", write_pack(folder / "w.mirz", wrong)], "MIR0825", "'%y'")
    print("a pack made by zipfile and NumPy is checked and run")


def main():
    tools, examples = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    assert xxh64(b"") == "ef46db3751d8e999" and xxh64(b"a") == "d24ec4f1a98c6e5b", "XXH64 of known texts"
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        folder = Path(work)
        check_written(tools, examples, folder)
        check_foreign(tools, folder)
        check_hostile(tools, folder)
        check_extraction(tools, folder)


if __name__ == "__main__":
    main()
