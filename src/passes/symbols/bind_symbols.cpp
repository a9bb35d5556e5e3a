// Gives symbolic extents values.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "ir/symbol_declarations.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/standard_passes.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

constexpr std::string_view kOption = "SYMBOL";

class SymbolBinding {
 public:
  explicit SymbolBinding(PassRun& run)
      : run_(run), context_(run.module().context()), rewriter_(run.module()) {}

  PassResult apply() {
    for (const auto& [name, value] : run_.options().keyed_integers(kOption)) {
      bindings_.bind(context_.intern(name.starts_with('$') ? name.substr(1) : name), value);
    }
    if (!check_declarations()) return PassResult::kFailed;
    drop_declarations();
    for_each_value(run_.module().body(), [&](Value& value, Op&) { bind(value); });
    for_each_op(run_.module().body(), [&](Op& op) { bind(op); });
    for_each_region(run_.module().body(), [&](Region& region) { bind(region); });
    for (const auto& [symbol, value] : bindings_.entries()) {
      if (!found_.contains(symbol)) refuse(symbol);
    }
    return has_failed_ ? PassResult::kFailed : run_.result();
  }

 private:
  /// No extent of the module has the symbol.
  void refuse(Symbol symbol) {
    NearestName nearest(context_.text(symbol));
    for (const Symbol each : seen_) nearest.offer(context_.text(each));
    Diagnostic& problem = run_.diagnostics().error(
        DiagCode::kPipeline, run_.module().top()->span(),
        fmt::format("no extent of the module has the symbol '{}'", context_.text(symbol)));
    suggest(problem, nearest.best());
    has_failed_ = true;
  }

  /// The head of the module may exclude a value.
  bool check_declarations() {
    for (const SymbolDeclaration& each : symbol_declarations(run_.module())) {
      const auto value = bindings_.find(each.name);
      if (!value || each.admits(*value)) continue;
      run_.diagnostics().error(DiagCode::kSymbolOutOfRange, run_.module().top()->span(),
                               fmt::format("'${}' is {} by the pass, its declaration admits {}",
                                           context_.text(each.name), *value, each.text()));
      return false;
    }
    return true;
  }

  /// A symbol without an extent needs no declaration.
  void drop_declarations() {
    Op& head = *run_.module().top();
    const Symbol key = context_.intern(kSymbolsKey);
    const Attr* symbols = head.attribute(key);
    if (symbols == nullptr || symbols->kind() != AttrKind::kDict) return;
    std::vector<NamedAttr> kept(symbols->entries().begin(), symbols->entries().end());
    std::erase_if(kept,
                  [&](const NamedAttr& each) { return bindings_.find(each.key).has_value(); });
    if (kept.size() == symbols->entries().size()) return;
    if (!kept.empty()) return rewriter_.set_attribute(head, key, context_.dict(kept));
    rewriter_.remove_attribute(head, key);
  }

  Dim bound(Dim dim) {
    if (dim.is_constant() || dim.is_unknown()) return dim;
    for (const Symbol symbol : context_.dims().symbols(dim)) {
      seen_.insert(symbol);
      if (bindings_.find(symbol)) found_.insert(symbol);
    }
    const Dim result = context_.dims().substitute(dim, bindings_);
    if (result.is_constant() && result.constant() < 0 && !has_failed_) {
      run_.diagnostics().error(
          DiagCode::kPipeline, run_.module().top()->span(),
          fmt::format("extent {} is {}", context_.dims().print(dim), result.constant()));
      has_failed_ = true;
    }
    return result;
  }

  const Type* bound(const Type* type) {
    const auto* tensor = type == nullptr ? nullptr : dyn_cast<TensorType>(type);
    if (tensor == nullptr || tensor->has_static_shape()) return type;
    std::vector<Dim> dims;
    for (const Dim dim : tensor->dims()) dims.push_back(bound(dim));
    if (std::ranges::equal(dims, tensor->dims())) return type;
    return context_.tensor(dims, tensor->dtype_name(), tensor->device(), tensor->encoding());
  }

  const Attr* bound(const Attr* attribute) {
    switch (attribute->kind()) {
      case AttrKind::kDim:
        return context_.dim(bound(attribute->dim()));
      case AttrKind::kArray: {
        std::vector<const Attr*> elements;
        for (const Attr* each : attribute->elements()) elements.push_back(bound(each));
        return std::ranges::equal(elements, attribute->elements()) ? attribute
                                                                   : context_.array(elements);
      }
      case AttrKind::kDict: {
        std::vector<NamedAttr> entries = bound(attribute->entries());
        return std::ranges::equal(entries, attribute->entries()) ? attribute
                                                                 : context_.dict(entries);
      }
      default:
        return attribute;
    }
  }

  std::vector<NamedAttr> bound(std::span<const NamedAttr> list) {
    std::vector<NamedAttr> made;
    for (const NamedAttr& each : list) made.push_back({each.key, bound(each.value)});
    return made;
  }

  void bind(Value& value) {
    const Type* type = bound(value.type());
    if (type != value.type()) rewriter_.set_type(value, type);
    const auto attributes = bound(value.attributes());
    if (!std::ranges::equal(attributes, value.attributes())) {
      rewriter_.set_attributes(value, attributes);
    }
  }

  void bind(Op& op) {
    const auto attributes = bound(op.attributes());
    if (!std::ranges::equal(attributes, op.attributes())) rewriter_.set_attributes(op, attributes);
  }

  void bind(Region& region) {
    std::vector<const Type*> types;
    for (const Type* each : region.result_types()) types.push_back(bound(each));
    if (!std::ranges::equal(types, region.result_types())) {
      rewriter_.set_result_types(region, types);
    }
  }

  PassRun& run_;
  IRContext& context_;
  Rewriter rewriter_;
  DimBindings bindings_;
  std::set<Symbol> seen_, found_;
  bool has_failed_ = false;
};

constexpr std::string_view kSymbolicExtent =
    R"(@main [mir_version:1] (%x:tensor<[1, $S, 8], Float32, CPU>) -> (%y:tensor<[$S, 8], Float32, CPU>) {
    linalg.CPU.ViewOp [to_shape:[$S, 8]] (%x) -> (%y:tensor<[$S, 8], Float32, CPU>)
    cf.ReturnOp (%y) -> ()
}
)";

}  // namespace

Pass bind_symbols_pass() {
  return {.name = "bind-symbols",
          .summary = "replaces symbols of extents by numbers: bind-symbols{S=4}",
          .takes = PassForm::kPortable,
          .options = {{.name = std::string(kOption),
                       .kind = PassOption::Kind::kInteger,
                       .is_keyed = true,
                       .summary = "the value of the symbol `$SYMBOL`",
                       .least = 0}},
          .preserves = AnalysisSet::of<Dominance, CallGraph, Liveness, Aliases>(),
          .example = std::string(kSymbolicExtent),
          .example_options = "S=4",
          .run = [](PassRun& run) { return SymbolBinding(run).apply(); }};
}

}  // namespace mir
