#!/usr/bin/env python3
"""Runs random generic ops and compares every bit with loops written in Python over NumPy scalars.

Loops, maps, sums, conditions, starts, index operands and element types are drawn; the loops here follow the text of
docs/ops/generic.md, element by element. Each module has many ops, and runs by the reference and by the fast kernels, whose
bits must be the same with any number of threads and on any instruction set. So must those of the nests to which `loops` lowers
the ops.

usage: generics.py TOOLS [COUNT [SEED]]
"""

import itertools
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
from ops.cases import NAMES  # noqa: E402

OPS_OF_A_MODULE = 25
RUNS = [["--kernels=ref"], ["--kernels=fast", "--threads=1"], ["--kernels=fast", "--threads=3"],
        ["--kernels=fast", "--isa=scalar"]]
FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int32", "int64", "uint8", "uint64"]


def number_type(dtype):
    """The type in which the region computes."""
    dtype = np.dtype(dtype)
    return np.dtype("float64") if dtype.kind == "f" else dtype


@dataclass
class Generic:
    loops: dict
    operands: list                       # arrays
    maps: list                           # of operands, then of results: lists of (text, function of an environment)
    results: list                        # dtype and shape
    sums: list                           # for each result a dict of loop to word
    accumulate: dict = field(default_factory=dict)  # of loops of floating sums the precision
    where: list = field(default_factory=list)
    start: list = field(default_factory=list)
    indices: dict = field(default_factory=dict)
    sizes: dict = field(default_factory=dict)
    marks: dict = field(default_factory=dict)
    steps: list = field(default_factory=list)   # name, op, operands
    passed: list = field(default_factory=list)  # names, one for each result


# -- drawing ------------------------------------------------------------------------------------------------------

def linear(terms, constant):
    """An index as text and as a function."""
    text = "+".join(f"{factor}*${name}" for name, factor in terms.items()) + f"{constant:+d}" if terms else str(constant)
    return text, lambda env: sum(env[name] * factor for name, factor in terms.items()) + constant


def divided(name, divisor, remainder):
    sign = "%" if remainder else "/"
    return f"${name}{sign}{divisor}", lambda env: env[name] % divisor if remainder else env[name] // divisor


class Drawing:
    def __init__(self, rng):
        self.rng = rng

    def pick(self, *choices):
        return choices[int(self.rng.integers(0, len(choices)))]

    def values(self, shape, dtype):
        dtype = np.dtype(dtype)
        if dtype.kind == "b":
            return self.rng.integers(0, 2, shape).astype(bool)
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            wide = self.rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
            return np.where(self.rng.integers(0, 2, shape) == 0, wide, (wide % dtype.type(7)).astype(dtype)).astype(dtype)
        x = (self.rng.standard_normal(shape) * 3).astype(dtype)
        special = self.rng.integers(0, 40, shape)
        for at, value in enumerate((np.nan, np.inf, -np.inf, 0.0, -0.0)):
            x = np.where(special == at, dtype.type(value), x)
        return x.astype(dtype)

    def generic(self):
        names = list("ijklm")[: int(self.rng.integers(1, 6))]
        loops = {name: int(self.pick(0, 1, 2, 2, 3, 3, 4, 5)) for name in names}
        if len(names) <= 3 and self.pick(0, 1):  # enough for vectors, for several strips
            loops[self.pick(*names)] = int(self.pick(8, 9, 17, 40, 70, 130))
        kind = self.pick("float", "float", "float", "integer", "bool")
        made = Generic(loops, [], [], [], [])
        dtypes = {"float": FLOATS, "integer": [self.pick(*INTEGERS)], "bool": ["bool"]}[kind]
        for _ in range(int(self.rng.integers(1, 4))):
            self.add_operand(made, self.pick(*dtypes))
        if self.pick(0, 0, 1) and kind != "bool":
            self.add_lookup(made, self.pick(*dtypes))
        self.add_conditions(made)
        for _ in range(self.pick(1, 1, 2)):
            self.add_result(made, self.pick(*dtypes), kind)
        self.add_steps(made, kind)
        self.add_accumulate(made, kind)
        return made

    def index(self, made, free):
        """An index over loops, with the extent that it needs."""
        name = self.pick(*made.loops)
        extent = made.loops[name]
        shape = self.pick("plain", "plain", "reversed", "strided", "sum", "tile", "rest", "constant")
        if shape == "reversed":
            return linear({name: -1}, extent - 1) if extent else linear({name: 1}, 0), max(extent, 1)
        if shape == "strided":
            step, offset = int(self.pick(1, 2, 3)), int(self.pick(0, 1))
            return linear({name: step}, offset), max(0, extent - 1) * step + offset + 1
        if shape == "sum":
            other = self.pick(*made.loops)
            if other != name:
                return linear({name: 1, other: 2}, 0), max(0, extent - 1) + 2 * max(0, made.loops[other] - 1) + 1
        if shape in ("tile", "rest"):
            divisor = int(self.pick(2, 3))
            return divided(name, divisor, shape == "rest"), divisor if shape == "rest" else max(0, extent - 1) // divisor + 1
        if shape == "constant":
            at = int(self.pick(0, 1))
            return linear({}, at), at + 1
        return linear({name: 1}, 0), max(extent, free)

    def add_operand(self, made, dtype):
        indices, shape = [], []
        for _ in range(int(self.rng.integers(0, 4))):
            index, extent = self.index(made, 1)
            indices.append(index)
            shape.append(extent)
        made.maps.append(indices)
        made.operands.append(self.values(tuple(shape), dtype))

    def add_lookup(self, made, dtype):
        """A table and an operand of row numbers, or of lengths."""
        rows = int(self.rng.integers(1, 5))
        name = self.pick(*made.loops)
        extent = max(1, made.loops[name])
        made.indices["r"] = len(made.operands)
        made.operands.append(self.rng.integers(0, rows, (extent,)).astype(self.pick("int32", "int64")))
        made.maps.append([linear({name: 1}, 0)])
        made.operands.append(self.values((rows, extent), dtype))
        made.maps.append([("$r", lambda env: env["r"]), linear({name: 1}, 0)])

    def add_conditions(self, made):
        if self.pick(0, 0, 1):
            name, bound = self.pick(*made.loops), int(self.rng.integers(-1, 4))
            made.where.append(self.pick((f"${name} >= {bound}", lambda env: env[name] >= bound),
                                        (f"${name} < {bound}", lambda env: env[name] < bound),
                                        (f"2*${name} == {bound}", lambda env: 2 * env[name] == bound)))
            other = self.pick(*made.loops)
            if other != name and self.pick(0, 1):
                made.where.append(self.pick((f"${name}+${other} <= {bound}", lambda env: env[name] + env[other] <= bound),
                                            (f"${name}%2 == ${other}%2", lambda env: env[name] % 2 == env[other] % 2)))
        if "r" in made.indices and self.pick(0, 0, 1):
            least = self.pick(*made.loops)
            made.where.append((f"${least} <= $r", lambda env: env[least] <= env["r"]))

    def add_result(self, made, dtype, kind):
        names = list(made.loops)
        kept = [each for each in names if self.pick(0, 1)]
        self.rng.shuffle(kept)
        indices, shape = [], []
        while kept:
            name = kept.pop()
            extent = made.loops[name]
            how = self.pick("plain", "plain", "reversed", "merged")
            if how == "merged" and kept:
                other = kept.pop()
                indices.append(linear({name: made.loops[other], other: 1}, 0))
                shape.append(extent * made.loops[other] if made.loops[other] else None)
            elif how == "reversed" and extent:
                indices.append(linear({name: -1}, extent - 1))
                shape.append(extent)
            else:
                indices.append(linear({name: 1}, 0))
                shape.append(extent)
        if None in shape:
            return self.add_result(made, dtype, kind)
        used = {name for text, _ in indices for name in names if f"${name}" in text}
        words = ["and", "or"] if kind == "bool" else ["add", "add", "add", "mul", "max", "min"]
        sums = {name: self.pick(*words) for name in names if name not in used}
        if self.pick(0, 1):
            word = self.pick(*words)
            sums = {name: word for name in sums}
        made.maps.append(indices)
        made.results.append((np.dtype(dtype), tuple(shape)))
        made.sums.append(sums)
        needs = (made.where and not sums) or any(word in ("max", "min") for word in sums.values())
        made.start.append(int(self.pick(0, 1)) if needs or self.pick(0, 0, 1) else None)

    def add_accumulate(self, made, kind):
        """Precisions of some sums, and marks that change nothing."""
        words = {name: {sums[name] for sums in made.sums if name in sums} for name in made.loops}
        for name, joins in words.items():
            if kind == "float" and joins == {"add"} and self.pick(0, 0, 1):
                made.accumulate[name] = self.pick("Float32", "fma32")
        beside = [name for name, joins in words.items() if not joins]
        for key, names in (("parallel", beside), ("vector", beside), ("unroll", list(words))):
            if names and self.pick(0, 0, 1):
                made.marks[key] = self.pick(*names)

    def add_steps(self, made, kind):
        """A region of a few elementwise ops."""
        numbers = [(f"a{i}", number_type(each.dtype)) for i, each in enumerate(made.operands)]
        wanted = number_type(made.results[0][0])
        of_type = [name for name, dtype in numbers if dtype == wanted]
        for at in range(int(self.rng.integers(0, 4))):
            word = {"float": self.pick("Add", "Mul", "Sub", "Maximum", "Neg", "Div"),
                    "integer": self.pick("Add", "Mul", "Sub", "Minimum", "Neg"),
                    "bool": self.pick("And", "Or", "Xor", "Not")}[kind]
            inputs = [self.pick(*of_type) for _ in range(1 if word in ("Neg", "Not") else 2)]
            made.steps.append((f"s{at}", word, inputs, wanted))
            of_type.append(f"s{at}")
        made.passed = [self.pick(*of_type) for _ in made.results]


# -- text ---------------------------------------------------------------------------------------------------------

def type_text(shape, dtype):
    return f"tensor<[{', '.join(map(str, shape))}], {NAMES[np.dtype(dtype).name]}, CPU>"


def op_text(number, made):
    attributes = ["loops:{" + ", ".join(f"{name}:{extent}" for name, extent in made.loops.items()) + "}",
                  "maps:[" + ", ".join("[" + ", ".join(text for text, _ in each) + "]" for each in made.maps) + "]",
                  "sums:[" + ", ".join("{" + ", ".join(f"{n}:{w}" for n, w in each.items()) + "}" for each in made.sums) + "]",
                  "dtypes:[" + ", ".join(NAMES[dtype.name] for dtype, _ in made.results) + "]"]
    if made.where:
        attributes.append("where:[" + ", ".join(f'"{text}"' for text, _ in made.where) + "]")
    if any(each is not None for each in made.start):
        attributes.append("start:[" + ", ".join("null" if each is None else str(each) for each in made.start) + "]")
    if made.accumulate:
        attributes.append("accumulate:{" + ", ".join(f"{n}:{w}" for n, w in made.accumulate.items()) + "}")
    attributes += [f"{key}:[{name}]" for key, name in made.marks.items()]
    if made.indices:
        attributes.append("indices:{" + ", ".join(f"{n}:{o}" for n, o in made.indices.items()) + "}")
    operands = ", ".join(f"%i{number}x{i}:{type_text(a.shape, a.dtype)}" for i, a in enumerate(made.operands))
    results = ", ".join(f"%r{number}x{i}:{type_text(shape, dtype)}" for i, (dtype, shape) in enumerate(made.results))
    prefix = f"%g{number}"
    arguments = ", ".join(f"{prefix}a{i}:{type_text((), number_type(a.dtype))}" for i, a in enumerate(made.operands))
    passed = ", ".join(f"{prefix}{name}:{type_text((), number_type(dtype))}"
                       for name, (dtype, _) in zip(made.passed, made.results))
    body = ""
    for name, word, inputs, dtype in made.steps:
        kind = type_text((), dtype)
        taken = ", ".join(f"{prefix}{each}:{kind}" for each in inputs)
        body += f"linalg.CPU.{word}Op ({taken}) -> ({prefix}{name}:{kind})\n"
    return (f"linalg.CPU.GenericOp [{', '.join(attributes)}] ({operands}) -> ({results}) {{\n({arguments}) -> ({passed}) {{\n"
            f"{body}cf.YieldOp ({passed}) -> ()\n}}\n}}\n")


def module_text(all_made):
    inputs = ", ".join(f"%i{n}x{i}:{type_text(a.shape, a.dtype)}" for n, m in enumerate(all_made) for i, a in enumerate(m.operands))
    outputs = ", ".join(f"%r{n}x{i}:{type_text(s, d)}" for n, m in enumerate(all_made) for i, (d, s) in enumerate(m.results))
    body = "".join(op_text(n, m) for n, m in enumerate(all_made))
    return f"@case [mir_version:2] ({inputs}) -> ({outputs}) {{\n{body}cf.ReturnOp ({outputs}) -> ()\n}}\n"


# -- the meaning --------------------------------------------------------------------------------------------------

def extreme(a, b, sign):
    """As docs/ops/reduction.md: a NaN wins, -0 is below +0, of equal ones the first."""
    if b != b:
        return b
    if a != a:
        return a
    if a == b:
        if a == 0 and np.signbit(np.float64(a)) != np.signbit(np.float64(b)):
            return a if np.signbit(np.float64(a)) == (sign < 0) else b
        return a
    return b if (b > a) == (sign > 0) else a


FUNCTIONS = {"Add": lambda a, b: a + b, "Mul": lambda a, b: a * b, "Sub": lambda a, b: a - b, "Div": lambda a, b: a / b,
             "Neg": lambda a: -a, "Maximum": lambda a, b: extreme(a, b, 1), "Minimum": lambda a, b: extreme(a, b, -1),
             "And": lambda a, b: np.bool_(a and b), "Or": lambda a, b: np.bool_(a or b), "Xor": lambda a, b: np.bool_(a != b),
             "Not": lambda a: np.bool_(not a)}
NEUTRAL = {"add": 0, "mul": 1, "and": 1, "or": 0}
JOIN = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "max": lambda a, b: extreme(a, b, 1),
        "min": lambda a, b: extreme(a, b, -1), "and": lambda a, b: np.bool_(a and b), "or": lambda a, b: np.bool_(a or b)}


def iteration(made, env, passed):
    """The number that the region passes; none if the iteration is left out."""
    env = dict(env)
    for name, operand in made.indices.items():
        env[name] = int(made.operands[operand][tuple(index(env) for _, index in made.maps[operand])])
    if not all(condition(env) for _, condition in made.where):
        return None
    numbers = {}
    for i, array in enumerate(made.operands):
        at = tuple(index(env) for _, index in made.maps[i])
        assert all(0 <= a < n for a, n in zip(at, array.shape)), (at, array.shape)
        numbers[f"a{i}"] = number_type(array.dtype).type(array[at])
    for name, word, inputs, _ in made.steps:
        numbers[name] = FUNCTIONS[word](*[numbers[each] for each in inputs])
    return numbers[passed]


def added_once(a, b):
    """The sum of two doubles, rounded once to Float32: the double nearest to it is made odd before."""
    near = np.float64(a) + np.float64(b)
    if np.isfinite(near) and np.isfinite(a) and np.isfinite(b):
        rest = Fraction(float(a)) + Fraction(float(b)) - Fraction(float(near))
        if rest != 0 and near.view(np.uint64) % 2 == 0:
            near = np.nextafter(near, np.float64(np.inf if rest > 0 else -np.inf))
    return np.float32(near)


def join(kind, word, precision, a, b):
    if precision == "Float32":
        return kind.type(np.float32(a) + np.float32(b))
    return kind.type(added_once(a, b)) if precision == "fma32" else kind.type(JOIN[word](a, b))


def joined(made, env, groups, number, start):
    """What the groups of summed loops give for one element; none for an extreme over nothing."""
    if not groups:
        return iteration(made, env, made.passed[number])
    word, precision, names = groups[0]
    kind = number_type(made.results[number][0])
    value = kind.type(start) if start is not None else kind.type(NEUTRAL[word]) if word in NEUTRAL else None
    for at in itertools.product(*[range(made.loops[name]) for name in names]):
        inner = joined(made, {**env, **dict(zip(names, at))}, groups[1:], number, None)
        if inner is not None:
            value = inner if value is None else join(kind, word, precision, value, inner)
    return value


def expected(made, number):
    dtype, shape = made.results[number]
    sums, start = made.sums[number], made.start[number]
    kept = [name for name in made.loops if name not in sums]
    groups = []
    for name in made.loops:
        kind = (sums[name], made.accumulate.get(name)) if name in sums else None
        if kind and groups and groups[-1][:2] == kind:
            groups[-1][2].append(name)
        elif kind:
            groups.append((*kind, [name]))
    out = np.full(shape, 0 if start is None else start, dtype)
    for at in itertools.product(*[range(made.loops[name]) for name in kept]):
        env = dict(zip(kept, at))
        element = tuple(index(env) for _, index in made.maps[len(made.operands) + number])
        value = joined(made, env, groups, number, start)
        if value is not None:
            out[element] = dtype.type(value)
    return out


# -- the run ------------------------------------------------------------------------------------------------------

def same_bits(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind == "f":
        both = np.isnan(a) & np.isnan(b)
        a, b = np.where(both, 0, a), np.where(both, 0, b)
    return a.tobytes() == b.tobytes()


def has_nests(made):
    """True if `loops` lowers the op: no sum is narrow, or may have the largest or least of nothing as a term."""
    if made.accumulate:
        return False
    for sums in made.sums:
        words = [(sums[name], made.loops[name]) for name in made.loops if name in sums]
        is_term = False
        for word, extent in words:
            is_term = is_term or word != words[0][0]
            if is_term and word in ("max", "min") and (made.where or extent == 0):
                return False
    return True


def lower(tools, folder):
    """Replaces the ops of the module by nests."""
    done = subprocess.run([tools / "mllm-opt", "-p", "loops", folder / "case.mir"], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{done.stderr}\n{(folder / 'case.mir').read_text()}")
    (folder / "case.mir").write_text(done.stdout)


def run(tools, folder, all_made, options, nests=False):
    (folder / "case.mir").write_text(module_text(all_made))
    if nests:
        lower(tools, folder)
    np.savez(folder / "in.npz", **{f"i{n}x{i}": a for n, m in enumerate(all_made) for i, a in enumerate(m.operands)})
    command = [tools / "mllm-interp", folder / "case.mir", f"--output={folder / 'out.npz'}", "--print-outputs=no",
               *options]
    command += [f"--input=%i{n}x{i}={folder / 'in.npz'}:i{n}x{i}" for n, m in enumerate(all_made) for i in range(len(m.operands))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{done.stderr}\n{(folder / 'case.mir').read_text()}")
    with np.load(folder / "out.npz") as out:
        return [[out[f"r{n}x{i}"] for i in range(len(m.results))] for n, m in enumerate(all_made)]


STRUCTURED = """@main [mir_version:2] (%band:tensor<[9, 3], Float32, CPU>, %b:tensor<[9], Float32, CPU>, %v:tensor<[9], Float32, CPU>, %x:tensor<[6], Float32, CPU>, %step:tensor<[6], Float32, CPU>, %decay:tensor<[4], Float32, CPU>, %in:tensor<[6, 4], Float32, CPU>, %out:tensor<[6, 4], Float32, CPU>, %blocks:tensor<[2, 2, 3, 4], Float32, CPU>, %list:tensor<[2, 2], Int32, CPU>, %m:tensor<[12, 5], Float32, CPU>) -> (%solved, %scanned, %product) {
    structured.BandedStepOp(%band, %b, %v) -> (%solved)
    structured.SelectiveScanOp(%x, %step, %decay, %in, %out) -> (%scanned)
    structured.BlockMatMulOp(%blocks, %list, %m) -> (%product)
    cf.ReturnOp (%solved, %scanned, %product) -> ()
}
"""


def check_structured(tools, folder):
    """Compares the ops of an example dialect with the recurrences that they stand for."""
    rng = np.random.default_rng(5)
    shapes = {name: tuple(map(int, extents.split(", "))) for name, extents in re.findall(r"%(\w+):tensor<\[(.*?)\]", STRUCTURED)}
    values = {name: rng.uniform(-1, 1, shape).astype("float32") for name, shape in shapes.items()}
    values["band"][:, 0] += 3
    values["step"], values["decay"] = abs(values["step"]), -abs(values["decay"])
    values["list"] = np.array([[2, 0], [1, 1]], dtype="int32")
    exact = {name: value.astype("float64") for name, value in values.items()}
    # With the solution as the estimate, a step changes nothing.
    solution = np.zeros(9)
    for i in range(9):
        solution[i] = (exact["b"][i] - sum(exact["band"][i, d] * solution[i - d] for d in (1, 2) if i >= d)) / exact["band"][i, 0]
    values["v"] = solution.astype("float32")
    state, scanned = np.zeros(4), []
    for t in range(6):
        state = np.exp(exact["step"][t] * exact["decay"]) * state + exact["step"][t] * exact["in"][t] * exact["x"][t]
        scanned.append(exact["out"][t] @ state)
    rows = exact["m"].reshape(3, 4, 5)
    product = sum(exact["blocks"][:, b] @ rows[values["list"][:, b]] for b in range(2))
    (folder / "structured.mir").write_text(STRUCTURED)
    for name, value in values.items():
        np.save(folder / f"{name}.npy", value)
    dialect = Path(__file__).parents[2] / "testdata/examples/dialects/structured.mir"
    words = [f"--input={name}={name}.npy" for name in values] + [f"--output={name}={name}.npy" for name in ("solved", "scanned", "product")]
    for kernels in ("ref", "fast"):
        subprocess.run([tools.resolve() / "mllm-interp", f"--dialect={dialect.resolve()}", "structured.mir", f"--kernels={kernels}",
                        "--print-outputs=no", *words], cwd=folder, check=True)
        for name, want in (("solved", solution), ("scanned", np.array(scanned)), ("product", product)):
            found = np.load(folder / f"{name}.npy")
            assert np.allclose(found, want, rtol=1e-5, atol=1e-6), (kernels, name, found, want)


def main():
    tools = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    checked = elements = nested = 0
    with tempfile.TemporaryDirectory() as scratch, np.errstate(all="ignore"):
        check_structured(tools, Path(scratch))
        for first in range(0, count, OPS_OF_A_MODULE):
            drawing = Drawing(np.random.default_rng([seed, first]))
            all_made = [drawing.generic() for _ in range(min(OPS_OF_A_MODULE, count - first))]
            wanted = [[expected(made, i) for i in range(len(made.results))] for made in all_made]
            by_reference = None
            for options in RUNS:
                found = run(tools, Path(scratch), all_made, options)
                by_reference = by_reference or found
                for number, made in enumerate(all_made):
                    for i, want in enumerate(wanted[number]):
                        if not same_bits(found[number][i], want):
                            raise AssertionError(f"{options}, seed [{seed}, {first}], op {number}, result {i}: found\n"
                                                 f"{found[number][i]}\nexpected\n{want}\n{op_text(number, made)}")
                        if found[number][i].tobytes() != by_reference[number][i].tobytes():
                            raise AssertionError(f"{options}, seed [{seed}, {first}], op {number}, result {i}: other bits\n"
                                                 f"{op_text(number, made)}")
                        checked += options is RUNS[0]
                        elements += want.size
            lowered = [number for number, made in enumerate(all_made) if has_nests(made)]
            found = run(tools, Path(scratch), [all_made[number] for number in lowered], RUNS[0], nests=True)
            for results, number in zip(found, lowered):
                for i, result in enumerate(results):
                    if result.tobytes() != by_reference[number][i].tobytes():
                        raise AssertionError(f"nests, seed [{seed}, {first}], op {number}, result {i}: found\n{result}\nexpected\n"
                                             f"{by_reference[number][i]}\n{op_text(number, all_made[number])}")
                    nested += 1
    print(f"{count} generic ops, {checked} results, {elements} elements, {nested} results of nests: equal bits")
    return 0


if __name__ == "__main__":
    sys.exit(main())
