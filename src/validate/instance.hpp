// Modules that a pattern matches, drawn at random.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mir/tensor.hpp"
#include "patterns/pattern.hpp"
#include "patterns/unify.hpp"
#include "validate/draw.hpp"

namespace mir::validate {

/// One choice of types, attributes and constants for the first region of a pattern.
struct Instance {
  struct Input {
    DType dtype;
    Shape shape;
  };
  /// A portable module `@main` with the ops of the region, in their order, after an `@init` if they
  /// have weights.
  std::string text;
  /// Likewise, but equal extents of inputs are one symbol each, or `?`, and results have no types.
  std::string symbolic_text;
  std::vector<Input> inputs;
  /// Values drawn for attributes that the pattern leaves open: "keep_dim:true", "no keep_dim".
  std::vector<std::string> choices;
};

/// A list of integers as an attribute.
const Attr* list_of(std::span<const std::int64_t> values, IRContext& context);

/// Draws instances. Values that the conditions of the pattern compare with are drawn more often.
class InstanceDrawer {
 public:
  InstanceDrawer(const patterns::Pattern& pattern, IRContext& context, Draw& draw);

  /// Returns no value if the ops do not accept the drawn operands, which is likely: try again.
  /// `size` from 0 to 4 limits ranks and extents; with 4 some exceed the width of vectors.
  std::optional<Instance> draw(int size);
  /// Type that inputs of following instances have more often than others, and rank of the inputs
  /// whose rank is open; no value for none.
  void prefer(std::optional<DType> dtype, std::optional<std::size_t> rank = std::nullopt) {
    preferred_dtype_ = dtype;
    preferred_rank_ = rank;
  }
  /// Element types that can be drawn.
  static std::span<const DType> dtypes();
  /// All values that Instance::choices can have.
  std::vector<std::string> possible_choices() const;
  /// Like draw(), with this type for the only input; its extents are those of one pack or one
  /// variable.
  std::optional<Instance> draw_with(DType dtype, std::int64_t extent);

 private:
  void collect(const patterns::Expression& expression);
  void collect_extents(const patterns::AttributeTemplate& extents);
  std::optional<Instance> draw_graph();
  bool draw_inputs();
  bool draw_op(const patterns::OpTemplate& op);
  bool infer_results(const patterns::OpTemplate& op);
  bool draw_attributes(const patterns::OpTemplate& op);
  bool draw_others(const patterns::OpTemplate& op, const TensorType* operand);
  bool draw_value(std::uint32_t value, const TensorType* like);
  bool draw_constant(std::uint32_t value);
  const TensorType* draw_type(const patterns::TypeTemplate& wanted, const TensorType* like);
  const TensorType* any_type(const TensorType* like);
  bool bind_name(const patterns::NameTemplate& name, const Attr* drawn);
  const Attr* draw_attribute(const AttrRow& row, const TensorType* operand, std::size_t results);
  std::int64_t draw_integer(const AttrRow& row, std::int64_t rank);
  const Attr* draw_list(const AttrRow& row, const TensorType* operand, std::size_t results);
  const Attr* stated_extents(const patterns::OpTemplate& op,
                             const patterns::AttributeTemplate& wanted);
  const Attr* draw_bounds(const patterns::AttributeTemplate& wanted, const TensorType* operand);
  const Attr* draw_bound(const patterns::AttributeTemplate& bound, std::int64_t extent);
  const Attr* draw_slices(const TensorType* operand);
  const Attr* draw_number();
  std::int64_t draw_extent();
  DType draw_dtype();
  /// Random choices made for an op.
  struct Drawn {
    std::vector<NamedAttr> attributes;
    const Attr* name = nullptr;  ///< null: none
  };
  static bool needs_name(const patterns::OpTemplate& op);
  const Attr* draw_name(const patterns::OpTemplate& op);
  bool add_weights(const patterns::OpTemplate& op, std::string_view name);
  std::string init_graph() const;
  std::string module_text(bool is_symbolic);
  const TensorType* generalised(const TensorType& type);
  std::string spelled(const patterns::OpTemplate& op, const Drawn& drawn, bool is_symbolic,
                      std::vector<bool>& is_stated) const;
  std::string mention(std::uint32_t value, bool states) const;

  const patterns::Pattern& pattern_;
  const patterns::GraphTemplate& graph_;
  IRContext& context_;
  Draw& draw_;
  patterns::Unifier unifier_;
  std::vector<const TensorType*> types_;              // of the values
  std::vector<const Attr*> constants_;                // of the values
  std::vector<NamedAttr> attributes_;                 // of the op at hand
  std::vector<Drawn> drawn_;                          // by op
  std::map<std::string, const TensorType*> weights_;  // by symbol
  std::vector<std::int64_t> extents_;                 // drawn so far
  std::vector<std::int64_t> extents_of_pattern_;
  std::vector<std::int64_t> integers_;  // in conditions
  std::vector<double> numbers_;         // in conditions
  std::vector<DType> dtypes_;           // in conditions
  bool casts_ = false;                  // an op has an element type as an attribute
  int size_ = 0;
  std::optional<DType> preferred_dtype_;
  std::optional<std::size_t> preferred_rank_;
  std::optional<DType> forced_dtype_;
  std::optional<std::int64_t> forced_extent_;
};

}  // namespace mir::validate
