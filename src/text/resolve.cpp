// Converts a syntax tree to IR, unit by unit.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "ir/context/context_state.hpp"
#include "ir/declares_dialect.hpp"
#include "mir/codes/names.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "syntax/damage.hpp"
#include "syntax/short_names.hpp"
#include "syntax/text_literal.hpp"
#include "text/resolver.hpp"

namespace mir {

Resolver::State::State(IRContext& context, const SourceFile& file, Diagnostics& diagnostics)
    : ValueReader(context, file, diagnostics) {
  if (context.sources().file_of(file.base()) == &file) lent_ = file.text();
  lent_before_ = context.state_->lend(lent_);
}

Resolver::State::~State() {
  context_.state_->lend(lent_before_);
}

void Resolver::State::add(const Unit& unit) {
  begin(unit);
  undefined_count_ = redefined_count_ = 0;
  const auto tokens = static_cast<std::uint32_t>(unit.tokens().size());
  unit_text_ = file_.slice({unit.span(0).begin, unit.span(tokens - 1).end});
  for (const Node& each : unit.nodes()) node(each);
}

void Resolver::State::node(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kOpName:
      return begin_head(node);
    case NodeKind::kAddress:
      return address(node);
    case NodeKind::kLabel:
      head_.label = symbol_from_text(text(node.token));
      return;
    case NodeKind::kSymbol:
      head_.symbol = symbol_from_text(text(node.token).substr(1));
      head_.has_symbol = true;
      return;
    case NodeKind::kAngle:
      return angle(node);
    case NodeKind::kName:
      return path(node);
    case NodeKind::kValue:
      return mention(node);
    case NodeKind::kValueSymbol:
      mentions_.back().symbol = symbol_from_text(text(node.token).substr(1));
      mentions_.back().has_symbol = true;
      return;
    case NodeKind::kValueAttributes:
      return mention_attributes(node);
    case NodeKind::kPort:
      return port(node);
    case NodeKind::kOperands:
    case NodeKind::kResults:
      return mention_list(node);
    case NodeKind::kSuccessor:
      return successor(node);
    case NodeKind::kSuccessors:
      return;
    case NodeKind::kLoc:
      return stated_location(node);
    case NodeKind::kAttributes:
      return attribute_list(node);
    case NodeKind::kAlias:
      return alias(node);
    case NodeKind::kAttribute:
      if (types_noted_ != nullptr) list_keys_.push_back(span(node.token).begin);
      [[fallthrough]];
    default:
      if (!read(node)) nesting(node);
  }
}

void Resolver::State::alias(const Node& node) {
  const Attr* value = pop_value();
  head_short_forms_.clear();
  for (const std::uint32_t token : std::exchange(head_aliases_, {})) {
    if (aliases_.find(text(token)) == nullptr) report_unknown_alias(token);
  }
  if (aliases_.find(text(node.token)) == nullptr) {
    has_type_aliases_ = has_type_aliases_ || text(node.token).starts_with('!');
    aliases_.insert(text(node.token), value);
  } else {
    diagnostics_.error(diag::kDuplicateAlias, span(node.token),
                       fmt::format("alias '{}' is defined twice", text(node.token)));
  }
}

/// Opens or closes a body, region, block or module.
void Resolver::State::nesting(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kBodyBegin:
      return begin_body(node);
    case NodeKind::kRegionBegin:
      return begin_region(node);
    case NodeKind::kRegionEnd:
      return end_region();
    case NodeKind::kBlock:
      return begin_block(node);
    case NodeKind::kBodyEnd:
      return end_body();
    case NodeKind::kOpEnd:
      if (head_.open && head_.damaged) {
        end_damaged_op();
      } else if (head_.open) {
        make_op();
      } else {
        open_ops_.pop_back();
      }
      return;
    case NodeKind::kModuleBegin:
      return begin_module(node);
    case NodeKind::kModuleEnd:
      return end_module();
    default:
      return;
  }
}

// -- parts of heads -------------------------------------------------------------------------------

void Resolver::State::address(const Node& node) {
  const std::string_view word = text(node.token);
  const std::string_view digits = word.substr(word.rfind('x') + 1);
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (error != std::errc()) {
    diagnostics_.error(diag::kMalformedAttribute, span(node.token),
                       fmt::format("address '{}' does not fit 64 bits", word));
  }
  head_.address = number;
}

void Resolver::State::angle(const Node& node) {
  std::string_view inner = text(node.token);
  inner = inner.substr(1, inner.size() - 2);
  const auto first = inner.find_first_not_of(" \t\r\n");
  inner =
      first == inner.npos ? "" : inner.substr(first, inner.find_last_not_of(" \t\r\n") - first + 1);
  head_.angles.push_back(context_.intern(inner));
}

void Resolver::State::path(const Node& node) {
  const std::string_view tag = text(node.token);
  head_.has_path = true;
  if (is_relative_tag(tag)) {
    head_.path = relative_path(node.token);
    return;
  }
  const auto open = tag.find('"');
  std::string_view quoted = tag.substr(open, tag.rfind('"') - open + 1);
  const auto plain = portable_ ? unquote(quoted) : std::nullopt;
  head_.path =
      plain ? context_.intern(*plain) : context_.intern(quoted.substr(1, quoted.size() - 2));
  head_.square_path = tag.front() == '[';
  if (types_noted_ != nullptr) note_path(node.token, quoted.substr(1, quoted.size() - 2));
}

void Resolver::State::mention_attributes(const Node& node) {
  Mention& last = mentions_.back();
  const auto list = pop_attributes(node.count());
  std::vector<SourcePos> keys;
  // Several lists on one mention continue each other.
  if (last.attribute_count == 0) {
    last.first_attribute = static_cast<std::uint32_t>(mention_attributes_.size());
  }
  if (const auto rest = take_rest(list, keys)) {
    last.rest = last.attribute_count + *rest;
    last.rest_token = rest_token_;
  }
  for (const NamedAttr& each : list) {
    if (each.value == nullptr) continue;
    mention_attributes_.push_back(each);
    ++last.attribute_count;
  }
  mention_keys_.insert(mention_keys_.end(), keys.begin(), keys.end());
}

void Resolver::State::port(const Node& node) {
  const Symbol name = symbol_from_text(text(node.token));
  mentions_.back().port = name_from_text(context_.text(name));
}

void Resolver::State::mention_list(const Node& node) {
  const MentionList list{static_cast<std::uint32_t>(mentions_.size()) - node.count(), node.count()};
  const bool operands = node.kind() == NodeKind::kOperands;
  for (Mention& each : std::span(mentions_).subspan(list.first)) {
    const bool is_use = operands && head_.open;
    if (!is_use) complete_definition(each);
  }
  if (portable_) {
    for (const Mention& each : std::span(mentions_).subspan(list.first)) {
      check_duplicates(attributes_of(each), each.token);
    }
  }
  if (head_.open && !head_.has_signature) {
    (operands ? head_.operands : head_.results) = list;
    if (!operands) head_.has_signature = true;
  } else {
    (operands ? loose_operands_ : loose_results_) = list;
  }
}

void Resolver::State::attribute_list(const Node& node) {
  auto list = pop_attributes(node.count());
  std::vector<SourcePos> keys;
  const auto rest = take_rest(list, keys);
  std::erase_if(list, [](const NamedAttr& each) { return each.value == nullptr; });
  if (rest && head_.open) {
    head_.rest = head_.attributes.size() + *rest;
    head_.rest_token = rest_token_;
  } else if (rest) {
    report_empty_rest(rest_token_);
  }
  if (!head_.open) {  // the module's own list stays pending, and rules what follows in its head
    portable_ = find_attribute(list, key::kMirVersion) != nullptr;
    for (const std::uint32_t token : unquoted_) {
      if (portable_ || hides_version(token)) report_unquoted(token);
    }
    unquoted_.clear();
    attributes_ = std::move(list);
    return;
  }
  head_.attributes.insert(head_.attributes.end(), list.begin(), list.end());
  head_.keys.insert(head_.keys.end(), keys.begin(), keys.end());
  if (portable_) check_duplicates(head_.attributes, node.token);  // of both places
  head_.has_attribute_list = true;
}

void Resolver::State::successor(const Node& node) {
  head_.successors.push_back(context_.intern(text(node.token).substr(1)));
  head_.successor_operands.push_back(loose_operands_);
}

void Resolver::State::stated_location(const Node& node) {
  if (head_.open) {
    head_.location = stated_location(head_.location, node.token);
  } else {  // after the op's bodies
    Op* op = open_ops_.back();
    op->location_ = stated_location(op->location(), node.token);
  }
}

// -- modules --------------------------------------------------------------------------------------

void Resolver::State::begin_module(const Node& node) {
  const auto attributes = pop_attributes(static_cast<std::uint32_t>(attributes_.size()));
  const auto head_aliases = std::exchange(head_aliases_, {});
  const auto head_short_forms = std::exchange(head_short_forms_, {});
  if (is_damaged(node.token)) return begin_damaged_module(node);
  module_ = &context_.create_module(context_.text(symbol_from_text(text(node.token).substr(1))));
  modules_.push_back(module_);
  rewriter_.emplace(*module_);
  Op* top = module_->top();
  rewriter_->set_location(*top, location(node.token));
  rewriter_->set_attributes(*top, attributes);
  portable_ = is_foreign_ = false;
  unquoted_.clear();
  if (const Attr* version = top->attribute(key::kMirVersion)) {
    const bool known = version->kind() == AttrKind::kInt &&
                       (version->spelling() == "1" || version->spelling() == "2");
    portable_ = known;  // what follows a foreign version may mean anything
    is_foreign_ = !known;
    if (!known) {
      diagnostics_.error(
          diag::kUnsupportedVersion, span(node.token),
          fmt::format("mir_version {} is not supported, this toolkit reads versions 1 and 2",
                      version->spelling()));
    }
    check_duplicates(attributes, node.token);
    rewriter_->set_version(known ? version->integer() : 1);
    if (known) {
      for (const std::uint32_t token : head_aliases) check_type_alias(token);
      for (const std::uint32_t token : head_short_forms) check_short_form(token);
    }
    rewriter_->set_attributes(*top, attributes);
  }
  Region& region = module_->body();
  bodies_.push_back({top, &region});
  scopes_.enter(true);
  bodies_.back().block = make_block(region, loose_operands_, {});
  rewriter_->state_results(region, region_results(loose_results_));
  read_ports(region);
  top->mark_as_read();
  forget_mentions();
}

void Resolver::State::end_module() {
  leave();
  settle_types();
  rewriter_.reset();
  damaged_names_.clear();
  short_names_ = {};
  named_in_ = nullptr;
  portable_ = false;
  if (!module_->is_portable() || !declares_dialect(*module_)) return;
  if (!context_.declare_dialect(*module_, diagnostics_)) return;
  // What names and types meant so far.
  op_names_ = {};
  types_ = {};
}

// -- the interface --------------------------------------------------------------------------------

Resolver::Resolver(IRContext& context, const SourceFile& file, Diagnostics& diagnostics)
    : state_(std::make_unique<State>(context, file, diagnostics)) {}
Resolver::~Resolver() = default;

void Resolver::add(const Unit& unit) {
  state_->add(unit);
}
std::vector<Module*> Resolver::finish() {
  return state_->finish();
}

std::vector<Module*> resolve(const SyntaxTree& tree, IRContext& context, Diagnostics& diagnostics) {
  Resolver resolver(context, tree.file(), diagnostics);
  for (const Unit& unit : tree.units()) resolver.add(unit);
  return resolver.finish();
}

std::vector<Module*> read_modules(const SourceFile& file, IRContext& context,
                                  Diagnostics& diagnostics) {
  Resolver resolver(context, file, diagnostics);
  parse_damaged_units(file, diagnostics, [&](Unit&& unit) {
    resolver.add(unit);
    return true;
  });
  return resolver.finish();
}

}  // namespace mir
