// The options of mllm-run.
#pragma once

#include <cstdint>
#include <string>

#include "dialect_files.hpp"
#include "mir/session.hpp"
#include "option.hpp"
#include "weight_files.hpp"
#include "weights/tensor_formats.hpp"

namespace mir::tools {

inline constexpr Choice<KernelSet> kKernelSets[] = {
    {"fast", KernelSet::kFast, "vectorised, threaded"},
    {"ref", KernelSet::kRef, "the same bits everywhere"}};
inline constexpr Choice<Activations> kRunActivations[] = {
    {"f32", Activations::kFloat32},
    {"bf16", Activations::kBFloat16, "activations and float weights are rounded"}};

struct RunTextSettings {
  OptionSet& options;

  OptionGroup model{options, "Model"};
  OptionList<std::string> weights{
      options,
      {.name = "weights",
       .letter = 'w',
       .argument = "SPEC",
       .help = "load the parameters of a module from FILE, random:SEED or splat:V; a folder or a "
               "GGUF file has its own"},
      any_file(references_of_weights(), kTensorFileEndings)};
  Option<std::string> tokenizer{
      options,
      {.name = "tokenizer",
       .argument = "FILE",
       .help = "use this tokenizer.json, folder that holds one, or GGUF file",
       .otherwise = "the model's; a module has none"},
      read_file_name("json gguf")};
  Option<std::string> family{
      options,
      {.name = "family",
       .argument = "FILE",
       .help = "read FILE, a dialect with an op 'ModelOp', and import the model as its family"},
      read_file_name("*.mir")};

  OptionGroup text{options, "Text"};
  OptionList<std::string> prompt{
      options,
      {.name = "prompt",
       .letter = 'p',
       .argument = "TEXT",
       .help = "continue TEXT; given several times, all texts are generated at once"},
      any_text({})};
  Option<std::string> prompt_file{options,
                                  {.name = "prompt-file",
                                   .argument = "FILE",
                                   .help = "continue the text of FILE",
                                   .otherwise = "standard input",
                                   .excludes = "prompt"},
                                  read_file_name("txt")};
  Option<std::string> prompts{
      options,
      {.name = "prompts",
       .argument = "FILE",
       .help = "continue each line of FILE; in a file '*.jsonl' each is a JSON string, or an "
               "object with 'prompt'",
       .excludes = "prompt prompt-file"},
      read_file_name("txt jsonl")};
  Option<std::size_t> batch{
      options,
      {.name = "batch", .argument = "N", .help = "generate N prompts at once, then the next N"},
      number<std::size_t>({.least = 1, .most = 1024}),
      64};
  Flag chat{
      options,
      {.name = "chat",
       .help = "answer: put the prompt into the chat template of the model; without a prompt, "
               "each line of standard input is a turn"}};
  Option<std::string> system{options,
                             {.name = "system",
                              .argument = "TEXT",
                              .help = "begin with this system turn",
                              .needs = "chat"},
                             any_text({})};
  Option<std::string> chat_template{options,
                                    {.name = "template",
                                     .argument = "FILE",
                                     .help = "use the chat template of FILE",
                                     .otherwise = "the model's",
                                     .needs = "chat"},
                                    read_file_name("jinja")};
  Option<std::string> date{options,
                           {.name = "date",
                            .argument = "YYYY-MM-DD",
                            .help = "tell templates that ask for the date this one",
                            .otherwise = "today",
                            .needs = "chat"},
                           any_text({})};
  Option<std::size_t> max_tokens{
      options,
      {.name = "max-tokens", .letter = 'n', .argument = "N", .help = "end after N tokens"},
      number<std::size_t>({.least = 1}),
      256};
  OptionList<std::string> stop{
      options,
      {.name = "stop",
       .argument = "STRING",
       .help = "end before STRING, which is not printed; may be given several times"},
      any_text({})};
  Flag ignore_end{options,
                  {.name = "ignore-end",
                   .help = "continue after tokens that end a text, as measurements need it"}};

  OptionGroup sampling{options, "Sampling"};
  Option<double> temperature{
      options,
      {.name = "temperature",
       .argument = "T",
       .help = "divide logits by T and draw the token; 0 takes the likeliest token"},
      number<double>({.least = 0}),
      0};
  Option<std::uint32_t> top_k{
      options,
      {.name = "top-k", .argument = "K", .help = "draw from the K likeliest tokens; 0: from all"},
      number<std::uint32_t>(),
      0};
  Option<double> top_p{options,
                       {.name = "top-p",
                        .argument = "P",
                        .help = "draw from the smallest set of tokens with total probability P"},
                       number<double>({.least = 0, .most = 1}),
                       1};
  Option<double> min_p{
      options,
      {.name = "min-p",
       .argument = "P",
       .help = "draw from tokens with at least P times the probability of the likeliest one"},
      number<double>({.least = 0, .most = 1}),
      0};
  Option<double> repetition_penalty{
      options,
      {.name = "repetition-penalty",
       .argument = "R",
       .help = "divide positive logits of tokens that occurred by R and multiply negative ones"},
      number<double>({.least = 0}),
      1};
  Option<std::uint64_t> seed{
      options,
      {.name = "seed",
       .argument = "N",
       .help = "draw with the random numbers of seed N; at temperature 0 nothing is drawn"},
      number<std::uint64_t>(),
      0};

  OptionGroup sessions{options, "Sessions"};
  Option<std::string> save_session{options,
                                   {.name = "save-session",
                                    .argument = "FILE",
                                    .help = "write tokens, caches and sampler to FILE at the end, "
                                            "also to that of --load-session",
                                    .replaces = "load-session"},
                                   written_file()};
  Option<std::string> load_session{
      options,
      {.name = "load-session",
       .argument = "FILE",
       .help = "continue the session of FILE, which the same model has saved"},
      read_file_name()};

  OptionGroup speed{options, "Kernels, speed and reports"};
  Option<KernelSet> kernels{options,
                            {.name = "kernels", .argument = "SET", .help = "run these kernels"},
                            choice(kKernelSets),
                            KernelSet::kFast};
  Option<unsigned> threads{options,
                           {.name = "threads",
                            .letter = 'j',
                            .argument = "N",
                            .help = "run fast kernels on N threads; the tokens do not depend on N",
                            .otherwise = "one for each processor"},
                           number<unsigned>({.least = 1})};
  Option<Activations> activations{options,
                                  {.name = "activations",
                                   .argument = "TYPE",
                                   .help = "multiply in this type in fast Linear kernels"},
                                  choice(kRunActivations),
                                  Activations::kFloat32};
  Option<std::string> packed_cache{options,
                                   {.name = "packed-cache",
                                    .argument = "FILE",
                                    .help = "store packed weights in FILE, so that the next run "
                                            "with these weights need not pack them",
                                    .excludes = "kernels=ref"},
                                   written_file()};
  Flag check_packed_cache{
      options,
      {.name = "check-packed-cache",
       .help = "compare hashes of all weights, also of files that are unchanged by their times",
       .needs = "packed-cache"}};
  Option<std::size_t> repeat{
      options,
      {.name = "repeat",
       .argument = "N",
       .help = "generate N times and report the median times; the text is written once"},
      number<std::size_t>({.least = 1, .most = 1000}),
      1};
  Option<std::size_t> warm_up{
      options,
      {.name = "warm-up", .argument = "N", .help = "generate N times first, without measuring"},
      number<std::size_t>({.most = 1000}),
      0};
  Flag json{options, {.name = "json", .help = "write text, tokens and times as a JSON object"}};
  Flag quiet{options,
             {.name = "quiet", .help = "write no figures to standard error", .excludes = "json"}};
  DialectSettings dialects{options};
};

}  // namespace mir::tools
