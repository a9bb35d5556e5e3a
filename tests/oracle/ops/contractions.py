"""Cases of the ops that sum products, normalise, rotate, look up or attend."""

import numpy as np

from .cases import EXACT, NAMES, NUMBERS, Case, op, rounded, same, wide

EPS53 = EXACT(2) ** -53
EPS52 = EXACT(2) ** -52


def product_bound(terms, sums):
    return terms * EPS53 * sums


@op("MatMulOp", "K 2^-53 sum\\|A B\\| + 0.5 ULP")
def matmul(s):
    m, k, n = s.extent(), s.extent(), s.extent()
    groups, heads = s.extent(1), s.pick(1, 2, 3)
    ta, tb, flat = s.flag(), s.flag(), s.flag()
    a = s.values((groups * heads, k, m) if ta else (groups * heads, m, k))
    b_shape = (n, k) if tb else (k, n)
    b = s.values(b_shape if flat else (groups, *b_shape))
    x = wide(np.swapaxes(a, -1, -2) if ta else a)
    y = wide(np.swapaxes(b, -1, -2) if tb else b)
    y = y if flat else np.repeat(y, heads, axis=0)
    return Case([a, b], [rounded(x @ y, s.dtype, 0.5, product_bound(k, np.abs(x) @ np.abs(y)))],
                {"transpose_a": ta, "transpose_b": tb})


@op("LinearOp", "K 2^-53 sum\\|x w\\| + 0.5 ULP")
def linear(s):
    k, n, bias = s.extent(), s.extent(), s.flag()
    x = s.values((*s.shape(int(s.rng.integers(0, 3))), k))
    weights = {".weight": s.values((n, k))}
    w = wide(weights[".weight"]).T
    wanted, sums = wide(x) @ w, np.abs(wide(x)) @ np.abs(w)
    if bias:
        weights[".bias"] = s.values((n,))
        wanted, sums = wanted + wide(weights[".bias"]), sums + np.abs(wide(weights[".bias"]))
    return Case([x], [rounded(wanted, s.dtype, 0.5, product_bound(k + 1, sums))],
                {"in_channels": k, "out_channels": n, "bias": bias}, weights)


@op("EinsumOp", "(K + n) 2^-53 sum\\|product\\| + 0.5 ULP")
def einsum(s):
    i, j, k = s.extent(), s.extent(), s.extent()
    sizes = {"i": i, "j": j, "k": k}
    equation, terms = s.pick(("ij,jk->ik", j), ("ij,kj->", i * j * k), ("ii->i", 1), ("ijk->ki", j), ("ij,ij->i", j),
                             ("i,j->ji", 1))
    parts = [s.values([sizes[c] for c in term]) for term in equation.split("->")[0].split(",")]
    wanted = np.einsum(equation, *[wide(p) for p in parts])
    sums = np.einsum(equation, *[np.abs(wide(p)) for p in parts])
    return Case(parts, [rounded(wanted, s.dtype, 0.5, product_bound(terms + len(parts), sums))], {"equation": equation})


def ids_for(s, count, shape):
    return s.rng.integers(0, count, shape).astype(s.pick(np.int32, np.int64))


@op("EmbeddingOp", "exact")
def embedding(s):
    rows, width = s.extent(1), s.extent(1)
    ids = ids_for(s, rows, s.shape(2))
    table = s.values((rows, width))
    return Case([ids], [same(table[ids])],
                {"vocab_size": rows, "hidden_size": width, "dtype": NAMES[s.dtype.name]}, {".weight": table})


@op("GatherOp", "exact", NUMBERS)
def gather(s):
    table = s.some(int(s.rng.integers(1, 4)), least=1)
    axis = s.axis(table.ndim)
    ids = ids_for(s, table.shape[axis], s.shape(int(s.rng.integers(0, 3))))
    return Case([table, ids], [same(np.take(table, ids, axis=axis))], {"dim": axis})


@op("CompressOp", "exact", NUMBERS)
def compress(s):
    x = s.some(int(s.rng.integers(1, 4)))
    axis = s.axis(x.ndim)
    mask = s.rng.integers(0, 2, x.shape[axis]).astype(bool)
    return Case([x, mask], [same(np.compress(mask, x, axis=axis))], {"dim": axis})


@op("IndexOp", "exact", NUMBERS)
def index(s):
    x = s.some(3, least=2)
    listed = [int(v) for v in s.rng.integers(0, x.shape[0], 3)]
    ids = ids_for(s, x.shape[2], s.shape(2))
    wanted = np.take(x[listed][:, 1:], ids, axis=2)
    return Case([x, ids], [same(wanted)], {"indices": [listed, {"start": 1}, 1]})


@op("ScatterOp", "n 2^-53 sum\\|v\\| + 0.5 ULP (add), exact (none, max, min)")
def scatter(s):
    x = s.some(2, least=1)
    axis, reduce = int(s.rng.integers(0, 2)), s.pick("none", "add", "max", "min")
    shape = [int(s.rng.integers(0, n + 1)) for n in x.shape]
    shape[axis] = s.extent()
    ids = s.rng.integers(-x.shape[axis], x.shape[axis], shape).astype(np.int64)
    source = s.values(shape)
    wanted, sums, terms = wide(x), np.abs(wide(x)), np.ones(x.shape)
    for at in np.ndindex(*shape):
        to = list(at)
        to[axis] = int(ids[at])
        to, value = tuple(to), wide(source[at])
        wanted[to] = {"none": lambda a, b: b, "add": np.add, "max": np.maximum, "min": np.minimum}[reduce](wanted[to], value)
        sums[to] += np.abs(value)
        terms[to] += 1
    want = rounded(wanted, s.dtype, 0.5, terms * EPS53 * sums) if reduce == "add" else same(wanted.astype(s.dtype))
    return Case([x, ids, source], [want], {"dim": axis, "reduce": reduce})


@op("RMSNormOp", "0.501 ULP")
def rms_norm(s):
    x = s.values((*s.shape(int(s.rng.integers(0, 3))), s.extent(1)))
    w, unit = s.values((x.shape[-1],)), s.flag()
    e = 2.0**-20
    scale = wide(w) + (1 if unit else 0)
    wanted = wide(x) * scale / np.sqrt(np.mean(wide(x) ** 2, axis=-1, keepdims=True) + EXACT(e))
    return Case([x], [rounded(wanted, s.dtype, 0.501)], {"epsilon": e, "add_unit_offset": unit}, {".weight": w})


@op("LayerNormOp", "0.501 ULP + n 2^-52 max\\|x\\| \\|w\\| / sqrt(var + eps)")
def layer_norm(s):
    x = s.values((*s.shape(int(s.rng.integers(0, 3))), s.extent(1)))
    n, affine, bias, e = x.shape[-1], s.flag(), s.flag(), 2.0**-20
    weights = {}
    w = b = EXACT(1)
    if affine:
        weights[".weight"] = s.values((n,))
        w = wide(weights[".weight"])
    if bias:
        weights[".bias"] = s.values((n,))
    b = wide(weights[".bias"]) if bias else EXACT(0)
    root = np.sqrt(np.var(wide(x), axis=-1, keepdims=True) + EXACT(e))
    wanted = (wide(x) - np.mean(wide(x), axis=-1, keepdims=True)) / root * w + b
    largest = np.max(np.abs(wide(x)), axis=-1, keepdims=True, initial=0)
    return Case([x], [rounded(wanted, s.dtype, 0.501, n * EPS52 * largest * np.abs(w) / root + 0 * wanted)],
                {"normalized_shape": [n], "elementwise_affine": affine, "bias": bias, "eps": e}, weights)


@op("LayerNorm2DOp", "as LayerNorm")
def layer_norm_2d(s):
    x = s.values((s.extent(), s.extent(1), s.extent(), s.extent()))
    c, e = x.shape[1], 2.0**-20
    weights = {".weight": s.values((c,)), ".bias": s.values((c,))}
    w, b = (wide(weights[k]).reshape(1, c, 1, 1) for k in (".weight", ".bias"))
    root = np.sqrt(np.var(wide(x), axis=1, keepdims=True) + EXACT(e))
    wanted = (wide(x) - np.mean(wide(x), axis=1, keepdims=True)) / root * w + b
    largest = np.max(np.abs(wide(x)), axis=1, keepdims=True, initial=0)
    return Case([x], [rounded(wanted, s.dtype, 0.501, c * EPS52 * largest * np.abs(w) / root)],
                {"num_channels": c, "eps": e}, weights)


def softmax_of(x, axis=-1):
    if x.shape[axis] == 0:
        return x
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@op("SoftmaxOp", "0.501 ULP")
def softmax(s):
    x = s.some(int(s.rng.integers(1, 4)), scale=4)
    axis = s.axis(x.ndim)
    return Case([x], [rounded(softmax_of(wide(x), axis), s.dtype, 0.501)], {"axis": axis})


@op("CausalMaskOp", "exact")
def causal_mask(s):
    queries = s.extent()
    x = s.values((1, s.extent(), queries, queries + s.extent()))
    window = s.pick(0, 1, 3)
    one = s.flag()
    keys = np.arange(x.shape[3])[None, :]
    last = np.arange(queries)[:, None] + x.shape[3] - queries
    kept = (keys <= last) & ((keys > last - window) if window else True)
    masked = s.dtype.type(-65500.0 if s.dtype == np.float16 else -1e10)
    wanted = x if queries == 1 and not one else np.where(kept, x, masked)
    return Case([x], [same(wanted)], {"sliding_window": window > 0, "window_size": window, "masks_one_query": one})


def rotary(name, layout, partial):
    @op(name, "0.5 ULP + 2^-52 (\\|x[d]\\| + \\|x[d + h]\\|)")
    def case(s):
        order = s.pick(*layout)
        b, h, n, half = s.extent(), s.extent(), s.extent(), s.extent(1)
        d = 2 * half
        x = s.values((b, h, n, d) if order == "BHSD" else (b, n, h, d))
        turned = 2 * int(s.rng.integers(1, half + 1)) if partial and s.flag() else d
        angles = s.rng.uniform(-9, 9, s.pick((b, n, d), (n, d)))
        sin, cos = np.sin(angles).astype(s.dtype), np.cos(angles).astype(s.dtype)
        half = turned // 2
        expand = (lambda t: t[..., None, :, :half]) if order == "BHSD" else (lambda t: t[..., :, None, :half])
        u, v = expand(wide(sin)), expand(wide(cos))
        low, high = wide(x)[..., :half], wide(x)[..., half:turned]
        wanted, extra = wide(x), np.zeros(x.shape, EXACT)
        wanted[..., :half], wanted[..., half:turned] = low * v - high * u, low * u + high * v
        extra[..., :half] = extra[..., half:turned] = EPS52 * (np.abs(low) + np.abs(high))
        attributes = {"input_type": order} if len(layout) > 1 else {}
        if partial:
            attributes["partial_dim"] = turned if turned != d else -1
        return Case([x, sin, cos], [rounded(wanted, s.dtype, 0.5, extra)], attributes)


rotary("RoPEOp", ("BHSD", "BSHD"), True)
rotary("MultimodalRoPEOp", ("BHSD", "BSHD"), False)
rotary("VisionRoPEOp", ("BSHD",), False)


def correlate(x, w, b, stride, padding, dilation, groups):
    """Values and sums of absolute products of a cross-correlation, by definition."""
    spatial = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding])
    out = [(x.shape[2 + i] - dilation[i] * (w.shape[2 + i] - 1) - 1) // stride[i] + 1 for i in range(spatial)]
    value = np.zeros((x.shape[0], w.shape[0], *out), EXACT)
    sums = np.zeros_like(value)
    per_in, per_out = w.shape[1], w.shape[0] // groups
    for tap in np.ndindex(*w.shape[2:]):
        window = tuple(slice(t * d, t * d + (n - 1) * st + 1, st) for t, d, n, st in zip(tap, dilation, out, stride))
        part = x[(slice(None), slice(None), *window)]
        for g in range(groups):
            a = part[:, g * per_in:(g + 1) * per_in]
            k = w[(slice(g * per_out, (g + 1) * per_out), slice(None), *tap)]
            value[:, g * per_out:(g + 1) * per_out] += np.einsum("bi...,oi->bo...", a, k)
            sums[:, g * per_out:(g + 1) * per_out] += np.einsum("bi...,oi->bo...", np.abs(a), np.abs(k))
    if b is not None:
        shaped = b.reshape(1, -1, *[1] * spatial)
        value, sums = value + shaped, sums + np.abs(shaped)
    return value, sums


def convolution(name, spatial):
    @op(name, "(I K + 1) 2^-53 sum\\|x w\\| + 0.5 ULP")
    def case(s):
        groups = s.pick(1, 2) if spatial == 1 else 1
        channels, out = groups * s.extent(1), groups * s.extent(1)
        kernel = [s.pick(1, 2, 3) for _ in range(spatial)]
        stride = [s.pick(1, 2) for _ in range(spatial)]
        padding = [s.pick(0, 1) for _ in range(spatial)] if spatial < 3 else [0] * spatial
        dilation = [s.pick(1, 2) for _ in range(spatial)] if spatial < 3 else [1] * spatial
        extents = [d * (k - 1) + 1 + s.pick(0, 1, 4) for d, k in zip(dilation, kernel)]
        x, w = s.values((s.pick(0, 1, 2), channels, *extents)), s.values((out, channels // groups, *kernel))
        weights, bias = {".weight": w}, s.flag()
        if bias:
            weights[".bias"] = s.values((out,))
        value, sums = correlate(wide(x), wide(w), wide(weights[".bias"]) if bias else None, stride, padding, dilation, groups)
        one = (lambda v: v[0]) if spatial == 1 else (lambda v: v)
        attributes = {"in_channels": channels, "out_channels": out, "kernel_size": one(kernel), "stride": one(stride),
                      "bias": bias}
        if spatial < 3:
            attributes.update(padding=one(padding), dilation=one(dilation))
        if spatial == 1:
            attributes["groups"] = groups
        terms = w[0].size + 1
        return Case([x], [rounded(value, s.dtype, 0.5, product_bound(terms, sums))], attributes, weights)


convolution("Conv1DOp", 1)
convolution("Conv2DOp", 2)
convolution("Conv3DOp", 3)


def resample(x, axis, size, mode, corners):
    """One axis resampled by a mode that mixes two neighbours, or takes the nearest."""
    n = x.shape[axis]
    at = np.arange(size).astype(EXACT)
    if corners:
        place = at * (n - 1) / (size - 1) if size > 1 else at * 0
    else:
        place = (at + EXACT(0.5)) * n / size - EXACT(0.5) if size > 1 else at * 0 - EXACT(0.5) + (EXACT(0))
    if mode == "nearest":
        near = np.sign(place) * np.floor(np.abs(place) + EXACT(0.5))
        return np.take(x, np.clip(near, 0, n - 1).astype(int), axis)
    low = np.floor(place)
    weight = (place - low).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    a, b = (np.take(x, np.clip(low + k, 0, n - 1).astype(int), axis) for k in (0, 1))
    return a * (1 - weight) + b * weight


@op("InterpolateOp", "2^-48 max\\|x\\| + 0.5 ULP; nearest exact")
def interpolate(s):
    mode, rank = s.pick(("nearest", 3), ("nearest", 4), ("linear", 3), ("bilinear", 4), ("trilinear", 5))
    x = s.values((s.pick(0, 1, 2), s.pick(1, 2), *[s.extent(1) for _ in range(rank - 2)]))
    size, corners = [s.extent(2) for _ in range(rank - 2)], s.flag()
    wanted = wide(x)
    for i, n in enumerate(size):
        wanted = resample(wanted, 2 + i, n, mode, corners)
    attributes = {"size": size, "mode": mode, "align_corners": corners}
    if mode == "nearest":
        return Case([x], [same(wanted.astype(s.dtype))], attributes)
    largest = np.max(np.abs(wide(x)), initial=0)
    return Case([x], [rounded(wanted, s.dtype, 0.5, EXACT(2) ** -48 * largest + 0 * wanted)], attributes)


def turns(n, length, sign):
    k, t = np.arange(n // 2 + 1).astype(EXACT), np.arange(length).astype(EXACT)
    angle = 2 * np.arccos(EXACT(-1)) * np.outer(k, t) / n
    return np.cos(angle), sign * np.sin(angle)


@op("STFTOp", "2^-49 sum\\|x w\\| + 0.5 ULP", ("float32",))
def stft(s):
    n, hop = s.pick(4, 6, 9), s.pick(1, 2, 3)
    length, center = s.pick(n, n - 1), s.flag()
    x, w = s.values((s.pick(1, 2), n + s.extent(1))), s.values((length,))
    padded = np.pad(wide(x), [(0, 0), (n // 2, n // 2)], "reflect") if center else wide(x)
    frames = 1 + (padded.shape[1] - length) // hop
    re, im = turns(n, length, -1)
    parts = np.stack([padded[:, f * hop:f * hop + length] * wide(w) for f in range(frames)], -1)
    value = np.stack([np.einsum("kt,btf->bkf", t, parts) for t in (re, im)], -1)
    sums = np.abs(parts).sum(1)[:, None, :, None] + 0 * value
    return Case([x, w], [rounded(value, s.dtype, 0.5, EXACT(2) ** -49 * sums)],
                {"n_fft": n, "hop_length": hop, "win_length": length, "center": center, "return_complex": False})


@op("ISTFTOp", "2^-49 F (sum\\|spec\\| max\\|w\\|) / s + 0.5 ULP", ("float32",))
def istft(s):
    n, hop, frames = s.pick(4, 6, 9), s.pick(1, 2, 3), s.extent(2)
    spec, w = s.values((s.pick(1, 2), n // 2 + 1, frames, 2)), s.values((n,)) + np.float32(3)
    center = s.flag() and (frames - 1) * hop + n > 2 * (n // 2)
    re, im = turns(n, n, -1)
    twice = np.full(n // 2 + 1, 2).astype(EXACT)
    twice[0] = 1
    if n % 2 == 0:
        twice[-1] = 1
    x = wide(spec)
    frame = (np.einsum("kt,bkf->btf", re * twice[:, None], x[..., 0]) + np.einsum("kt,bkf->btf", im * twice[:, None], x[..., 1])) / n
    total, squares = np.zeros((x.shape[0], (frames - 1) * hop + n), EXACT), np.zeros((frames - 1) * hop + n, EXACT)
    for f in range(frames):
        total[:, f * hop:f * hop + n] += frame[..., f] * wide(w)
        squares[f * hop:f * hop + n] += wide(w) ** 2
    divisor = np.where(squares > EXACT(1e-10), squares, 1)
    bound = EXACT(2) ** -49 * (n // 2 + 1) * np.abs(x).sum((1, 2, 3))[:, None] * np.max(np.abs(wide(w))) / divisor
    cut = slice(n // 2, total.shape[1] - n // 2) if center else slice(None)
    return Case([spec, w], [rounded((total / divisor)[:, cut], s.dtype, 0.5, bound[:, cut])],
                {"n_fft": n, "hop_length": hop, "win_length": n, "center": center})


def attend(q, k, v, causal, window=None, sinks=None, mask=None):
    """Values, weights and the bound of docs/ops/attention.md for q [B, Sq, H, D], k and v [B, Skv, G, D]."""
    group = q.shape[2] // k.shape[2] if k.shape[2] else 1
    k, v = (np.repeat(t, group, axis=2) for t in (k, v))
    raw = np.einsum("bihd,bjhd->bhij", q, k)
    largest = np.maximum(1, np.einsum("bihd,bjhd->bhij", np.abs(q), np.abs(k)).max(-1, initial=0))
    scores = raw / np.sqrt(EXACT(q.shape[3]))
    if mask is not None and q.shape[1] > 1:
        scores = np.where(mask > -1, scores, EXACT(np.finfo(np.float32).min))
    at, key = np.arange(q.shape[1])[:, None] + k.shape[1] - q.shape[1], np.arange(k.shape[1])[None, :]
    seen = (key <= at) if causal else np.ones((q.shape[1], k.shape[1]), bool)
    if window:
        seen = seen & (key > at - window)
    scores = np.where(seen, scores, -np.inf)
    most = scores.max(-1, keepdims=True, initial=-np.inf)
    if sinks is not None:
        most = np.maximum(most, sinks[None, :, None, None])
    e = np.where(seen, np.exp(scores - np.where(np.isinf(most), 0, most)), 0)
    total = e.sum(-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks[None, :, None, None] - most)
    weights = e / np.where(total == 0, 1, total)
    bound = EXACT(2) ** -50 * (k.shape[1] + q.shape[3] * largest) * np.max(np.abs(v), initial=0)
    return np.einsum("bhij,bjhd->bihd", weights, v), weights, np.swapaxes(bound, 1, 2)[..., None]


ATTENTION = "2^-50 (Skv + D a) max\\|v\\| + 0.5 ULP"


def heads(s, wide_values=False):
    b, groups, d = s.pick(0, 1, 2), s.pick(1, 2), s.extent(1)
    queries = s.extent(1)
    keys, group = queries + s.extent(), s.pick(1, 2)
    dv = s.extent(1) if wide_values else d
    return (s.values((b, queries, groups * group, d), 1), s.values((b, keys, groups, d), 1),
            s.values((b, keys, groups, dv), 1))


@op("FlashAttention2Op", ATTENTION)
def flash(s):
    q, k, v = heads(s)
    causal = s.flag()
    value, _, bound = attend(wide(q), wide(k), wide(v), causal)
    return Case([q, k, v], [rounded(value, s.dtype, 0.5, bound + 0 * value)],
                {"B": q.shape[0], "q_head": q.shape[2], "kv_head": k.shape[2], "D": q.shape[3], "causal_mask": causal})


def sizes(q, k, v):
    return {"B": q.shape[0], "q_head": q.shape[2], "kv_head": k.shape[2], "D_QK": q.shape[3], "D_V": v.shape[3]}


@op("FlashAttention2SwaSinkOp", ATTENTION)
def flash_sink(s):
    q, k, v = heads(s, True)
    window, with_sinks = s.pick(1, 2, 9), s.flag()
    sinks = s.values((q.shape[2],))
    value, _, bound = attend(wide(q), wide(k), wide(v), True, window, wide(sinks) if with_sinks else None)
    attributes = sizes(q, k, v) | {"sliding_window": window, "cur_seq_len": k.shape[1], "s_aux_enable": with_sinks}
    return Case([q, k, v] + ([sinks] if with_sinks else []), [rounded(value, s.dtype, 0.5, bound + 0 * value)], attributes)


@op("PagedAttnOp", ATTENTION, ("float32",))
def paged(s):
    q, k, v = heads(s)
    rows = ids_for(s, k.shape[1], (s.extent(1),))
    masked, weighed = s.flag(), s.flag()
    mask = np.where(s.rng.integers(0, 3, (q.shape[1], len(rows))) > 0, 0, -2).astype(s.dtype)
    value, weights, bound = attend(wide(q), wide(k[:, rows]), wide(v[:, rows]), False, mask=wide(mask) if masked else None)
    wants = [rounded(value, s.dtype, 0.5, bound + 0 * value)]
    if weighed:
        spread = EXACT(2) ** -50 * (len(rows) + q.shape[3] * np.maximum(1, np.abs(weights).max(initial=0) * 99))
        wants.append(rounded(weights, s.dtype, 0.5, spread + 0 * weights))
    return Case([q, k, v, rows] + ([mask] if masked else []), wants,
                {"need_attn_weights": weighed, "head_repeat_times": q.shape[2] // k.shape[2]})


def radix(name, with_window):
    @op(name, ATTENTION)
    def case(s):
        q, k, v = heads(s, True)
        window, with_sinks = s.pick(1, 2, 9), with_window and s.flag()
        order, other = (s.rng.permutation(k.shape[1]).astype(np.int64) for _ in range(2))
        stores = [np.ascontiguousarray(np.swapaxes(t, 0, 1)) for t in (k, v)]
        sinks = s.values((q.shape[2],))
        value, _, bound = attend(wide(q), wide(k[:, order]), wide(v[:, other]), True, window if with_window else None,
                                 wide(sinks) if with_sinks else None)
        attributes = sizes(q, k, v)
        if with_window:
            attributes |= {"sliding_window": window, "cur_seq_len": k.shape[1], "s_aux_enable": with_sinks}
        return Case([q, order, other, *stores] + ([sinks] if with_sinks else []),
                    [rounded(value, s.dtype, 0.5, bound + 0 * value)], attributes)


radix("RadixAttnRelaxOp", False)
radix("RadixAttnSwaSinkOp", True)


@op("KVCacheOp", "exact")
def kv_cache(s):
    k, v = (s.values((1, 2, 3, 4)) for _ in range(2))
    return Case([k, v], [same(k), same(v)], {"q_head": 4, "kv_head": 2, "head_dim": 4, "past": 0})


@op("ParamOp", "exact")
def param(s):
    w = s.some(int(s.rng.integers(0, 4)))
    return Case([], [same(w)], {"name": "op.value", "shape": list(w.shape)}, {".value": w})
