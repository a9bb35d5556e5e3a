"""Cases of the ops that work element by element, of those that only move elements, and of reductions."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts" / "lib"))
import philox  # noqa: E402

from .cases import ALL_FLOATS, EXACT, FLOATS, NAMES, NUMBERS, Case, op, rounded, same, wide

MOVED = NUMBERS + ("bool",)


def broadcast_pair(s):
    shape = s.shape()
    cut = int(s.rng.integers(0, len(shape) + 1))
    other = tuple(1 if s.flag() and s.flag() else n for n in shape[cut:])
    return s.values(shape), s.values(other)


def binary(name, function, bound="0.5 ULP", dtypes=ALL_FLOATS):
    @op(name, bound, dtypes)
    def case(s):
        a, b = broadcast_pair(s)
        with np.errstate(all="ignore"):
            return Case([a, b], [rounded(function(wide(a), wide(b)), s.dtype, 0.5)])


binary("AddOp", np.add)
binary("SubOp", np.subtract)
binary("MulOp", np.multiply)
binary("DivOp", np.divide)


def exact_binary(name, function, dtypes=NUMBERS):
    @op(name, "exact", dtypes)
    def case(s):
        a, b = broadcast_pair(s)
        with np.errstate(all="ignore"):
            return Case([a, b], [same(function(a, b).astype(s.dtype))])


exact_binary("MaximumOp", np.maximum)
exact_binary("MinimumOp", np.minimum)


@op("RemOp", "exact", NUMBERS)
def rem(s):
    a, b = broadcast_pair(s)
    with np.errstate(all="ignore"):
        wanted = np.where(b == 0, a, np.fmod(a, b)) if s.dtype.kind in "iu" else np.fmod(a, b)
    return Case([a, b], [same(wanted.astype(s.dtype))])


def unary(name, function, scale=2.0, exponent=None, positive=False, bound=None, most=4):
    """Of Float64 the error is at most so many units, with an exponent 3 more for each unit of it."""
    stated = "0.501 ULP; Float64 4 ULP" if exponent is None else "0.501 ULP; Float64 4 + 3 \\|v\\| ULP"

    @op(name, bound or stated, ALL_FLOATS)
    def case(s):
        x = s.some(scale=scale)
        x = np.abs(x) if positive else x
        with np.errstate(divide="ignore"):
            wanted = function(wide(x))
        if s.dtype != np.float64:
            return Case([x], [rounded(wanted, s.dtype, min(0.501, most))])
        if exponent is None:
            return Case([x], [rounded(wanted, s.dtype, most)])
        spacing = np.spacing(np.abs(wanted).astype(np.float64)).astype(EXACT)
        return Case([x], [rounded(wanted, s.dtype, 4, 3 * np.abs(exponent(wide(x))) * spacing)])


def exact_erf(x):
    """The series up to 2, the continued fraction of erfc beyond; both to all 64 bits."""
    magnitude = abs(x)
    if magnitude < 2:
        term = total = magnitude
        for n in range(1, 60):
            term = term * 2 * magnitude * magnitude / (2 * n + 1)
            total = total + term
        value = 2 / ROOT_OF_PI * np.exp(-magnitude * magnitude) * total
    else:
        below = magnitude
        for n in range(120, 0, -1):
            below = magnitude + EXACT(n) / 2 / below
        value = 1 - np.exp(-magnitude * magnitude) / ROOT_OF_PI / below
    return np.copysign(value, x)


ROOT_OF_PI = np.sqrt(4 * np.arctan(EXACT(1)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


GELU_C, GELU_D = EXACT(np.float32(0.79788456)), EXACT(np.float32(0.044715))
QUICK = EXACT(np.float32(1.702))
unary("ExpOp", np.exp)
unary("LogOp", np.log, positive=True)
unary("SinOp", np.sin, scale=30)
unary("CosOp", np.cos, scale=30)
unary("TanhOp", np.tanh)
unary("ErfOp", np.vectorize(exact_erf, otypes=[EXACT]), bound="0.501 ULP; Float64 5 ULP", most=5)
unary("SqrtOp", np.sqrt, positive=True, bound="0.5 ULP", most=0.5)
unary("RsqrtOp", lambda x: 1 / np.sqrt(x), positive=True, bound="0.501 ULP; Float64 1.5 ULP", most=1.5)
unary("SigmoidOp", sigmoid, scale=4)
unary("SiLUOp", lambda x: x * sigmoid(x), scale=4)
unary("GELUOp", lambda x: x * sigmoid(2 * GELU_C * (x + GELU_D * x**3)), exponent=lambda x: 2 * GELU_C * (x + GELU_D * x**3))
unary("QuickGELUOp", lambda x: x * sigmoid(QUICK * x), exponent=lambda x: QUICK * x)


def exact_unary(name, function, dtypes=NUMBERS):
    @op(name, "exact", dtypes)
    def case(s):
        x = s.some()
        return Case([x], [same(function(x).astype(s.dtype))])


exact_unary("AbsOp", np.abs)
exact_unary("NegOp", np.negative)
exact_unary("SignOp", np.sign)
exact_unary("FloorOp", np.floor, ALL_FLOATS)
exact_unary("CeilOp", np.ceil, ALL_FLOATS)
exact_unary("RoundOp", np.rint, ALL_FLOATS)
exact_unary("TruncOp", np.trunc, ALL_FLOATS)
exact_unary("ReLUOp", lambda x: np.maximum(x, x.dtype.type(0)))


@op("ClipOp", "exact", NUMBERS)
def clip(s):
    x = s.some()
    low, high = sorted(int(v) for v in s.rng.integers(0, 4, 2))
    return Case([x], [same(np.minimum(np.maximum(x, s.dtype.type(low)), s.dtype.type(high)))],
                {"min_val": low, "max_val": high})


def comparison(name, function):
    @op(name, "exact", MOVED)
    def case(s):
        a, b = broadcast_pair(s)
        if s.dtype != bool:
            a, b = ((v % 3 if s.dtype.kind in "iu" else np.round(v)).astype(s.dtype) for v in (a, b))
        return Case([a, b], [same(function(a, b))])


comparison("EqualOp", np.equal)
comparison("NotEqualOp", np.not_equal)
comparison("LessOp", np.less)
comparison("LessEqualOp", np.less_equal)
comparison("GreaterOp", np.greater)
comparison("GreaterEqualOp", np.greater_equal)
exact_binary("AndOp", np.logical_and, ("bool",))
exact_binary("OrOp", np.logical_or, ("bool",))
exact_binary("XorOp", np.logical_xor, ("bool",))
exact_unary("NotOp", np.logical_not, ("bool",))


@op("WhereOp", "exact", MOVED)
def where(s):
    a, b = broadcast_pair(s)
    condition = s.values(a.shape[int(s.rng.integers(0, a.ndim + 1)):], dtype=bool)
    return Case([condition, a, b], [same(np.where(condition, a, b))])


@op("MaskedScatterOp", "exact", MOVED)
def masked_scatter(s):
    destination, source = broadcast_pair(s)
    mask = s.values(destination.shape, dtype=bool).astype(np.int8)
    return Case([destination, mask, source], [same(np.where(mask != 0, source, destination))])


@op("CastTypeOp", "exact", NUMBERS)
def cast(s):
    x = s.some()
    to = np.dtype(s.pick(*NUMBERS))
    if s.dtype.kind == "f" and to.kind in "iu":
        limits = np.iinfo(to)
        wanted = np.clip(np.trunc(wide(x)), limits.min, limits.max).astype(to)
    else:
        with np.errstate(over="ignore"):
            wanted = x.astype(to)
    return Case([x], [same(wanted)], {"dtype": NAMES[to.name]})


def copies(name):
    @op(name, "exact", MOVED)
    def case(s):
        x = s.some()
        return Case([x], [same(x)])


copies("CloneOp")
copies("ContiguousOp")


@op("X2XOp", "exact", MOVED)
def transfer(s):
    x = s.some()
    return Case([x], [same(x)], {"device": "CPU"})


def regrouped(name, key):
    @op(name, "exact", MOVED)
    def case(s):
        a, b, c = s.extent(1), s.extent(1), s.extent(1)
        x = s.values(s.pick((a, b, c), (a * b, c), (a * b * c,)))
        shape = s.pick([a * b, c], [a, b * c], [a, -1, c], [a * b * c, 1])
        return Case([x], [same(x.reshape(shape))], {key: shape})


regrouped("ViewOp", "to_shape")
regrouped("ReshapeOp", "shape")


@op("TransposeOp", "exact", MOVED)
def transpose(s):
    x = s.some(int(s.rng.integers(1, 5)))
    i, j = s.axis(x.ndim), s.axis(x.ndim)
    return Case([x], [same(np.swapaxes(x, i, j))], {"dim0": i, "dim1": j})


@op("PermuteOp", "exact", MOVED)
def permute(s):
    x = s.some(int(s.rng.integers(1, 5)))
    order = [int(i) for i in s.rng.permutation(x.ndim)]
    return Case([x], [same(np.transpose(x, order))], {"axis": order})


@op("SliceOp", "exact", MOVED)
def slices(s):
    x = s.some(int(s.rng.integers(1, 4)))
    indices, parts = [], []
    for n in x.shape:
        start, end = sorted(int(v) for v in s.rng.integers(0, n + 1, 2))
        step = s.pick(1, 1, 2)
        indices.append({"start": start, "end": end, "step": step})
        parts.append(slice(start, end, step))
    return Case([x], [same(x[tuple(parts)])], {"indices": indices})


@op("SplitOp", "exact", MOVED)
def split(s):
    sizes = [s.extent(1) for _ in range(int(s.rng.integers(2, 4)))]
    shape = list(s.shape(int(s.rng.integers(0, 3))))
    axis = int(s.rng.integers(0, len(shape) + 1))
    shape.insert(axis, sum(sizes))
    x = s.values(shape)
    return Case([x], [same(p) for p in np.split(x, np.cumsum(sizes)[:-1], axis)],
                {"dim": axis, "split_size_or_sections": sizes})


@op("ConcatOp", "exact", MOVED)
def concat(s):
    shape = list(s.shape(int(s.rng.integers(1, 4))))
    axis = s.axis(len(shape))
    parts = []
    for _ in range(int(s.rng.integers(1, 4))):
        shape[axis] = s.extent()
        parts.append(s.values(shape))
    return Case(parts, [same(np.concatenate(parts, axis))], {"dim": axis})


@op("StackOp", "exact", MOVED)
def stack(s):
    shape = s.shape(int(s.rng.integers(0, 3)))
    parts = [s.values(shape) for _ in range(int(s.rng.integers(1, 4)))]
    axis = int(s.rng.integers(-len(shape) - 1, len(shape) + 1))
    return Case(parts, [same(np.stack(parts, axis))], {"dim": axis})


@op("RepeatOp", "exact", MOVED)
def repeat(s):
    x = s.some(int(s.rng.integers(1, 4)))
    axis, times = int(s.rng.integers(0, x.ndim)), int(s.rng.integers(1, 4))
    return Case([x], [same(np.repeat(x, times, axis))], {"dim": axis, "repeat_times": times})


@op("PadOp", "exact", FLOATS)
def pad(s):
    x = s.some(int(s.rng.integers(1, 4)), least=1)
    mode = s.pick("constant", "reflect", "replicate", "circular")
    margins = [(int(s.rng.integers(0, 4)), int(s.rng.integers(0, 4))) for _ in x.shape]
    flat = [m for pair in reversed(margins) for m in pair]
    attributes = {"pad": flat, "mode": mode}
    if mode == "constant":
        attributes["value"] = 0.5
        wanted = np.pad(x, margins, constant_values=s.dtype.type(0.5))
    else:
        wanted = np.pad(x, margins, {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])
    return Case([x], [same(wanted)], attributes)


@op("CopyOp", "exact", MOVED)
def copy(s):
    destination = s.some(2, least=1)
    rows = int(s.rng.integers(0, destination.shape[0] + 1))
    source = s.values((rows * destination.shape[1],))
    wanted = destination.copy()
    wanted[:rows] = source.reshape(rows, -1) if rows else wanted[:rows]
    return Case([source, destination], [same(wanted)], {"indices": [{"start": 0, "end": rows}, {}]})


@op("FillOp", "exact", MOVED[:-1])
def fill(s):
    x = s.some(1)
    kind = s.pick("zeros", "ones", "specific", "arange")
    attributes = {"type": kind}
    wanted = {"zeros": np.zeros_like(x), "ones": np.ones_like(x), "specific": np.full_like(x, 7),
              "arange": (3 + 2 * np.arange(x.size)).astype(s.dtype)}[kind]
    if kind == "specific":
        attributes["value"] = 7.0
    if kind == "arange":
        attributes.update(start=3.0, step=2.0)
    return Case([x], [same(wanted)], attributes)


def reduction(name, function, bound, ulp):
    @op(name, bound, FLOATS)
    def case(s):
        x = s.some(int(s.rng.integers(1, 4)), least=1)
        keep = s.flag()
        axis = s.pick("all", s.axis(x.ndim))
        over = None if axis == "all" else axis
        wanted = np.asarray(function(wide(x), axis=over, keepdims=keep))
        wanted = wanted.reshape(1) if axis == "all" and not keep else wanted
        count = x.size if over is None else x.shape[over]
        sums = np.abs(wide(x)).sum(axis=over, keepdims=keep).reshape(wanted.shape)
        extra = count * EXACT(2) ** -53 * sums if ulp else None
        want = rounded(wanted, s.dtype, ulp, extra) if ulp else same(wanted.astype(s.dtype))
        return Case([x], [want], {"dim": axis, "keep_dim": keep})


@op("CumSumOp", "n 2^-53 sum\\|x\\| + 0.5 ULP")
def cum_sum(s):
    x = s.some(int(s.rng.integers(1, 4)))
    axis, exclusive, reverse = s.axis(x.ndim), s.flag(), s.flag()
    turned = np.flip(wide(x), axis) if reverse else wide(x)
    back = (lambda v: np.flip(v, axis)) if reverse else (lambda v: v)
    sums, sizes = np.cumsum(turned, axis), np.cumsum(np.abs(turned), axis)
    wanted = back(sums - turned) if exclusive else back(sums)
    extra = x.shape[axis] * EXACT(2) ** -53 * back(sizes)
    return Case([x], [rounded(wanted, s.dtype, 0.5, extra)],
                {"dim": axis, "exclusive": exclusive, "reverse": reverse})


@op("ExtentOp", "exact", MOVED)
def extent(s):
    x = s.some(int(s.rng.integers(1, 5)))
    axis = s.axis(x.ndim)
    return Case([x], [same(np.array([x.shape[axis]], np.int64))], {"dim": axis})


@op("MatchShapeOp", "exact", MOVED)
def match_shape(s):
    x = s.some(int(s.rng.integers(0, 5)))
    return Case([x], [same(x)], {"shape": list(x.shape)})


@op("IotaOp", "exact", MOVED[:-1])
def iota(s):
    shape = list(s.shape(int(s.rng.integers(1, 4))))
    axis = s.axis(len(shape))
    along = [1] * len(shape)
    along[axis] = shape[axis]
    wanted = np.broadcast_to((3 + 2 * np.arange(shape[axis])).astype(s.dtype).reshape(along), shape)
    return Case([], [same(wanted)], {"shape": shape, "dtype": NAMES[s.dtype.name], "dim": axis, "start": 3.0, "step": 2.0})


@op("RandomUniformOp", "exact", ("int64",))
def random_uniform(s):
    shape = list(s.shape(int(s.rng.integers(0, 4))))
    state = s.rng.integers(-2**63, 2**63 - 1, 2, endpoint=True)
    numbers, after = philox.uniforms(state, int(np.prod(shape, dtype=np.int64)))
    numbers = np.array(numbers, np.float32).reshape(shape)
    return Case([state], [same(numbers), same(np.array(after, np.int64))], {"shape": shape})


reduction("ReduceSumOp", np.sum, "n 2^-53 sum\\|x\\| + 0.5 ULP", 0.5)
reduction("MeanOp", np.mean, "as ReduceSum", 0.501)
reduction("ReduceMaxOp", np.max, "exact", 0)
reduction("ReduceMinOp", np.min, "exact", 0)


def stable_order(x, axis, descending):
    keys = -x.astype(np.float64) if descending else x
    return np.argsort(keys, axis=axis, kind="stable")


@op("ArgsortOp", "exact", ("float32", "float16", "int32", "int8"))
def argsort(s):
    x = s.some(int(s.rng.integers(1, 4)))
    x = np.round(x) if s.dtype.kind == "f" else x % 7
    axis, down = s.axis(x.ndim), s.flag()
    return Case([x], [same(stable_order(x, axis, down).astype(np.int32))], {"dim": axis, "descending": down})


@op("TopKOp", "exact", ("float32", "float16", "int32", "int8"))
def top_k(s):
    x = s.some(int(s.rng.integers(1, 4)))
    x = np.round(x) if s.dtype.kind == "f" else x % 7
    axis, largest, ordered = s.axis(x.ndim), s.flag(), s.flag()
    k = int(s.rng.integers(0, x.shape[axis] + 1))
    order = np.take(stable_order(x, axis, largest), np.arange(k), axis=axis)
    order = order if ordered else np.sort(order, axis=axis)
    return Case([x], [same(np.take_along_axis(x, order, axis)), same(order.astype(np.int32))],
                {"k": k, "dim": axis, "largest": largest, "sorted": ordered})
