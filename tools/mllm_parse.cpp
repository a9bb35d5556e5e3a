// mllm-parse: reads MLLM IR text, checks it, and shows it in another form.
#include <fmt/format.h>

#include <algorithm>

#include "ir/ports.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/usage.hpp"
#include "mir/control_flow.hpp"
#include "mir/dialects.hpp"
#include "mir/format.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/walk.hpp"
#include "module_names.hpp"
#include "program_input.hpp"
#include "standard_error.hpp"
#include "support/diagnostic_catalogue.hpp"
#include "support/expectation.hpp"
#include "syntax/damage.hpp"
#include "text/emit/origin.hpp"
#include "tool.hpp"
#include "tools/parse/known_ops.hpp"
#include "tools/parse/settings.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kParseTool = {
    .name = "mllm-parse",
    .summary =
        "Parses and verifies MLLM IR text; writes it as JSON, statistics, pictures of graphs and "
        "more.",
    .operands = "[file...]",
    .examples = {{{"mllm-parse model.mir", "report all errors; print nothing if there are none"},
                  {"mllm-parse --emit=dot model.mir | dot -Tsvg -o model.svg", "draw the graphs"}}},
    .files = "mir json",
    .shows_findings = true,
};

ExitCode check_round_trip(const SyntaxTree& tree) {
  const std::string rebuilt = exact_text(tree);
  const std::string_view source = tree.file().text();
  if (rebuilt == source) return ExitCode::kSuccess;
  const auto at = static_cast<std::size_t>(
      std::mismatch(rebuilt.begin(), rebuilt.end(), source.begin(), source.end()).first -
      rebuilt.begin());
  write_error_text(
      fmt::format("{}: the tree does not give the text back: first difference at byte {}\n",
                  tree.file().name(), at));
  return ExitCode::kInternal;
}

void check_form(bool wants_portable, const Module& module, Diagnostics& diagnostics) {
  if (module.is_portable() == wants_portable) return;
  const auto word = [](bool portable) {
    return std::ranges::find(kIsPortable, portable, &Choice<bool>::value)->word;
  };
  diagnostics.error(diag::kWrongForm, module.top()->span(),
                    fmt::format("module is in {} form, expected {} form",
                                word(module.is_portable()), word(wants_portable)));
}

void add_graphs(InputNames& names, const Module& module) {
  names.mention(ReferenceKind::kGraph);
  for_each_op(module, [&](const Op& op) {
    if (is_graph(op)) names.add(ReferenceKind::kGraph, module.context().text(op.symbol()));
  });
}

std::string name_of(const Value& value, const IRContext& context) {
  return fmt::format("%{}", name_text(value.name(), context));
}

void add_values(InputNames& names, const Module& module) {
  names.mention(ReferenceKind::kResult);
  for_each_value(module, [&](const Value& value, const Op&) {
    names.add(ReferenceKind::kResult, name_of(value, module.context()));
  });
}

/// Describes each value of the name, in the order of the text.
std::string origins_text(std::span<Module* const> modules, std::string_view name) {
  std::string text;
  for (const Module* module : modules) {
    for_each_value(*module, [&](const Value& value, const Op&) {
      if (name_of(value, module->context()) != name) return;
      text += (text.empty() ? "" : "\n") + describe_origin(value);
    });
  }
  return text;
}

/// One text with the requested output.
struct Job {
  const Run& run;
  const ParseSettings& settings;
  Verification verification;
  TextView view;      ///< what --emit and --format select
  InputNames* names;  ///< of the file: takes those of the text
};

/// Shows the diagnostics, or their differences from the text's expectations.
ExitCode conclude(const Job& job, const SourceFile& file, const SourceManager& sources,
                  const Diagnostics& found) {
  if (!job.settings.verify_diagnostics) return job.run.report(found, sources);
  return job.run.report(check_expectations(file, sources, found), sources);
}

/// Verifies modules and shows them in the form asked for. One that is rejected can still be looked
/// at, unless parts of its text cannot be read.
ExitCode show_modules(const Job& job, std::span<Module* const> modules, bool is_whole,
                      Diagnostics& diagnostics) {
  if (diagnostics.has_errors()) {
    job.verification.look_further(modules, diagnostics);
  } else {
    for (const Module* module : modules) job.verification.accepts(*module, diagnostics);
  }
  if (const auto wanted = job.settings.form.if_given())
    for (const Module* module : modules) check_form(*wanted, *module, diagnostics);
  if (!is_whole) return ExitCode::kSuccess;
  if (job.settings.where.is_given()) {
    return job.run.write_output(origins_text(modules, *job.settings.where));
  }
  const TextView& view = job.view;
  if (view.write != nullptr) return view.write(job.run, modules);
  if (view.of_picture != nullptr) {
    const PictureOptions options{.graph = *job.settings.graph,
                                 .depth = job.settings.depth.if_given(),
                                 .has_types = static_cast<bool>(job.settings.edge_types)};
    return job.run.write_output(view.of_picture(picture_of(modules, options)));
  }
  if (view.of_modules == nullptr) return ExitCode::kSuccess;
  return job.run.write_output(view.of_modules(modules));
}

/// Shows the modules of a text. `is_whole`: the text has no errors of syntax.
ExitCode show_text(const Job& job, const SourceFile& file, const IRContext& context,
                   std::vector<Module*> modules, bool is_whole, Diagnostics& diagnostics) {
  const ParseSettings& settings = job.settings;
  if (settings.module.is_given()) {
    add_names(*job.names, modules);
    const auto single = check_unambiguous(modules, settings.module, file.name());
    if (!single) diagnostics.error(single.error().code, {}, single.error().message);
    modules = select_modules(modules, *settings.module);
    if (!single || modules.empty()) return conclude(job, file, context.sources(), diagnostics);
  }
  if (settings.graph.is_given()) {
    for (const Module* module : modules) add_graphs(*job.names, *module);
  }
  if (settings.where.is_given()) {
    for (const Module* module : modules) add_values(*job.names, *module);
  }
  for (const OptionRow* option : {static_cast<const OptionRow*>(&settings.graph),
                                  static_cast<const OptionRow*>(&settings.where)}) {
    const auto known = job.names->check(*option);
    if (known || !is_whole) continue;
    diagnostics.error(known.error().code, {}, known.error().message);
    return conclude(job, file, context.sources(), diagnostics);
  }
  const ExitCode code = show_modules(job, modules, is_whole, diagnostics);
  return worst(code, conclude(job, file, context.sources(), diagnostics));
}

Diagnostics diagnostics_of(const Job& job) {
  constexpr std::size_t kMostCompared = 1000;
  return job.settings.verify_diagnostics ? Diagnostics(kMostCompared) : job.run.diagnostics();
}

ExitCode parse_tree(const Job& job, const SourceFile& file, IRContext& context) {
  Diagnostics diagnostics = diagnostics_of(job);
  const SyntaxTree tree = parse_damaged(file, diagnostics);
  const bool is_whole = !diagnostics.has_errors();
  ExitCode code = job.settings.roundtrip && is_whole ? check_round_trip(tree) : ExitCode::kSuccess;
  if (job.view.of_tree != nullptr) {
    if (is_whole) code = worst(code, job.run.write_output(job.view.of_tree(tree)));
    return worst(code, conclude(job, file, context.sources(), diagnostics));
  }
  std::vector<Module*> modules = resolve(tree, context, diagnostics);
  return worst(code, show_text(job, file, context, std::move(modules), is_whole, diagnostics));
}

ExitCode parse_text(const Job& job, const SourceFile& file, IRContext& context) {
  if (job.settings.roundtrip || job.view.of_tree != nullptr) return parse_tree(job, file, context);
  // A text without errors needs no tree. Otherwise errors of syntax anywhere decide which errors of
  // its ops are reported, so the text is read again as a whole.
  Diagnostics found(1);
  std::vector<Module*> modules = read_modules(file, context, found);
  if (!found.has_errors()) {
    Diagnostics diagnostics = diagnostics_of(job);
    diagnostics.append(std::move(found));
    return show_text(job, file, context, std::move(modules), true, diagnostics);
  }
  for (Module* module : modules) context.release(*module);
  IRContext again;
  Diagnostics diagnostics = job.run.diagnostics();
  if (!register_dialects(job.settings.dialects, again, diagnostics))
    return job.run.report(diagnostics, again.sources());
  const SourceFile* text =
      again.sources().add(file.name(), std::string(file.text()), file.first_line());
  if (text == nullptr) return job.run.report(SourceManager::full(file.name()));
  return parse_tree(job, *text, again);
}

/// Refuses a module's name that the file does not have, unless errors may hide it.
ExitCode check_names(const Job& job, ExitCode code) {
  if (code != ExitCode::kSuccess) return code;
  const auto known = job.names->check(job.settings.module);
  return known ? code : job.run.report(known.error());
}

ExitCode parse_file(Job job, const std::string& path) {
  SourceManager whole;
  IRContext first;
  const bool split(job.settings.split_input_file);
  SourceManager& sources = split ? whole : first.sources();
  const auto source = read_source(path, sources);
  if (!source) return job.run.report(source.error());
  Diagnostics diagnostics = job.run.diagnostics();
  const SourceFile* file = program_as_text(**source, sources, diagnostics);
  if (file == nullptr) return job.run.report(diagnostics, sources);
  InputNames names(fmt::format("'{}'", file->name()));
  job.names = &names;
  if (!split) {
    if (!register_dialects(job.settings.dialects, first, diagnostics)) {
      return job.run.report(diagnostics, first.sources());
    }
    return check_names(job, parse_text(job, *file, first));
  }
  ExitCode code = ExitCode::kSuccess;
  for (const InputPart& part : split_input(file->text())) {
    IRContext context;
    if (!register_dialects(job.settings.dialects, context, diagnostics)) {
      return job.run.report(diagnostics, context.sources());
    }
    const SourceFile* text =
        context.sources().add(file->name(), std::string(part.text), part.first_line);
    code = worst(code, parse_text(job, *text, context));
  }
  return check_names(job, code);
}

/// A list of what the dialects declare.
ExitCode write_list(const Run& run, const ParseSettings& settings,
                    std::string (*list)(const IRContext& context)) {
  IRContext context;
  Diagnostics diagnostics = run.diagnostics();
  if (!register_dialects(settings.dialects, context, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  return run.write_output(list(context));
}

ExitCode write_ops(const Run& run, const ParseSettings& settings) {
  const std::string& part = *settings.list_ops;
  if (!run.operands().empty()) {
    return run.usage_error(fmt::format("--list-ops reads no file; --list-ops={} describes ops",
                                       run.operands().front()));
  }
  if (part.empty()) return write_list(run, settings, ops_text);
  IRContext context;
  Diagnostics diagnostics = run.diagnostics();
  if (!register_dialects(settings.dialects, context, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  const std::string text = ops_description(context, part);
  return text.empty() ? run.usage_error(fmt::format("no op has '{}' in its name", part))
                      : run.write_output(text);
}

ExitCode write_dialect(const Run& run, const ParseSettings& settings) {
  IRContext context;
  Diagnostics diagnostics = run.diagnostics();
  if (!register_dialects(settings.dialects, context, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  const std::string& name = *settings.print_dialect;
  if (const Dialect* found = context.find_dialect(name)) {
    return run.write_output(dialect_text(*found));
  }
  std::vector<std::string_view> names;
  for (const Dialect* each : context.dialects()) names.push_back(each->name);
  return run.report(Error{
      diag::kUsage, fmt::format("no dialect is called '{}'{}", name, did_you_mean(name, names))});
}

ExitCode run_parse(const Run& run, const ParseSettings& settings) {
  if (settings.print_dialect.is_given()) return write_dialect(run, settings);
  if (settings.list_ops.is_given()) return write_ops(run, settings);
  if (settings.list_ops_markdown) return write_list(run, settings, ops_markdown);
  if (settings.list_types) return write_list(run, settings, list_types);
  if (settings.list_keywords) return write_list(run, settings, list_keywords);
  if (settings.list_codes) return run.write_output(list_diagnostics());
  if (settings.list_codes_markdown) return run.write_output(diagnostics_page());
  const auto view = settings.emit->in(*settings.format);
  if (!view) {
    return run.usage_error(fmt::format("--emit={} has no format '{}'",
                                       settings.emit.given().front(),
                                       settings.format.given().front()));
  }
  const Job job{run, settings, Verification(settings.verification, run), *view, nullptr};
  ExitCode code = ExitCode::kSuccess;
  for (const std::string& path : run.files()) code = worst(code, parse_file(job, path));
  return code;
}

}  // namespace

const Tool mir::tools::kMllmParse = tool_of<kParseTool, run_parse>();
