// The options of mllm-interp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interp/probe.hpp"
#include "kernels/isa.hpp"
#include "mir/machine.hpp"
#include "mir/session.hpp"
#include "run_settings.hpp"
#include "tool.hpp"
#include "verification.hpp"
#include "weights/tensor_formats.hpp"

namespace mir::tools {

extern const ToolInfo kInterpTool;

enum class KernelChoice : std::uint8_t { kRef, kFast, kBoth };

inline constexpr Choice<KernelChoice> kKernelChoices[] = {
    {"ref", KernelChoice::kRef, "the meaning of each op, the same bits everywhere"},
    {"fast", KernelChoice::kFast, "blocked, vectorised and threaded"},
    {"both", KernelChoice::kBoth, "fast, each result compared with ref's"}};
inline constexpr Choice<Fusion> kFusions[] = {
    {"off", Fusion::kOff},
    {"exact", Fusion::kExact, "the bits of the steps one by one"},
    {"all", Fusion::kAll}};
inline constexpr Choice<Activations> kActivations[] = {
    {"f32", Activations::kFloat32},
    {"bf16", Activations::kBFloat16, "activations and weights of floats are rounded to it"}};
inline constexpr Choice<bool> kYesNo[] = {{"yes", true}, {"no", false}};

/// Every level by its name.
std::vector<Choice<IsaLevel>> isa_choices();

enum class ProfileForm : std::uint8_t { kTrace, kJson, kCsv };
struct ProfileFile {
  std::string path;
  ProfileForm form;

  /// The form is what the path ends in; none for any other end.
  static std::optional<ProfileFile> parse(std::string_view path);
};

struct InterpSettings {
  OptionSet& options;

  RunSettings run{options};
  SidecarSettings sidecars{options};
  OptionList<std::string> output{
      options,
      {.name = "output",
       .letter = 'o',
       .argument = "[PORT=]FILE",
       .help = "write an output to FILE.npy, or all of them to FILE.npz; of the last run, or of "
               "each where FILE has {run}, its number"},
      any_file("npy npz")};
  Option<bool> print_outputs{options,
                             {.name = "print-outputs",
                              .argument = "WHEN",
                              .help = "show type, extents, range and hash of each output"},
                             choice(kYesNo),
                             true};
  Option<std::size_t> top{
      options,
      {.name = "top", .argument = "K", .help = "show the K largest elements of each last row"},
      number<std::size_t>()};
  OptionList<Probe> probe{
      options,
      {.name = "probe",
       .argument = "PATTERNS",
       .help = "show results inside the run: %VALUE, @GRAPH, @GRAPH%VALUE or an op's name, with "
               "commas between; * and ? match other text"},
      read_by(Probe::parse)};
  Option<std::string> dump{
      options,
      {.name = "dump",
       .argument = "FOLDER",
       .help = "write all results, or those of --probe, as NPY files with an index"},
      any_folder()};
  Option<std::string> against{
      options,
      {.name = "against",
       .argument = "PATH",
       .help = "find the first op whose operands agree with those of another module or of a dump "
               "and whose results do not; exit with 1 when there is one"},
      any_file()};
  OptionList<std::string> against_weights{
      options,
      {.name = "against-weights",
       .argument = "SPEC",
       .help = "with --against: other parameters for the other module"},
      any_file(kTensorFileEndings)};
  Option<std::string> report{
      options,
      {.name = "report", .argument = "FILE", .help = "write what was shown and compared as JSON"},
      any_file("json")};
  Flag profile{
      options,
      {.name = "profile",
       .help = "show where the time went: kernel calls, compared with the limits of the machine"}};
  OptionList<ProfileFile> profile_file{
      options,
      {.name = "profile-file",
       .argument = "FILE",
       .help = "write the profile as FILE.json, FILE.csv or FILE.trace.json, which Chrome's trace "
               "viewer and Perfetto show"},
      read_by(ProfileFile::parse, "FILE.json, FILE.csv or FILE.trace.json",
              [] { return Completion{.files = "json csv"}; })};
  Flag describe{options,
                {.name = "describe",
                 .help = "run nothing: show inputs, outputs, parameters, caches, memory"}};
  Flag json{options, {.name = "json", .help = "with --describe: one JSON object"}};
  Option<KernelChoice> kernels{options,
                               {.name = "kernels", .argument = "SET", .help = "what computes"},
                               choice(kKernelChoices),
                               KernelChoice::kRef};
  Option<Fusion> fusion{
      options,
      {.name = "fusion", .argument = "WHICH", .help = "steps that fast kernels compute as one"},
      choice(kFusions),
      Fusion::kAll};
  Option<Activations> activations{options,
                                  {.name = "activations",
                                   .argument = "TYPE",
                                   .help = "in which type fast kernels multiply in Linear"},
                                  choice(kActivations),
                                  Activations::kFloat32};
  Option<IsaLevel> isa{options,
                       {.name = "isa",
                        .argument = "LEVEL",
                        .help = "the highest instruction set to use, which the machine must have",
                        .otherwise = "the machine's"},
                       choice_of(isa_choices())};
  Option<unsigned> threads{options,
                           {.name = "threads",
                            .argument = "N",
                            .help = "threads of fast kernels; results never depend on them"},
                           number<unsigned>(),
                           1};
  Option<std::uint64_t> weight_memory{
      options,
      {.name = "weight-memory",
       .argument = "SIZE",
       .help = "parameters that are made (invented, converted) and stay in memory between steps, "
               "as bytes or with KiB, MiB or GiB",
       .otherwise = "half of the machine's memory"},
      byte_size()};
  Option<std::string> packed_cache{
      options,
      {.name = "packed-cache",
       .argument = "FILE",
       .help = "keep weights as fast kernels read them in FILE; the next start with the same "
               "weights packs nothing"},
      any_file()};
  Flag machine{options,
               {.name = "machine",
                .help = "run a lowered program as it is, instruction by instruction, instead of as "
                        "graphs"}};
  Option<bool> trace{options,
                     {.name = "trace",
                      .argument = "WHAT",
                      .help = "with the machine: show each instruction before it runs"},
                     choice_of<bool>({{"pc", true}})};
  Option<std::uint64_t> step_limit{options,
                                   {.name = "step-limit",
                                    .argument = "N",
                                    .help = "with the machine: refuse runs of more instructions"},
                                   number<std::uint64_t>(),
                                   MachineRun{}.step_limit};
  VerificationSettings verification{options};

  /// Whether a lowered program is run as it is.
  bool wants_machine() const { return machine || trace.is_given() || step_limit.is_given(); }
};

/// Refuses options that contradict each other or the machine.
Result<void> check_settings(const InterpSettings& settings);

}  // namespace mir::tools
