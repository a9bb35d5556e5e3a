// Steps that make tensors smaller.
#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/infer.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "reduce/steps.hpp"

namespace mir::reduce {

namespace {

/// Replaces an extent of one module in all types and, if asked to, in attributes of ops, and infers
/// the types of results again. The module may not verify afterwards.
class ExtentChange {
 public:
  ExtentChange(Module& module, std::int64_t from, std::int64_t to)
      : module_(module), context_(module.context()), rewriter_(module), from_(from), to_(to) {}

  void apply(bool with_attributes) {
    for_each_value(module_, [&](Value& value, Op&) {
      set_type(value, changed(value.type()));
      cut_constant(value);
    });
    for_each_region(module_, [&](Region& region) {
      std::vector<const Type*> types;
      for (const Type* type : region.result_types()) types.push_back(changed(type));
      rewriter_.set_result_types(region, types);
    });
    if (with_attributes) {
      for_each_op(module_, [&](Op& op) { change_attributes(op); });
    }
    // Results of calls have the types of graphs, which may come later in the text.
    constexpr int kMostRounds = 4;
    for (int i = 0; i < kMostRounds && infer_again(); ++i) {
    }
  }

 private:
  Dim changed(Dim dim) const {
    return dim.is_constant() && dim.constant() == from_ ? Dim(to_) : dim;
  }

  const Type* changed(const Type* type) {
    return with_extents(type, context_, [&](Dim dim) { return changed(dim); });
  }

  const Attr* changed(const Attr* attribute) {
    switch (attribute->kind()) {
      case AttrKind::kInt:
        return attribute->integer() == from_ ? context_.integer(to_) : attribute;
      case AttrKind::kArray: {
        std::vector<const Attr*> elements;
        for (const Attr* each : attribute->elements()) elements.push_back(changed(each));
        return context_.array(elements);
      }
      case AttrKind::kDict: {
        std::vector<NamedAttr> entries;
        for (const NamedAttr& each : attribute->entries()) {
          entries.push_back({each.key, changed(each.value)});
        }
        return context_.dict(entries);
      }
      default:
        return attribute;
    }
  }

  void change_attributes(Op& op) {
    std::vector<NamedAttr> attributes;
    for (const NamedAttr& each : op.attributes()) {
      attributes.push_back({each.key, changed(each.value)});
    }
    if (!std::ranges::equal(attributes, op.attributes())) rewriter_.set_attributes(op, attributes);
  }

  /// Leaves a constant as many numbers as its type has elements.
  void cut_constant(Value& value) {
    const Attr* numbers = value.attribute(key::kConstant);
    const auto* tensor = value.tensor_type();
    const auto count = tensor == nullptr ? std::nullopt : tensor->element_count();
    if (numbers == nullptr || !count) return;
    const auto left = static_cast<std::size_t>(std::max<std::int64_t>(*count, 0));
    if (left >= numbers->elements().size()) return;
    std::vector<NamedAttr> attributes(value.attributes().begin(), value.attributes().end());
    for (NamedAttr& each : attributes) {
      if (each.key == key::kConstant) each.value = context_.array(numbers->elements().first(left));
    }
    rewriter_.set_attributes(value, attributes);
  }

  bool set_type(Value& value, const Type* type) {
    if (type == nullptr || type == value.type()) return false;
    rewriter_.set_type(value, type);
    return true;
  }

  /// Returns true if a type changed.
  bool infer_again() {
    bool has_changed = false;
    for_each_op(module_, [&](Op& op) {
      const std::vector<const Type*> types = result_types(op);
      for (std::size_t i = 0; i < std::min<std::size_t>(types.size(), op.result_count()); ++i) {
        has_changed |= set_type(*op.result(i), types[i]);
      }
      if (isa<ReturnOp>(&op)) has_changed |= state_returned(op);
    });
    return has_changed;
  }

  std::vector<const Type*> result_types(const Op& op) const {
    if (isa<CallGraphOp>(&op)) {
      const Op* graph = module_.lookup_op(op.symbol());
      if (graph == nullptr || graph->first_region() == nullptr) return {};
      const auto types = graph->first_region()->result_types();
      return {types.begin(), types.end()};
    }
    Diagnostics ignored(1);
    if (op.row() == nullptr || op.row()->infer == nullptr) return {};
    return infer(op, operand_types(op), op.attributes(), ignored)
        .value_or(std::vector<const Type*>());
  }

  bool state_returned(const Op& end) {
    Region& region = *end.parent_region();
    std::vector<const Type*> types;
    for (const Use& use : end.operand_uses()) types.push_back(use.value()->type());
    if (std::ranges::equal(types, region.result_types())) return false;
    rewriter_.set_result_types(region, types);
    return true;
  }

  Module& module_;
  IRContext& context_;
  Rewriter rewriter_;
  std::int64_t from_, to_;
};

/// Calls `visit(Dim)` for each extent of each value of a module.
template <class Visit>
void for_each_extent(const Module& module, const Visit& visit) {
  for_each_value(module, [&](const Value& value, const Op&) {
    const auto* tensor = value.tensor_type();
    if (tensor != nullptr) std::ranges::for_each(tensor->dims(), visit);
  });
}

}  // namespace

Edits bind_symbols(Draft& draft) {
  Edits edits;
  if (!draft.is_portable()) return edits;
  for (Module* module : draft.modules()) {
    std::set<std::string> names;
    IRContext& context = module->context();
    for_each_extent(*module, [&](Dim dim) {
      for_each_symbol_of(dim, context.dims(),
                         [&](Symbol symbol) { names.emplace(context.text(symbol)); });
    });
    for (const std::string& name : names) {
      for (const int value : {1, 2, 3}) {
        const std::string use = draft.use_of("bind-symbols", name, std::to_string(value));
        edits.list.push_back([&draft, module, use] { draft.run(*module, use); });
      }
    }
  }
  return edits;
}

Edits shrink_extents(Draft& draft) {
  Edits edits;
  if (!draft.is_portable()) return edits;
  for (Module* module : draft.modules()) {
    std::set<std::int64_t, std::greater<>> extents;
    for_each_extent(*module, [&](Dim dim) {
      if (dim.is_constant() && dim.constant() > 1) extents.insert(dim.constant());
    });
    for (const std::int64_t from : extents) {
      std::set<std::int64_t> smaller = {1, 2, from / 2};
      for (const std::int64_t to : smaller) {
        if (to >= from) continue;
        for (const bool with_attributes : {true, false}) {
          edits.list.push_back([module, from, to, with_attributes] {
            ExtentChange(*module, from, to).apply(with_attributes);
          });
        }
      }
    }
  }
  return edits;
}

}  // namespace mir::reduce
