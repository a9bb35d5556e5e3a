// Runs a pipeline over modules: selection, linking, verification, splitting and output.
#include "tools/opt/transformation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/names.hpp"
#include "mir/codes/passes.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "mir/upgrade.hpp"
#include "mir/walk.hpp"
#include "module_names.hpp"
#include "passes/extract/split_module.hpp"
#include "passes/run/form_hint.hpp"
#include "standard_error.hpp"
#include "support/expectation.hpp"
#include "support/file_io.hpp"
#include "support/platform/atomic_file.hpp"
#include "text/raise.hpp"
#include "text/read_text.hpp"
#include "tools/opt/c_output.hpp"
#include "tools/opt/cost_report.hpp"
#include "tools/opt/explain_conversion.hpp"
#include "tools/opt/validate_run.hpp"
#include "upgrade/settle_text.hpp"
#include "upgrade/symbolic_proposals.hpp"
#include "verify/lower_version.hpp"
#include "verify/verify_text.hpp"

namespace mir::tools {

Transformation::Transformation(const Run& run, OptSettings& settings, const Pipeline& pipeline)
    : run_(run),
      settings_(settings),
      pipeline_(pipeline),
      verification_(settings.verification, run),
      printer_(settings),
      dumper_(*settings.dump),
      explainer_(*settings.explain_no_match),
      reproducer_(settings) {
  rewrites_.limit = settings.rewrite_limit.if_given();
  if (!settings.trace_rewrites) return;
  rewrites_.trace = [](std::uint64_t number, std::string_view pattern, std::string_view root) {
    write_error_text(fmt::format("rewrite {}: '{}' of {}\n", number, pattern, root));
  };
}

Result<void> Transformation::prepare() const {
  return settings_.dump.is_given() ? dumper_.prepare() : Result<void>();
}

namespace {

void refuse_dump(const Module& module, const OptionRow& row, Diagnostics& diagnostics) {
  diagnostics
      .error(diag::kWrongForm, module.top()->span(),
             fmt::format("--{} takes portable modules, found a dump", row.name()))
      .hint = kUpgradeFirst;
}

}  // namespace

// -- running --------------------------------------------------------------------------------------

/// Every dump has findings, so only its errors are shown.
bool Transformation::verify(const Module& module, Diagnostics& diagnostics) const {
  if (!module.is_portable()) {
    Diagnostics found(0);
    if (verification_.accepts(module, found)) return true;
  }
  return verification_.accepts(module, diagnostics);
}

bool Transformation::transform(Module& module, TypedMap& reports, Diagnostics& diagnostics) {
  PipelineRun how{.threads = *settings_.threads,
                  .facts = &facts_,
                  .reports = &reports,
                  .observers = {&record_, &printer_},
                  .verify =
                      [this](Module& each, Diagnostics& found) {
                        if (!verify(each, found)) return false;
                        return *settings_.verify_each != VerifyEach::kText ||
                               verify_text(each, found);
                      },
                  .verifies_each = *settings_.verify_each != VerifyEach::kNo};
  if (settings_.dump.is_given()) how.observers.push_back(&dumper_);
  if (settings_.explain_no_match.is_given()) how.observers.push_back(&explainer_);
  if (settings_.reproducer.is_given()) how.observers.push_back(&reproducer_);
  if (settings_.explain_conversion) {
    how.explain = [&](const ConversionStep& step) { write_error_text(describe_step(step)); };
  }
  if (settings_.rewrite_limit.is_given() || settings_.trace_rewrites) how.rewrites = &rewrites_;
  return run_validated(module, pipeline_, how, settings_, diagnostics);
}

bool Transformation::is_wanted(const Module& module) const {
  return !settings_.module.is_given() || wanted_.contains(&module);
}

bool Transformation::transform_modules(std::span<Module* const> modules, std::string_view file,
                                       TypedMap& reports, Diagnostics& diagnostics) {
  if (diagnostics.has_errors()) {
    verification_.look_further(modules, diagnostics);
    return false;
  }
  add_names(names_, modules);
  const auto single = check_unambiguous(modules, settings_.module, file);
  if (!single) {
    diagnostics.error(single.error().code, {}, single.error().message);
    return false;
  }
  for (const Module* module : select_modules(modules, *settings_.module)) wanted_.insert(module);
  if (settings_.explain_no_match.is_given()) add_values(modules);
  return std::ranges::all_of(modules, [&](Module* module) {
    return !is_wanted(*module) || transform(*module, reports, diagnostics);
  });
}

void Transformation::add_values(std::span<Module* const> modules) {
  names_.mention(ReferenceKind::kValue);
  for (const Module* module : modules) {
    for_each_op(*module, [&](const Op& op) {
      for (const Value& result : op.results()) {
        names_.add(ReferenceKind::kValue, name_of(result, module->context()));
      }
    });
  }
}

/// The modules of a text as one. Null after reporting why they cannot be linked.
Module* Transformation::link(std::span<Module* const> modules, Diagnostics& diagnostics) {
  if (diagnostics.has_errors()) {
    verification_.look_further(modules, diagnostics);
    return nullptr;
  }
  made_.push_back(mir::link_modules(modules, *settings_.link_modules, diagnostics));
  return made_.back().get();
}

/// Replaces each module by its parts. Returns false after reporting.
bool Transformation::split(std::vector<Module*>& modules, Diagnostics& diagnostics) {
  for (const Module* module : modules) {
    for (const Op* graph : graphs_to_split(*module))
      names_.add(ReferenceKind::kGraph, module->context().text(graph->symbol()));
  }
  if (const auto known = names_.check(settings_.split_module); !known) {
    diagnostics.error(known.error().code, {}, known.error().message);
    return false;
  }
  std::vector<Module*> parts;
  bool is_good = true;
  for (const Module* module : modules) {
    if (!is_wanted(*module)) continue;
    if (!module->is_portable()) {
      refuse_dump(*module, settings_.split_module, diagnostics);
      is_good = false;
      continue;
    }
    auto made = split_module(*module, *settings_.split_module, diagnostics);
    if (!made) {
      is_good = false;
      continue;
    }
    for (auto& part : *made) {
      is_good = verify(*part, diagnostics) && is_good;
      parts.push_back(part.get());
      made_.push_back(std::move(part));
    }
  }
  modules = std::move(parts);
  return is_good;
}

std::optional<std::string> Transformation::symbolic_dims_of(std::span<Module* const> modules,
                                                            Diagnostics& diagnostics) const {
  std::string text;
  for (const Module* module : modules) {
    if (!is_wanted(*module)) continue;
    if (module->is_portable()) {
      diagnostics.error(diag::kPipeline, module->top()->span(),
                        "--emit=symbolic-dims takes dumps, without passes that upgrade them");
      return std::nullopt;
    }
    const auto proposals =
        propose_symbolic_dims(*module, settings_.conversion.granted, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    text += fmt::format("@{}: {} extents of inputs\n", module->context().text(module->name()),
                        proposals.size());
    text += render(proposals);
  }
  return text;
}

bool Transformation::take_target_version(std::span<Module* const> modules,
                                         Diagnostics& diagnostics) const {
  const auto version = settings_.target.version.if_given();
  if (!version) return true;
  bool is_good = true;
  for (Module* module : modules) {
    if (made_.empty() && !is_wanted(*module)) continue;
    const bool is_lower = module->version() > *version;
    is_good = lower_version(*module, *version, diagnostics) && is_good;
    if (is_good && is_lower) is_good = verify(*module, diagnostics);
  }
  return is_good;
}

std::optional<std::string> Transformation::text_of(Reading& reading, Diagnostics& diagnostics) {
  std::vector<Module*>& modules = reading.modules;
  if (settings_.split_module.is_given() && !split(modules, diagnostics)) return std::nullopt;
  if (*settings_.emit == OptOutput::kSymbolicDims) return symbolic_dims_of(modules, diagnostics);
  if (*settings_.emit == OptOutput::kModule) {
    if (!take_target_version(modules, diagnostics)) return std::nullopt;
    if (prints_reading()) return std::string();
    if (made_.empty()) {
      LayoutPrinter printer(reading.source->file().size());
      raise(modules, printer, *reading.source);
      return printer.finish();
    }
    std::string text;
    for (const Module* module : modules) text += print(*module);
    return text;
  }
  std::erase_if(modules, [&](const Module* each) { return made_.empty() && !is_wanted(*each); });
  for (const Module* module : modules) {
    if (module->is_portable()) continue;
    refuse_dump(*module, settings_.emit, diagnostics);
    return std::nullopt;
  }
  if (is_c(*settings_.emit)) return c_text(modules, *settings_.emit, diagnostics);
  return cost_report(modules, *settings_.format,
                     {.flop_per_second = settings_.peak_flops.if_given().value_or(0),
                      .bytes_per_second = settings_.bandwidth.if_given().value_or(0)});
}

bool Transformation::prints_reading() const {
  return is_last_ && made_.empty() && *settings_.emit == OptOutput::kModule;
}

Transformation::Outcome Transformation::transform_text(const SourceFile& given,
                                                       std::unique_ptr<Reading> reading) {
  constexpr std::size_t kMostCompared = 1000;
  IRContext& context = reading->context;
  TypedMap reports;
  LossReport& losses = reports.get<LossReport>();
  Diagnostics diagnostics =
      settings_.verify_diagnostics ? Diagnostics(kMostCompared) : run_.diagnostics();
  const SourceManager& sources = context.sources();
  remark_sidecar(settings_.found_sidecar, given.name(), diagnostics);
  const SourceFile* file =
      settle_texts(given, settings_.conversion.granted, context, losses, diagnostics);
  if (file == nullptr) return {report(given, sources, diagnostics)};
  auto read = read_whole_modules(reading->source.emplace(*file), context, diagnostics);
  if (!read) return {report(*file, sources, diagnostics)};
  made_.clear();
  std::vector<Module*>& modules = reading->modules;
  modules = *std::move(read);
  if (settings_.link_modules.is_given() && modules.size() > 1) {
    modules = {link(modules, diagnostics)};
  }
  Outcome outcome;
  if (modules != std::vector<Module*>{nullptr} &&
      transform_modules(modules, given.name(), reports, diagnostics)) {
    outcome.text = text_of(*reading, diagnostics);
  }
  if (outcome.text && prints_reading()) outcome.printed = std::move(reading);
  made_.clear();
  outcome.code = write_losses(losses, context);
  outcome.code = worst(outcome.code, report(*file, sources, diagnostics));
  return outcome;
}

bool Transformation::knows_dialects(IRContext& context) {
  Diagnostics diagnostics = run_.diagnostics();
  if (register_dialects(settings_.dialects, context, diagnostics)) return true;
  outcomes_.push_back({run_.report(diagnostics, context.sources())});
  return false;
}

Result<void> Transformation::take_facts(const std::string& path) {
  settings_.found_sidecar =
      settings_.reads_facts ? find_sidecar(settings_.facts, path) : std::string();
  auto granted = read_grants(settings_.facts, settings_.found_sidecar);
  if (!granted) return std::move(granted).error();
  settings_.conversion.granted = *std::move(granted);
  facts_.set(settings_.conversion);
  return {};
}

void Transformation::transform_file(const std::string& path, bool is_last) {
  if (const auto taken = take_facts(path); !taken) {
    outcomes_.push_back({run_.report(taken.error())});
    return;
  }
  SourceManager whole;
  auto first = std::make_unique<Reading>();
  const bool split(settings_.split_input_file);
  is_last_ = is_last && !split;
  const auto file = read_source(path, split ? whole : first->context.sources());
  if (!file) {
    outcomes_.push_back({run_.report(file.error())});
    return;
  }
  names_ = InputNames(fmt::format("'{}'", (*file)->name()));
  if (!split) {
    if (!knows_dialects(first->context)) return;
    outcomes_.push_back(transform_text(**file, std::move(first)));
    return check_names();
  }
  for (const InputPart& part : split_input((*file)->text())) {
    auto reading = std::make_unique<Reading>();
    if (!knows_dialects(reading->context)) return;
    const SourceFile* text =
        reading->context.sources().add((*file)->name(), std::string(part.text), part.first_line);
    outcomes_.push_back(transform_text(*text, std::move(reading)));
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

ExitCode Transformation::write_losses(const LossReport& losses, const IRContext& context) const {
  Result<void> written;
  if (const std::string& path = *settings_.loss_report; !path.empty()) {
    const bool json = path.ends_with(".json");
    written =
        write_file_atomically(path, json ? loss_json(losses, context) : loss_text(losses, context));
  }
  if (const std::string& path = *settings_.write_sidecar; written && !path.empty()) {
    written = write_file_atomically(path, sidecar_text(settings_.conversion.granted, losses));
  }
  return written ? ExitCode::kSuccess : run_.report(written.error());
}

ExitCode Transformation::write() const {
  if (settings_.timing) write_error_text(record_.times(*settings_.format));
  if (settings_.statistics) write_error_text(record_.statistics(*settings_.format));
  ExitCode code = ExitCode::kSuccess;
  for (const Outcome& each : outcomes_) code = worst(code, each.code);
  const bool is_complete =
      std::ranges::all_of(outcomes_, [](const Outcome& each) { return each.text.has_value(); });
  if (!is_complete || settings_.verify_diagnostics) return code;
  const ExitCode written = run_.write_output([&](const Run::Sink& sink) {
    if (*settings_.emit == OptOutput::kCost) sink(cost_head(*settings_.format));
    const bool is_text = *settings_.emit == OptOutput::kModule;
    bool is_first = true;
    for (const Outcome& each : outcomes_) {
      if (!std::exchange(is_first, false) && is_text) sink("// -----\n");
      if (each.printed == nullptr) {
        sink(*each.text);
        continue;
      }
      LayoutPrinter printer(sink);
      raise(each.printed->modules, printer, *each.printed->source);
      printer.finish();
    }
  });
  return worst(code, written);
}

}  // namespace mir::tools
