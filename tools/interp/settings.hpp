// The options of mllm-interp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interp/divergence.hpp"
#include "interp/probe.hpp"
#include "interp/program_trace.hpp"
#include "kernels/isa.hpp"
#include "known_passes.hpp"
#include "mir/fusion.hpp"
#include "mir/session.hpp"
#include "pipelines.hpp"
#include "report_format.hpp"
#include "run_settings.hpp"
#include "tool.hpp"
#include "verification.hpp"
#include "weights/tensor_formats.hpp"

namespace mir::tools {

extern const ToolInfo kInterpTool;

enum class KernelChoice : std::uint8_t { kRef, kFast, kBoth, kC, kCBoth };

inline constexpr Choice<KernelChoice> kKernelChoices[] = {
    {"ref", KernelChoice::kRef, "the same bits everywhere"},
    {"fast", KernelChoice::kFast, "vectorised, threaded"},
    {"both", KernelChoice::kBoth,
     "fast, compared with ref, up to the first op whose result is not within --tolerance"},
    {"c", KernelChoice::kC, "the module as C, compiled by $CC"},
    {"c-both", KernelChoice::kCBoth, "C, whose outputs must have the bits of ref"}};
inline constexpr Choice<Continuation> kContinuations[] = {
    {"each-op", Continuation::kShared, "both runs continue with one result: finds wrong ops"},
    {"end-to-end", Continuation::kOwn, "runs keep their results: shows how errors grow"}};

inline constexpr Choice<Fusion> kFusions[] = {
    {"off", Fusion::kOff},
    {"stated", Fusion::kStated, "what graph.FusedOp states"},
    {"exact", Fusion::kExact, "fusion-exact, the same bits as off"},
    {"all", Fusion::kAll, "pipeline fusion-all"}};
inline constexpr Choice<Activations> kActivations[] = {
    {"f32", Activations::kFloat32},
    {"bf16", Activations::kBFloat16, "activations and float weights are rounded"}};
inline constexpr Choice<bool> kYesNo[] = {{"yes", true}, {"no", false}};

/// Every level by its name.
std::vector<Choice<IsaLevel>> isa_choices();

enum class ProfileForm : std::uint8_t { kTrace, kJson, kCsv };
struct ProfileFile {
  std::string path;
  ProfileForm form;

  /// The path's ending determines the form; no value for any other ending.
  static std::optional<ProfileFile> parse(std::string_view path);
};

References<Probe> references_of_probe();
References<ProfileFile> references_of_profile();
/// `[PORT=]FILE`
References<std::string> references_of_output();
/// True if --dump can write a file of this name.
bool is_results_file(std::string_view name);

struct InterpSettings {
  OptionSet& options;
  KnownPasses known{};
  RunSettings run{options};

  OptionGroup outputs{options, "Output"};
  OptionList<std::string> output{options,
                                 {.name = "output",
                                  .letter = 'o',
                                  .argument = "[PORT=]FILE",
                                  .help = "write an output to FILE.npy or all to FILE.npz: those "
                                          "of each run if FILE contains {run}, else of the last"},
                                 any_file(references_of_output(), "npy npz")};
  Option<bool> print_outputs{options,
                             {.name = "print-outputs",
                              .argument = "WHEN",
                              .help = "print type, extents, range and hash of each output"},
                             choice(kYesNo),
                             true};
  Option<std::size_t> elements{options,
                               {.name = "elements",
                                .argument = "N",
                                .help = "print the elements of outputs that have at most N"},
                               number<std::size_t>()};
  Option<std::size_t> top{options,
                          {.name = "top",
                           .argument = "K",
                           .help = "print the K largest elements of the last row of each output"},
                          number<std::size_t>()};
  Option<std::string> report{options,
                             {.name = "report",
                              .argument = "FILE",
                              .help = "write printed results and comparisons to FILE as JSON"},
                             written_file("json")};
  Flag describe{options,
                {.name = "describe",
                 .help = "show inputs, outputs, needed weights, caches and memory; run nothing"}};
  Option<TextFormat> format{options,
                            {.name = "format",
                             .argument = "FORMAT",
                             .help = "write the description in this format",
                             .needs = "describe"},
                            choice(kTextFormats),
                            TextFormat::kText};

  OptionGroup results{options, "Intermediate results"};
  OptionList<Probe> probe{options,
                          {.name = "probe",
                           .argument = "PATTERNS",
                           .help = "print intermediate results of these values, graphs and ops: "
                                   "%VALUE, @GRAPH, @GRAPH%VALUE, NAME; * and ? match"},
                          read_by(Probe::parse, references_of_probe())};
  Option<std::string> dump{
      options,
      {.name = "dump",
       .argument = "FOLDER",
       .help = "write all intermediate results, or those of --probe, as NPY files with an index"},
      written_folder(is_results_file)};
  Option<std::string> against{options,
                              {.name = "against",
                               .argument = "PATH",
                               .help = "find the first op whose results differ from another "
                                       "module, dump or tensor file (results by the names of "
                                       "values or layers) though its operands agree; exit with 1 "
                                       "if any"},
                              read_file_name()};
  Option<Continuation> agreement{
      options,
      {.name = "agreement",
       .argument = "MODE",
       .help = "compare all results instead of ending at the first difference, and print a table "
               "of graphs and of the worst results"},
      choice(kContinuations)};
  OptionList<std::string> against_weights{options,
                                          {.name = "against-weights",
                                           .argument = "SPEC",
                                           .help = "load other parameters for that module",
                                           .needs = "against"},
                                          any_file(references_of_weights(), kTensorFileEndings)};

  OptionGroup speed{options, "Kernels, speed and memory"};
  Option<KernelChoice> kernels{options,
                               {.name = "kernels", .argument = "SET", .help = "run these kernels"},
                               choice(kKernelChoices),
                               KernelChoice::kRef};
  Option<unsigned> threads{options,
                           {.name = "threads",
                            .letter = 'j',
                            .argument = "N",
                            .help = "run fast kernels on N threads; the results do not depend on N",
                            .needs = "kernels=fast kernels=both"},
                           number<unsigned>(),
                           1};
  Option<IsaLevel> isa{options,
                       {.name = "isa",
                        .argument = "LEVEL",
                        .help = "use at most this instruction set",
                        .otherwise = "the machine's"},
                       choice_of(isa_choices())};
  Option<Fusion> fusion{
      options,
      {.name = "fusion", .argument = "WHICH", .help = "fuse steps", .needs = "kernels=fast"},
      choice(kFusions),
      Fusion::kAll};
  Option<Activations> activations{options,
                                  {.name = "activations",
                                   .argument = "TYPE",
                                   .help = "multiply in this type in fast Linear kernels"},
                                  choice(kActivations),
                                  Activations::kFloat32};
  OptionList<std::string> passes{
      options,
      {.name = "passes",
       .letter = 'p',
       .argument = "PIPELINE",
       .help = "run passes over the module first: A,B, a pipeline or @FILE, as in mllm-opt",
       .excludes = "machine trace step-limit"},
      pipeline_text(known.registry)};
  Option<std::uint64_t> weight_memory{
      options,
      {.name = "weight-memory",
       .argument = "SIZE",
       .help = "keep at most SIZE (as 2GiB) of converted or invented parameters",
       .otherwise = "half of the machine's memory"},
      byte_size()};
  Option<std::string> packed_cache{options,
                                   {.name = "packed-cache",
                                    .argument = "FILE",
                                    .help = "store packed weights in FILE, so that the next run "
                                            "with these weights need not pack them",
                                    .needs = "kernels=fast kernels=both"},
                                   written_file()};
  Flag check_packed_cache{
      options,
      {.name = "check-packed-cache",
       .help = "compare hashes of all weights, also of files that are unchanged by their times",
       .needs = "packed-cache"}};
  Flag profile{options,
               {.name = "profile",
                .help = "print the time of kernel calls, compared with the limits of the machine; "
                        "with --fusion=off, of single kinds of ops"}};
  OptionList<ProfileFile> profile_file{
      options,
      {.name = "profile-file",
       .argument = "FILE",
       .help = "write the profile as FILE.json, FILE.csv or FILE.trace.json (for Perfetto and "
               "Chrome's trace viewer)"},
      read_by(ProfileFile::parse, "FILE.json, FILE.csv or FILE.trace.json", references_of_profile(),
              [] { return Completion{.files = "json csv"}; })};

  OptionGroup programs{options, "Programs and loops"};
  Flag machine{options,
               {.name = "machine",
                .help = "follow the instructions of a lowered program while its graphs run"}};
  Flag trace{
      options,
      {.name = "trace", .help = "print each instruction of a lowered program before it runs"}};
  Option<std::uint64_t> step_limit{
      options,
      {.name = "step-limit",
       .argument = "N",
       .help = "refuse a lowered program that runs more than N instructions"},
      number<std::uint64_t>(),
      ProgramTrace::kDefaultStepLimit};
  Option<std::uint64_t> max_iterations{
      options,
      {.name = "max-iterations",
       .argument = "N",
       .help = "end a run with an error when its loops reach N iterations in all",
       .otherwise = "no limit"},
      number<std::uint64_t>()};
  Option<std::uint64_t> parallel_order{
      options,
      {.name = "parallel-order",
       .argument = "SEED",
       .help = "run iterations of parallel loops of loop.NestOp in the order that SEED determines",
       .otherwise = "as written",
       .excludes = "kernels=fast kernels=both kernels=c kernels=c-both"},
      number<std::uint64_t>()};
  VerificationSettings verification{options};

  /// True if the module runs as C.
  bool runs_c() const { return *kernels == KernelChoice::kC || *kernels == KernelChoice::kCBoth; }
  /// True if the instructions of a lowered program are followed.
  bool follows_program() const { return machine || trace || step_limit.is_given(); }
  /// True if the results of single steps are observed.
  bool observes_steps() const {
    return *kernels == KernelChoice::kBoth || against.is_given() || dump.is_given() || trace ||
           !probe->empty();
  }
};

/// Refuses options that contradict each other or what the machine can do.
Result<void> check_settings(const InterpSettings& settings);

}  // namespace mir::tools
