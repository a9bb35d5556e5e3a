// Adds operands that launches lost and that the user supplies.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mir/codes/recovery.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "program/launch_places.hpp"
#include "support/suggest.hpp"
#include "upgrade/granted.hpp"
#include "upgrade/program_functions.hpp"

// Operands that launches lost and that the user grants. A launch reads storage, which every body
// of a program sees, so it takes its operands before the program is lifted or runs.

namespace mir {

namespace {

class Operands {
 public:
  Operands(Module& module, const ProgramCode& code, LossReport& report, Diagnostics& diagnostics)
      : module_(module),
        rewriter_(module),
        report_(report),
        diagnostics_(diagnostics),
        texts_(module.context()),
        places_(launch_places(code)) {}

  /// Gives the operand to each launch that runs, is meant and lacks it.
  void take(const std::unordered_set<const Op*>& running, const Grant& grant) {
    const auto wanted = operand_number(grant);
    bool is_used = false;
    bool is_bad = false;  // reported for the first op that takes it
    for_each_op(module_, [&](Op& op) {
      const bool lacks = running.contains(&op) && wanted == op.operand_count();
      if (is_bad || !lacks || !is_meant(op, grant)) return;
      is_used = true;
      is_bad = !append(op, grant);
    });
    if (!is_used) refuse_unused(module_, grant, report_, diagnostics_);
  }

 private:
  bool is_meant(const Op& op, const Grant& grant) const {
    const prog::Launch launch = prog::read_launch(op);
    const auto place = places_.find(&op);
    return grant.op == launch.spec.type_name() ||
           (!launch.name.empty() && grant.op == launch.name) ||
           (place != places_.end() && grant.op == place->second);
  }

  bool append(Op& launch, const Grant& grant) {
    const Op* sample = texts_.read(fmt::format("a.b ({}) -> ()", grant.text), grant, diagnostics_);
    if (sample == nullptr || sample->operand_count() != 1) return false;
    const Value& mention = *sample->operand(0);
    std::vector<Value*> operands;
    for (const Use& use : launch.operand_uses()) operands.push_back(use.value());
    operands.push_back(mentioned(launch, mention));
    rewriter_.set_operands(launch, operands);
    report_.entries.push_back({LossEntry::Source::kAssumed, launch.location(), describe(launch),
                               operand_fact(grant), grant.text});
    return true;
  }

  /// A value in the storage that the mention names; a new one where the code has none.
  Value* mentioned(const Op& launch, const Value& mention) {
    for (Op* each = launch.previous(); each != nullptr; each = each->previous()) {
      for (Value& result : each->results()) {
        if (result.name() == mention.name()) return &result;
      }
    }
    Region& region = *launch.parent_region();
    for (Value* free : region.free_values()) {
      if (free->name() == mention.name()) return free;
    }
    return rewriter_.create_free_value(region, mention.type(), mention.name());
  }

  Module& module_;
  Rewriter rewriter_;
  LossReport& report_;
  Diagnostics& diagnostics_;
  GrantedTexts texts_;
  std::unordered_map<const Op*, std::string> places_;
};

std::unordered_set<const Op*> running_launches(const ProgramFunctions& program) {
  std::unordered_set<const Op*> launches;
  for (const std::size_t index : program.callees_first) {
    for (const prog::Instruction& each : program.functions[index].instructions) {
      if (each.is<prog::Launch>()) launches.insert(each.op);
    }
  }
  return launches;
}

}  // namespace

std::optional<std::size_t> operand_number(const Grant& grant) {
  std::size_t number = 0;
  const char* const end = grant.key.data() + grant.key.size();
  const auto [at, error] = std::from_chars(grant.key.data(), end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

std::string operand_fact(const Grant& grant) {
  return fmt::format("operand {}", grant.key);
}

namespace {

/// The fact as options spell it.
std::string nearest_graph(const Module& module, std::string_view name) {
  NearestName nearest(name);
  nearest.offer("main");
  for_each_op(module, [&](const Op& op) {
    if (isa<SubGraphOp>(&op)) nearest.offer(module.context().text(op.symbol()));
  });
  return std::string(nearest.best());
}

/// The attribute of ops of that type or name that was probably meant; empty: none.
std::string nearest_attribute(const Module& module, const Grant& grant) {
  NearestName nearest(grant.key);
  for_each_op(module, [&](const Op& op) {
    if (op.row() == nullptr) return;
    const bool is_meant = op.row()->type_name == grant.op ||
                          (op.has_path() && module.context().text(op.path()) == grant.op);
    if (!is_meant) return;
    for (const AttrRow& each : op.row()->attributes) nearest.offer(each.name);
  });
  return std::string(nearest.best());
}

/// The type or name of an op that was probably meant; empty: none.
std::string nearest_op(const Module& module, std::string_view name) {
  NearestName nearest(name);
  for_each_op(module, [&](const Op& op) {
    if (op.row() != nullptr && !op.row()->type_name.empty()) nearest.offer(op.row()->type_name);
    if (op.has_path()) nearest.offer(module.context().text(op.path()));
    if (op.is(OpId::kProgKernelLaunch)) {
      const prog::Launch launch = prog::read_launch(op);
      nearest.offer(launch.spec.type_name());
      nearest.offer(launch.name);
    }
  });
  // The name of an op is that of its parameters without their last part.
  for_each_value(module, [&](const Value& value, const Op&) {
    if (!value.has_symbol()) return;
    const std::string_view parameter = module.context().text(value.symbol());
    nearest.offer(parameter.substr(0, std::min(parameter.rfind('.'), parameter.size())));
  });
  return std::string(nearest.best());
}

}  // namespace

std::string spelling_of(const Grant& grant) {
  switch (grant.kind) {
    case Grant::Kind::kOperand:
      return fmt::format("operand {} of {}", grant.key, grant.op);
    case Grant::Kind::kConstant:
      return fmt::format("constant %{}", grant.op);
    case Grant::Kind::kType:
      return fmt::format("%{}", grant.op);
    case Grant::Kind::kNote:
      return fmt::format("%{}.{}", grant.op, grant.key);
    default:
      return fmt::format("{}.{}", grant.op, grant.key);
  }
}

void refuse_unused(const Module& module, const Grant& grant, LossReport& report,
                   Diagnostics& diagnostics) {
  const std::string fact = spelling_of(grant);
  report.entries.push_back({LossEntry::Source::kRefused, module.top()->location(),
                            describe(*module.top()), fact, "no operation lost it"});
  Diagnostic& error =
      diagnostics.error(diag::kGrantUnused, module.top()->span(),
                        fmt::format("{}: no operation lost '{}'", grant.option, fact));
  if (!may_suggest(diagnostics, diag::kGrantUnused)) return;
  if (grant.kind == Grant::Kind::kReturn) return suggest(error, nearest_graph(module, grant.op));
  const bool names_op = grant.kind == Grant::Kind::kAttribute ||
                        grant.kind == Grant::Kind::kOperand || grant.kind == Grant::Kind::kName;
  if (!names_op) return;
  // Of an op that exists, the attribute is wrong.
  const std::string attribute = nearest_attribute(module, grant);
  suggest(error, attribute.empty() ? nearest_op(module, grant.op) : attribute);
}

void take_operands(Module& module, const UpgradeOptions& options, LossReport& report,
                   Diagnostics& diagnostics) {
  constexpr auto is_operand = [](const Grant& each) { return each.kind == Grant::Kind::kOperand; };
  if (std::ranges::none_of(options.grants, is_operand)) return;
  const ProgramCode code(module);
  Diagnostics unheard;  // whoever lifts or runs the program reports what is wrong with it
  LossReport unread;
  if (code.code() == nullptr) return;
  const auto program = program_functions(code, unread, unheard);
  if (!program) return;
  const auto running = running_launches(*program);
  Operands operands(module, code, report, diagnostics);
  for (const Grant& grant : options.grants) {
    if (is_operand(grant)) operands.take(running, grant);
  }
}

}  // namespace mir
