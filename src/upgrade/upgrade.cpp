#include "mir/upgrade.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "mir/walk.hpp"
#include "upgrade/edit_results.hpp"
#include "upgrade/first_spelling.hpp"
#include "upgrade/lift_program.hpp"
#include "upgrade/one_block.hpp"
#include "upgrade/recover/recovery.hpp"

namespace mir {

Value* make_view(Module& module, Value& value, const TensorType& type, Op& before,
                 Location location) {
  IRContext& context = module.context();
  std::vector<const Attr*> extents;
  for (const Dim dim : type.dims()) extents.push_back(context.dim(dim));
  const NamedAttr shape{context.intern("to_shape"), context.array(extents)};
  Value* operand = &value;
  const Type* result = &type;
  return IRWriter(module)
      .createAtPos(&before, IRWriter::BEFORE,
                   {.name = context.op_name(OpId::kLinalgView, type.device()),
                    .operands = std::span(&operand, 1),
                    .result_types = std::span(&result, 1),
                    .attributes = std::span(&shape, 1),
                    .location = location})
      ->result();
}

namespace {

/// Upstream prints a view or a slice under the number of its operand, unless it was told to make a
/// tensor of its own.
void note_own_storage(Recovery& recovery, Op& op) {
  const bool may_share = op.is(OpId::kLinalgView, OpId::kLinalgSlice) && op.operand_count() == 1 &&
                         op.result_count() == 1;
  if (may_share && op.result()->name() != op.operand(0)->name()) {
    recovery.derive(op, "enable_ssa", recovery.context().boolean(true));
  }
}

}  // namespace

/// What no step below can deal with.
void check_upgradable(Recovery& recovery) {
  std::size_t frees = 0;
  IRWriter walker(recovery.module);
  walker.walk<OpView>([&](IRWriter& writer, OpView op) {
    note_own_storage(recovery, *op.op());
    // Storage is the planner's business in portable form, and op names say what registers said.
    const bool bookkeeping = op->is(OpId::kTensorFree, OpId::kLinalgRegister, OpId::kDbgComment);
    if (!bookkeeping) return IRWriter::WalkResult::WALK_CONTINUE;
    if (op->result_count() != 0) {
      recovery.refuse(*op.op(), "signature", "it has results");
      return IRWriter::WalkResult::WALK_CONTINUE;
    }
    frees += op->is(OpId::kTensorFree) ? 1 : 0;
    const Attr* text = op->is(OpId::kDbgComment) ? op->attribute("text") : nullptr;
    if (text != nullptr) {
      recovery.note(*op.op(), LossEntry::Source::kDropped, "text", std::string(text->spelling()));
    }
    if (const auto name = recovery.module.declared_symbol(op.op())) {
      recovery.declared_names.emplace_back(*name, op->location());
    }
    writer.removeOp(op.op());
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  if (frees == 0) return;
  recovery.note(*recovery.module.top(), LossEntry::Source::kDropped, "tensor.free operations",
                fmt::to_string(frees));
}

bool is_view(const Type* from, const Type* to) {
  const auto *a = dyn_cast<TensorType>(from), *b = dyn_cast<TensorType>(to);
  return a != nullptr && b != nullptr && a != b && a->element_count() &&
         a->element_count() == b->element_count() && a->dtype_name() == b->dtype_name() &&
         a->device() == b->device() && a->encoding() == b->encoding();
}

namespace {

/// Whether a note on a value says what the value itself is.
bool is_own(const Recovery& recovery, Symbol key) {
  return recovery.text(key) == "constant" || recovery.text(key) == "symbol";
}

/// Storage is shared by name, so a mention with other extents is a view that upstream left out.
void view_operand(Recovery& recovery, Op& op, std::uint32_t index, const StatedMention& mention) {
  const Type* type = mention.type;
  Value* view = make_view(recovery.module, *op.operand(index), *dyn_cast<TensorType>(type), op,
                          op.location());
  std::vector<NamedAttr> notes(mention.attributes.begin(), mention.attributes.end());
  std::erase_if(notes, [&](const NamedAttr& each) { return is_own(recovery, each.key); });
  recovery.rewriter.set_attributes(*view, notes);
  recovery.rewriter.set_operand(op, index, view);
  recovery.note(op, LossEntry::Source::kDerived, fmt::format("view of operand {}", index),
                std::string(type->spelling()));
}

/// A mention that says something else than its value has no portable meaning. What it leaves out is
/// in its value, and notes on quantisation belong to the value.
void check_mentions(Recovery& recovery) {
  if (!recovery.module.dump_facts().has_mentions()) return;
  const Symbol constant = recovery.context().intern("constant");
  const auto type_text = [](const Type* type) {
    return type == nullptr ? "untyped" : type->spelling();
  };
  const auto check = [&](Op& op, const Use& use, const StatedMention& other) {
    const Value& value = *use.value();
    const std::string operand = fmt::format("operand {}", use.index());
    if (value.type() == nullptr) {
      recovery.refuse(op, operand, "its first mention states no type");
    } else if (is_view(value.type(), other.type)) {
      view_operand(recovery, op, use.index(), other);
    } else if (other.type != value.type()) {
      recovery.refuse(op, operand,
                      fmt::format("it is printed as {}, its value is {}", type_text(other.type),
                                  type_text(value.type())));
    }
    for (const NamedAttr& attribute : other.attributes) {
      if (attribute.value == op.operand(use.index())->attribute(attribute.key)) continue;
      if (!is_own(recovery, attribute.key)) {
        recovery.note(op, LossEntry::Source::kDropped,
                      fmt::format("{} of {}", recovery.text(attribute.key), operand),
                      std::string(attribute.value->spelling()));
      }
      if (attribute.key != constant) continue;
      recovery.refuse(op, operand,
                      fmt::format("it is printed as constant {}, its value is not",
                                  attribute.value->spelling()));
    }
    if (other.has_symbol && !(value.has_symbol() && other.symbol == value.symbol())) {
      recovery.refuse(
          op, operand,
          fmt::format("it is printed as '@{}', its value is not", recovery.text(other.symbol)));
    }
  };
  IRWriter(recovery.module).walk<OpView>([&](IRWriter&, OpView op) {
    for (const Use& use : op->operand_uses()) {
      const StatedMention* other = recovery.module.dump_facts().mention(use);
      if (other != nullptr) check(*op.op(), use, StatedMention(*other));  // which may drop it
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  recovery.rewriter.clear_mentions();
}

/// A view of a parameter has its storage, and so its symbol; as a value it is the op's.
void settle_symbols(Recovery& recovery) {
  std::unordered_set<Symbol> registered;
  IRWriter(recovery.module).walk<RegisterOp>([&](IRWriter&, RegisterOp op) {
    if (op.value() != nullptr && op.value()->has_symbol()) registered.insert(op.value()->symbol());
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  IRWriter(recovery.module).walk<LinalgOp>([&](IRWriter&, LinalgOp op) {
    for (Value& result : op->results()) {
      const bool repeats = result.has_symbol() && registered.contains(result.symbol());
      if (repeats) recovery.rewriter.clear_symbol(result);
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
}

/// Upstream prints an extent that it does not know as -1.
void settle_extents(Recovery& recovery) {
  Module& module = recovery.module;
  const auto settled = [&](const Type* type) -> const Type* {
    const auto* tensor = type == nullptr ? nullptr : dyn_cast<TensorType>(type);
    if (tensor == nullptr) return type;
    std::vector<Dim> extents(tensor->dims().begin(), tensor->dims().end());
    if (std::ranges::none_of(extents, &Dim::is_negative)) return type;
    std::ranges::replace_if(extents, &Dim::is_negative, Dim::unknown());
    return recovery.context().tensor(extents, tensor->dtype_name(), tensor->device(),
                                     tensor->encoding());
  };
  for_each_value(module.body(), [&](Value& value, Op& at) {
    const Type* type = settled(value.type());
    if (type == value.type()) return;
    recovery.note(at, LossEntry::Source::kDerived, "unknown extent", std::string(type->spelling()));
    recovery.rewriter.set_type(value, type);
  });
  for_each_region(module.body(), [&](Region& region) {
    edit_results(recovery.rewriter, region,
                 [&](RegionResult& result) { result.type = settled(result.type); });
  });
}

}  // namespace

bool upgrade(Module& module, const UpgradeOptions& options, LossReport& report,
             Diagnostics& diagnostics) {
  if (module.is_portable()) {
    warn_of_ignored_facts(module, options, diagnostics);
    return true;
  }
  if (!refuse_several_blocks(module, "portable form", report, diagnostics)) return false;
  const std::size_t errors_before = diagnostics.error_count();
  take_corrections(module, options, report, diagnostics);
  take_operands(module, options, report, diagnostics);
  if (diagnostics.error_count() != errors_before) return false;
  if (!lift_program(module, options, report, diagnostics)) return false;
  Recovery recovery(module, options, report, diagnostics);
  if (module.body().empty()) recovery.rewriter.create_block(module.body());
  spell_as_later_versions(module);
  drop_repeated_graphs(recovery);
  check_upgradable(recovery);
  if (diagnostics.error_count() != errors_before) return false;
  check_mentions(recovery);
  settle_symbols(recovery);
  settle_parameter_types(recovery);
  settle_extents(recovery);
  take_grants(recovery);
  recover_constants(recovery);
  hand_in_undefined(recovery);
  if (diagnostics.error_count() != errors_before) return false;
  recover_pieces(recovery);
  recover_interface(recovery);
  recover_links(recovery);
  recover_options(recovery);
  register_parameters(recovery);
  settle_quantised(recovery);
  note_unused_names(recovery);
  make_names_unique(recovery);
  settle_attributes(recovery);
  if (diagnostics.error_count() != errors_before) return false;
  check_types(recovery);
  if (diagnostics.error_count() != errors_before) return false;
  generalise(recovery);
  if (diagnostics.error_count() != errors_before) return false;
  recovery.rewriter.set_version(1);
  warn_of_unused_facts(recovery);
  return true;
}

}  // namespace mir
