// Forms that leave a part of their meaning to the text around them.
//
// note [short forms]
// `.AddOp` has the device of its graph, `<.q_proj>` begins with the name of its graph, and `*` in a
// list stands for the attributes that follow from the text above: on the mention of an operand for
// those of its value, on any other value for its symbol, on an op for implied_attributes(). The IR
// has all of it in full, so only reading, short_text() and raise() know the forms.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/context/language_versions.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/names.hpp"
#include "mir/control_flow.hpp"
#include "support/arena.hpp"
#include "syntax/short_names.hpp"
#include "syntax/text_literal.hpp"
#include "text/resolver.hpp"

namespace mir {

// -- reading --------------------------------------------------------------------------------------

void Resolver::State::did_read_short_form(std::uint32_t token) {
  if (bodies_.empty()) {
    head_short_forms_.push_back(token);
  } else if (portable_) {
    check_short_form(token);
  }
}

/// Reports a form that the version of the module, which is portable, does not have.
void Resolver::State::check_short_form(std::uint32_t token) {
  if (is_foreign_ || module_->version() >= kImpliedTextVersion) return;
  report_version(token, fmt::format("'{}' needs mir_version:{}", text(token), kImpliedTextVersion));
}

/// Reports a form that is used in all of a short text, once for each module.
void Resolver::State::report_version(std::uint32_t token, std::string message) {
  if (std::exchange(told_version_, module_) == module_) return;
  diagnostics_.error(diag::kNeedsVersion, span(token), std::move(message));
}

/// An op of an unknown name may be a graph whose name is misspelt.
const Op* Resolver::State::graph_around() const {
  const auto nearest = [&](const auto& is_wanted) {
    const auto found = std::find_if(bodies_.rbegin(), bodies_.rend(),
                                    [&](const OpenBody& each) { return is_wanted(*each.op); });
    return found == bodies_.rend() ? nullptr : found->op;
  };
  const Op* const graph = nearest([](const Op& op) { return is_graph(op); });
  if (graph != nullptr) return graph;
  return nearest([](const Op& op) { return op.row() == nullptr && op.has_symbol(); });
}

Symbol Resolver::State::relative_path(std::uint32_t token) {
  did_read_short_form(token);
  const std::string_view name = relative_name(text(token));
  const Op* const graph = graph_around();
  if (graph == nullptr || !graph->has_symbol()) {
    if (is_foreign_) return context_.intern(name);
    diagnostics_.error(diag::kMalformedAttribute, span(token),
                       fmt::format("name '{}' is relative, but no graph is around the op", name));
    return context_.intern(name);
  }
  const std::string path = fmt::format("{}{}", context_.text(graph->symbol()), name);
  if (types_noted_ != nullptr) {
    const Symbol tag = context_.intern(
        fmt::format("<name={}>", portable_ ? quote(path) : fmt::format("\"{}\"", path)));
    types_noted_->longer.push_back({.at = span(token).begin, .text = context_.text(tag)});
  }
  return context_.intern(path);
}

/// The number of attributes before the `*` of a list; no value if it has none. Moves the places of
/// the keys of the others to `keys`, if they are noted.
std::optional<std::uint32_t> Resolver::State::take_rest(std::span<const NamedAttr> list,
                                                        std::vector<SourcePos>& keys) {
  std::optional<std::uint32_t> rest;
  const std::size_t first_key = types_noted_ == nullptr ? 0 : list_keys_.size() - list.size();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].value != nullptr) {
      if (types_noted_ != nullptr) keys.push_back(list_keys_[first_key + i]);
    } else if (!rest) {
      rest = static_cast<std::uint32_t>(i);
    } else {
      diagnostics_.error(diag::kDuplicateAttribute, span(rest_token_), "'*' occurs twice");
    }
  }
  list_keys_.resize(first_key);
  return rest;
}

void Resolver::State::report_empty_rest(std::uint32_t token) {
  if (is_foreign_) return;
  diagnostics_.error(diag::kMalformedAttribute, span(token),
                     "'*' stands for no attribute here: none follows from the text around it");
}

namespace {

/// The implied attributes whose keys the list does not state.
std::vector<NamedAttr> unstated(std::span<const NamedAttr> implied,
                                std::span<const NamedAttr> list) {
  std::vector<NamedAttr> result;
  for (const NamedAttr& each : implied) {
    if (find_attribute(list, each.key) == nullptr) result.push_back(each);
  }
  return result;
}

}  // namespace

/// Puts what is implied in the place of `*`.
void Resolver::State::complete(Mention& mention, std::span<const NamedAttr> implied) {
  const auto stated = attributes_of(mention);
  const std::vector<NamedAttr> list(stated.begin(), stated.end());
  const std::vector<NamedAttr> added = unstated(implied, list);
  const auto place = list.begin() + *mention.rest;
  mention.first_attribute = static_cast<std::uint32_t>(mention_attributes_.size());
  mention.attribute_count = static_cast<std::uint32_t>(list.size() + added.size());
  mention_attributes_.insert(mention_attributes_.end(), list.begin(), place);
  mention_attributes_.insert(mention_attributes_.end(), added.begin(), added.end());
  mention_attributes_.insert(mention_attributes_.end(), place, list.end());
  if (types_noted_ == nullptr) return;
  mention_keys_.resize(mention_attributes_.size());
  types_noted_->longer.push_back(
      {.at = span(mention.rest_token).begin, .kind = FormEdit::Kind::kRest, .attributes = added});
}

void Resolver::State::complete_definition(Mention& mention) {
  if (!mention.rest) return;
  if (!mention.has_symbol) return report_empty_rest(mention.rest_token);
  const NamedAttr symbol =
      module_ == nullptr || bodies_.empty()
          ? NamedAttr{key::kSymbol, context_.word(context_.text(mention.symbol))}
          : symbol_attribute(*module_, mention.symbol);
  complete(mention, {&symbol, 1});
}

void Resolver::State::complete_use(Mention& mention) {
  if (!mention.rest) return;
  const Value* const value = scopes_.find(mention.name);
  if (value == nullptr) return complete_definition(mention);
  const bool takes_symbol = !mention.has_symbol && value->has_symbol();
  if (value->attributes().empty() && !takes_symbol) return report_empty_rest(mention.rest_token);
  complete(mention, value->attributes());
  if (!takes_symbol) return;
  mention.symbol = value->symbol();
  mention.has_symbol = true;
  if (types_noted_ == nullptr) return;
  types_noted_->longer.back().symbol = value->symbol();
  types_noted_->longer.back().has_symbol = true;
}

OpSurroundings Resolver::State::surroundings() const {
  OpSurroundings of{.module = *module_,
                    .name = head_.name,
                    .path = head_.path,
                    .symbol = {},
                    .operand_recipes = {},
                    .result_recipes = {}};
  const auto recipe_of = [&](const Mention& mention) {
    return find_attribute(attributes_of(mention), key::kQuantRecipe);
  };
  for (std::uint32_t i = 0; i < head_.operands.count; ++i) {
    const Attr* stated = recipe_of(mentions_[head_.operands.first + i]);
    if (stated == nullptr && portable_) stated = value_scratch_[i]->attribute(key::kQuantRecipe);
    of.operand_recipes.push_back(stated);
  }
  for (std::uint32_t i = 0; i < head_.results.count; ++i) {
    of.result_recipes.push_back(recipe_of(mentions_[head_.results.first + i]));
  }
  const OpId id = head_.name.kind.op();
  if (id == OpId::kTensorRegister && head_.results.count == 1) {
    const Mention& parameter = mentions_[head_.results.first];
    if (parameter.has_symbol) of.symbol = parameter.symbol;
  } else if (head_.has_symbol && (id == OpId::kGraphSubGraph || id == OpId::kProgFragment)) {
    of.symbol = head_.symbol;
  }
  return of;
}

void Resolver::State::complete_head() {
  if (!head_.rest) return;
  const std::vector<NamedAttr> added =
      unstated(implied_attributes(surroundings()), head_.attributes);
  if (added.empty()) {
    if (head_.name.info->row != nullptr) report_empty_rest(head_.rest_token);
    return;
  }
  head_.attributes.insert(head_.attributes.begin() + static_cast<std::ptrdiff_t>(*head_.rest),
                          added.begin(), added.end());
  if (types_noted_ == nullptr) return;
  types_noted_->longer.push_back(
      {.at = span(head_.rest_token).begin, .kind = FormEdit::Kind::kRest, .attributes = added});
}

// -- what can be written shorter ------------------------------------------------------------------

/// A value that is defined here may leave its symbol to `*`.
void Resolver::State::note_definition(const Mention& mention) {
  if (mention.rest || !mention.has_symbol || is_foreign_) return;
  const auto list = attributes_of(mention);
  const NamedAttr implied = symbol_attribute(*module_, mention.symbol);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].key != implied.key || list[i].value != implied.value) continue;
    const std::size_t at = mention.first_attribute + i;
    const bool is_last = i + 1 == list.size();
    types_noted_->shorter.push_back({.at = mention_keys_[at],
                                     .end = is_last ? 0 : mention_keys_[at + 1],
                                     .kind = FormEdit::Kind::kImplied});
  }
}

/// The mention of an operand in a dump repeats the lists of its value.
void Resolver::State::note_use(const Mention& mention, const Value& value) {
  const auto list = attributes_of(mention);
  const bool is_same = mention.has_symbol == value.has_symbol() &&
                       (!mention.has_symbol || mention.symbol == value.symbol()) &&
                       std::ranges::equal(list, value.attributes());
  if (portable_ || is_foreign_ || mention.rest || !is_same) return;
  if (list.empty() && !mention.has_symbol) return;
  types_noted_->shorter.push_back(
      {.at = span(mention.token).begin, .kind = FormEdit::Kind::kSameAsValue});
}

/// The name of an op may begin with that of its graph.
void Resolver::State::note_path(std::uint32_t token, std::string_view spelling) {
  const Op* const graph = graph_around();
  if (is_foreign_ || graph == nullptr || head_.square_path) return;
  if (context_.text(head_.path) != spelling) return;  // escaped
  const auto name = name_in_graph(spelling, context_.text(graph->symbol()));
  if (name.empty()) return;
  const Symbol tag = context_.intern(fmt::format("<{}>", name));
  types_noted_->shorter.push_back({.at = span(token).begin, .text = context_.text(tag)});
}

void Resolver::State::note_name() {
  if (is_foreign_) return;
  const std::string_view spelling = text(head_.token);
  const Op* const graph = graph_around();
  const SourcePos at = span(head_.token).begin;
  if (is_short_op_name(spelling)) {
    types_noted_->longer.push_back({.at = at, .text = context_.text(head_.name.spelling)});
  } else if (const auto name = short_op_name(spelling, device_in(graph)); !name.empty()) {
    types_noted_->shorter.push_back({.at = at, .text = name});
  }
}

/// Notes the longest way to say less: all attributes that follow from the text, one after another.
void Resolver::State::note_implied() {
  if (head_.rest || head_.attributes.empty() || is_foreign_) return;
  std::vector<NamedAttr> implied = implied_attributes(surroundings());
  const auto is_absent = [&](const NamedAttr& each) {
    return find_attribute(head_.attributes, each.key) == nullptr;
  };
  if (std::ranges::any_of(implied, is_absent)) return;
  std::erase_if(implied, [&](const NamedAttr& each) {
    return find_attribute(head_.attributes, each.key) != each.value;
  });
  const bool is_implied_anyway = portable_ && head_.name.kind == OpId::kTensorRegister;
  if (implied.empty() || is_implied_anyway) return;
  const auto is_same = [](const NamedAttr& a, const NamedAttr& b) {
    return a.key == b.key && a.value == b.value;
  };
  const auto first = std::search(head_.attributes.begin(), head_.attributes.end(), implied.begin(),
                                 implied.end(), is_same);
  if (first == head_.attributes.end()) return;
  const auto begin = static_cast<std::size_t>(first - head_.attributes.begin());
  const std::size_t end = begin + implied.size();
  types_noted_->shorter.push_back({.at = head_.keys[begin],
                                   .end = end < head_.keys.size() ? head_.keys[end] : 0,
                                   .kind = FormEdit::Kind::kImplied});
}

}  // namespace mir
