// Templates against what a module has.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "patterns/template.hpp"

namespace mir::patterns {

/// Binds the variables of templates to what stands at their places. Expressions wait until all is
/// bound. What was bound since a mark can be undone.
class Unifier {
 public:
  explicit Unifier(IRContext& context) : context_(context) {}

  /// An expression that must have this value once its variables are bound.
  struct Waiting {
    const Expression* expression;
    const Attr* found;
  };

  /// The default one is where nothing was bound.
  struct Mark {
    std::size_t variables = 0, waiting = 0;
  };
  Mark mark() const { return {trail_.size(), waiting_.size()}; }
  void undo(Mark to) {
    for (; trail_.size() > to.variables; trail_.pop_back()) {
      bindings_.variables[trail_.back()] = nullptr;
    }
    waiting_.resize(to.waiting);
  }

  // Each is false if the template cannot stand for what was found; then some variables may be
  // bound.
  bool bind(std::uint32_t variable, const Attr* value);
  /// `found` is null for an attribute that is absent and has no default.
  bool unify(const AttributeTemplate& wanted, const Attr* found);
  bool unify_list(std::span<const AttributeTemplate> wanted, std::span<const Attr* const> found);
  /// Solves expressions that wait for one more variable, as far as a value is found, and compares
  /// the others. Returns the first one that has another value; null if there is none.
  const Waiting* settle();
  /// `canonical` is another spelling of the name.
  bool unify_name(const NameTemplate& wanted, Symbol found, std::string_view canonical);
  bool unify_type(const TypeTemplate& wanted, const Type* found);
  bool unify_encoding(const TypeTemplate& wanted, const TensorType& found);

  /// The caller sets the sizes of the lists.
  Bindings& bindings() { return bindings_; }
  std::span<const Waiting> waiting() const { return waiting_; }

 private:
  /// The one variable of an expression that is not bound; no value if there are none or several.
  std::optional<std::uint32_t> only_open_variable(const Expression& expression) const;
  bool solve(const Waiting& waiting);
  /// The extent that an expression has with a value of its open variable, if it has one.
  using ValueAt = std::function<std::optional<Dim>(const Attr*)>;
  const Attr* solve_linear(Dim found, const ValueAt& value_at);
  const Attr* solve_increasing(Dim found, const ValueAt& value_at);
  bool unify_dict(const AttributeTemplate& wanted, const Attr& found);
  bool unify_all(std::span<const AttributeTemplate> wanted, std::span<const Attr* const> found);

  IRContext& context_;
  Bindings bindings_;
  std::vector<std::uint32_t> trail_;  // variables in the order in which they were bound
  std::vector<Waiting> waiting_;
};

}  // namespace mir::patterns
