// Describes values by the ops that define them.
#include "text/emit/origin.hpp"

#include <fmt/format.h>

#include <unordered_set>
#include <vector>

#include "ir/ports.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "mir/control_flow.hpp"
#include "mir/module.hpp"

namespace mir {

namespace {

class Origins {
 public:
  Origins(const Value& value, const IRContext& context) : context_(context) { add(value); }

  std::string text(std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < values_.size() && i < most; ++i) text += step(*values_[i]);
    if (values_.size() > most) text += fmt::format("... {} more\n", values_.size() - most);
    return text;
  }

 private:
  void add(const Value& value) {
    const bool is_given = value.has_symbol() || value.attribute(key::kConstant) != nullptr;
    const bool is_first = values_.empty();
    if ((is_first || !is_given) && known_.insert(&value).second) values_.push_back(&value);
  }

  std::string name_of(const Value& value) const {
    if (value.has_symbol()) return fmt::format("@{}", context_.text(value.symbol()));
    return fmt::format("%{}", name_text(value.name(), context_));
  }

  std::string typed(const Value& value) const {
    const bool is_given = value.has_symbol() || value.attribute(key::kConstant) != nullptr;
    const Attr* constant = value.attribute(key::kConstant);
    return fmt::format("{}:{}{}", name_of(value),
                       value.type() == nullptr ? "untyped" : value.type()->spelling(),
                       is_given && constant != nullptr ? " = constant" : "");
  }

  std::string place_of(const Op& op) const {
    const Span span = op.span();
    const SourceFile* file = span.known() ? context_.sources().file_of(span.begin) : nullptr;
    if (file == nullptr) return "";
    const LineColumn place = file->line_column(span.begin);
    return fmt::format("line {}: ", place.line);
  }

  std::string step(const Value& value) {
    std::string text = typed(value) + "\n";
    const Op* op = value.defining_op();
    if (op == nullptr) return text + "    " + outside(value) + "\n";
    text += fmt::format("    {}result {} of {}", place_of(*op), value.index(), op->name());
    if (op->has_path()) text += fmt::format(" '{}'", context_.text(op->path()));
    std::string attributes;
    for (const NamedAttr& each : op->attributes()) {
      attributes += fmt::format("{}{}:{}", attributes.empty() ? "" : ", ", context_.text(each.key),
                                each.value == nullptr ? "" : each.value->spelling());
    }
    if (!attributes.empty()) text += fmt::format(" [{}]", attributes);
    text += "\n";
    for (const Use& use : op->operand_uses()) {
      text += fmt::format("    operand {}: {}\n", use.index(), typed(*use.value()));
      add(*use.value());
    }
    if (op->has(Trait::kSameShape)) text += "    its extents are those of operand 0\n";
    if (const Op* graph = called_graph(*op)) add_returned(*graph, value);
    return text;
  }

  void add_returned(const Op& graph, const Value& result) {
    const Region* body = graph.first_region();
    const Value* returned = body == nullptr ? nullptr : body->returned(result.index());
    if (returned != nullptr) add(*returned);
  }

  std::string outside(const Value& value) const {
    const Block* block = value.argument_of();
    if (block == nullptr) return value.has_symbol() ? "a parameter" : "defined by no operation";
    const Op& around = *block->parent()->parent();
    const std::string symbol =
        around.has_symbol() ? fmt::format(" @{}", context_.text(around.symbol())) : "";
    return fmt::format("{}input {} of {}{}", place_of(around), value.index(), around.name(),
                       symbol);
  }

  const IRContext& context_;
  std::vector<const Value*> values_;
  std::unordered_set<const Value*> known_;
};

/// The op in whose module a value is.
const Op& op_around(const Value& value) {
  if (const Op* op = value.defining_op()) return *op;
  if (const Block* block = value.argument_of()) return *block->parent()->parent();
  return *value.free_in()->parent();
}

}  // namespace

std::string describe_origin(const Value& value, std::size_t most) {
  return Origins(value, op_around(value).module().context()).text(most);
}

}  // namespace mir
