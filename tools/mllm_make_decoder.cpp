// mllm-make-decoder: a decoder of any size as a module and its weights.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "mir/dialects.hpp"
#include "mir/print.hpp"
#include "support/file_io.hpp"
#include "tool.hpp"
#include "tools/generate/qwen2_decoder.hpp"
#include "verification.hpp"
#include "weights/blocks.hpp"
#include "weights/write_tensors.hpp"

namespace {

using namespace mir;
using namespace mir::tools;
using generate::DecoderShape;

constexpr Option kOptions[] = {
    {.name = "output", .letter = 'o', .argument = "FOLDER", .help = "where the files go"},
    {.name = "layers", .argument = "N", .help = "number of layers (2)"},
    {.name = "hidden", .argument = "N", .help = "extent of a token's state (64)"},
    {.name = "heads", .argument = "N", .help = "query heads (4)"},
    {.name = "kv-heads", .argument = "N", .help = "key and value heads (2)"},
    {.name = "head-dim", .argument = "N", .help = "extent of a head (hidden / heads)"},
    {.name = "ffn", .argument = "N", .help = "extent inside the feed-forward block (160)"},
    {.name = "vocab", .argument = "N", .help = "number of token ids (256)"},
    {.name = "max-positions", .argument = "N", .help = "longest sequence (64)"},
    {.name = "rope-theta", .argument = "X", .help = "base of the rotary frequencies (1e6)"},
    {.name = "rms-epsilon", .argument = "X", .help = "added to mean squares (1e-6)"},
    {.name = "projections",
     .argument = "TYPE",
     .help =
         "element type of the weights of linear layers: Float32 (default), Float16, BFloat16, "
         "blocks of Q8_0 or Q4_0, for which model.gguf is written, or of Q4_A32, for which it is "
         "model.mllm",
     .choices = "Float32 Float16 BFloat16 Q8_0 Q4_0 Q4_A32"},
    {.name = "logits",
     .argument = "WHICH",
     .help = "of all tokens (default) or of the last one",
     .choices = "all last"},
    {.name = "weights",
     .argument = "SPEC",
     .help = "random:SEED (random:1), splat:V or a file; the rotary tables are always computed"},
    {.name = "no-weights", .help = "write model.mir alone"},
};

constexpr ToolInfo kTool = {
    .name = "mllm-make-decoder",
    .summary = "Writes a Qwen2-style decoder into a folder: model.mir and its weights.",
    .operands = "-o FOLDER",
    .options = kOptions,
    .examples = {{{"mllm-make-decoder -o tiny", "two layers of 64, random weights"},
                  {"mllm-make-decoder --layers=24 --hidden=896 --heads=14 --ffn=4864 -o big",
                   "a model of 0.36 billion parameters"}}},
    .verifies = true,
};

struct Task {
  DecoderShape shape;
  std::string folder;
  std::string weights;  ///< empty: none
};

template <class Number>
Result<void> read_number(const Arguments& arguments, std::string_view option, Number& into) {
  if (!arguments.has(option)) return {};
  const std::string_view text = arguments.value(option);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return Error{DiagCode::kUsage, fmt::format("--{} is a number, found '{}'", option, text)};
}

Result<DecoderShape> shape_of(const Arguments& arguments) {
  DecoderShape shape;
  const std::pair<std::string_view, std::int64_t*> extents[] = {
      {"layers", &shape.layers},
      {"hidden", &shape.hidden},
      {"heads", &shape.heads},
      {"kv-heads", &shape.kv_heads},
      {"ffn", &shape.ffn},
      {"vocab", &shape.vocab},
      {"max-positions", &shape.max_positions}};
  for (const auto& [option, into] : extents) {
    if (auto read = read_number(arguments, option, *into); !read) return read.error();
  }
  if (auto read = read_number(arguments, "rope-theta", shape.rope_theta); !read)
    return read.error();
  if (auto read = read_number(arguments, "rms-epsilon", shape.rms_epsilon); !read)
    return read.error();
  if (arguments.has("head-dim")) {
    if (auto read = read_number(arguments, "head-dim", shape.head_dim); !read) return read.error();
  } else if (shape.heads > 0 && shape.hidden % shape.heads == 0) {
    shape.head_dim = shape.hidden / shape.heads;
  } else {
    return Error{DiagCode::kUsage,
                 fmt::format("{} heads do not divide a hidden extent of {}: give --head-dim",
                             shape.heads, shape.hidden)};
  }
  if (arguments.has("projections")) {
    const std::string type(arguments.value("projections"));
    const std::string family = type == "Q4_A32" ? "MIR_" : type.starts_with('Q') ? "GGUF_" : "";
    shape.projection_dtype = *dtype_from_name(family + type);
  }
  shape.last_logits = arguments.value("logits", "all") == "last";
  if (const auto problem = problem_with(shape)) return Error{DiagCode::kUsage, *problem};
  return shape;
}

Result<Task> task_of(const Arguments& arguments) {
  const auto shape = shape_of(arguments);
  if (!shape) return shape.error();
  Task task{.shape = *shape, .folder = std::string(arguments.value("output")), .weights = {}};
  if (!arguments.operands().empty())
    return Error{DiagCode::kUsage, "no files are read; the folder is given with --output"};
  if (task.folder.empty() || task.folder == "-")
    return Error{DiagCode::kUsage, "--output needs a folder"};
  if (arguments.has("weights") && arguments.has("no-weights"))
    return Error{DiagCode::kUsage, "--weights and --no-weights exclude each other"};
  if (!arguments.has("no-weights")) task.weights = arguments.value("weights", "random:1");
  return task;
}

Result<void> write_weights(const Module& module, const Task& task) {
  const auto source = WeightSource::open(task.weights);
  if (!source) return source.error();
  const auto tensors = decoder_weights(module, task.shape, *source);
  if (!tensors) return tensors.error();
  WriteOptions options;
  options.metadata = {{"rms_epsilon", fmt::format("{}", task.shape.rms_epsilon)},
                      {"rope_theta", fmt::format("{}", task.shape.rope_theta)}};
  const DType type = task.shape.projection_dtype;
  TensorFormat format = TensorFormat::kSafetensors;
  if (is_encodable_block(type))
    format = is_upstream_type(type) ? TensorFormat::kGguf : TensorFormat::kMllm2;
  const std::string_view end = format == TensorFormat::kGguf    ? "gguf"
                               : format == TensorFormat::kMllm2 ? "mllm"
                                                                : "safetensors";
  return write_tensors(fmt::format("{}/model.{}", task.folder, end), format, plans_of(*tensors),
                       options);
}

ExitCode body(const Run& run) {
  const auto task = task_of(run.arguments());
  if (!task) return run.usage_error(task.error().message);
  const auto verification = Verification::create(run);
  if (!verification) return run.usage_error(verification.error().message);
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics = run.diagnostics();
  const Module* module = build_qwen2_decoder(context, task->shape, diagnostics);
  if (module == nullptr) {
    run.report(diagnostics, context.sources());
    return ExitCode::kInternal;
  }
  verification->accepts(*module, diagnostics);
  if (const ExitCode code = run.report(diagnostics, context.sources());
      code != ExitCode::kSuccess) {
    return code;
  }
  std::error_code failure;
  std::filesystem::create_directories(task->folder, failure);
  if (failure) {
    return run.report(
        Error{DiagCode::kFileNotWritable,
              fmt::format("cannot make folder '{}': {}", task->folder, failure.message())});
  }
  if (auto written = write_file_atomically(task->folder + "/model.mir", print(*module)); !written)
    return run.report(written.error());
  if (task->weights.empty()) return ExitCode::kSuccess;
  const auto written = write_weights(*module, *task);
  return written ? ExitCode::kSuccess : run.report(written.error());
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kTool, argc, argv, body);
}
