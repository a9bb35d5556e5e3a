"""What a case of one op is: its operands, attributes, parameters and the results that are right.

Results are evaluated in NumPy's long double (64 significant bits on x86) from the stored operands, from the
formulas of docs/ops/ and not from the kernels. A case states how far a result may lie from it: so many
units in the last place of the result's type, plus an absolute bound for each element.
"""

from dataclasses import dataclass, field

import numpy as np

EXACT = np.longdouble
NAMES = {"float16": "Float16", "float32": "Float32", "float64": "Float64", "int8": "Int8", "int16": "Int16",
         "int32": "Int32", "int64": "Int64", "uint8": "UInt8", "uint16": "UInt16", "uint32": "UInt32",
         "uint64": "UInt64", "bool": "Bool", "complex64": "ComplexFP32"}


@dataclass
class Want:
    """One result: the exact values and how far the stored ones may lie from them."""

    value: np.ndarray
    dtype: np.dtype
    ulp: float = 0.0  # 0: the same values, bit for bit
    extra: np.ndarray = None  # absolute bound for each element, added to that in units


@dataclass
class Case:
    operands: list
    wants: list
    attributes: dict = field(default_factory=dict)
    weights: dict = field(default_factory=dict)  # suffix -> array
    leading: tuple = ()  # attributes that name operands


def wide(x):
    return np.asarray(x).astype(EXACT)


def rounded(value, dtype, ulp, extra=None):
    return Want(np.asarray(value), np.dtype(dtype), ulp, extra)


def same(value):
    value = np.asarray(value)
    return Want(value, value.dtype)


class Samples:
    """Random extents, zero and one among them, and values of a type."""

    def __init__(self, rng, dtype):
        self.rng = rng
        self.dtype = np.dtype(dtype)

    def extent(self, least=0):
        return max(least, int(self.rng.choice([0, 1, 2, 3, 5, 8, 13])))

    def shape(self, rank=None, least=0):
        rank = int(self.rng.integers(0, 5)) if rank is None else rank
        return tuple(self.extent(least) for _ in range(rank))

    def values(self, shape, scale=2.0, dtype=None):
        dtype = np.dtype(dtype or self.dtype)
        if dtype == bool:
            return self.rng.integers(0, 2, shape).astype(bool)
        if dtype.kind in "iu":
            low = 0 if dtype.kind == "u" else -100
            return self.rng.integers(low, 100, shape).astype(dtype)
        return (self.rng.standard_normal(shape) * scale).astype(dtype)

    def some(self, rank=None, least=0, scale=2.0):
        return self.values(self.shape(rank, least), scale)

    def axis(self, rank):
        return int(self.rng.integers(-rank, rank))

    def flag(self):
        return bool(self.rng.integers(0, 2))

    def pick(self, *choices):
        return choices[int(self.rng.integers(0, len(choices)))]


FLOATS = ("float32", "float16")
ALL_FLOATS = ("float32", "float16", "float64")
NUMBERS = ("float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
OPS = {}


def op(name, bound, dtypes=FLOATS):
    """Registers a generator of cases: a function of Samples."""

    def register(function):
        assert name not in OPS, name
        OPS[name] = (function, bound, dtypes)
        return function

    return register
