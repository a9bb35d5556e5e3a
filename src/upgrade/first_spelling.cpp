// Spells devices that ops leave out, and converts dumps to and from the spelling of 2025-06.
#include "upgrade/first_spelling.hpp"

#include <fmt/format.h>

#include <unordered_set>
#include <vector>

#include "ir/declaration_graphs.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/tensor.hpp"
#include "mir/walk.hpp"
#include "text/implied_attributes.hpp"
#include "upgrade/edit_results.hpp"

namespace mir {

namespace {

/// `kFp32` and `kInt64`: enumerators, which stood for names then.
std::string enumerator_of(std::string_view dtype) {
  switch (dtype_from_name(dtype).value_or(DType::kInt8)) {
    case DType::kFloat32:
      return "kFp32";
    case DType::kFloat16:
      return "kFp16";
    case DType::kFloat64:
      return "kFp64";
    default:
      return fmt::format("k{}", dtype);
  }
}

/// An op of another spelling in place of this one, which has no regions.
Op* respell(Rewriter& rewriter, Op& op, std::string_view spelling) {
  std::vector<Value*> operands;
  for (const Use& use : op.operand_uses()) operands.push_back(use.value());
  std::vector<const Type*> types;
  for (const Value& result : op.results()) types.push_back(result.type());
  Op* other = rewriter.create_detached({.name = rewriter.context().op_name(spelling),
                                        .operands = operands,
                                        .result_types = types,
                                        .attributes = op.attributes(),
                                        .path = op.has_path() ? op.path() : Symbol(),
                                        .location = op.location()});
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    const Value& old = *op.result(i);
    Value& result = *other->result(i);
    rewriter.set_name(result, old.name());
    if (old.has_symbol()) rewriter.set_symbol(result, old.symbol());
    rewriter.set_attributes(result, old.attributes());
  }
  for (const Use& use : other->operand_uses()) {
    const StatedMention* mention = stated_mention(op.operand_uses()[use.index()]);
    if (mention != nullptr) rewriter.set_mention(use, *mention);
  }
  rewriter.replace(op, *other);
  return other;
}

class FirstSpelling {
 public:
  FirstSpelling(Module& module, LossReport& report)
      : module_(module), rewriter_(module), context_(module.context()), report_(report) {}

  bool run(Diagnostics& diagnostics, const ExplainConversion& explain) {
    leave_out_parameters();
    for_each_value(module_, [&](Value& value, Op& at) { spell(value, at); });
    for_each_region(module_, [&](Region& region) {
      forget_symbols(region);
      edit_results(rewriter_, region, [&](RegionResult& result) {
        result.type = spelled(result.type);
        result.attributes = {};
      });
      rewriter_.mark_modified(*region.parent());
    });
    PatternSet set;
    set.add({.name = "spelling",
             .match = [](Op& root) { return PatternMatch::of({&root}); },
             .rewrite = [this](Rewriter&, const PatternMatch& match) { spell(match.root()); }});
    ConversionTarget target;
    target.set_others_legal_if([this](const Op& op) { return is_spelled(op); });
    // What the pattern makes is spelled, so it declares nothing.
    return convert(module_, target, FrozenPatterns(std::move(set)),
                   {.is_one_step = true, .checks_claims = false, .explain = explain}, diagnostics);
  }

 private:
  void drop(const Op& op, std::string fact, std::string_view value) {
    report_.entries.push_back({LossEntry::Source::kDropped, op.location(), describe(op),
                               std::move(fact), std::string(value)});
  }

  /// `@init`, which registers parameters, came with the next version.
  void leave_out_parameters() {
    std::vector<Op*> graphs;
    for_each_child(module_.body(), [&](Op& op) {
      if (!isa<SubGraphOp>(&op) || op.first_region() == nullptr) return;
      const std::string_view name = context_.text(op.symbol());
      if (name == "init" || name == "deinit") graphs.push_back(&op);
    });
    std::vector<Op*> registers;
    for_each_op(module_, [&](Op& op) {
      if (op.is(OpId::kTensorRegister)) registers.push_back(&op);
    });
    for (Op* op : registers) leave_out(*op);
    for (Op* graph : graphs) rewriter_.erase(*graph);
  }

  void leave_out(Op& op) {
    for (Value& result : op.results()) {
      drop(op, fmt::format("parameter @{}", context_.text(result.symbol())),
           result.type()->spelling());
      if (!result.has_uses()) continue;
      rewriter_.replace_all_uses(
          result, *rewriter_.create_free_value(*op.parent_region(), result.type(), result.name()));
    }
    rewriter_.erase(op);
  }

  void spell(Value& value, const Op& at) {
    rewriter_.set_type(value, spelled(value.type()));
    if (value.has_symbol()) {
      drop(at, fmt::format("symbol of {}", name_of(value)), context_.text(value.symbol()));
    }
    for (const NamedAttr& each : value.attributes()) {
      drop(at, fmt::format("{} of {}", context_.text(each.key), name_of(value)),
           each.value->spelling());
    }
    rewriter_.set_attributes(value, {});
  }

  /// Parameters that were operands are values that nothing defines.
  void forget_symbols(Region& region) {
    std::vector<Value*> named;
    for (Value* value : region.free_values()) {
      if (value->has_symbol()) named.push_back(value);
    }
    for (Value* value : named) {
      rewriter_.replace_all_uses(
          *value, *rewriter_.create_free_value(region, value->type(), value->name()));
    }
    rewriter_.erase_unused_free_values(region);
  }

  std::string name_of(const Value& value) const {
    const ValueName name = value.name();
    return name.is_number() ? fmt::format("%{}", name.number())
                            : fmt::format("%{}", context_.text(name.symbol()));
  }

  const Type* spelled(const Type* type) {
    const auto* tensor = type == nullptr ? nullptr : dyn_cast<TensorType>(type);
    if (tensor == nullptr) return type;
    return context_.tensor(tensor->dims(),
                           context_.intern(enumerator_of(context_.text(tensor->dtype_name()))),
                           device(tensor->device()), tensor->encoding());
  }

  Symbol device(Symbol name) { return context_.intern(fmt::format("k{}", context_.text(name))); }

  bool is_spelled(const Op& op) const {
    const bool names_device =
        isa<SubGraphOp>(&op) ? op.angle(0) != "notype" : op.device() != Symbol();
    return !names_device || spelled_.contains(&op);
  }

  void spell(Op& op) {
    if (isa<SubGraphOp>(&op)) {
      const Symbol angle[] = {device(context_.intern(op.angle(0)))};
      rewriter_.set_angles(op, angle);
      spelled_.insert(&op);
      return;
    }
    std::string_view mnemonic = op.name();
    mnemonic.remove_prefix(mnemonic.find('.') + 1);
    // An alias is what the first version called an op.
    if (op.row() != nullptr && !op.row()->aliases.empty()) mnemonic = op.row()->aliases.front();
    const std::string_view dialect = op.name().substr(0, op.name().find('.'));
    spelled_.insert(
        respell(rewriter_, op,
                fmt::format("{}.{}.{}", dialect, context_.text(device(op.device())), mnemonic)));
  }

  Module& module_;
  Rewriter rewriter_;
  IRContext& context_;
  LossReport& report_;
  std::unordered_set<const Op*> spelled_;
};

/// `kCPU` and `kFp32` as later versions and portable modules spell them.
class LaterSpelling {
 public:
  explicit LaterSpelling(Module& module)
      : module_(module), rewriter_(module), context_(module.context()) {}

  void run() {
    for_each_value(module_, [&](Value& value, Op&) {
      const Type* type = spelled(value.type());
      if (type != value.type()) rewriter_.set_type(value, type);
    });
    for_each_region(module_, [&](Region& region) {
      std::vector<Op*> ops;
      for_each_child(region, [&](Op& op) { ops.push_back(&op); });
      for (Op* op : ops) spell(*op);
      edit_results(rewriter_, region,
                   [&](RegionResult& result) { result.type = spelled(result.type); });
    });
  }

 private:
  static bool is_old(std::string_view name) {
    return name.size() > 1 && name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z';
  }

  Symbol device(Symbol name) {
    const std::string_view text = context_.text(name);
    return is_old(text) ? context_.intern(text.substr(1)) : name;
  }

  const Type* spelled(const Type* type) {
    const auto* tensor = type == nullptr ? nullptr : dyn_cast<TensorType>(type);
    if (tensor == nullptr) return type;
    const bool old = is_old(context_.text(tensor->dtype_name())) && tensor->dtype();
    if (!old && device(tensor->device()) == tensor->device()) return type;
    const Symbol dtype = old ? context_.intern(name_of(*tensor->dtype())) : tensor->dtype_name();
    return context_.tensor(tensor->dims(), dtype, device(tensor->device()), tensor->encoding());
  }

  void spell(Op& op) {
    for (const Use& use : op.operand_uses()) {
      const StatedMention* mention = stated_mention(use);
      if (mention == nullptr) continue;
      StatedMention other = *mention;
      other.type = spelled(other.type);
      if (other.type != mention->type) rewriter_.set_mention(use, other);
    }
    if (isa<SubGraphOp>(&op) && is_old(op.angle(0))) {
      const Symbol angle[] = {device(context_.intern(op.angle(0)))};
      rewriter_.set_angles(op, angle);
    } else if (isa<LinalgOp>(&op) && op.first_region() == nullptr &&
               device(op.device()) != op.device()) {
      respell(rewriter_, op,
              fmt::format("linalg.{}.{}", context_.text(device(op.device())),
                          op.name().substr(op.name().find('.') + 1)));
    }
  }

  Module& module_;
  Rewriter rewriter_;
  IRContext& context_;
};

/// True for an op of a dialect with devices in names that names none.
bool lacks_device(const Op& op) {
  const Dialect* dialect = op.info().dialect;
  return dialect != nullptr && dialect->device_in_path && op.device() == Symbol();
}

}  // namespace

void spell_devices(Module& module) {
  Rewriter rewriter(module);
  std::vector<Op*> ops;
  for_each_op(module, [&](Op& op) {
    if (isa<SubGraphOp>(&op) && op.extra().angles.empty()) {
      const std::string_view device = is_declaration(op) ? kGraphWithoutDevice : device_in(nullptr);
      const Symbol angle[] = {module.context().intern(device)};
      rewriter.set_angles(op, angle);
    }
    if (lacks_device(op) && op.first_region() == nullptr) ops.push_back(&op);
  });
  for (Op* op : ops) {
    const Symbol device = module.context().intern(device_in(graph_around(*op)));
    respell(rewriter, *op,
            module.context().text(module.context().op_name(op->kind(), device).spelling));
  }
}

void spell_as_later_versions(Module& module) {
  LaterSpelling(module).run();
}

bool spell_as_first_version(Module& module, LossReport& report, Diagnostics& diagnostics,
                            const ExplainConversion& explain) {
  return FirstSpelling(module, report).run(diagnostics, explain);
}

}  // namespace mir
