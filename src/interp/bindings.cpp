// Which symbols of extents a module has.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>

#include "mir/module.hpp"
#include "mir/session.hpp"
#include "mir/walk.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

class SymbolWalk {
 public:
  explicit SymbolWalk(const Module& module) : context_(module.context()) {
    attributes(module.top()->attributes());
    for_each_op(module.body(), [&](const Op& op) { attributes(op.attributes()); });
    for_each_value(module.body(), [&](const Value& value, const Op&) { visit(value); });
  }

  std::set<std::string, std::less<>> symbols;

 private:
  void visit(const Value& value) {
    if (value.tensor_type() == nullptr) return;
    for (const Dim dim : value.tensor_type()->dims()) visit(dim);
  }

  void attributes(std::span<const NamedAttr> list) {
    for (const NamedAttr& each : list) {
      if (each.value != nullptr) visit(*each.value);  // null: an empty entry of an annotation
    }
  }

  void visit(const Attr& attribute) {
    visit(attribute.dim());
    for (const Attr* element : attribute.elements()) visit(*element);
    attributes(attribute.entries());
  }

  void visit(Dim dim) {
    for (const Symbol symbol : context_.dims().symbols(dim)) symbols.emplace(context_.text(symbol));
  }

  IRContext& context_;
};

}  // namespace

std::vector<std::string> extent_symbols(const Module& module) {
  const auto symbols = SymbolWalk(module).symbols;
  return {symbols.begin(), symbols.end()};
}

Result<void> check_bindings(const DimBindings& bindings, const Module& module) {
  if (bindings.entries().empty()) return {};
  const auto known = SymbolWalk(module).symbols;
  for (const auto& [symbol, value] : bindings.entries()) {
    const std::string_view name = module.context().text(symbol);
    if (known.contains(name)) continue;
    NearestName nearest(name);
    for (const std::string& each : known) nearest.offer(each);
    const std::string_view meant = nearest.best();
    const std::string hint = meant.empty() ? "" : fmt::format("; did you mean '${}'?", meant);
    const std::string all =
        known.empty() ? "it has none" : fmt::format("it has ${}", fmt::join(known, ", $"));
    return Error{DiagCode::kUsage,
                 fmt::format("no extent of module '{}' has '${}'; {}{}",
                             module.context().text(module.name()), name, all, hint)};
  }
  return {};
}

}  // namespace mir
