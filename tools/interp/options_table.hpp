// The options of mllm-interp as rows; those that say what a run is belong to mllm-pack, too.
#pragma once

#include "granted.hpp"
#include "options.hpp"

namespace mir::tools {

inline constexpr Option kInterpOptions[] = {
    {.name = "weights",
     .letter = 'w',
     .argument = "SPEC",
     .help = "take parameters from FILE (safetensors, gguf, mllm, npz), random:SEED or splat:V; "
             "later ones win",
     .repeatable = true},
    {.name = "input",
     .letter = 'i',
     .argument = "[PORT=]SPEC",
     .help = "an input as FILE.npy, FILE.npz:MEMBER, a number or list, random:SEED, zeros or iota; "
             "PORT is a name, %id or position",
     .repeatable = true},
    {.name = "output",
     .letter = 'o',
     .argument = "[PORT=]FILE",
     .help = "write an output to FILE.npy, or all of them to FILE.npz; of the last run, or of each "
             "where FILE has {run}, its number",
     .repeatable = true},
    {.name = "expect",
     .argument = "[PORT=]SPEC",
     .help = "compare an output with this tensor; exit with 1 when they differ; {run} stands for "
             "the number of each run",
     .repeatable = true},
    {.name = "rtol", .argument = "X", .help = "relative tolerance of floating types (by type)"},
    {.name = "atol", .argument = "X", .help = "absolute tolerance of floating types (by type)"},
    {.name = "tolerance",
     .argument = "[TYPE:]ITEMS",
     .help =
         "what --expect and --against demand of an element type or of all, with commas between: "
         "exact, abs=X, rel=X, ulp=X, correlation=X, cosine=X, topK=X",
     .repeatable = true},
    {.name = "probe",
     .argument = "PATTERNS",
     .help = "show results inside the run: %VALUE, @GRAPH, @GRAPH%VALUE or an op's name, with "
             "commas between; * and ? stand for others",
     .repeatable = true},
    {.name = "dump",
     .argument = "FOLDER",
     .help = "write all results, or those of --probe, as NPY files with an index"},
    {.name = "against",
     .argument = "PATH",
     .help = "find the first op whose operands agree with those of another module or of a dump and "
             "whose results do not; exit with 1 when there is one"},
    {.name = "against-weights",
     .argument = "SPEC",
     .help = "with --against: other parameters for the other module",
     .repeatable = true},
    {.name = "report", .argument = "FILE", .help = "write what was shown and compared as JSON"},
    {.name = "profile",
     .help = "show where the time went: kernel calls, beside the limits of the machine"},
    {.name = "profile-file",
     .argument = "FILE",
     .help = "write the profile as FILE.json, FILE.csv or FILE.trace.json, which Chrome's trace "
             "viewer and Perfetto show",
     .repeatable = true},
    {.name = "then",
     .argument = "[@GRAPH*]N",
     .help = "run N times more, with what the caches hold: the same, or this graph",
     .repeatable = true},
    {.name = "feed",
     .argument = "IN=SOURCE",
     .help = "an input of the runs of --then: %OUT or argmax(%OUT) of the run before, $past (the "
             "numbers from there on), or what --input takes; others stay as they were",
     .repeatable = true},
    {.name = "bind",
     .argument = "S=N",
     .help = "give a dimension symbol its value in the first run",
     .repeatable = true},
    {.name = "describe", .help = "run nothing: show inputs, outputs, parameters, caches, memory"},
    {.name = "json", .help = "with --describe: one JSON object"},
    {.name = "print-outputs",
     .argument = "WHEN",
     .help = "yes (default) or no: type, extents, range and hash of each output",
     .choices = "yes no"},
    {.name = "top", .argument = "K", .help = "show the K largest elements of each last row"},
    {.name = "module", .argument = "NAME", .help = "the module to run where the file has several"},
    {.name = "entry", .argument = "GRAPH", .help = "run this graph instead of the module's body"},
    {.name = "bind-op",
     .argument = "TYPE=@GRAPH",
     .help = "let a graph of the module compute the ops of this type, which have no kernel",
     .repeatable = true},
    kSymbolicDimOption,
    kAssumeOption,
    kSidecarOption,
    {.name = "kernels",
     .argument = "SET",
     .help = "ref (default): the meaning of each op, the same bits everywhere; fast: blocked, "
             "vectorised and threaded; both: fast, each result compared with ref's",
     .choices = "ref fast both"},
    {.name = "fusion",
     .argument = "WHICH",
     .help = "steps that fast kernels compute as one: off, exact (the bits of the steps one by "
             "one) or all (default)",
     .choices = "off exact all"},
    {.name = "activations",
     .argument = "TYPE",
     .help = "in which type fast kernels multiply in Linear: f32 (default), or bf16, to which "
             "activations and weights of floats are rounded",
     .choices = "f32 bf16"},
    {.name = "isa",
     .argument = "LEVEL",
     .help =
         "the highest instruction set to use: scalar, avx2, avx512, avx512-vnni or avx512-bf16; "
         "by default the machine's, and one that it lacks is refused",
     .choices = "scalar avx2 avx512 avx512-vnni avx512-bf16"},
    {.name = "weight-memory",
     .argument = "SIZE",
     .help = "parameters that are made (invented, converted) and stay in memory between steps, as "
             "bytes or with KiB, MiB or GiB; by default half of the machine's memory"},
    {.name = "packed-cache",
     .argument = "FILE",
     .help = "keep weights as fast kernels read them in FILE; the next start with the same weights "
             "packs nothing"},
    {.name = "machine",
     .help = "run a lowered program as it is, instruction by instruction, instead of as graphs"},
    {.name = "trace",
     .argument = "WHAT",
     .help = "with the machine: show each instruction before it runs (pc)",
     .choices = "pc"},
    {.name = "step-limit",
     .argument = "N",
     .help = "with the machine: refuse runs of more instructions (16777216)"},
    {.name = "threads",
     .argument = "N",
     .help = "threads of fast kernels; results never depend on them"},
};

}  // namespace mir::tools
