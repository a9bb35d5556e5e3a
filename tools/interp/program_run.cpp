#include "program_run.hpp"

#include <fmt/format.h>

#include "interp/summary.hpp"
#include "ir/program_fields.hpp"
#include "mir/machine.hpp"
#include "mir/session.hpp"
#include "plan/schedule.hpp"
#include "report_text.hpp"

namespace mir::tools {

namespace {

std::string_view text_of(const Op& op, std::string_view key) {
  const Attr* value = op.attribute(key);
  return value != nullptr && value->kind() == AttrKind::kString ? value->text() : "";
}

/// `pc 9 depth 1: prog.kernel_launch Linear 'foo_net.linear_0' (%8) -> (%9)`
std::string trace_line(const MachineStep& step) {
  const Op& op = *step.instruction;
  const IRContext& context = op.module().context();
  std::string line = fmt::format("pc {} depth {}: {}", step.pc, step.depth, op.name());
  const auto label = op.module().dump_facts().label(op);
  if (label) line += fmt::format(" {}", context.text(*label));
  for (const std::string_view key : {program_field::kSymbol, program_field::kOpType}) {
    const auto text = text_of(op, key);
    if (!text.empty()) line += fmt::format(" {}", text);
  }
  if (const auto name = text_of(op, program_field::kSymbolName); !name.empty())
    line += fmt::format(" '{}'", name);
  if (const Attr* slot = op.attribute(program_field::kProgramUuid)) {
    const Attr *type = op.attribute(program_field::kType),
               *position = op.attribute(program_field::kInputPos);
    line +=
        fmt::format(" {} {} %{}", type != nullptr && type->spelling() == "0" ? "input" : "output",
                    position == nullptr ? "?" : position->spelling(), slot->spelling());
  }
  if (op.operand_count() + op.result_count() == 0) return line;
  std::string operands, results;
  for (const Use& use : op.operand_uses()) {
    operands +=
        fmt::format("{}%{}", operands.empty() ? "" : ", ", value_name(*use.value(), context));
  }
  for (const Value& result : op.results()) {
    results += fmt::format("{}%{}", results.empty() ? "" : ", ", value_name(result, context));
  }
  return line + fmt::format(" ({}) -> ({})", operands, results);
}

class ProgramRun {
 public:
  ProgramRun(const Module& module, const Invocation& invocation, const InterpSettings& settings,
             bool shows_losses, Diagnostics& diagnostics)
      : module_(module),
        invocation_(invocation),
        settings_(settings),
        shows_losses_(shows_losses),
        diagnostics_(diagnostics) {}

  Result<void> run() {
    const RunSettings& what = invocation_.settings;
    for (const std::string& spec : *what.weights) {
      auto added = weights_.add(spec, invocation_.files(what.weights));
      if (!added) return added;
    }
    MachineOptions options{.weights = &weights_, .assumed = invocation_.assumed};
    if (settings_.weight_memory.is_given()) options.weight_memory = *settings_.weight_memory;
    auto machine = ProgramMachine::load(module_, options, diagnostics_);
    if (!machine) return {};
    const auto files = parse_output_files(machine->outputs(), *settings_.output);
    if (!files) return files.error();
    const auto expected =
        parse_expectations(machine->outputs(), *what.expect, invocation_.files(what.expect));
    if (!expected) return expected.error();
    const auto inputs =
        load_inputs(machine->inputs(), machine->index_bounds(), module_.context(), *what.input,
                    invocation_.files(what.input), invocation_.input_defaults());
    if (!inputs) return inputs.error();
    auto outputs = run_all(*machine, *inputs);
    if (!outputs) return {};
    if (auto shown = show(machine->outputs(), *outputs); !shown) return shown;
    if (auto written = write_outputs(machine->outputs(), *files, *outputs); !written)
      return written;
    return compare(machine->outputs(), *expected, *outputs);
  }

 private:
  std::optional<std::vector<Tensor>> run_all(ProgramMachine& machine,
                                             std::span<const Tensor> inputs) {
    const std::size_t runs = invocation_.settings.run_count();
    MachineRun options;
    options.step_limit = *settings_.step_limit;
    if (*settings_.trace) {
      options.trace = [](const MachineStep& step) { print_report("{}\n", trace_line(step)); };
    }
    std::optional<std::vector<Tensor>> outputs;
    for (std::size_t number = 0; number < runs; ++number) {
      options.is_last = number + 1 == runs;
      outputs = machine.run(inputs, diagnostics_, options);
      if (!outputs) break;
    }
    if (!machine.losses().entries.empty() && (!outputs || shows_losses_)) {
      diagnostics_.remark(
          DiagCode::kLostMeaning, {},
          fmt::format("kernels that were launched: {}", machine.losses().summary()));
    }
    return outputs;
  }

  Result<void> show(std::span<const Port> ports, std::span<const Tensor> outputs) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (*settings_.print_outputs) {
        print_report("%{}: {}\n", ports[i].name, render(summarise(outputs[i])));
      }
      if (*settings_.top == 0) continue;
      const auto row = top_elements(outputs[i], *settings_.top);
      if (!row) return row.error();
      for (const RankedElement& each : *row) print_report("  {}: {:.6g}\n", each.index, each.value);
    }
    return {};
  }

  Result<void> compare(std::span<const Port> ports, std::span<const Expectation> expectations,
                       std::span<const Tensor> outputs) {
    for (const Expectation& each : expectations) {
      const Tensor& output = outputs[each.port];
      const auto expected = load_expected(ports, each, output);
      if (!expected) return expected.error();
      const auto found =
          compare_tensors(*expected, output, invocation_.tolerances.of(output.dtype()));
      if (!found) return found.error();
      print_report("%{}: {}\n", ports[each.port].name, render(*found));
      if (found->passed()) continue;
      diagnostics_.error(DiagCode::kNotAsExpected, {},
                         fmt::format("output '%{}' is not as expected", ports[each.port].name));
    }
    return {};
  }

  const Module& module_;
  const Invocation& invocation_;
  const InterpSettings& settings_;
  bool shows_losses_;
  Diagnostics& diagnostics_;
  WeightSet weights_;
};

}  // namespace

ExitCode run_program(const Run& run, const Module& module, const Invocation& invocation,
                     const InterpSettings& settings, Diagnostics& diagnostics) {
  ExitCode code = ExitCode::kSuccess;
  const bool shows_losses = Verification(settings.verification, run).shows_losses();
  const auto done = ProgramRun(module, invocation, settings, shows_losses, diagnostics).run();
  if (!done) {
    code = run.report(done.error());
  }
  return worst(run.report(diagnostics, module.context().sources()), code);
}

}  // namespace mir::tools
