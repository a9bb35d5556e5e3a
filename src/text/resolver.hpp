// State of one resolution; resolve.cpp drives it, node by node.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ir/context/value_reader.hpp"
#include "ir/extent_prover.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"
#include "mir/rewriter.hpp"
#include "support/unique_table.hpp"
#include "text/damaged_text.hpp"
#include "text/implied_attributes.hpp"
#include "text/type_mentions.hpp"
#include "text/value_scopes.hpp"

namespace mir {

class Resolver::State : private ValueReader {
 public:
  State(IRContext& context, const SourceFile& file, Diagnostics& diagnostics);
  ~State() override;

  void add(const Unit& unit);
  void note_types(TypeMentions& mentions) { types_noted_ = &mentions; }
  std::vector<Module*> finish() {
    rewriter_.reset();
    return std::move(modules_);
  }

 private:
  /// A value as one place of the text mentions it.
  struct Mention {
    ValueName name;
    ValueName port;              // none: left out
    const Type* type = nullptr;  // null: left out
    Symbol symbol;
    bool has_symbol = false;
    std::uint32_t first_attribute = 0;  // into mention_attributes_
    std::uint32_t attribute_count = 0;
    std::uint32_t token = 0;
    std::optional<std::uint32_t> rest{};  // number of attributes before `*`
    std::uint32_t rest_token = 0;
  };
  struct MentionList {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  /// The op whose head is being read.
  struct Head {
    bool open = false;
    bool damaged = false;
    OpName name;
    std::uint32_t token = 0;
    Location location;
    bool has_symbol = false, has_path = false, square_path = false, has_signature = false;
    bool has_attribute_list = false;
    Symbol symbol, path;
    std::optional<Symbol> label;
    std::optional<std::uint64_t> address;
    MentionList operands, results;
    std::vector<NamedAttr> attributes;
    std::optional<std::size_t> rest;  // number of attributes before `*`
    std::uint32_t rest_token = 0;
    std::vector<SourcePos> keys;  // of the attributes, where they are noted
    std::vector<Symbol> angles;
    std::vector<Symbol> successors;
    std::vector<MentionList> successor_operands;

    /// Lists keep their room.
    void reset() {
      open = damaged = has_symbol = has_path = square_path = has_signature = has_attribute_list =
          false;
      symbol = path = {};
      label.reset();
      address.reset();
      operands = results = {};
      attributes.clear();
      rest.reset();
      keys.clear();
      angles.clear();
      successors.clear();
      successor_operands.clear();
    }
  };
  /// An op with results whose types other values or text below it tell.
  struct WaitingOp {
    Op* op;
    std::uint32_t first_result = 0;  // into waiting_results_
    std::uint32_t result_count = 0;
  };
  struct WaitingResult {
    Value* value;
    Span at;  // of its mention
  };
  static constexpr std::size_t kUnnoted = ~std::size_t{0};
  /// A mention with a type of a value that has none so far.
  struct TypedMention {
    Value* value;
    const Type* type;
    Span at;
    std::size_t number = kUnnoted;  // of the noted mention
  };
  class Worklist;
  /// A pair of braces, or the braces of a region with a signature inside them.
  struct OpenBody {
    Op* op;
    Region* region = nullptr;  // made when the first op, block or signature asks for it
    Block* block = nullptr;
    bool has_regions = false;        // regions with signatures
    std::vector<Op*> branches = {};  // ops that go on to blocks of the region
  };

  void node(const Node& node);
  void alias(const Node& node);
  void nesting(const Node& node);
  // parts of heads
  void address(const Node& node);
  void angle(const Node& node);
  void path(const Node& node);
  void mention_attributes(const Node& node);
  void port(const Node& node);
  void mention_list(const Node& node);
  void attribute_list(const Node& node);
  void successor(const Node& node);
  void stated_location(const Node& node);
  // values and types
  void will_read_type_alias(std::uint32_t token) override;
  void check_type_alias(std::uint32_t token);
  // short forms
  void did_read_short_form(std::uint32_t token) override;
  void check_short_form(std::uint32_t token);
  void report_version(std::uint32_t token, std::string message);
  const Op* graph_around() const;
  OpName op_name(std::string_view spelling);
  Symbol relative_path(std::uint32_t token);
  std::optional<std::uint32_t> take_rest(std::span<const NamedAttr> list,
                                         std::vector<SourcePos>& keys);
  void complete(Mention& mention, std::span<const NamedAttr> implied);
  void complete_definition(Mention& mention);
  void complete_use(Mention& mention);
  void complete_head();
  OpSurroundings surroundings() const;
  void report_empty_rest(std::uint32_t token);
  void note_definition(const Mention& mention);
  void note_use(const Mention& mention, const Value& value);
  void note_path(std::uint32_t token, std::string_view spelling);
  void note_name();
  void note_implied();
  void mention(const Node& node);
  ValueName name_from_text(std::string_view text);
  // attributes
  void report_unquoted(std::uint32_t token);
  const OpRow* row_of_head() const;
  bool hides_version(std::uint32_t token) const;
  /// Reports text without quotes where the module is portable, which its own list says at its end.
  void did_read_unquoted(std::uint32_t token) override;
  // ops
  void begin_head(const Node& node);
  // text that cannot be read
  bool is_damaged(std::uint32_t token) const {
    return unit_->tokens()[token].kind() == TokenKind::kError;
  }
  void begin_damaged_head(const Node& node);
  void note_damage(std::uint32_t token);
  void end_damaged_op();
  void begin_damaged_module(const Node& node);
  Op* make_op();
  bool implies_symbol() const;
  void imply_symbol();
  void set_head(Op& op);
  void set_successors(Op& op, std::uint32_t first_operand);
  void collect_operands(MentionList list, Region& region);
  std::optional<std::vector<const Type*>> inferred_types(std::size_t count,
                                                         Diagnostics& diagnostics);
  ExtentProver* prover_of_module();
  bool may_wait() const;
  bool infer_missing_types(std::vector<const Type*>& types);
  void report_refusal(Diagnostics&& found, Span name, const OpKindInfo& op);
  void wait_for_types(Op& op);
  std::vector<const Type*> types_of_read(const Op& op, Diagnostics& diagnostics);
  void settle_types();
  void settle_signatures();
  void note_operand(const Mention& mention, const Value& value);
  void note_free(const Mention& mention, const Value& value);
  void note_results(const Op& op);
  const Type* type_in_template(const Type* type);
  Value* use(const Mention& mention, Region& region);
  void check_mention(const Mention& mention, Value& value);
  void define(Value& value, const Mention& mention);
  void attach_uses(Op* op, std::uint32_t first_operand, MentionList list);
  std::span<const NamedAttr> attributes_of(const Mention& mention) const;
  void set_mention_parts(Value& value, const Mention& mention);
  // regions
  void begin_body(const Node& node);
  void begin_region(const Node& node);
  void end_region();
  void end_body();
  void leave();
  void begin_block(const Node& node);
  Block* make_block(Region& region, MentionList arguments, Symbol name);
  void forget_mentions();
  std::vector<RegionResult> region_results(MentionList list);
  void read_ports(Region& region);
  void state_ports(Region& region);
  void suggest_value(Diagnostic& diagnostic, const Value& value);
  /// A name like `%x_2` that the unit at hand does not have yet; empty if none is found.
  std::string unused_name(std::string_view name) const;
  void settle_free_values(Region& region);
  bool pass_on(Value& value, const Region& region);
  void define_passed_on();
  void settle_successors(const Region& region, std::span<Op* const> branches);
  Region& current_region();
  Block& current_block();
  // modules
  void begin_module(const Node& node);
  void end_module();

  Location location(std::uint32_t token) const {
    return context_.locations().position(unit_->span(token).begin);
  }
  /// The location of an op at `position` that ends with this `loc(...)`.
  Location stated_location(Location position, std::uint32_t token);

  std::string_view lent_before_;  // to the context
  Module* module_ = nullptr;
  std::optional<Rewriter> rewriter_;    // of that module, which may go once it is read
  const Module* proved_ = nullptr;      // the module that prover_ is of
  std::optional<ExtentProver> prover_;  // none if that module declares no symbols
  std::vector<std::uint32_t>
      head_aliases_;                     // of types, before the module or alias that they belong to
  std::vector<std::uint32_t> unquoted_;  // tokens in the list of the module that begins
  bool has_type_aliases_ = false;        // above: in a dump, each name of an alias is defined then
  const Module* told_version_ = nullptr;  // the module whose version was reported to be too low
  bool is_foreign_ = false;  // of another version, whose ops need not be those of this one
  std::vector<Module*> modules_;

  Head head_;
  MentionList loose_operands_, loose_results_;  // lists that belong to a module, region or block
  std::vector<Mention> mentions_;
  std::vector<NamedAttr> mention_attributes_;
  std::vector<SourcePos> mention_keys_;          // parallel, where they are noted
  std::vector<SourcePos> list_keys_;             // of the list that is being read, likewise
  std::vector<std::uint32_t> head_short_forms_;  // tokens before the module they belong to
  // Names without dialect and device mean others in each graph.
  TextTable<OpName> short_names_;
  const Op* named_in_ = nullptr;

  std::vector<Op*> open_ops_;  // ops whose bodies are being read
  std::vector<OpenBody> bodies_;
  std::vector<Value*> passed_on_;   // see pass_on(); until the scope of their region is open again
  const Type* any_type_ = nullptr;  // once there is a template
  ValueScopes scopes_;
  std::size_t undefined_count_ = 0;                  // of values in the unit at hand
  std::size_t redefined_count_ = 0;                  // likewise
  std::string_view unit_text_;                       // of that unit
  std::unordered_set<std::uint32_t> damaged_names_;  // raw names that damaged text mentions
  std::vector<WaitingOp> waiting_ops_;
  std::vector<WaitingResult> waiting_results_;
  std::vector<Region*> open_signatures_;  // of graphs, with results that have no type
  std::vector<TypedMention> typed_mentions_;
  // Ops of portable modules with the number of the noted mention of their first result.
  std::vector<std::pair<const Op*, std::size_t>> noted_ops_;
  TypeMentions* types_noted_ = nullptr;  // null: nobody asks

  TextTable<OpName> op_names_;
  std::vector<const Type*> type_scratch_;
  std::vector<Value*> value_scratch_;
};

}  // namespace mir
