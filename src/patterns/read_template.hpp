// Reads regions whose ops, types and attributes contain variables: those of patterns, and those of
// ops that a text declares.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/op_places.hpp"
#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "patterns/template.hpp"

namespace mir::patterns {

class TemplateReader : protected Scope {
 protected:
  struct Wording {
    DiagCode code{};
    std::string_view noun;  ///< "a pattern"
    bool is_pattern = true;
  };
  TemplateReader(IRContext& context, Diagnostics& diagnostics, const Wording& wording)
      : context_(context),
        diagnostics_(diagnostics),
        code_(wording.code),
        noun_(wording.noun),
        is_pattern_(wording.is_pattern) {}
  ~TemplateReader() override = default;

  /// Reports, at the attribute that is read if there is one; false.
  bool refuse(Span at, std::string message);
  /// True if a value may have this attribute besides `constant`.
  virtual bool takes_mark(const Value&, const NamedAttr&) { return false; }
  /// An op as the template has it.
  struct NamedOp {
    OpKind kind;
    const OpKindInfo* info;
    Symbol device;
  };
  virtual NamedOp named(const Op& op) { return {op.kind(), &op.info(), op.device()}; }
  /// How many values an input stands for.
  virtual std::uint32_t copies_of(const Value&) { return 1; }

  // -- variables ----------------------------------------------------------------------------------

  /// The number of a variable, which may be new.
  std::uint32_t number_of(std::string_view name);
  /// In a match, an expression may stand before what binds its variables.
  std::optional<std::uint32_t> variable(std::string_view name) override;
  /// A variable at a place that binds it in a match and uses it elsewhere.
  std::optional<std::uint32_t> bare_variable(std::string_view name, Span at);
  std::optional<Expression> expression(std::string_view text, Span at);
  /// Reads the text, or the extent, of a `let` or a `where`.
  std::optional<Expression> expression(const Attr& stated, Span at);

  // -- attributes and types -----------------------------------------------------------------------

  std::optional<AttributeTemplate> attribute(const Attr& value, Span at);
  std::optional<AttributeTemplate> dialect_attribute(const Attr& value, Span at);
  std::optional<AttributeTemplate> list(AttributeTemplate made, std::span<const Attr* const> parts,
                                        Span at);
  std::optional<AttributeTemplate> checked_list(AttributeTemplate made, Span at);
  std::optional<AttributeTemplate> extent(Dim dim, Span at);
  std::optional<NameTemplate> name(Symbol name, Span at);
  std::optional<TypeTemplate> type(const Type* type, Span at);
  std::optional<TypeTemplate> dialect_type(const DialectType* type, Span at);

  // -- attributes `let` and `where` of an op ------------------------------------------------------

  bool read_lets(const Op& op);
  bool read_condition(const Attr& text, std::string_view reason, Span at);
  bool read_conditions(const Op& op);

  // -- regions ------------------------------------------------------------------------------------

  static std::string spelled(ValueName name, const IRContext& context);
  std::optional<std::uint32_t> add_value(const Value& value, GraphTemplate& graph, Span at);
  bool read_graph(const Region& region, GraphTemplate& graph);
  /// The two parts of it.
  bool read_inputs(const Block& block, GraphTemplate& graph);
  bool read_ops(const Region& region, GraphTemplate& graph);
  std::optional<std::uint32_t> operand(Value& value, GraphTemplate& graph, const Op& user);
  bool read_results(const Region& region, const Op& end, GraphTemplate& graph);
  std::optional<OpTemplate> read_op(const Op& op, GraphTemplate& graph);
  bool read_regions(const Op& op, OpTemplate& made, GraphTemplate& graph);
  bool read_region(const Region& region, OpTemplate::Region& made, GraphTemplate& graph);
  bool check_flow(const Op& op, const OpTemplate& made);
  /// Reports an op that no template can have; false.
  bool check_op(const Op& op, const NamedOp& named);
  bool read_attributes(const Op& op, OpTemplate& made);
  /// How often an op of a body runs, `repeat` and `only_if`.
  bool read_repeat(const Op& op, OpTemplate& made);
  bool read_only_if(const Op& op, OpTemplate& made);
  bool check_passed_on(const Op& op, std::string_view key);
  bool read_path(const Op& op, OpTemplate& made);
  bool read_path_variables(const Op& op, OpTemplate& made);

  IRContext& context_;
  Diagnostics& diagnostics_;
  std::string subject_{};  ///< begins messages: "pattern 'x'"
  std::vector<std::string> variables_{};
  std::vector<bool> is_bound_{};  ///< by variable: by a place of the match
  bool is_match_ = false;         ///< places bind variables
  std::vector<std::pair<std::uint32_t, Expression>> lets_{};
  std::vector<Condition> conditions_{};
  std::unordered_map<const Value*, std::uint32_t> numbers_{};
  std::unordered_set<const Value*> unread_{};  ///< results of ops with mistakes
  std::size_t depth_ = 0;                      ///< of regions around the op that is read

 private:
  /// The attribute that is read until the end of its life, for places of mistakes.
  class Reading {
   public:
    Reading(TemplateReader& reader, const Op& op, const AttributePlace& place) : reader_(reader) {
      reader_.read_op_ = &op;
      reader_.read_place_ = place;
    }
    ~Reading() { reader_.read_op_ = nullptr; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    TemplateReader& reader_;
  };

  DiagCode code_;
  const Op* read_op_ = nullptr;
  AttributePlace read_place_{};
  OpPlaces places_;
  std::string_view noun_;
  bool is_pattern_;
};

}  // namespace mir::patterns
