// Upgrade step: checks mentions of values against their definitions, and inserts views.
#include <algorithm>
#include <vector>

#include "upgrade/steps/recovery.hpp"

namespace mir {

namespace {

/// True if a note on a value states a property that the value itself has.
bool is_own(Symbol key) {
  return key == key::kConstant || key == key::kSymbol;
}

/// Storage is shared by name, so a mention with other extents is a view that upstream left out.
void view_operand(Recovery& recovery, Op& op, std::uint32_t index, const StatedMention& mention) {
  const Type* type = mention.type;
  Value* view = make_view(recovery.module, *op.operand(index), *dyn_cast<TensorType>(type), op,
                          op.location());
  std::vector<NamedAttr> notes(mention.attributes.begin(), mention.attributes.end());
  std::erase_if(notes, [&](const NamedAttr& each) { return is_own(each.key); });
  recovery.rewriter.set_attributes(*view, notes);
  recovery.rewriter.set_operand(op, index, view);
  recovery.note(op, LossEntry::Source::kDerived, fmt::format("view of operand {}", index),
                std::string(type->spelling()));
}

}  // namespace

/// A mention that says something else than its value has no portable meaning. What it leaves out is
/// in its value, and notes on quantisation belong to the value.
void settle_mentions(Recovery& recovery) {
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
      if (!is_own(attribute.key)) {
        recovery.note(op, LossEntry::Source::kDropped,
                      fmt::format("{} of {}", recovery.text(attribute.key), operand),
                      std::string(attribute.value->spelling()));
      }
      if (attribute.key != key::kConstant) continue;
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
  walk<OpView>(recovery.module, [&](OpView op) {
    for (const Use& use : op->operand_uses()) {
      const StatedMention* other = stated_mention(use);
      if (other != nullptr) check(*op.op(), use, StatedMention(*other));  // which may drop it
    }
  });
  recovery.rewriter.clear_mentions();
}

}  // namespace mir
