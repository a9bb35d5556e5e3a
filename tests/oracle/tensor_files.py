"""Writers of `.mllm` and GGUF files, made from the description of the formats alone.

A tensor is a tuple (name, type, shape, bytes); types are named as in MLLM IR text.
"""

import struct

from ggml_blocks import BLOCKS

MLLM_TYPES = {
    "Float32": 0, "Float16": 1, "GGUF_Q4_0": 2, "GGUF_Q8_0": 8, "GGUF_Q8_Per_Tensor": 10, "GGUF_Q4_K": 12,
    "GGUF_Q6_K": 14, "GGUF_Q8_K": 15, "Int8": 16, "Int16": 17, "Int32": 18, "GGUF_Q4_0x4": 19,
    "GGUF_Q4_0x8": 20, "GGUF_Q8_0x4": 22, "GGUF_Q3_K": 23, "GGUF_Q2_K": 24, "GGUF_IQ2_XXS": 26,
    "BFloat16": 128, "UInt8": 129, "UInt16": 130, "UInt32": 131, "Int64": 132, "UInt64": 133, "Byte": 134,
    "MXFP4": 135, "Int4": 136, "UInt4": 137, "Int8PerTensor": 140, "Int8PerChannel": 141,
    "UInt8PerTensor": 142, "UInt8PerChannel": 143, "Int16PerTensor": 144, "Int16PerChannel": 145,
    "UInt16PerTensor": 146, "UInt16PerChannel": 147, "UInt16PerTensorAsym": 154, "Bool": 156,
    "ComplexFP32": 201, "ComplexFP64": 202, "MIR_Q4_A32": 65536,
}


def mllm_v1(tensors):
    """Magic, bytes of the table, descriptors of any length, data without gaps."""
    encoded = [(name.encode(), MLLM_TYPES[kind], data) for name, kind, _, data in tensors]
    table_bytes = sum(4 + len(name) + 8 + 8 + 4 for name, _, _ in encoded)
    table, position = b"", 12 + table_bytes
    for name, kind, data in encoded:
        table += struct.pack("<I", len(name)) + name + struct.pack("<QQi", len(data), position, kind)
        position += len(data)
    return struct.pack("<iQ", 20012, table_bytes) + table + b"".join(data for _, _, data in encoded)


def mllm_v2(tensors, model_name="", reserved=0):
    """A header of 532 bytes, descriptors of 352 (and room for `reserved` more), data without gaps."""
    table, position = b"", 532 + 352 * (len(tensors) + reserved)
    for number, (name, kind, shape, data) in enumerate(tensors):
        extents = list(shape) + [0] * (16 - len(shape))
        table += struct.pack("<IIQQQ16i256s", number, MLLM_TYPES[kind], len(data), position, len(shape),
                             *extents, name.encode())
        position += len(data)
    header = struct.pack("<ii512sIQ", 0x519A, 2, model_name.encode(), len(tensors), 532)
    return header + table + bytes(352 * reserved) + b"".join(data for _, _, _, data in tensors)


GGUF_TYPES = {"Float32": 0, "Float16": 1, "Int8": 24, "Int16": 25, "Int32": 26, "Int64": 27, "Float64": 28,
              "BFloat16": 30, **{kind: row[2] for kind, row in BLOCKS.items()}}


def gguf_string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def gguf(tensors, alignment=32, version=3):
    """Extents are in the opposite order; every tensor starts at a multiple of the alignment."""
    pairs = [gguf_string("general.architecture") + struct.pack("<I", 8) + gguf_string("test"),
             gguf_string("general.alignment") + struct.pack("<II", 4, alignment),
             gguf_string("test.list") + struct.pack("<IIQ", 9, 8, 2) + gguf_string("a") + gguf_string("bc"),
             gguf_string("test.rate") + struct.pack("<If", 6, 0.5)]
    header = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs)) + b"".join(pairs)
    body = b""
    for name, kind, shape, data in tensors:
        body += bytes(-len(body) % alignment)
        header += gguf_string(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        header += struct.pack("<IQ", GGUF_TYPES[kind], len(body))
        body += data
    return header + bytes(-len(header) % alignment) + body
