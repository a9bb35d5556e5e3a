// mllm-weights: files of weights.
#include <fmt/format.h>

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "file_kind.hpp"
#include "mir/codes/weights.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/upgrade.hpp"
#include "module_names.hpp"
#include "progress.hpp"
#include "report_text.hpp"
#include "tool.hpp"
#include "tools/tools.hpp"
#include "tools/weights/match.hpp"
#include "tools/weights/parameters.hpp"
#include "tools/weights/plan_command.hpp"
#include "tools/weights/report.hpp"
#include "tools/weights/settings.hpp"
#include "upgrade/lift_program.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

Result<TensorFile> open_tensors(const std::string& path) {
  if (auto fits = expect_kind(path, FileKind::kTensors); !fits) return std::move(fits).error();
  return TensorFile::open(path);
}

Result<std::vector<TensorFile>> open_all(std::span<const std::string> paths) {
  std::vector<TensorFile> files;
  for (const std::string& path : paths) {
    auto file = open_tensors(path);
    if (!file) return std::move(file).error();
    files.push_back(*std::move(file));
  }
  return files;
}

ExitCode show(const Run& run, const Result<std::string>& text) {
  if (!text) return run.report(text.error());
  print_report(std::string_view(*text));
  return ExitCode::kSuccess;
}

/// `describe` for one file after the other; the worst trouble wins.
template <class Describe>
ExitCode for_each_file(const Run& run, Describe describe) {
  ExitCode code = ExitCode::kSuccess;
  for (const std::string& path : run.operands()) {
    const auto file = open_tensors(path);
    code = worst(code, file ? show(run, describe(path, *file)) : run.report(file.error()));
  }
  return code;
}

ExitCode diff(const Run& run, const WeightsSettings& settings) {
  const auto files = open_all(run.operands());
  if (!files) return run.report(files.error());
  const auto text = difference((*files)[0], (*files)[1], *settings.tolerance, count_progress());
  const ExitCode code = show(run, text);
  return text && !text->empty() ? worst(code, ExitCode::kFindings) : code;
}

/// Lifts a program, whose graphs register its parameters. False after reporting why it cannot.
bool lift(Module& module, Diagnostics& diagnostics) {
  LossReport losses;
  return !has_program(module) || upgrade(module, {}, losses, diagnostics);
}

ExitCode match(const Run& run, const WeightsSettings& settings) {
  IRContext context;
  Diagnostics diagnostics = run.diagnostics();
  if (!register_dialects(settings.dialects, context, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  const auto source = read_source(run.operands().front(), context.sources());
  if (!source) return run.report(source.error());
  const auto files = open_all(std::span(run.operands()).subspan(1));
  if (!files) return run.report(files.error());
  const auto modules = read_modules(**source, context, diagnostics);
  if (diagnostics.has_errors()) return run.report(diagnostics, context.sources());
  const auto module = choose_module(modules, settings.module, (*source)->name());
  if (!module) return run.report(module.error());
  if (!lift(**module, diagnostics)) return run.report(diagnostics, context.sources());
  const MatchCounts counts = match_weights(**module, *files, diagnostics);
  print_report("{} parameters: {} found, {} different, {} missing; {} tensors unused\n",
               counts.parameters, counts.found, counts.different, counts.missing, counts.unused);
  return run.report(diagnostics, context.sources());
}

/// Calls `use` with the stored name and each parameter in a file of modules; false after setting
/// the exit code.
bool for_each_parameter(
    const Run& run, const WeightsSettings& settings, const std::string& path, ExitCode& code,
    const std::function<void(std::string, const RegisteredParameter&, Diagnostics&)>& use) {
  IRContext context;
  Diagnostics diagnostics = run.diagnostics();
  if (!register_dialects(settings.dialects, context, diagnostics)) {
    code = run.report(diagnostics, context.sources());
    return false;
  }
  const auto source = read_source(path, context.sources());
  if (!source) {
    code = run.report(source.error());
    return false;
  }
  for (Module* module : read_modules(**source, context, diagnostics)) {
    if (!lift(*module, diagnostics)) break;
    for (const auto& [name, parameter] : parameters_of(*module)) {
      const std::string_view stored = parameter.stored.tensor;
      use(stored.empty() ? name : std::string(stored), parameter, diagnostics);
    }
  }
  if (diagnostics.has_errors()) code = run.report(diagnostics, context.sources());
  return !diagnostics.has_errors();
}

/// Adds the types of the parameters in a file of modules; false after setting the exit code.
bool add_parameters(const Run& run, const WeightsSettings& settings, ConversionRules& rules,
                    ExitCode& code) {
  return for_each_parameter(
      run, settings, *settings.types_of, code,
      [&](std::string name, const RegisteredParameter& parameter, Diagnostics&) {
        const auto dtype = parameter.type == nullptr ? std::nullopt : parameter.type->dtype();
        if (dtype && is_target_type(*dtype) && !parameter.stored.rows)
          rules.parameters.emplace(std::move(name), *dtype);
      });
}

/// The tensor that a source invents for a parameter. It is made when it is written.
Result<TensorPlan> invented_tensor(const std::string& name, const RegisteredParameter& parameter,
                                   const WeightSource& source) {
  const auto refuse = [&](std::string_view why) {
    return Error{diag::kTensorNotFound, fmt::format("parameter '@{}' {}", name, why)};
  };
  if (!parameter.stored.is_whole()) return refuse("is a part of a stored tensor");
  if (parameter.type == nullptr || !parameter.type->dtype() || !parameter.type->has_static_shape())
    return refuse("has no known type and extents");
  TensorPlan plan{.name = name, .dtype = *parameter.type->dtype(), .shape = {}, .load = {}};
  for (const Dim extent : parameter.type->dims()) plan.shape.push_back(extent.constant());
  const auto weight = source.prepare({.name = name, .dtype = plan.dtype, .shape = plan.shape});
  if (!weight) return weight.error();
  plan.load = [made = **weight] { return made.tensor(); };
  return plan;
}

ExitCode invent(const Run& run, const WeightsSettings& settings) {
  const auto format = settings.file_format();
  if (!format) return run.usage_error(format.error().message);
  const auto source = WeightSource::open(*settings.weights);
  if (!source) return run.report(source.error());
  if (!source->invents())
    return run.usage_error(
        fmt::format("--weights is random:SEED or splat:V, found '{}'", *settings.weights));
  ExitCode code = ExitCode::kSuccess;
  std::vector<TensorPlan> plans;
  std::set<std::string, std::less<>> names;
  const bool is_good = for_each_parameter(
      run, settings, run.operands().front(), code,
      [&](const std::string& name, const RegisteredParameter& parameter, Diagnostics& found) {
        if (!names.insert(name).second) return;
        auto plan = invented_tensor(name, parameter, *source);
        if (!plan) {
          found.error(plan.error().code, parameter.place, plan.error().message);
        } else {
          plans.push_back(*std::move(plan));
        }
      });
  if (!is_good) return code;
  WriteOptions options;
  options.progress = byte_progress();
  const auto written = write_tensors(*settings.output, *format, plans, options);
  return written ? code : run.report(written.error());
}

ExitCode convert(const Run& run, const WeightsSettings& settings) {
  auto rules = settings.rules();
  if (!rules) return run.usage_error(rules.error().message);
  ExitCode code = ExitCode::kSuccess;
  const bool has_module = settings.types_of.is_given();
  if (has_module && !add_parameters(run, settings, *rules, code)) return code;
  const auto files = open_all(run.operands());
  if (!files) return run.report(files.error());
  auto conversion = Conversion::plan(*files, *std::move(rules));
  if (!conversion) return run.report(conversion.error());
  const bool is_one = files->size() == 1;
  InputNames names(is_one ? fmt::format("'{}'", run.operands().front()) : "the files",
                   is_one ? InputNames::Number::kOne : InputNames::Number::kSeveral);
  names.mention(ReferenceKind::kTensor);
  for (const std::string& name : conversion->tensor_names())
    names.add(ReferenceKind::kTensor, name);
  if (const auto known = names.check(settings.options); !known) return run.report(known.error());
  const auto written = conversion->run(*settings.output, byte_progress());
  if (!written) return run.report(written.error());
  print_report(std::string_view(conversion->report()));
  return ExitCode::kSuccess;
}

ExitCode run_weights(const Run& run, const WeightsSettings& settings) {
  switch (*settings.command) {
    case WeightsCommand::kList:
      return for_each_file(run, [&](const auto& path, const auto& file) {
        return list_tensors(path, file, bool(settings.show_metadata));
      });
    case WeightsCommand::kStats:
      return for_each_file(run, [](const auto& path, const auto& file) {
        return tensor_statistics(path, file, count_progress());
      });
    case WeightsCommand::kDiff:
      return diff(run, settings);
    case WeightsCommand::kMatch:
      return match(run, settings);
    case WeightsCommand::kConvert:
      return convert(run, settings);
    case WeightsCommand::kInvent:
      return invent(run, settings);
    case WeightsCommand::kPlan:
      return plan_command(run, settings);
  }
  return ExitCode::kInternal;
}

}  // namespace

const Tool mir::tools::kMllmWeights = tool_of<kWeightsTool, run_weights>();
