"""ggml's quantised blocks in NumPy, written from the layout of their fields.

values(kind, data) gives the value of every element in float64, exactly: no format needs more than the
53 bits of a double. Each decoder unpacks a whole array of blocks at once, one field after the other.
"""

import numpy as np

BLOCKS = {  # elements and bytes of a block, number of the type in a GGUF file
    "GGUF_Q4_0": (32, 18, 2), "GGUF_Q4_1": (32, 20, 3), "GGUF_Q5_0": (32, 22, 6), "GGUF_Q5_1": (32, 24, 7),
    "GGUF_Q8_0": (32, 34, 8), "GGUF_Q2_K": (256, 84, 10), "GGUF_Q3_K": (256, 110, 11),
    "GGUF_Q4_K": (256, 144, 12), "GGUF_Q5_K": (256, 176, 13), "GGUF_Q6_K": (256, 210, 14),
}


def halves(field):
    return np.ascontiguousarray(field).view("<f2").astype(np.float64)


def nibbles(field):
    """Low nibbles of every byte, then the high ones."""
    return np.concatenate([field & 15, field >> 4], axis=1).astype(np.int64)


def bits(field):
    """Bit j of a little-endian number in column j."""
    return np.unpackbits(field, axis=1, bitorder="little").astype(np.int64)


def q4_0(b):
    return halves(b[:, :2]) * (nibbles(b[:, 2:]) - 8)


def q4_1(b):
    return halves(b[:, :2]) * nibbles(b[:, 4:]) + halves(b[:, 2:4])


def q5_0(b):
    return halves(b[:, :2]) * (nibbles(b[:, 6:]) + 16 * bits(b[:, 2:6]) - 16)


def q5_1(b):
    return halves(b[:, :2]) * (nibbles(b[:, 8:]) + 16 * bits(b[:, 4:8])) + halves(b[:, 2:4])


def q8_0(b):
    return halves(b[:, :2]) * b[:, 2:].view(np.int8).astype(np.int64)


def spread(groups, count):
    """One value for each group of elements, repeated for its `count` elements."""
    return np.repeat(groups, count, axis=1)


def two_bit_codes(field):
    """64 bytes as 256 codes: two halves, in each the four bit pairs of its 32 bytes in turn."""
    parts = [(field[:, h:h + 32] >> shift) & 3 for h in (0, 32) for shift in (0, 2, 4, 6)]
    return np.concatenate(parts, axis=1).astype(np.int64)


def four_bit_codes(field):
    """128 bytes as 256 codes: four chunks of 32 bytes, low nibbles before high ones."""
    return np.concatenate([nibbles(field[:, c:c + 32]) for c in range(0, 128, 32)], axis=1)


def q2_k(b):
    scales = b[:, :16].astype(np.int64)
    return (halves(b[:, 80:82]) * spread(scales & 15, 16) * two_bit_codes(b[:, 16:80])
            - halves(b[:, 82:84]) * spread(scales >> 4, 16))


def q3_k(b):
    packed = b[:, 96:108].astype(np.int64)
    low = np.concatenate([packed[:, :8] & 15, packed[:, :8] >> 4], axis=1)
    high = np.concatenate([(packed[:, 8:] >> shift) & 3 for shift in (0, 2, 4, 6)], axis=1)
    mask = np.concatenate([(b[:, :32] >> bit) & 1 for bit in range(8)], axis=1).astype(np.int64)
    codes = two_bit_codes(b[:, 32:96]) - 4 * (1 - mask)
    return halves(b[:, 108:110]) * spread(low + 16 * high - 32, 16) * codes


def six_bit_pairs(field):
    """Scales and minima of the eight groups of 32."""
    s = field.astype(np.int64)
    scales = np.concatenate([s[:, :4] & 63, (s[:, 8:] & 15) + 16 * (s[:, :4] >> 6)], axis=1)
    minima = np.concatenate([s[:, 4:8] & 63, (s[:, 8:] >> 4) + 16 * (s[:, 4:8] >> 6)], axis=1)
    return spread(scales, 32), spread(minima, 32)


def q4_k(b):
    scales, minima = six_bit_pairs(b[:, 4:16])
    return halves(b[:, :2]) * scales * four_bit_codes(b[:, 16:]) - halves(b[:, 2:4]) * minima


def q5_k(b):
    scales, minima = six_bit_pairs(b[:, 4:16])
    fifth = np.concatenate([(b[:, 16:48] >> bit) & 1 for bit in range(8)], axis=1).astype(np.int64)
    return halves(b[:, :2]) * scales * (four_bit_codes(b[:, 48:]) + 16 * fifth) - halves(b[:, 2:4]) * minima


def q6_k(b):
    codes = []
    for half in range(2):
        low = nibbles(b[:, 64 * half:64 * half + 64])
        high = b[:, 128 + 32 * half:160 + 32 * half]
        high = np.concatenate([(high >> shift) & 3 for shift in (0, 2, 4, 6)], axis=1).astype(np.int64)
        codes.append(low + 16 * high - 32)
    scales = np.ascontiguousarray(b[:, 192:208]).view(np.int8).astype(np.int64)
    return halves(b[:, 208:210]) * spread(scales, 16) * np.concatenate(codes, axis=1)


def values(kind, data):
    elements, size, _ = BLOCKS[kind]
    blocks = np.frombuffer(data, np.uint8).reshape(-1, size)
    return globals()[kind.removeprefix("GGUF_").lower()](blocks).reshape(-1)


def random_blocks(kind, count, random):
    """Blocks of random bits whose half-precision scales are finite: random signs, exponents below 31."""
    blocks = random.integers(0, 256, (count, BLOCKS[kind][1]), dtype=np.uint8)
    scales = {"GGUF_Q2_K": (80, 82), "GGUF_Q3_K": (108,), "GGUF_Q6_K": (208,), "GGUF_Q4_1": (0, 2),
              "GGUF_Q5_1": (0, 2), "GGUF_Q4_K": (0, 2), "GGUF_Q5_K": (0, 2)}.get(kind, (0,))
    for at in scales:
        blocks[:, at + 1] = blocks[:, at + 1] & 0x83 | random.integers(0, 31, count).astype(np.uint8) << 2
    return blocks.tobytes()
