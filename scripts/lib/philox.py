"""Philox4x32-10 by whole numbers of Python, from the paper: what RandomUniform computes."""


def words(counter, key):
    """The four words of a counter and a key of 64 bits."""
    c = [counter & 0xFFFFFFFF, counter >> 32, 0, 0]
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [k[0] + 0x9E3779B9 & 0xFFFFFFFF, k[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return c


def uniforms(state, count):
    """Numbers of a state, a key and a counter of any sign, and the state for the next ones."""
    key, first = (int(part) % 2**64 for part in state)
    blocks = -(-count // 4)
    found = [word for i in range(blocks) for word in words((first + i) % 2**64, key)][:count]
    after = [key, (first + blocks) % 2**64]
    return [(word >> 8) * 2.0**-24 for word in found], [n - 2**64 if n >= 2**63 else n for n in after]
