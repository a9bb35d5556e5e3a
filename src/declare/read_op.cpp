// Reads the declaration of one op: its signatures, row, effects and body.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "declare/reader.hpp"
#include "dialects/parameters.hpp"
#include "ir/context/row_checks.hpp"
#include "mir/codes/names.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"
#include "patterns/read_template.hpp"
#include "support/counted.hpp"

namespace mir::declare {

namespace {

using patterns::GraphTemplate;

/// The variable of a word, which may be written without `$`.
std::string variable_text(std::string_view word) {
  return word.starts_with('$') ? std::string(word) : fmt::format("${}", word);
}

/// Reads the signatures and bodies of one op. The numbers of variables are those of the whole
/// declaration; which of them are bound is a matter of each signature.
class SignatureReader : patterns::TemplateReader {
 public:
  SignatureReader(const Op& op, DeclaredOp& declared, Diagnostics& diagnostics)
      : TemplateReader(op.module().context(), diagnostics,
                       {.code = diag::kBadDeclaration, .noun = "a body", .is_pattern = false}),
        op_(op),
        declared_(declared) {
    subject_ = "'" + declared.name + "'";
    variables_ = declared.variables;
    is_bound_.resize(variables_.size());
  }

  /// The variables that attributes bind.
  void bind_attributes(std::span<const AttrRow> rows) {
    for (const AttrRow& row : rows) {
      const std::string variable = patterns::is_name_variable(row.name)
                                       ? std::string(row.name)
                                       : fmt::format("${}", row.name);
      declared_.attribute_variables.emplace_back(number_of(variable));
    }
    const bool has_name = std::ranges::find(rows, "name", &AttrRow::name) != rows.end();
    if (!has_name) declared_.path_variable = number_of(kOwnName);
    declared_.variables = variables_;
  }

  /// The variables that are lengths of caches.
  void bind_lengths(std::span<const std::string_view> names) {
    declared_.lengths = numbers_of(names);
    declared_.variables = variables_;
  }

  bool read_signature(const Region& region, std::span<const std::string_view> fresh) {
    const Block* block = region.entry();
    if (block == nullptr || block->next() != nullptr || !region.has_signature()) {
      return refuse(op_.span(), "a region of a declaration has a signature and at most one block");
    }
    begin(false);
    Signature made;
    made.has_body = block->front() != nullptr;
    is_match_ = true;
    if (!read_inputs(*block, made.body) || !add_operands(*block, made)) return false;
    is_match_ = false;
    for (const std::uint32_t each : numbers_of(fresh)) is_bound_[each] = true;
    for (const std::uint32_t each : declared_.lengths) is_bound_[each] = true;
    const bool has_lets = read_lets(op_), has_conditions = read_conditions(op_);
    if (!add_results(region, made) || !has_lets || !has_conditions) return false;
    made.lets = std::move(lets_);
    made.conditions = std::move(conditions_);
    declared_.signatures.push_back(std::move(made));
    declared_.variables = variables_;
    bound_.push_back(is_bound_);
    return true;
  }

  bool read_body(const Region& region, Signature& signature, const std::vector<bool>& bound,
                 const OpRowSpec& spec) {
    begin(true);
    is_bound_ = bound;
    is_bound_.resize(variables_.size());
    if (declared_.path_variable) is_bound_[*declared_.path_variable] = true;
    GraphTemplate body = std::move(signature.body);
    for (const Value& input : region.entry()->arguments()) numbers_.emplace(&input, input.index());
    if (!read_ops(region, body) || !check_weights(region, spec.weights)) return false;
    if (body.results.size() != signature.results.size()) {
      return refuse(op_.span(), fmt::format("the body returns {} values, the signature has {}",
                                            body.results.size(), signature.results.size()));
    }
    bool are_good = true;
    patterns::visit_ops(body.ops, [&](const patterns::OpTemplate& op) {
      are_good = are_good && check_many(op, signature, body) && check_run(op, spec.row.regions);
    });
    if (!are_good) return false;
    for (const patterns::ValueTemplate& value : body.values) {
      if (!value.constant || !value.type.is_any) continue;
      return refuse(op_.span(), fmt::format("constant '%{}' of a body needs a type", value.name));
    }
    // A tensor may hold such a value. What the body gives is compared with the signature later.
    for (const std::uint32_t each : body.results) {
      patterns::TypeTemplate& type = body.values[each].type;
      if (!body.values[each].is_input && (type.exact != nullptr || !type.kind.empty())) {
        type = {.is_any = true};
      }
    }
    signature.body = std::move(body);
    declared_.variables = variables_;
    return true;
  }

  /// Reads the extents of weights that are expressions: `[$C, 2*$h, 4]`. Words are read by rows.
  bool read_weights(std::span<const WeightRow> weights) {
    begin(false);
    is_match_ = false;
    for (const std::vector<bool>& each : bound_) {
      // An op may have any of its signatures.
      for (std::size_t i = 0; i < each.size(); ++i) {
        is_bound_[i] = each[i] && (is_bound_[i] || &each == &bound_.front());
      }
    }
    bool are_good = true;
    for (const WeightRow& weight : weights) {
      WeightShape shape{.suffix = std::string(weight.suffix)};
      bool has_expression = false;
      for (const std::string_view word : words_of_shape(weight.shape)) {
        WeightShape::Extent& extent = shape.extents.emplace_back();
        if (is_expression(word)) {
          extent.expression = expression(word, op_.span());
          are_good = are_good && extent.expression;
          has_expression = true;
        } else {
          extent.word = fmt::format("[{}]", word);
        }
      }
      if (has_expression) declared_.weights.push_back(std::move(shape));
    }
    return are_good;
  }

  /// True if the type of some result names each of these variables; false after reporting.
  bool check_fresh(std::span<const std::string_view> fresh) {
    if (fresh.empty()) return true;
    std::unordered_set<std::string> named;
    const auto note = [&](std::string_view variable) -> const Attr* {
      named.emplace(variable);
      return nullptr;
    };
    for (const Signature& each : declared_.signatures) {
      for (const Part& result : each.results) fill(result.type_text, note);
    }
    bool are_used = true;
    for (const std::string_view each : fresh) {
      const std::string name = variable_text(each);
      if (named.contains(name)) continue;
      are_used = refuse(op_.span(), fmt::format("'fresh' has '{}', and no result does", name));
    }
    return are_used;
  }

  std::vector<std::uint32_t> numbers_of(std::span<const std::string_view> variables) {
    std::vector<std::uint32_t> numbers;
    for (const std::string_view each : variables) numbers.push_back(number_of(variable_text(each)));
    return numbers;
  }

  /// By signature: the variables that are bound.
  std::vector<std::vector<bool>> take_bound() { return std::move(bound_); }

 private:
  void begin(bool is_body) {
    const std::size_t attributes = declared_.attribute_variables.size();
    is_bound_.assign(variables_.size(), false);
    for (std::size_t i = 0; i < attributes && !is_body; ++i) {
      is_bound_[*declared_.attribute_variables[i]] = true;
    }
    lets_.clear();
    conditions_.clear();
    numbers_.clear();
  }

  std::optional<std::uint32_t> value(std::string_view) override { return std::nullopt; }

  /// An expression in the type of an operand is solved for its variable.
  std::optional<std::uint32_t> variable(std::string_view name) override {
    if (!is_match_) return TemplateReader::variable(name);
    const std::uint32_t number = number_of(name);
    is_bound_[number] = true;
    return number;
  }

  bool takes_mark(const Value& value, const NamedAttr& mark) override {
    const std::string_view key = context_.text(mark.key);
    return value.is_argument() && (key == "optional" || key == "many") &&
           mark.value->kind() == AttrKind::kBool;
  }

  /// True if no operand with 'many' is an operand of an op that takes a fixed number; false after
  /// reporting. How control flows depends on the number of values.
  bool check_many(const patterns::OpTemplate& op, const Signature& signature,
                  const GraphTemplate& body) {
    const bool passes = !op.flow.empty() || has(op.info->row->traits, Trait::kTerminator);
    for (const std::uint32_t operand : op.operands) {
      const bool is_many =
          operand < signature.operands.size() && signature.operands[operand].is_many;
      if (!is_many || (op.info->row->operands.max == Arity::kMany && !passes)) continue;
      return refuse(op.at, passes
                               ? fmt::format("'%{}' is any number of operands, and '{}' passes a "
                                             "fixed number of values",
                                             body.values[operand].name, op.info->name)
                               : fmt::format("'%{}' is any number of operands, and '{}' takes at "
                                             "most {}",
                                             body.values[operand].name, op.info->name,
                                             op.info->row->operands.max));
    }
    return true;
  }

  /// True if the op may have the region that its body runs; false after reporting.
  bool check_run(const patterns::OpTemplate& op, Arity regions) {
    if (op.kind != OpId::kDialectRun) return true;
    const auto stated =
        std::ranges::find(op.attributes, "region", [](const auto& each) { return each.row->name; });
    const Attr* number = stated == op.attributes.end() ? nullptr : stated->value.literal;
    if (stated != op.attributes.end() && number == nullptr) return true;  // decided at each op
    const std::int64_t region = number == nullptr ? 0 : number->integer();
    if (regions.max == Arity::kMany || region < regions.max) return true;
    return refuse(op.at, fmt::format("'{}' runs region {}, and 'regions' of the declaration admits "
                                     "{}",
                                     op.info->name, region, regions.max));
  }

  /// True if ops with weights or state in the body have names of their own and, if the declaration
  /// lists weights, it lists these; false after reporting.
  bool check_weights(const Region& region, std::span<const WeightRow> weights) {
    bool are_good = true;
    for_each_op(region, [&](const Op& each) { are_good = check_names(each, weights) && are_good; });
    return are_good;
  }

  bool check_names(const Op& op, std::span<const WeightRow> weights) {
    const std::string_view path = context_.text(op.path());
    const bool is_own = path.substr(0, path.find('.')) == kOwnName;
    if (has(op.row()->effects, Effect::kReadsState | Effect::kWritesState)) {
      if (!is_own) {
        return refuse(op.span(), fmt::format("'{}' keeps state by its name; begin the name with "
                                             "'$name'",
                                             op.name()));
      }
      if (op.attribute(key::kCache) != nullptr) {
        return refuse(op.span(), fmt::format("'cache' of '{}' would name one state for all ops "
                                             "with this body; its name names the state",
                                             op.name()));
      }
    }
    if (op.row()->is_layer && !is_own) {
      return refuse(op.span(), fmt::format("'{}' has weights or state by its name; begin the name "
                                           "with '$name'",
                                           op.name()));
    }
    if (!op.has_path() || (path.starts_with('$') && !is_own)) return true;
    bool are_good = true;
    for (const WeightRow& weight : op.row()->weights) {
      if (!owns_parameter(*op.row(), weight, context_, op.attributes())) continue;
      if (!is_own) {
        return refuse(op.span(), fmt::format("'{}' would find its weights by the name '{}', "
                                             "whatever the op is called; begin the name with "
                                             "'$name'",
                                             op.name(), path));
      }
      if (!declared_.lists_weights) continue;
      const std::string suffix = std::string(path.substr(kOwnName.size())).append(weight.suffix);
      if (std::ranges::find(weights, suffix, &WeightRow::suffix) != weights.end()) continue;
      are_good = refuse(op.span(), fmt::format("'{}' has the weight '$name{}', which 'weights' of "
                                               "the declaration lacks",
                                               op.name(), suffix));
    }
    return are_good;
  }

  Part part(std::string_view name, const Type* type, std::span<const NamedAttr> marks,
            patterns::TypeTemplate shape) const {
    Part made{.name = std::string(name), .type = std::move(shape), .type_text = "any type"};
    if (type != nullptr && !made.type.is_any) made.type_text = type->spelling();
    for (const NamedAttr& each : marks) {
      const std::string_view key = context_.text(each.key);
      if (key == "optional") made.is_optional = each.value->boolean();
      if (key == "many") made.is_many = each.value->boolean();
    }
    return made;
  }

  bool add_operands(const Block& block, Signature& made) {
    for (const Value& input : block.arguments()) {
      patterns::ValueTemplate& value = made.body.values[input.index()];
      made.operands.push_back(part(value.name, input.type(), input.attributes(), value.type));
      const std::size_t many =
          static_cast<std::size_t>(std::ranges::count(made.operands, true, &Part::is_many));
      if (many > 1) return refuse(op_.span(), "a signature has at most one operand with 'many'");
    }
    const bool has_many = std::ranges::any_of(made.operands, &Part::is_many);
    bool was_optional = false;
    for (const Part& each : made.operands) {
      if (each.is_optional && has_many && !each.is_many) {
        return refuse(op_.span(),
                      fmt::format("'%{}' is optional beside an operand with 'many': which of them "
                                  "is absent could not be told",
                                  each.name));
      }
      if (was_optional && !each.is_optional) {
        return refuse(op_.span(),
                      fmt::format("'%{}' is required and follows an optional operand", each.name));
      }
      was_optional = each.is_optional && !each.is_many;
    }
    return true;
  }

  bool add_results(const Region& region, Signature& made) {
    for (const RegionResult& each : signature_results(region)) {
      auto shape = type(each.type, op_.span());
      if (!shape) return false;
      for (const NamedAttr& mark : each.attributes) {
        const std::string_view key = context_.text(mark.key);
        if (key == "many" || key == "optional") continue;
        return refuse(op_.span(),
                      fmt::format("a result has no mark '{}', only 'many' and 'optional'", key));
      }
      const bool was_optional = !made.results.empty() && made.results.back().is_optional;
      made.results.push_back(
          part(spelled(each.name, context_), each.type, each.attributes, *std::move(shape)));
      if (!was_optional || made.results.back().is_optional) continue;
      return refuse(op_.span(), fmt::format("'%{}' is required and follows an optional result",
                                            made.results.back().name));
    }
    const auto many = std::ranges::count(made.results, true, &Part::is_many);
    if (many > 1) return refuse(op_.span(), "a signature has at most one result with 'many'");
    for (const Part& each : made.results) {
      if (many == 0 || !each.is_optional || each.is_many) continue;
      return refuse(op_.span(), fmt::format("'%{}' is optional beside a result with 'many': which "
                                            "of them is absent could not be told",
                                            each.name));
    }
    return true;
  }

  const Op& op_;
  DeclaredOp& declared_;
  std::vector<std::vector<bool>> bound_;
};

Arity arity_of(const DeclaredOp& declared, std::vector<Part> Signature::*parts) {
  std::size_t least = Arity::kMany, most = 0;
  for (const Signature& each : declared.signatures) {
    const auto& list = each.*parts;
    const bool has_many = std::ranges::any_of(list, &Part::is_many);
    const auto required = static_cast<std::size_t>(
        std::ranges::count_if(list, [](const Part& one) { return !one.is_optional; }));
    least = std::min(least, required);
    most = std::max(most, has_many ? Arity::kMany : list.size());
  }
  return {static_cast<std::uint16_t>(std::min<std::size_t>(least, most)),
          static_cast<std::uint16_t>(most)};
}

void read_row(OpDraft& draft, RowReader& reader) {
  OpRow& row = draft.spec.row;
  draft.spec.attributes = reader.rows("attributes", false);
  draft.spec.weights = reader.weights(draft.spec.attributes);
  draft.spec.aliases = reader.words("aliases");
  row.traits = reader.traits();
  row.effects = reader.effects();
  row.regions = reader.arity("regions");
  row.successors = reader.arity("successors");
  row.type_name = reader.text("type_name");
  row.summary = reader.text("summary");
  row.example = reader.text("example");
}

/// The state that the effects touch is named by an attribute.
void read_resource(OpDraft& draft, RowReader& reader) {
  const std::string key(reader.text("resource"));
  if (key.empty()) return;
  const auto found = std::ranges::find(draft.spec.attributes, key, &AttrRow::name);
  if (found == draft.spec.attributes.end()) {
    reader.refuse(fmt::format("'resource' names '{}', which is no attribute of it", key),
                  {"resource"});
    return;
  }
  draft.spec.resource = [key](const Op& op) {
    const Attr* name = op.attribute(key);
    return name == nullptr ? Symbol{} : op.module().context().intern(name->text());
  };
}

/// Removes a part at fault from the lists of the row, of equal aliases the last one; an attribute
/// stays, and takes any value of its type. False if no list has such a part.
bool mend(OpRowSpec& spec, std::string_view part) {
  const auto alias = std::ranges::find(spec.aliases.rbegin(), spec.aliases.rend(), part);
  if (alias != spec.aliases.rend()) {
    spec.aliases.erase(std::next(alias).base());
    return true;
  }
  if (std::erase_if(spec.weights, [&](const WeightRow& each) { return each.suffix == part; }) > 0) {
    return true;
  }
  const auto attribute = std::ranges::find(spec.attributes, part, &AttrRow::name);
  if (attribute == spec.attributes.end()) return false;
  const AttrRow plain{.name = attribute->name, .type = attribute->type};
  const bool is_mended = !row_checks::fault_of(*attribute).empty();
  *attribute = plain;
  return is_mended;
}

/// Reports everything for which the row cannot be registered, and leaves it out, so that the op is
/// known where it is used. False if the row itself cannot be one.
bool make_sound(OpDraft& draft, RowReader& reader) {
  while (true) {
    OpRow whole = draft.spec.row;
    whole.attributes = draft.spec.attributes;
    whole.weights = draft.spec.weights;
    whole.aliases = draft.spec.aliases;
    const RowFault fault = row_checks::fault_of_all(std::span<const OpRow>(&whole, 1));
    if (!fault) return true;
    const std::string part(fault.part);
    const bool is_attribute = std::ranges::find(draft.spec.attributes, part, &AttrRow::name) !=
                              draft.spec.attributes.end();
    const AttributePlace place{.key = is_attribute ? std::string_view(part) : std::string_view(),
                               .in = "attributes"};
    reader.refuse(fmt::format("{}{}", part.empty() ? "" : fmt::format("'{}' ", part), fault.text),
                  place);
    if (part.empty() || !mend(draft.spec, part)) return false;
  }
}

/// True if the op has the operands and results that its traits and effects speak of; false after
/// reporting.
bool check_claims(const OpRow& row, RowReader& reader) {
  struct Claim {
    Trait trait{};
    Effect effect{};
    std::uint16_t operands = 1;  ///< at least so many
    bool has_one_result = false;
  };
  constexpr Claim kClaims[] = {
      {.trait = Trait::kSameShape},
      {.trait = Trait::kView},
      {.trait = Trait::kWeighsOperand},
      {.trait = Trait::kSameBytes, .has_one_result = true},
      {.trait = Trait::kIdempotent, .has_one_result = true},
      {.trait = Trait::kInvolution, .has_one_result = true},
      {.effect = Effect::kWritesOperand0},
      {.effect = Effect::kWritesOperand1, .operands = 2},
  };
  if (row.traits == Trait::kNone && row.effects == Effect::kNone) return true;
  bool are_good = true;
  const auto check = [&](const Claim& claim, std::string_view word) {
    const bool lacks_operand = row.operands.min < claim.operands;
    const bool lacks_result =
        claim.has_one_result && (row.results.min != 1 || row.results.max != 1);
    if (!lacks_operand && !lacks_result) return;
    are_good =
        reader.refuse(fmt::format("'{}' needs {}{}", word, counted(claim.operands, "operands"),
                                  claim.has_one_result ? " and one result" : ""));
  };
  for (const Claim& claim : kClaims) {
    for (const RowWord<Trait>& word : kTraitWords) {
      if (claim.trait == word.value && has(row.traits, word.value)) check(claim, word.name);
    }
    for (const RowWord<Effect>& word : kEffectWords) {
      if (claim.effect == word.value && has(row.effects, word.value)) check(claim, word.name);
    }
  }
  return are_good;
}

/// Sets the functions of the row that bodies and signatures give.
void set_functions(OpDraft& draft, RowReader& reader) {
  OpRow& row = draft.spec.row;
  const auto has_body = [](const Signature& each) { return each.has_body; };
  if (std::ranges::any_of(draft.declared->signatures, has_body)) {
    if (row.effects != Effect::kNone) {
      reader.refuse(
          "an op with a body has no effects of its own: they follow from the operations "
          "in the body");
      return;
    }
    set_effects(draft);
    draft.spec.body = [declared = draft.declared](const Op& each, std::span<Value* const> operands,
                                                  Rewriter& rewriter, Diagnostics& found) {
      return make_body(*declared, each, operands, rewriter, found);
    };
    draft.spec.try_body = [declared = draft.declared](const InferRequest& each, BodyTrial& trial) {
      return try_body(*declared, each, trial);
    };
    draft.spec.verify = [declared = draft.declared](VerifyContext& each) {
      return verify_body(*declared, each);
    };
  }
  if (!draft.declared->weights.empty()) {
    draft.spec.weight_dims = [declared = draft.declared](const InferRequest& each,
                                                         const WeightRow& weight) {
      return weight_dims(*declared, each, weight);
    };
  }
  draft.spec.infer = [declared = draft.declared](InferContext& each) {
    return infer_by_signature(*declared, each);
  };
}

}  // namespace

OpDraft read_op(const Op& op, std::string_view dialect, RowStore& store, Diagnostics& diagnostics) {
  OpDraft draft{.op = &op, .declared = std::make_shared<DeclaredOp>()};
  OpRow& row = draft.spec.row;
  row.name = op.module().context().text(op.symbol());
  draft.declared->name = fmt::format("{}.{}", dialect, row.name);
  // An op with a wrong declaration admits any operands and results, without further errors.
  row.operands = row.results = at_least(0);
  draft.spec.infer = [](InferContext&) { return false; };
  RowReader reader(op, "'" + draft.declared->name + "'", store, diagnostics);
  read_row(draft, reader);
  read_resource(draft, reader);
  draft.is_sound = make_sound(draft, reader);
  SignatureReader signatures(op, *draft.declared, diagnostics);
  signatures.bind_attributes(draft.spec.attributes);
  signatures.bind_lengths(reader.words("lengths"));
  draft.declared->lists_weights = op.attribute("weights") != nullptr;
  const auto fresh = reader.words("fresh");
  bool are_good = true;
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    are_good = signatures.read_signature(*region, fresh) && are_good;
  }
  are_good =
      are_good && signatures.check_fresh(fresh) && signatures.read_weights(draft.spec.weights);
  draft.bound = signatures.take_bound();
  draft.fresh = signatures.numbers_of(fresh);
  // A run compares what the data decide with the stated extents.
  if (!draft.fresh.empty()) row.traits = row.traits | Trait::kMayRefuse;
  if (op.first_region() == nullptr) {
    reader.refuse("a declaration has at least one region, whose signature is that of the op");
  }
  if (!are_good || !draft.is_sound || op.first_region() == nullptr) return draft;
  row.operands = arity_of(*draft.declared, &Signature::operands);
  row.results = arity_of(*draft.declared, &Signature::results);
  draft.has_signatures = true;
  draft.is_good = check_claims(row, reader) && !reader.has_failed();
  return draft;
}

void finish_op(OpDraft& draft, RowStore& store, Diagnostics& diagnostics) {
  if (!draft.is_good) return;
  RowReader reader(*draft.op, "'" + draft.declared->name + "'", store, diagnostics);
  set_functions(draft, reader);
  draft.is_good = !reader.has_failed();
}

void read_bodies(OpDraft& draft, Diagnostics& diagnostics) {
  if (!draft.has_signatures) return;
  SignatureReader reader(*draft.op, *draft.declared, diagnostics);
  std::size_t number = 0;
  for (const Region* region = draft.op->first_region(); region != nullptr;
       region = region->next(), ++number) {
    Signature& signature = draft.declared->signatures[number];
    if (!signature.has_body) continue;
    signature.has_body = reader.read_body(*region, signature, draft.bound[number], draft.spec);
  }
}

}  // namespace mir::declare
