// Upgrade step: replaces traced numbers by symbols and propagates them through the ops.
#include <algorithm>
#include <vector>

#include "mir/infer.hpp"
#include "mir/walk.hpp"
#include "upgrade/call_order.hpp"
#include "upgrade/steps/recovery.hpp"

// Extents that were traced as numbers become symbols. The inputs say which; the rules of the ops
// carry them on, in the order of execution. Options that repeat the traced number are rewritten
// where the op is valid only with the symbol.

namespace mir {

namespace {

class Generalisation {
 public:
  explicit Generalisation(Recovery& recovery)
      : recovery_(recovery), module_(recovery.module), dims_(recovery.context().dims()) {}

  void run() {
    for (const SymbolicDim& each : recovery_.options.symbolic_dims) mark(each);
    if (recovery_.diagnostics.has_errors()) return;
    visit(module_.body());
  }

 private:
  void mark(const SymbolicDim& wanted) {
    const auto arguments = module_.body().only_block().arguments();
    const auto refuse = [&](std::string_view why) {
      recovery_.refuse(*module_.top(), fmt::format("symbolic extent ${}", wanted.symbol),
                       fmt::format("--symbolic-dim={}@input{}:{}: {}", wanted.symbol, wanted.input,
                                   wanted.dim, why));
    };
    if (wanted.input >= arguments.size()) {
      return refuse(fmt::format(
          "the module has no input {}; {}", wanted.input,
          arguments.empty() ? "it has none"
                            : fmt::format("the last one is input {}", arguments.size() - 1)));
    }
    Value& input = arguments[wanted.input];
    const TensorType* type = input.tensor_type();
    if (type == nullptr || wanted.dim >= type->rank()) {
      return refuse(fmt::format("input {} has no dimension {}{}", wanted.input, wanted.dim,
                                type == nullptr || type->rank() == 0
                                    ? ""
                                    : fmt::format("; its last one is {}", type->rank() - 1)));
    }
    const Dim traced = type->dims()[wanted.dim];
    const Dim symbol = dims_.symbol(wanted.symbol);
    if (!traced.is_constant()) return refuse("that extent is no number");
    const auto known = std::ranges::find(traced_, symbol, &Traced::symbol);
    if (known == traced_.end()) {
      traced_.push_back({symbol, traced.constant()});
    } else if (known->value != traced.constant()) {
      return refuse(fmt::format("it stands for {} and for {}", known->value, traced.constant()));
    }
    std::vector<Dim> extents(type->dims().begin(), type->dims().end());
    extents[wanted.dim] = symbol;
    set_type(
        *module_.top(), input,
        recovery_.context().tensor(extents, type->dtype_name(), type->device(), type->encoding()));
  }

  void set_type(const Op& op, Value& value, const Type* type) {
    if (type == nullptr || type == value.type()) return;
    recovery_.rewriter.set_type(value, type);
    recovery_.note(op, LossEntry::Source::kAssumed, "symbolic type", std::string(type->spelling()));
  }

  // -- the order of execution ---------------------------------------------------------------------

  void visit(Region& region) {
    for_each_child(region, [&](Op& op) {
      if (const CallGraphOp call = dyn_cast<CallGraphOp>(&op)) {
        enter(call);
      } else if (isa<LinalgOp>(&op) && op.row() != nullptr && op.row()->infer != nullptr) {
        settle(op);
      }
    });
    std::vector<RegionResult> results = signature_results(region);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (const Value* value = region.returned(i)) results[i].type = value->type();
    }
    if (!results.empty()) recovery_.rewriter.state_results(region, results);
  }

  void enter(CallGraphOp call) {
    const CallOrder::Entry entry = calls_.enter(call);
    if (!entry) return;
    Region& body = entry.body();
    const ValueRange arguments = body.entry_arguments();
    for (std::uint32_t i = 0; i < call->operand_count() && i < arguments.size(); ++i) {
      const Type* type = call->operand(i)->type();
      if (entry.is_first) set_type(*entry.graph.op(), arguments[i], type);
      if (type == arguments[i].type()) continue;
      recovery_.refuse(*call.op(), fmt::format("symbolic type of operand {}", i),
                       "two calls of one graph differ in it");
    }
    if (entry.is_first) visit(body);
    for (std::uint32_t i = 0; i < call->result_count() && i < body.result_types().size(); ++i) {
      set_type(*call.op(), *call->result(i), body.result_types()[i]);
    }
  }

  // -- one op -------------------------------------------------------------------------------------

  void settle(Op& op) {
    const bool reads_symbols = std::ranges::any_of(op.operand_uses(), [](const Use& use) {
      const TensorType* type = use.value()->tensor_type();
      return type != nullptr && !type->has_static_shape();
    });
    if (!reads_symbols) return;
    if (op.is(OpId::kLinalgKVCache)) name_past(op);
    if (op.is(OpId::kLinalgSlice)) follow_ends(op);
    if (const auto types = infer(op, op.attributes())) return take(op, *types);
    for (const NamedAttr& attribute : op.attributes()) {
      if (rewrite(op, attribute)) return;
    }
    Diagnostics why(1);
    infer(op, op.attributes(), &why);
    const auto said = why.sorted();
    recovery_.refuse(op, "symbolic extents", said.empty() ? "no rule" : said.front().message);
  }

  /// Gives the number of tokens that a cache holds before a run a symbol, which the cache binds.
  void name_past(Op& op) {
    if (Recovery::is_stated(op, key::kPast)) return;
    recovery_.assume(op, key::kPast, recovery_.context().dim(dims_.symbol("past")));
  }

  /// A slice up to the end of a traced extent goes to the end of the symbol.
  void follow_ends(Op& op) {
    const Attr* indices = op.attribute(key::kIndices);
    const auto* whole = op.operand(0)->tensor_type();
    if (indices == nullptr || indices->kind() != AttrKind::kArray) return;
    std::vector<const Attr*> entries(indices->elements().begin(), indices->elements().end());
    for (std::size_t i = 0; i < entries.size() && i < whole->rank(); ++i) {
      const auto traced = std::ranges::find(traced_, whole->dims()[i], &Traced::symbol);
      if (traced == traced_.end() || entries[i]->kind() != AttrKind::kDict) continue;
      entries[i] = to_the_end(*entries[i], traced->value);
    }
    if (std::ranges::equal(entries, indices->elements())) return;
    const Attr* moved = recovery_.context().array(entries);
    recovery_.rewriter.set_attribute(op, key::kIndices, moved);
    recovery_.note(op, LossEntry::Source::kAssumed, key::kIndices, std::string(moved->spelling()));
  }

  /// The bounds without an end at `extent`; the last element as -1 .. 0.
  const Attr* to_the_end(const Attr& bounds, std::int64_t extent) {
    IRContext& context = recovery_.context();
    const Symbol start = key::kStart, end = key::kEnd;
    const auto is = [](const NamedAttr& entry, Symbol key, std::int64_t value) {
      return entry.key == key && entry.value->kind() == AttrKind::kInt &&
             entry.value->integer() == value;
    };
    const auto entries = bounds.entries();
    const auto has = [&](Symbol key, std::int64_t value) {
      return std::ranges::any_of(entries,
                                 [&](const NamedAttr& each) { return is(each, key, value); });
    };
    if (!has(end, extent)) return &bounds;
    const bool last = has(start, extent - 1);
    std::vector<NamedAttr> moved;
    for (const NamedAttr& each : entries) {
      if (last && each.key == start) {
        moved.push_back({start, context.integer(-1)});
      } else if (each.key != end) {
        moved.push_back(each);
      } else if (last) {
        moved.push_back({end, context.integer(0)});
      }
    }
    return context.dict(moved);
  }

  void take(Op& op, std::span<const Type* const> types) {
    for (std::uint32_t i = 0; i < op.result_count() && i < types.size(); ++i) {
      set_type(op, *op.result(i), types[i]);
    }
  }

  static std::optional<std::vector<const Type*>> infer(const Op& op,
                                                       std::span<const NamedAttr> attributes,
                                                       Diagnostics* why = nullptr) {
    Diagnostics unheard(1);
    return mir::infer(op, operand_types(op), attributes, why == nullptr ? unheard : *why);
  }

  /// Tries the attribute with each number in it that the trace explains made symbolic.
  bool rewrite(Op& op, const NamedAttr& attribute) {
    const Attr* chosen = nullptr;
    std::vector<const Type*> types;
    std::string others;
    for (const Attr* candidate : candidates(attribute.value)) {
      std::vector<NamedAttr> attributes(op.attributes().begin(), op.attributes().end());
      for (NamedAttr& each : attributes) {
        if (each.key == attribute.key) each.value = candidate;
      }
      auto given = infer(op, attributes);
      if (!given || candidate == chosen) continue;
      if (chosen == nullptr) {
        chosen = candidate;
        types = *std::move(given);
      } else {
        others += fmt::format("{}{}", others.empty() ? "" : " or ", candidate->spelling());
      }
    }
    if (chosen == nullptr) return false;
    recovery_.note(op, LossEntry::Source::kAssumed, recovery_.text(attribute.key),
                   std::string(chosen->spelling()), std::move(others));
    recovery_.rewriter.set_attribute(op, attribute.key, chosen);
    take(op, types);
    return true;
  }

  /// The attribute with one of its numbers replaced, for each number and each symbol.
  std::vector<const Attr*> candidates(const Attr* value) {
    std::vector<const Attr*> found;
    if (value->kind() == AttrKind::kInt) {
      for (const Traced& each : traced_) {
        const std::int64_t number = value->integer();
        if (each.value <= 0 || number <= 0 || number % each.value != 0) continue;
        const Dim factor(number / each.value);
        found.push_back(recovery_.context().dim(dims_.multiply(each.symbol, factor)));
      }
    } else if (value->kind() == AttrKind::kArray) {
      const auto elements = value->elements();
      for (std::size_t i = 0; i < elements.size(); ++i) {
        for (const Attr* candidate : candidates(elements[i])) {
          std::vector<const Attr*> list(elements.begin(), elements.end());
          list[i] = candidate;
          found.push_back(recovery_.context().array(list));
        }
      }
    }
    return found;
  }

  struct Traced {
    Dim symbol;
    std::int64_t value;
  };

  Recovery& recovery_;
  Module& module_;
  DimTable& dims_;
  std::vector<Traced> traced_;
  CallOrder calls_;
};

}  // namespace

void generalise(Recovery& recovery) {
  if (!recovery.options.symbolic_dims.empty()) Generalisation(recovery).run();
}

}  // namespace mir
