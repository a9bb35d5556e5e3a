// The ops of a graph of templates, once its variables are bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mir/rewriter.hpp"
#include "patterns/template.hpp"

namespace mir::patterns {

/// An op that will be made. Operands and results are numbers of values of the graph.
struct PlannedOp {
  OpName name{};
  std::vector<NamedAttr> attributes{};
  Symbol path{};
  bool has_path = false;
  std::vector<std::uint32_t> operands{}, results{};
  struct Region {
    std::vector<std::uint32_t> arguments;
    std::vector<PlannedOp> ops;
  };
  std::vector<Region> regions{};
  Span at{};  ///< of its template
};

/// Ops to be created from a graph of templates, complete before anything is edited.
struct GraphPlan {
  std::vector<const Type*> types;      ///< of the values of the graph
  std::vector<Value*> values;          ///< those that exist already; null: will be made
  std::vector<const Attr*> constants;  ///< of the values that are constants
  std::vector<PlannedOp> ops;
  const OpTemplate* fault = nullptr;  ///< the op that cannot be planned
  bool needs_number = false;          ///< because an attribute of it would be a symbolic extent

  /// Empty, for so many values.
  void reset(std::size_t value_count) {
    types.assign(value_count, nullptr);
    values.assign(value_count, nullptr);
    constants.assign(value_count, nullptr);
    ops.clear();
    fault = nullptr;
    needs_number = false;
  }
};

/// The graph without conditions and repeated ops, under bindings that decide them. No value after
/// setting the reason and, if an op is the cause, `fault`.
std::optional<GraphTemplate> unfold(const GraphTemplate& graph, const Bindings& bindings,
                                    IRContext& context, std::string& reason,
                                    const OpTemplate*& fault);

/// Plans the constants and ops of a graph; the caller has set the types of the inputs. Returns the
/// reason if the ops would not verify.
std::optional<std::string> plan_graph(const GraphTemplate& graph, const Bindings& bindings,
                                      IRContext& context, GraphPlan& plan);

/// Makes what was planned at the insertion point, which is in `region`, and returns the values of
/// the graph.
std::vector<Value*> make_graph(Rewriter& rewriter, const GraphPlan& plan, Region& region);

/// The value of a template, with the variables that are bound. Null if an expression has none.
const Attr* instantiate(const AttributeTemplate& from, const Bindings& bindings,
                        IRContext& context);
/// The type of a template. Null if it has none, and for a template that takes any.
const Type* instantiate(const TypeTemplate& from, const Bindings& bindings, IRContext& context);

}  // namespace mir::patterns
