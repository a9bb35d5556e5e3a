// Checks that both regions of a pattern have equal types.
#include "patterns/check_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "mir/codes/passes.hpp"
#include "mir/infer.hpp"
#include "mir/tensor.hpp"
#include "patterns/match.hpp"

namespace mir::patterns {

namespace {

constexpr std::array kElementTypes = {
    DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt64,
    DType::kInt32,   DType::kInt16,   DType::kInt8,     DType::kUInt8,   DType::kBool};

class TypeCheck {
 public:
  TypeCheck(const Pattern& pattern, IRContext& context, Diagnostics& diagnostics)
      : pattern_(pattern), context_(context), diagnostics_(diagnostics) {}

  bool check() {
    if (!pattern_.conditions.empty() || !pattern_.lets.empty() || !are_stated(pattern_.match)) {
      return true;
    }
    bind_all();
    return try_element_types(element_types_.begin());
  }

 private:
  /// True if inputs and constants have types without packs.
  static bool are_stated(const GraphTemplate& graph) {
    return std::ranges::all_of(graph.values, [](const ValueTemplate& value) {
      const bool is_given = value.is_input || value.constant.has_value();
      return !is_given ||
             (!value.type.is_any && value.type.exact == nullptr &&
              std::ranges::none_of(value.type.extents.elements, &AttributeTemplate::is_pack));
    });
  }

  void add_element_types(const GraphTemplate& graph) {
    for (const ValueTemplate& value : graph.values) {
      if (value.type.dtype.variable) element_types_.insert(*value.type.dtype.variable);
    }
  }

  /// Each extent is its own symbol; each device is one.
  void bind_all() {
    add_element_types(pattern_.match);
    for (const std::string& name : pattern_.variables) {
      const bool is_extent = name.starts_with('$');
      bindings_.variables.push_back(
          is_extent ? context_.dim(context_.dims().symbol(std::string_view(name).substr(1)))
                    : context_.word("CPU"));
    }
  }

  /// Tries all element types of the variables from `next` on.
  bool try_element_types(std::set<std::uint32_t>::const_iterator next) {
    if (next == element_types_.end()) return try_bindings();
    for (const DType dtype : kElementTypes) {
      bindings_.variables[*next] = context_.word(name_of(dtype));
      if (!try_element_types(std::next(next))) return false;
    }
    return true;
  }

  bool try_bindings() {
    std::string reason;
    const auto before = infer_graph(pattern_.match, {}, reason);
    if (!before) return true;
    const auto after = infer_graph(pattern_.rewrite, *before, reason);
    if (!after) {
      if (is_open_) return true;
      return refuse(fmt::format("the second region does not verify{}: {}", for_what(), reason));
    }
    for (std::size_t i = 0; i < pattern_.match.results.size(); ++i) {
      const Type* from = (*before)[pattern_.match.results[i]];
      const Type* to = (*after)[pattern_.rewrite.results[i]];
      if (from == to || from == nullptr || to == nullptr) continue;
      return refuse(
          fmt::format("result {} is {} in the first region and {} in the second one{}; "
                      "if it holds only under a condition, state it in 'where'",
                      i, from->spelling(), to->spelling(), for_what()));
    }
    return true;
  }

  std::string for_what() const {
    std::string text;
    for (const std::uint32_t variable : element_types_) {
      text += fmt::format("{} {} = {}", text.empty() ? " for" : ",", pattern_.variables[variable],
                          bindings_.variables[variable]->text());
    }
    return text;
  }

  bool refuse(std::string message) {
    diagnostics_.error(diag::kBadPattern, pattern_.at,
                       fmt::format("pattern '{}': {}", pattern_.name, message));
    return false;
  }

  /// The types of all values; `inputs` are those of the first region. No value if an op does not
  /// verify; then is_open_ tells whether that depends on what is not known here.
  std::optional<std::vector<const Type*>> infer_graph(const GraphTemplate& graph,
                                                      std::span<const Type* const> inputs,
                                                      std::string& reason) {
    is_open_ = false;
    std::vector<const Type*> types(graph.values.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      types[i] = i < graph.input_count && !inputs.empty()
                     ? inputs[i]
                     : instantiate(graph.values[i].type, bindings_, context_);
    }
    for (const OpTemplate& op : graph.ops) {
      if (!infer_op(graph, op, types, reason)) return std::nullopt;
    }
    return types;
  }

  bool infer_op(const GraphTemplate& graph, const OpTemplate& op, std::vector<const Type*>& types,
                std::string& reason) {
    std::vector<NamedAttr> attributes;
    is_open_ = op.others.has_value();
    if (is_open_) return false;
    for (const OpTemplate::Attribute& each : op.attributes) {
      const Attr* value = instantiate(each.value, bindings_, context_);
      is_open_ = value == nullptr || !admits(*each.row, *value);
      if (is_open_) return false;
      attributes.push_back({each.key, value});
    }
    std::vector<const Type*> operands;
    for (const std::uint32_t operand : op.operands) {
      operands.push_back(types[operand]);
      is_open_ = operands.back() == nullptr;
      if (is_open_) return false;
    }
    Symbol device;
    if (op.device) {
      const Attr* const bound =
          op.device->variable ? bindings_.variables[*op.device->variable] : nullptr;
      is_open_ = op.device->variable && bound == nullptr;
      if (is_open_) return false;
      device = bound != nullptr ? context_.intern(bound->text()) : op.device->name;
    }
    Diagnostics found(1);
    const auto inferred = infer({.context = context_,
                                 .row = *op.info->row,
                                 .operands = operands,
                                 .attributes = attributes,
                                 .result_count = op.results.size(),
                                 .op_name = op.info->name,
                                 .device = device},
                                found);
    if (!inferred) {
      const auto errors = found.sorted();
      if (!errors.empty()) reason = errors.front().message;
      return false;
    }
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      const Type*& type = types[op.results[i]];
      const Type* given = i < inferred->size() ? (*inferred)[i] : nullptr;
      if (given == nullptr) continue;
      if (type != nullptr && !compatible(type, given)) {
        reason = fmt::format("'%{}' is stated as {}, and '{}' gives {}",
                             graph.values[op.results[i]].name, type->spelling(), op.info->name,
                             given->spelling());
        return false;
      }
      if (type == nullptr) type = given;
    }
    return true;
  }

  const Pattern& pattern_;
  IRContext& context_;
  Diagnostics& diagnostics_;
  Bindings bindings_;
  std::set<std::uint32_t> element_types_;  // variables
  bool is_open_ = false;
};

}  // namespace

bool check_types(const Pattern& pattern, IRContext& context, Diagnostics& diagnostics) {
  return TypeCheck(pattern, context, diagnostics).check();
}

}  // namespace mir::patterns
