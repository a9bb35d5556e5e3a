// mllm-make-decoder: a decoder of any size as a module and its weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>

#include "file_kind.hpp"
#include "mir/codes/files.hpp"
#include "mir/codes/usage.hpp"
#include "mir/dialects.hpp"
#include "mir/print.hpp"
#include "support/file_io.hpp"
#include "tool.hpp"
#include "tools/generate/generation.hpp"
#include "tools/generate/qwen2_decoder.hpp"
#include "tools/generate/settings.hpp"
#include "tools/tools.hpp"
#include "weights/blocks.hpp"
#include "weights/write_tensors.hpp"

namespace {

using namespace mir;
using namespace mir::tools;
using generate::DecoderShape;
using generate::Sampling;

constexpr ToolInfo kMakeDecoderTool = {
    .name = "mllm-make-decoder",
    .summary = "Writes a Qwen2-style decoder, model.mir and its weights, to a folder.",
    .operands = "-o FOLDER",
    .examples = {{{"mllm-make-decoder -o tiny",
                   "write two layers of extent 64 with random weights"},
                  {"mllm-make-decoder --layers=24 --hidden=896 --heads=14 --ffn=4864 -o big",
                   "write a model of 0.36 billion parameters"}}},
    .files_behind = files_behind,
};

Result<DecoderShape> shape_of(const DecoderSettings& settings) {
  DecoderShape shape{.layers = *settings.layers,
                     .hidden = *settings.hidden,
                     .heads = *settings.heads,
                     .kv_heads = *settings.kv_heads,
                     .head_dim = *settings.head_dim,
                     .ffn = *settings.ffn,
                     .vocab = *settings.vocab,
                     .max_positions = *settings.max_positions,
                     .rope_theta = *settings.rope_theta,
                     .rms_epsilon = *settings.rms_epsilon,
                     .projection_dtype = *settings.projections,
                     .last_logits = *settings.last_logits};
  if (!settings.head_dim.is_given()) {
    if (shape.heads <= 0 || shape.hidden % shape.heads != 0)
      return Error{diag::kUsage,
                   fmt::format("{} heads do not divide a hidden extent of {}: give --head-dim",
                               shape.heads, shape.hidden)};
    shape.head_dim = shape.hidden / shape.heads;
  }
  if (const auto problem = problem_with(shape)) return Error{diag::kUsage, *problem};
  const bool is_possible = *settings.generate >= 1 && *settings.generate <= shape.max_positions;
  if (settings.generate.is_given() && !is_possible) {
    return Error{diag::kUsage, fmt::format("generate is {}, expected 1 to the {} positions",
                                           *settings.generate, shape.max_positions)};
  }
  return shape;
}

/// No value: tokens are the likeliest ones.
Result<std::optional<Sampling>> sampling_of(const DecoderSettings& settings) {
  const bool is_given =
      settings.top_p.is_given() || settings.top_k.is_given() || settings.temperature.is_given();
  if (!is_given) return std::optional<Sampling>();
  const auto refuse = [](std::string message) { return Error{diag::kUsage, std::move(message)}; };
  Sampling sampling{.top_k = std::min(*settings.top_k, *settings.vocab),
                    .top_p = *settings.top_p,
                    .temperature = *settings.temperature};
  if (sampling.top_k < 1)
    return refuse(fmt::format("top-k is {}, expected 1 or more", sampling.top_k));
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
    return refuse(fmt::format("top-p is {}, expected a number above 0, at most 1", sampling.top_p));
  }
  if (!(sampling.temperature > 0 && std::isfinite(sampling.temperature))) {
    return refuse(
        fmt::format("temperature is {}, expected a number above 0", sampling.temperature));
  }
  return std::optional(sampling);
}

Result<void> write_weights(const Module& module, const DecoderShape& shape,
                           const DecoderSettings& settings) {
  if (auto fits = expect_kind(*settings.weights, FileKind::kTensors); !fits) return fits;
  const auto source = WeightSource::open(*settings.weights);
  if (!source) return source.error();
  const auto tensors = decoder_weights(module, shape, *source);
  if (!tensors) return tensors.error();
  WriteOptions options;
  options.metadata = {{"rms_epsilon", fmt::format("{}", shape.rms_epsilon)},
                      {"rope_theta", fmt::format("{}", shape.rope_theta)}};
  const DType type = shape.projection_dtype;
  TensorFormat format = TensorFormat::kSafetensors;
  if (is_encodable_block(type))
    format = is_upstream_type(type) ? TensorFormat::kGguf : TensorFormat::kMllm2;
  const std::string_view end = format == TensorFormat::kGguf    ? "gguf"
                               : format == TensorFormat::kMllm2 ? "mllm"
                                                                : "safetensors";
  return write_tensors(fmt::format("{}/model.{}", *settings.output, end), format,
                       plans_of(*tensors), options);
}

/// `generating` is the text of generate.mir; empty: not asked for.
ExitCode write_files(const Run& run, const Module& module, const std::string& generating,
                     const DecoderShape& shape, const DecoderSettings& settings) {
  const std::string& folder = *settings.output;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    return run.report(Error{diag::kFileNotWritable,
                            fmt::format("cannot make folder '{}': {}", folder, failure.message())});
  }
  auto written = write_file_atomically(folder + "/model.mir", print(module));
  if (written && !generating.empty()) {
    written = write_file_atomically(folder + "/generate.mir", generating);
  }
  if (written && !settings.no_weights) written = write_weights(module, shape, settings);
  return written ? ExitCode::kSuccess : run.report(written.error());
}

ExitCode run_make_decoder(const Run& run, const DecoderSettings& settings) {
  if (!run.operands().empty())
    return run.usage_error("no files are read; the folder is given with --output");
  if (const auto alone = refuse_together({&settings.weights, &settings.no_weights}); !alone)
    return run.usage_error(alone.error().message);
  const auto shape = shape_of(settings);
  if (!shape) return run.usage_error(shape.error().message);
  const auto sampling = sampling_of(settings);
  if (!sampling) return run.usage_error(sampling.error().message);
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics = run.diagnostics();
  const Module* module = build_qwen2_decoder(context, *shape, diagnostics);
  const bool generates = settings.generate.is_given();
  const Module* graphs = generates ? build_qwen2_graphs(context, *shape, diagnostics) : nullptr;
  if (module == nullptr || (generates && graphs == nullptr)) {
    run.report(diagnostics, context.sources());
    return ExitCode::kInternal;
  }
  Verification(settings.verification, run).accepts(*module, diagnostics);
  const ExitCode code = run.report(diagnostics, context.sources());
  if (code != ExitCode::kSuccess) return code;
  const std::string generating =
      generates ? generating_text(*graphs, *shape, *settings.generate, *sampling) : std::string();
  return write_files(run, *module, generating, *shape, settings);
}

}  // namespace

const Tool mir::tools::kMllmMakeDecoder = {
    &kMakeDecoderTool,
    [](int argc, char** argv) { return run_tool(kMakeDecoderTool, argc, argv, run_make_decoder); }};
