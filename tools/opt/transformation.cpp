#include "tools/opt/transformation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "mir/upgrade.hpp"
#include "mir/walk.hpp"
#include "module_names.hpp"
#include "standard_error.hpp"
#include "support/atomic_file.hpp"
#include "support/expectation.hpp"
#include "support/file_io.hpp"
#include "tools/opt/explain_conversion.hpp"
#include "tools/opt/validate_run.hpp"
#include "upgrade/settle_text.hpp"

namespace mir::tools {

Transformation::Transformation(const Run& run, OptSettings& settings, const Pipeline& pipeline)
    : run_(run),
      settings_(settings),
      pipeline_(pipeline),
      verification_(settings.verification, run),
      printer_(settings),
      dumper_(*settings.dump_dir),
      explainer_(*settings.explain_no_match),
      reproducer_(settings) {
  rewrites_.limit = settings.rewrite_limit.if_given();
  if (!settings.trace_rewrites) return;
  rewrites_.trace = [](std::uint64_t number, std::string_view pattern, std::string_view root) {
    write_error_text(fmt::format("rewrite {}: '{}' of {}\n", number, pattern, root));
  };
}

Result<void> Transformation::prepare() const {
  return settings_.dump_dir.is_given() ? dumper_.prepare() : Result<void>();
}

// -- running --------------------------------------------------------------------------------------

/// Every dump has findings, so only its errors are shown.
bool Transformation::verify(const Module& module, Diagnostics& diagnostics) const {
  if (!module.is_portable()) {
    Diagnostics found(0);
    if (verification_.accepts(module, found)) return true;
  }
  return verification_.accepts(module, diagnostics);
}

bool Transformation::transform(Module& module, Diagnostics& diagnostics) {
  PipelineRun how{
      .threads = *settings_.threads,
      .observers = {&record_, &printer_},
      .verify = [this](Module& each, Diagnostics& found) { return verify(each, found); },
      .verifies_each = *settings_.verify_each};
  if (settings_.dump_dir.is_given()) how.observers.push_back(&dumper_);
  if (settings_.explain_no_match.is_given()) how.observers.push_back(&explainer_);
  if (settings_.reproducer.is_given()) how.observers.push_back(&reproducer_);
  if (settings_.explain_conversion) {
    how.explain = [&](const ConversionStep& step) { write_error_text(describe_step(step)); };
  }
  if (settings_.rewrite_limit.is_given() || settings_.trace_rewrites) how.rewrites = &rewrites_;
  return run_validated(module, pipeline_, how, settings_, diagnostics);
}

bool Transformation::transform_modules(std::span<Module* const> modules, Diagnostics& diagnostics) {
  if (diagnostics.has_errors()) {
    verification_.look_further(modules, diagnostics);
    return false;
  }
  const std::string& name = *settings_.module;
  add_names(names_, modules);
  if (settings_.explain_no_match.is_given()) add_values(modules);
  return std::ranges::all_of(modules, [&](Module* module) {
    const bool is_wanted = name.empty() || module->context().text(module->name()) == name;
    return !is_wanted || transform(*module, diagnostics);
  });
}

void Transformation::add_values(std::span<Module* const> modules) {
  names_.mention(ReferenceKind::kValue);
  for (const Module* module : modules) {
    for_each_op(module->body(), [&](const Op& op) {
      for (const Value& result : op.results()) {
        names_.add(ReferenceKind::kValue, name_of(result, module->context()));
      }
    });
  }
}

Transformation::Outcome Transformation::transform_text(const SourceFile& given,
                                                       IRContext& context) {
  constexpr std::size_t kMostCompared = 1000;
  Conversions& conversions = settings_.known.conversions;
  conversions.losses = {};
  Diagnostics diagnostics =
      settings_.verify_diagnostics ? Diagnostics(kMostCompared) : run_.diagnostics();
  const SourceManager& sources = context.sources();
  const SourceFile* file =
      settle_texts(given, conversions.granted, context, conversions.losses, diagnostics);
  if (file == nullptr) return {report(given, sources, diagnostics)};
  const std::optional<SyntaxTree> tree = parse(*file, diagnostics);
  if (!tree) return {report(*file, sources, diagnostics)};
  const std::vector<Module*> modules = resolve(*tree, context, diagnostics);
  Outcome outcome;
  if (transform_modules(modules, diagnostics)) outcome.text = print(modules, *tree);
  outcome.code = write_losses(context);
  outcome.code = worst(outcome.code, report(*file, sources, diagnostics));
  return outcome;
}

bool Transformation::knows_dialects(IRContext& context) {
  Diagnostics diagnostics = run_.diagnostics();
  if (register_dialects(settings_.dialects, context, diagnostics)) return true;
  outcomes_.push_back({run_.report(diagnostics, context.sources())});
  return false;
}

void Transformation::transform_file(const std::string& path) {
  SourceManager whole;
  IRContext first;
  const bool split(settings_.split_input_file);
  const auto file = read_source(path, split ? whole : first.sources());
  if (!file) {
    outcomes_.push_back({run_.report(file.error())});
    return;
  }
  names_ = InputNames(fmt::format("'{}'", (*file)->name()));
  if (!split) {
    if (!knows_dialects(first)) return;
    outcomes_.push_back(transform_text(**file, first));
    return check_names();
  }
  for (const InputPart& part : split_input((*file)->text())) {
    IRContext context;
    if (!knows_dialects(context)) return;
    const SourceFile* text =
        context.sources().add((*file)->name(), std::string(part.text), part.first_line);
    outcomes_.push_back(transform_text(*text, context));
  }
  check_names();
}

void Transformation::check_names() {
  const auto is_refused = [](const Outcome& each) { return !each.text; };
  if (std::ranges::any_of(outcomes_, is_refused)) return;
  const OptionRow* rows[] = {&settings_.module, &settings_.explain_no_match};
  for (const OptionRow* row : rows) {
    if (const auto known = names_.check(*row); !known) {
      outcomes_.push_back({run_.report(known.error())});
    }
  }
}

// -- results --------------------------------------------------------------------------------------

ExitCode Transformation::report(const SourceFile& file, const SourceManager& sources,
                                const Diagnostics& found) const {
  if (!settings_.verify_diagnostics) return run_.report(found, sources);
  return run_.report(check_expectations(file, sources, found), sources);
}

ExitCode Transformation::write_losses(const IRContext& context) const {
  const std::string& path = *settings_.loss_report;
  if (path.empty()) return ExitCode::kSuccess;
  const LossReport& losses = settings_.known.conversions.losses;
  const bool json = path.ends_with(".json");
  const auto written =
      write_file_atomically(path, json ? loss_json(losses, context) : loss_text(losses, context));
  return written ? ExitCode::kSuccess : run_.report(written.error());
}

ExitCode Transformation::write() const {
  const TableForm times = *settings_.timing, statistics = *settings_.statistics;
  if (times != TableForm::kNone) write_error_text(record_.times(times));
  if (statistics != TableForm::kNone) write_error_text(record_.statistics(statistics));
  ExitCode code = ExitCode::kSuccess;
  for (const Outcome& each : outcomes_) code = worst(code, each.code);
  const bool is_complete =
      std::ranges::all_of(outcomes_, [](const Outcome& each) { return each.text.has_value(); });
  if (!is_complete || settings_.verify_diagnostics) return code;
  const ExitCode written = run_.write_output([&](const Run::Sink& sink) {
    bool is_first = true;
    for (const Outcome& each : outcomes_) {
      if (!std::exchange(is_first, false)) sink("// -----\n");
      sink(*each.text);
    }
  });
  return worst(code, written);
}

}  // namespace mir::tools
