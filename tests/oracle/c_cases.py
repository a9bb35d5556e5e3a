#!/usr/bin/env python3
"""Compiles small modules as C and compares every bit with the reference kernels.

The modules have names that C or C++ uses, constants at the ends of a type in regions, indices beyond 62 bits, and kernels of
nests. Headers compile as C and as C++. The bundled decoder is one C file, which reads its weights from their file.

usage: c_cases.py TOOLS
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
from c_out import IS_LONG, STRICT, Programs, compare, run, skip_without_compilers  # noqa: E402

HEADER_COMPILERS = [["gcc", "-std=c11", "-xc"], ["g++", "-std=c++20", "-xc++"], ["clang", "-std=c11", "-xc"], ["clang++", "-std=c++20", "-xc++"]]
VECTOR, NUMBER = "tensor<[2], Float32, CPU>", "tensor<[], Float64, CPU>"
# Words of C and C++, macros of headers, functions, and names of the text itself.
WORDS = """int restrict bool true nullptr and xor_eq catch export concept template co_await typeof INT64_MAX UINT64_MAX HUGE_VAL
FLT_MAX DBL_MAX M_PI EOF NDEBUG SIZE_MAX INT32_MIN NULL NAN I errno stdin offsetof isnan assert complex linux i386 max_align_t
double_t ptrdiff_t int8_t uint64_t memcpy sqrt exp main index y0 constants mir_constants_1 mir_exp mir_graph_layer m_layer m_run
m_weights m_workspace_bytes model memory workspace failed ports e sum is_written x_2 x_3 _x __x 1x""".split()


def module(inputs, body, outputs=("y",)):
    def signature(names):
        return ", ".join(f"%{name}:{VECTOR}" for name in names)

    lines = "".join(f"    {line}\n" for line in body)
    returned = ", ".join(f"%{name}" for name in outputs)
    return f"@m [mir_version:2] ({signature(inputs)}) -> ({signature(outputs)}) {{\n{lines}    cf.ReturnOp ({returned}) -> ()\n}}\n"


def sum_of(names):
    """Ops that add values and a constant, so that each value counts."""
    lines, last = [], names[0]
    for number, name in enumerate([*names[1:], f"0:{VECTOR}[constant:[0.5, -1]]"]):
        lines.append(f"linalg.CPU.AddOp (%{last}, %{name}) -> (%s{number}:{VECTOR})")
        last = f"s{number}"
    return [*lines, f"linalg.CPU.ExpOp (%{last}) -> (%y:{VECTOR})"]


def of_vectors(names):
    rng = np.random.default_rng(5)
    return {name: rng.standard_normal(2).astype("float32") for name in names}


def name_cases():
    yield "inputs", module(WORDS, sum_of(WORDS)), of_vectors(WORDS)
    values = [f"linalg.CPU.NegOp (%x) -> (%{word}:{VECTOR})" for word in WORDS]
    yield "values", module(["x"], [*values, *sum_of(WORDS)]), of_vectors(["x"])
    values = [f"linalg.CPU.NegOp (%x) -> (%{word}:{VECTOR})" for word in WORDS]
    yield "outputs", module(["x"], values, WORDS), of_vectors(["x"])
    for word in ("m_layer", "mir_graph_layer", "layer"):
        body = ["graph.SubGraphOp @layer <CPU> {", f"    (%x:{VECTOR}) -> (%z:{VECTOR}) {{", f"        linalg.CPU.NegOp (%x) -> (%z:{VECTOR})",
                "        cf.ReturnOp (%z) -> ()", "    }", "}"]
        calls = [f"graph.CallGraphOp @layer (%{word}) -> (%a:{VECTOR})", f"linalg.CPU.ExpOp (%a) -> (%layer_2:{VECTOR})",
                 f"graph.CallGraphOp @layer (%layer_2) -> (%y:{VECTOR})"]
        yield f"graphs beside %{word}", module([word], [*body, *calls]), of_vectors([word])
    loops = [line for word in WORDS if word not in ("1x", "true") for line in (
        f"linalg.CPU.GenericOp [loops:{{{word}:2, k:2}}, maps:[[${word}], [$k], [${word}]], sums:{{k:add}}] (%x, %x) -> (%of_{word}:{VECTOR}) {{",
        f"    (%{word}:{NUMBER}, %b:{NUMBER}) -> (%of_it:{NUMBER}) {{", f"        linalg.CPU.MulOp (%{word}, %b) -> (%of_it:{NUMBER})",
        "        cf.YieldOp (%of_it) -> ()", "    }", "}")]
    names = [f"of_{word}" for word in WORDS if word not in ("1x", "true")]
    yield "loops and numbers", module(["x"], loops, names), of_vectors(["x"])


def generic(inputs, attributes, output, shape, body, passed, dtypes=("Float32",), to="Float32"):
    """A module of one generic op, whose region has arguments %a, %b, ..."""
    def number_type(dtype):
        return "Float64" if "Float" in dtype else dtype

    signature = ", ".join(f"%{name}:tensor<{extents}, {dtype}, CPU>" for (name, extents), dtype in zip(inputs.items(), dtypes))
    arguments = ", ".join(f"%{'abcd'[i]}:tensor<[], {number_type(dtype)}, CPU>" for i, dtype in enumerate(dtypes))
    lines = "".join(f"            {line}\n" for line in body)
    result = f"%{output}:tensor<{shape}, {to}, CPU>"
    return f"""@m [mir_version:2] ({signature}) -> ({result}) {{
    linalg.CPU.GenericOp [{attributes}] ({', '.join('%' + name for name in inputs)}) -> ({result}) {{
        ({arguments}) -> (%{passed}:tensor<[], {number_type(to)}, CPU>) {{
{lines}            cf.YieldOp (%{passed}) -> ()
        }}
    }}
    cf.ReturnOp (%{output}) -> ()
}}
"""


def constant_cases():
    """Comparisons with the ends of a type, and divisions by 0, of which compilers may warn."""
    for bits in (8, 16, 32, 64):
        for kind, least, most in (("Int", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1), ("UInt", 0, 2**bits - 1)):
            dtype = f"{kind}{bits}"
            array = np.array([least, most, 1, 2], dtype.lower())
            for end in (least, most):
                constant, lines = f"%k:tensor<[], {dtype}, CPU>[constant:[{end}]]", []
                ops = [(op, "Bool") for op in ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual")]
                for op, to in [*ops, *((op, dtype) for op in ("Maximum", "Minimum", "Div", "Rem", "Sub"))]:
                    for number, pair in enumerate((f"%a, {constant}", f"{constant}, %a")):
                        lines.append((f"{op}{number}", to, f"linalg.CPU.{op}Op ({pair})"))
                results = ", ".join(f"%{name}:tensor<[4], {to}, CPU>" for name, to, _ in lines)
                numbers = ", ".join(f"%{name}:tensor<[], {to}, CPU>" for name, to, _ in lines)
                names, maps = ", ".join(f"%{name}" for name, _, _ in lines), ", ".join(["[$i]"] * (len(lines) + 1))
                body = "".join(f"            {text} -> (%{name}:tensor<[], {to}, CPU>)\n" for name, to, text in lines)
                yield f"{dtype} {end}", f"""@m [mir_version:2] (%x:tensor<[4], {dtype}, CPU>) -> ({results}) {{
    linalg.CPU.GenericOp [loops:{{i:4}}, maps:[{maps}], dtypes:[{", ".join(to for _, to, _ in lines)}]] (%x) -> ({results}) {{
        (%a:tensor<[], {dtype}, CPU>) -> ({numbers}) {{
{body}            cf.YieldOp ({names}) -> ()
        }}
    }}
    cf.ReturnOp ({names}) -> ()
}}
""", {"x": array}


def index_cases():
    """Indices of 64 bits that conditions leave out, or compare with small numbers."""
    # The reference takes a comparison as false whose difference exceeds 64 bits.
    ends = [8 - 2**63, 2**63 - 9, -(2**62), 2**62 + 1, -1, 0, 1, 2]
    table = np.arange(24, dtype="float32").reshape(8, 3)
    places = np.array([*ends, *ends], "int64")
    for condition in ("$t < $n", "$t + 1 >= $n", "$n - $t > 0", "$n == $t", "$n - 2 <= -$t"):
        for dtype in ("Int64", "UInt64"):
            yield condition, generic({"t": "[8, 3]", "r": "[8]"}, "loops:{g:8, t:3}, maps:[[$g, $t], [$g], [$g]], sums:{t:add}, "
                                     f'indices:{{n:1}}, where:"{condition}"', "y", "[8]", [], "a", ("Float32", dtype)), {
                "t": table, "r": places[:8].astype(dtype.lower())}
    # The operand of an index is outside where a relation without the index leaves the iteration out.
    lengths = np.array([1, 2], "int64")
    for conditions in (["$t < 2"], ["$t == 1"], ["$t*$t + $g < 4"], ["$t < 2", "$n > $t"], ["$t + $u < 2"]):
        where = ", ".join(f'"{each}"' for each in conditions)
        yield f"left out by {where}", generic(
            {"t": "[8, 3]", "r": "[2]"}, "loops:{g:3, t:3, u:2}, maps:[[$n+$g, $u], [$t], [$g]], sums:{t:add, u:add}, indices:{n:1}, "
            f"where:[{where}]", "y", "[3]", [], "a", ("Float32", "Int64")), {"t": table, "r": lengths}
        yield f"elements left out by {where}", generic(
            {"t": "[8, 3]", "r": "[2]"}, "loops:{g:3, t:3, u:2}, maps:[[$n+$g, $u], [$t], [$g, $t, $u]], indices:{n:1}, "
            f"where:[{where}], start:[7]", "y", "[3, 3, 2]", [], "a", ("Float32", "Int64")), {"t": table, "r": lengths}
    yield "all ends", generic({"t": "[8, 3]", "r": "[8]"}, "loops:{g:8, t:3}, maps:[[$g, $t], [$g], [$g]], sums:{t:add}, "
                              'indices:{n:1}, where:"$t < $n"', "y", "[8]", [], "a", ("Float32", "Int64")), {
        "t": table, "r": np.array([-(2**63), 2**63 - 1, 0, 1, 2, 3, 4, 5], "int64")}
    for index, conditions in (("$n", ["$n >= 0", "$n < 3"]), ("$n", ["$n >= 0", "$n <= 2"]), ("2 - $n", ["$n >= 0", "$n < 3"]),
                              ("$n + $g/4", ["$n >= 0", "$n + $g/4 < 3"])):
        where = ", ".join(f'"{each}"' for each in conditions)
        yield f"{index} {where}", generic({"t": "[3]", "r": "[16]"}, f"loops:{{g:16}}, maps:[[{index}], [$g], [$g]], indices:{{n:1}}, "
                                          f"where:[{where}], start:[7]", "y", "[16]", [], "a", ("Float32", "Int64")), {
            "t": np.array([1, 2, 3], "float32"), "r": places}


def kernel_modules():
    """The modules of testdata/mllm-interp/kernels.mir by name."""
    text = (Path(__file__).resolve().parents[2] / "testdata/mllm-interp/kernels.mir").read_text()
    return {each.split(" ")[0]: "@" + each for each in text.split("\n@")[1:]}


def kernel_cases():
    """Kernels of nests, buffers, conditions and indices that data decides."""
    rng = np.random.default_rng(3)
    text = kernel_modules()
    table = rng.standard_normal((6, 4)).astype("float32")
    yield "tiles", text["tiles"], {"x": rng.standard_normal(20).astype("float32")}
    yield "product", text["product"], {"a": rng.standard_normal((2, 3)).astype("float32"), "b": rng.standard_normal((3, 4)).astype("float32")}
    yield "groups", text["groups"], {"table": table, "rows": np.array([[0, 5, 2], [5, 1, 3]], "int32"), "lengths": np.array([3, 0], "int32")}
    yield "chosen", text["chosen"], {"x": np.array([[np.nan, -0.0, 1], [-0.0, 0, 9]], "float32"), "n": np.array([3, 2], "int32")}
    yield "scatter", text["scatter"], {"x": np.array([1, 2, 3], "float32"), "to": np.array([2, 0, 1], "int64")}


def check_kernel_stops(programs):
    """Indices outside of a buffer and elements that nothing wrote end the run."""
    text = kernel_modules()
    x = np.array([1, 2, 3], "float32")
    for name, arrays, status in (("scatter", {"x": x, "to": np.array([2, 0, 3], "int64")}, 1),
                                 ("scatter", {"x": x, "to": np.array([2, 0, 2**62 + 1], "int64")}, 1),
                                 ("scatter", {"x": x, "to": np.array([2, 0, 0], "int64")}, 2),
                                 ("chosen", {"x": np.ones((2, 3), "float32"), "n": np.array([1, 0], "int32")}, 2)):
        path = programs.folder / "stop.mir"
        path.write_text(text[name])
        found = programs.outputs(path, arrays)
        assert isinstance(found, str) and f"ended with {status}" in found, f"{found}\n{text[name]}"


def check_parallel(programs):
    """Parallel loops have a pragma of OpenMP, which compilers accept, unless an iteration may end the run."""
    for name, count in (("tiles", 1), ("product", 1), ("scatter", 0)):
        path = programs.folder / "parallel.mir"
        path.write_text(kernel_modules()[name])
        source = programs.folder / "parallel.c"
        made = run([programs.tools / "mllm-opt", "--emit=c", path, "-o", source])
        assert made.returncode == 0, made.stderr
        assert source.read_text().count("#pragma omp parallel for") == count, source.read_text()
        for compiler in sorted({each[0] for each in programs.compilers}):
            if run([compiler, "-fopenmp", "-xc", "-fsyntax-only", "/dev/null"]).returncode == 0:
                made = run([compiler, "-std=c11", "-fopenmp", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", source])
                assert made.returncode == 0, f"{compiler}: {made.stderr[:2000]}"


def check_blocks(programs):
    """Functions of a block index give the bits of the reference kernels, whose blocks run in any order, from the last block to the first."""
    rng = np.random.default_rng(4)
    reverse = "-DMIR_BLOCK(i, begin, end)=((begin) + (end) - 1 - (i))"
    arrays = {"a": rng.standard_normal((12, 7)).astype("float32"), "b": rng.standard_normal((7, 10)).astype("float32")}
    path, source = programs.folder / "blocks.mir", programs.folder / "blocks.c"
    path.write_text("@m [mir_version:2] (%a:tensor<[12, 7], Float32, CPU>, %b:tensor<[7, 10], Float32, CPU>) -> (%c:tensor<[12, 10], Float32, CPU>) {\n"
                    "    linalg.CPU.MatMulOp [transpose_b:false] (%a, %b) -> (%c)\n    cf.ReturnOp (%c) -> ()\n}\n")
    for name, array in arrays.items():
        np.save(programs.folder / f"{name}.npy", array)
    files = [f"{name}={programs.folder / name}.npy" for name in arrays]
    for tail in ([], ["loops"]):
        passes = [word for each in ["decompose{to=generic}", "tile{i0=5,i1=4}", "parallel{loops=[i0]}", *tail] for word in ("-p", each)]
        for form in (["-o", programs.folder / "lowered.mir"], ["--emit=c-blocks", "-o", source]):
            made = run([programs.tools / "mllm-opt", *passes, path, *form])
            assert made.returncode == 0, made.stderr
        assert "mir_block_1(MIR_BLOCK(i0, 0, 3), a, b, c)" in source.read_text(), source.read_text()
        done = run([programs.tools / "mllm-interp", programs.folder / "lowered.mir", "--parallel-order=5", "--print-outputs=no",
                    *[f"--input={each}" for each in files], "-o", programs.folder / "wanted.npy"])
        assert done.returncode == 0, done.stderr
        for compiler in programs.compilers if IS_LONG else programs.compilers[:2]:
            made = run([*compiler, *STRICT, reverse, source, "-o", programs.folder / "blocks", "-lm"])
            assert made.returncode == 0, f"{compiler}: {made.stderr[:2000]}"
            done = run([programs.folder / "blocks", *files, f"c={programs.folder / 'c.npy'}"])
            assert done.returncode == 0 and (programs.folder / "c.npy").read_bytes() == (programs.folder / "wanted.npy").read_bytes(), compiler
    several = Path(__file__).resolve().parents[2] / "testdata/mllm-opt/data/several-nests.mir"
    for name in ("results", "marks", "tiles"):
        made = run([programs.tools / "mllm-opt", "-p", "loops", "--emit=c-blocks", several, f"--module={name}", "-o", source])
        assert made.returncode == 0, made.stderr
        made = run([*programs.compilers[0], "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", source])
        assert made.returncode == 0, made.stderr[:2000]


def check_stops(programs):
    """Indices of 64 bits end the run beyond 62 bits if clamping could change a result."""
    for index, condition in (("$n", "$n < 4611686018427387904"), ("$n / 4611686018427387904", "$n >= 0")):
        text = generic({"t": "[3]", "r": "[2]"}, f'loops:{{g:2}}, maps:[[{index}], [$g], [$g]], indices:{{n:1}}, where:"{condition}", '
                       "start:[7]", "y", "[2]", [], "a", ("Float32", "Int64"))
        path = programs.folder / "stop.mir"
        path.write_text(text)
        found = programs.outputs(path, {"t": np.array([1, 2, 3], "float32"), "r": np.array([0, 2**63 - 1], "int64")})
        assert isinstance(found, str) and "ended with 1: data makes an index outside" in found, f"{found}\n{text}"
    done = run([programs.folder / "module", "t=t.npy", "u=u.npy", "y"])
    assert done.returncode == 1 and all(f"error: '{word}': is not" in done.stderr for word in ("u=u.npy", "y")), done.stderr


def check_case(programs, title, text, arrays):
    """Compares the outputs by the next compiler, in long runs by all. The module must run."""
    path = programs.folder / "case.mir"
    path.write_text(text)
    np.savez(programs.folder / "in.npz", **{f"in{i}": array for i, array in enumerate(arrays.values())})
    inputs = [f"--input=%{name}={programs.folder / 'in.npz'}:in{i}" for i, name in enumerate(arrays)]
    done = run([programs.tools / "mllm-interp", "--kernels=ref", path, "--print-outputs=no", f"--output={programs.folder / 'out.npz'}", *inputs])
    assert done.returncode == 0, f"{title}: {done.stderr}\n{text}"
    with np.load(programs.folder / "out.npz") as out:
        wanted = {name: out[name] for name in out.files}
    for _ in programs.compilers if IS_LONG else range(1):
        found = programs.outputs(path, arrays)
        assert not isinstance(found, str), f"{title}: {found}\n{text}"
        compare(found, wanted, path)
    header = programs.folder / "case.h"
    made = run([programs.tools / "mllm-opt", "--emit=c-header", path, "-o", header])
    assert made.returncode == 0, made.stderr
    turn = programs.count % len(HEADER_COMPILERS)
    for compiler in HEADER_COMPILERS if IS_LONG else HEADER_COMPILERS[turn:turn + 1]:
        if shutil.which(compiler[0]):
            made = run([*compiler, "-fsyntax-only", "-Wall", "-Werror", "-Wno-pragma-once-outside-header", header])
            assert made.returncode == 0, f"{title}: {compiler}: {made.stderr[:2000]}\n{header.read_text()}"


def check_options(programs):
    """The text refuses options that change arithmetic of float and double, and no other."""
    path = programs.folder / "options.mir"
    path.write_text(module(["x"], sum_of(["x"])))
    source = programs.folder / "options.c"
    made = run([programs.tools / "mllm-opt", "--emit=c", path, "-o", source])
    assert made.returncode == 0, made.stderr
    for compiler in sorted({each[0] for each in programs.compilers}):
        # Machines with native Float16 have the evaluation method 16 in the GNU dialect.
        for option, is_good in (("-mavx512fp16", True), ("-std=gnu11", True), ("-ffast-math", False), ("-ffinite-math-only", False)):
            if run([compiler, "-std=gnu11", option, "-xc", "-fsyntax-only", "/dev/null"]).returncode != 0:
                continue
            made = run([compiler, "-std=gnu11", option, "-fsyntax-only", "-Wall", "-Werror", source])
            assert (made.returncode == 0) == is_good, f"{compiler} {option}: {made.stderr[:2000]}"


def check_memory(programs):
    """Values that are alive together may not need more than 2^47 bytes. Each of these has 2^39."""
    large = f"tensor<[{2**37}], Float32, CPU>"
    path = programs.folder / "large.mir"
    for count, is_good in ((250, True), (300, False)):
        lines = [f"    linalg.CPU.NegOp (%x) -> (%v{i}:{large})" for i in range(count)]
        lines += [f"    linalg.CPU.AddOp (%v{i}, %{f's{i - 1}' if i else 'x'}) -> (%s{i}:{large})" for i in range(count)]
        last = f"%s{count - 1}"
        body = "\n".join(lines)
        path.write_text(f"@m [mir_version:2] (%x:{large}) -> ({last}:{large}) {{\n{body}\n    cf.ReturnOp ({last}) -> ()\n}}\n")
        made = run([programs.tools / "mllm-opt", "--emit=c", path, "-o", programs.folder / "large.c"])
        assert (made.returncode == 0) == is_good and ("MIR0929" in made.stderr) != is_good, made.stderr


# A step of 4 tokens after a step of 6, which share caches and weights.
STEPS = """#include <stdio.h>
#include <stdlib.h>
#include "first.h"
#include "second.h"
static struct first_caches caches;
static int64_t ids[10], positions[10];
static float logits[10 * 256];
int main(int count, char** words) {
  struct first_weights weights;
  FILE* out = fopen("logits", "wb");
  if (count != 12 || out == NULL || first_read_weights(&weights, words[1], malloc(first_weights_bytes)) != 0) return 10;
  for (int i = 0; i < 10; ++i) {
    ids[i] = atoi(words[i + 2]);
    positions[i] = i;
  }
  void* const workspace = malloc(first_workspace_bytes + second_workspace_bytes);
  const struct second_weights* const model = (const struct second_weights*)(const void*)&weights;
  struct second_caches* const state = (struct second_caches*)(void*)&caches;
  if (second_run(model, state, ids, positions, logits, workspace) != 4) return 11;
  if (first_run(&weights, &caches, ids, positions, logits, workspace) != 0) return 12;
  if (first_run(&weights, &caches, ids, positions, logits, workspace) != 4) return 13;
  ids[6] += 1000;
  if (second_run(model, state, ids + 6, positions + 6, logits, workspace) != 1) return 14;
  ids[6] -= 1000;
  if (second_run(model, state, ids + 6, positions + 6, logits + 6 * 256, workspace) != 0) return 15;
  fwrite(logits, 4, 10 * 256, out);
  return fclose(out);
}
"""


def check_decoder(programs):
    """The bundled decoder gives the bits of the reference kernels, in one run and in two steps."""
    example = Path(__file__).resolve().parents[2] / "testdata/examples/qwen2_tiny"
    folder, weights = programs.folder, example / "model.safetensors"
    files = [f"{name}={example / name}.npy" for name in ("ids", "positions")]
    done = run([programs.tools / "mllm-interp", "--kernels=ref", example / "model.mir", "-w", weights, *[word for each in files for word in ("-i", each)],
                "-o", folder / "wanted.npy", "--print-outputs=no"])
    assert done.returncode == 0, done.stderr

    def emit(name, tokens, past, *forms):
        (folder / f"{name}.mir").write_text((example / "model.mir").read_text().replace("@main ", f"@{name} ", 1))
        for form in forms:
            made = run([programs.tools / "mllm-opt", "-p", f"bind-symbols{{S={tokens},past={past}}}", f"--emit={form[0]}", folder / f"{name}.mir",
                        "-o", folder / f"{name}.{form[1]}"])
            assert made.returncode == 0, made.stderr

    strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffp-contract=off"]
    emit("decoder", 10, 0, ("c", "c"))
    for compiler in sorted({each[0] for each in programs.compilers}):
        for level in ("-O0", "-O3") if IS_LONG else ("-O0",):
            made = run([compiler, level, *strict, "-DMIR_MAIN", folder / "decoder.c", "-o", folder / "decoder", "-lm"])
            assert made.returncode == 0, f"{compiler} {level}: {made.stderr[:2000]}"
            done = run([folder / "decoder", f"safetensors={weights}", *files, f"logits={folder / 'logits.npy'}"])
            assert done.returncode == 0, done.stderr
            assert (folder / "logits.npy").read_bytes() == (folder / "wanted.npy").read_bytes(), f"{compiler} {level}: other logits"
    for file, message in ((example / "ids.npy", "is not a safetensors file"), (folder / "none", "cannot be read")):
        done = run([folder / "decoder", f"safetensors={file}", *files])
        assert done.returncode == 1 and message in done.stderr, done.stderr
    emit("first", 6, 0, ("c", "c"), ("c-header", "h"))
    emit("second", 4, 6, ("c", "c"), ("c-header", "h"))
    (folder / "steps.c").write_text(STEPS)
    made = run([programs.compilers[0][0], "-O0", *strict, "-DMIR_WEIGHTS", *[folder / f"{each}.c" for each in ("steps", "first", "second")],
                "-o", folder / "steps", "-lm"])
    assert made.returncode == 0, made.stderr[:2000]
    done = subprocess.run([folder / "steps", weights, *[str(each) for each in np.load(example / "ids.npy")[0]]], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert np.load(folder / "wanted.npy").tobytes() == (folder / "logits").read_bytes(), "other logits in two steps"


CACHE = """@m [mir_version:1] (%x:tensor<[1, 2, $S, 4], Float32, CPU>) -> (%k:tensor<[1, 2, $past+$S, 4], Float32, CPU>, %v:tensor<[1, 2, $past+$S, 4], Float32, CPU>) {
    linalg.CPU.NegOp (%x) -> (%n)
    linalg.CPU.KVCacheOp [cache:@c, q_head:2, kv_head:2, head_dim:4, past:$past, capacity:9] (%x, %n) -> (%k, %v)
    cf.ReturnOp (%k, %v) -> ()
}
"""


def check_runs(programs):
    """Runs of C append to the caches of the session, keep their objects, and report what fails."""
    path, objects = programs.folder / "cache.mir", programs.folder / "objects"
    path.write_text(CACHE)
    command = [programs.tools / "mllm-interp", path, "--input=x=random:1", "--bind=S=3"]
    settings = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(objects)}

    def run_with(*words, **variables):
        return subprocess.run([*command, *words], capture_output=True, text=True, env=settings | variables)

    compiler = programs.compilers[0][0]
    wanted = run_with("--then=2", "--kernels=ref").stdout
    found = run_with("--then=2", "--kernels=c-both", CC=compiler)
    lines = [each for each in found.stdout.splitlines(keepends=True) if "of C have the bits" not in each]
    assert found.returncode == 0 and "".join(lines) == wanted and len(lines) + 3 == len(found.stdout.splitlines()), found.stdout + found.stderr
    # What was compiled once needs no compiler. The name of the compiler is part of what an object is found by.
    kept = {each: each.read_bytes() for each in objects.rglob("*.so")}
    assert len(kept) == 3, kept
    found = run_with("--then=2", "--kernels=c", CC=compiler, PATH="/nowhere")
    assert found.returncode == 0 and found.stdout == wanted, found.stderr
    for each in kept:
        each.write_text("damaged")
    found = run_with("--then=2", "--kernels=c", CC=compiler)
    assert found.returncode == 0 and found.stdout == wanted, found.stderr
    found = run_with("--then=3", "--kernels=c", CC=compiler)
    assert found.returncode == 1 and "has room for 9 tokens" in found.stderr and "in run 3" in found.stderr, found.stderr


def main():
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        programs = Programs(Path(sys.argv[1]), Path(folder))
        if skip_without_compilers(programs):
            return 77
        cases = [*name_cases(), *constant_cases(), *index_cases(), *kernel_cases()]
        for case in cases:
            check_case(programs, *case)
        check_stops(programs)
        check_kernel_stops(programs)
        check_parallel(programs)
        check_blocks(programs)
        check_options(programs)
        check_memory(programs)
        check_decoder(programs)
        check_runs(programs)
    print(f"{len(cases)} modules have equal bits in C by {len(programs.compilers)} compilers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
