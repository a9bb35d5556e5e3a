#include "mir/ir/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "mir/ir/infer.hpp"
#include "mir/syntax/layout.hpp"
#include "mir/syntax/parse.hpp"
#include "resolver.hpp"
#include "text_literal.hpp"

namespace mir {

Resolver::State::State(IRContext& context, const SourceFile& file, Diagnostics& diagnostics)
    : context_(context),
      file_(file),
      diagnostics_(diagnostics),
      constant_key_(context.intern("constant")),
      version_key_(context.intern("mir_version")) {}

void Resolver::State::add(const Unit& unit) {
  unit_ = &unit;
  for (const Node& each : unit.nodes()) node(each);
}

std::string_view Resolver::State::text(std::uint32_t token) const {
  return file_.slice(unit_->span(token));
}

void Resolver::State::node(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kOpName:
      return begin_head(node);
    case NodeKind::kAddress: {
      const std::string_view word = text(node.token);
      const std::string_view digits = word.substr(word.rfind('x') + 1);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), head_.extra.address, 16);
      if (error != std::errc()) {
        diagnostics_.error(DiagCode::kMalformedAttribute, span(node.token),
                           fmt::format("address '{}' does not fit 64 bits", word));
      }
      head_.extra.has_address = true;
      head_.has_extra = true;
      return;
    }
    case NodeKind::kLabel:
      head_.extra.label = symbol_from_text(text(node.token));
      head_.extra.has_label = head_.has_extra = true;
      return;
    case NodeKind::kSymbol:
      head_.symbol = symbol_from_text(text(node.token).substr(1));
      head_.has_symbol = true;
      return;
    case NodeKind::kAngle: {
      std::string_view inner = text(node.token);
      inner = inner.substr(1, inner.size() - 2);
      const auto first = inner.find_first_not_of(" \t\r\n");
      inner = first == inner.npos
                  ? ""
                  : inner.substr(first, inner.find_last_not_of(" \t\r\n") - first + 1);
      head_.angles.push_back(context_.intern(inner));
      head_.has_extra = true;
      return;
    }
    case NodeKind::kName: {
      const std::string_view tag = text(node.token);
      const auto open = tag.find('"');
      std::string_view quoted = tag.substr(open, tag.rfind('"') - open + 1);
      const auto plain = portable_ ? unquote(quoted) : std::nullopt;
      head_.path =
          plain ? context_.intern(*plain) : context_.intern(quoted.substr(1, quoted.size() - 2));
      head_.has_path = true;
      head_.square_path = tag.front() == '[';
      return;
    }
    case NodeKind::kType:
      if (unit_->tokens()[node.token].kind() == TokenKind::kOpaqueType) {
        pending_type_ = context_.opaque_type(text(node.token));
      } else if (node.count() == 1) {
        pending_type_ = checked(type_from_text(text(node.token)), node.token);
      } else {
        pending_type_ = checked(type_from_tokens(node.token, node.count(), nullptr), node.token);
      }
      return;
    case NodeKind::kEncodedType: {
      const Attr* encoding = pop_value();
      pending_type_ = checked(type_from_tokens(node.token, node.count(), encoding), node.token);
      return;
    }
    case NodeKind::kTypeValue:
      values_.push_back(pending_type_ == nullptr ? context_.null() : context_.type(pending_type_));
      pending_type_ = nullptr;
      return;
    case NodeKind::kValue:
      return mention(node);
    case NodeKind::kValueSymbol:
      mentions_.back().symbol = symbol_from_text(text(node.token).substr(1));
      mentions_.back().has_symbol = true;
      return;
    case NodeKind::kValueAttributes: {
      Mention& last = mentions_.back();
      const auto first = attributes_.end() - node.count();
      // Several lists on one mention continue each other.
      if (last.attribute_count == 0) {
        last.first_attribute = static_cast<std::uint32_t>(mention_attributes_.size());
      }
      mention_attributes_.insert(mention_attributes_.end(), first, attributes_.end());
      last.attribute_count += node.count();
      attributes_.erase(first, attributes_.end());
      if (portable_) check_duplicates(attributes_of(last), last.token);
      return;
    }
    case NodeKind::kOperands:
    case NodeKind::kResults: {
      const MentionList list{static_cast<std::uint32_t>(mentions_.size()) - node.count(),
                             node.count()};
      const bool operands = node.kind() == NodeKind::kOperands;
      if (head_.open && !head_.has_signature) {
        (operands ? head_.operands : head_.results) = list;
        if (!operands) head_.has_signature = true;
      } else {
        (operands ? loose_operands_ : loose_results_) = list;
      }
      return;
    }
    case NodeKind::kLeaf:
      values_.push_back(leaf(node));
      return;
    case NodeKind::kArray: {
      const auto first = values_.size() - node.count();
      const Attr* array = context_.array(std::span(values_).subspan(first));
      values_.resize(first);
      values_.push_back(array);
      return;
    }
    case NodeKind::kDictEntry:
    case NodeKind::kSlot:
    case NodeKind::kAttribute: {
      const Symbol key = key_from_text(text(node.token));
      const Attr* value = pop_value();
      attributes_.push_back({key, value});
      return;
    }
    case NodeKind::kEmptySlot:
      attributes_.push_back({});
      return;
    case NodeKind::kDict: {
      const auto entries = pop_attributes(node.count());
      check_duplicates(entries, node.token);
      values_.push_back(context_.dict(entries));
      return;
    }
    case NodeKind::kQuantAnnotation:
      values_.push_back(context_.quant_annotation(pop_attributes(node.count())));
      return;
    case NodeKind::kAttributes: {
      auto list = pop_attributes(node.count());
      if (!head_.open) {  // the module's own list stays pending
        attributes_ = std::move(list);
        return;
      }
      if (portable_) check_duplicates(list, node.token);
      head_.attributes.insert(head_.attributes.end(), list.begin(), list.end());
      head_.has_attribute_list = true;
      return;
    }
    case NodeKind::kSuccessor: {
      head_.successors.push_back(
          {context_.intern(text(node.token).substr(1)), 0, loose_operands_.count});
      head_.successor_operands.push_back(loose_operands_);
      head_.has_extra = true;
      return;
    }
    case NodeKind::kSuccessors:
      return;
    case NodeKind::kLoc:
      if (head_.open) {
        head_.location = stated_location(head_.location, node.token);
      } else {  // after the op's bodies
        Op* op = open_ops_.back();
        op->set_location(stated_location(op->location(), node.token));
        op->mark_as_read();
      }
      return;
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
      if (head_.open) {
        make_op();
      } else {
        open_ops_.pop_back();
      }
      return;
    case NodeKind::kAlias: {
      const Attr* value = pop_value();
      if (const Attr** known = aliases_.find(text(node.token))) {
        *known = value;
      } else {
        aliases_.insert(text(node.token), value);
      }
      return;
    }
    case NodeKind::kModuleBegin:
      return begin_module(node);
    case NodeKind::kModuleEnd:
      return end_module();
  }
}

// -- names ----------------------------------------------------------------------------------------

Symbol Resolver::State::symbol_from_text(std::string_view text) {
  if (text.starts_with('"')) {
    if (const auto plain = unquote(text)) return context_.intern(*plain);
  }
  return context_.intern(text);
}

Symbol Resolver::State::key_from_text(std::string_view text) {
  return symbol_from_text(text);
}

ValueName Resolver::State::name_from_text(std::string_view text) {
  const bool plain =
      !text.empty() && text.size() <= 10 && (text.front() != '0' || text.size() == 1);
  if (plain) {
    std::uint64_t number = 0;
    std::size_t i = 0;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') {
      number = number * 10 + static_cast<std::uint64_t>(text[i++] - '0');
    }
    if (i == text.size() && number <= ValueName::kMaxNumber) {
      return ValueName::number(static_cast<std::uint32_t>(number));
    }
  }
  return ValueName::symbol(context_.intern(text));
}

Location Resolver::State::stated_location(Location position, std::uint32_t token) {
  return context_.locations().stated(context_.locations().span(position).begin,
                                     canonical_text(TokenKind::kLoc, text(token)));
}

// -- types ----------------------------------------------------------------------------------------

/// A whole tensor type in canonical spacing.
const Type* Resolver::State::type_from_text(std::string_view spelling) {
  const std::uint64_t hash = hash_text(spelling);
  if (const Type** known = types_.find(spelling, hash)) return *known;
  constexpr std::size_t kDimsAt = std::string_view("tensor<[").size();
  std::vector<Dim> dims;
  const auto close = spelling.find(']');
  for (std::size_t at = kDimsAt; at < close;) {
    const auto comma = std::min(close, spelling.find(',', at));
    const std::string_view word = spelling.substr(at, comma - at);
    auto dim = context_.dims().parse(word);
    if (!dim) {
      diagnostics_.error(
          dim.error().code,
          {file_.position_of(word.data()), file_.position_of(word.data() + word.size())},
          dim.error().message);
    }
    dims.push_back(dim ? *dim : Dim::unknown());
    at = comma + 2;
  }
  const std::size_t dtype_at = close + 3;
  const auto dtype_end = spelling.find(',', dtype_at);
  const Symbol dtype = context_.intern(spelling.substr(dtype_at, dtype_end - dtype_at));
  const Symbol device =
      context_.intern(spelling.substr(dtype_end + 2, spelling.size() - dtype_end - 3));
  const Type* type = context_.tensor(dims, dtype, device);
  types_.insert(spelling, hash, type);
  return type;
}

const Type* Resolver::State::type_from_tokens(std::uint32_t first, std::uint32_t count,
                                              const Attr* encoding) {
  std::vector<Dim> dims;
  Symbol words[2];
  int word_count = 0;
  for (std::uint32_t i = first; i < first + count && word_count < 2; ++i) {
    const TokenKind kind = unit_->tokens()[i].kind();
    if (kind == TokenKind::kDim) {
      auto dim = context_.dims().parse(text(i));
      if (!dim) {
        diagnostics_.error(dim.error().code, span(i), dim.error().message);
      }
      dims.push_back(dim ? *dim : Dim::unknown());
    } else if (kind == TokenKind::kWord) {
      words[word_count++] = context_.intern(text(i));
    }
  }
  return context_.tensor(dims, words[0], words[1], encoding);
}

/// Limits that every tensor type must keep, reported where the type stands.
const Type* Resolver::State::checked(const Type* type, std::uint32_t token) {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr) return type;
  constexpr std::size_t kMaxRank = 64;
  if (tensor->rank() > kMaxRank) {
    diagnostics_.error(
        DiagCode::kTooManyDims, span(token),
        fmt::format("tensor type of rank {}, at most {} are allowed", tensor->rank(), kMaxRank));
    return type;
  }
  std::int64_t count = 1;
  for (const Dim dim : tensor->dims()) {
    if (dim.is_constant() &&
        __builtin_mul_overflow(count, std::max<std::int64_t>(dim.constant(), 1), &count)) {
      diagnostics_.error(DiagCode::kExtentOverflow, span(token),
                         "element count does not fit 63 bits");
      return type;
    }
  }
  return type;
}

void Resolver::State::mention(const Node& node) {
  Mention mention;
  mention.token = node.token;
  const std::string_view whole = text(node.token);
  if (unit_->tokens()[node.token].kind() == TokenKind::kTypedValue) {
    const auto colon = whole.find(':');
    mention.name = name_from_text(whole.substr(1, colon - 1));
    const std::string_view spelling = whole.substr(colon + 1);
    const Type** known = types_.find(spelling);
    mention.type = known != nullptr ? *known : checked(type_from_text(spelling), node.token);
  } else {
    mention.name = name_from_text(whole.substr(1));
    mention.type = pending_type_;
    pending_type_ = nullptr;
  }
  mentions_.push_back(mention);
}

// -- attributes -----------------------------------------------------------------------------------

const Attr* Resolver::State::pop_value() {
  const Attr* value = values_.back();
  values_.pop_back();
  return value;
}

std::vector<NamedAttr> Resolver::State::pop_attributes(std::uint32_t count) {
  std::vector<NamedAttr> list(attributes_.end() - count, attributes_.end());
  attributes_.resize(attributes_.size() - count);
  return list;
}

void Resolver::State::check_duplicates(std::span<const NamedAttr> attributes, std::uint32_t token) {
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (attributes[i].key != attributes[j].key) continue;
      diagnostics_.error(DiagCode::kDuplicateAttribute, span(token),
                         fmt::format("key '{}' occurs twice", context_.text(attributes[i].key)));
      return;
    }
  }
}

/// Text of several tokens in canonical spacing.
std::string_view Resolver::State::canonical(std::uint32_t first, std::uint32_t count) {
  LayoutPrinter printer;
  for (std::uint32_t i = first; i < first + count; ++i) {
    printer.token(unit_->tokens()[i].kind(), text(i));
  }
  scratch_ = printer.text();
  return scratch_;
}

const Attr* Resolver::State::leaf(const Node& node) {
  const std::string_view spelling = text(node.token);
  const Attr* value = nullptr;
  switch (unit_->tokens()[node.token].kind()) {
    case TokenKind::kInt:
      value = context_.scalar(AttrKind::kInt, spelling);
      break;
    case TokenKind::kFloat:
      value = context_.scalar(AttrKind::kFloat, spelling);
      break;
    case TokenKind::kTrue:
      return context_.boolean(true);
    case TokenKind::kFalse:
      return context_.boolean(false);
    case TokenKind::kNull:
      return context_.null();
    case TokenKind::kString:
      value = context_.scalar(AttrKind::kString, spelling);
      break;
    case TokenKind::kBare:
      if (portable_ && !is_bare_word(spelling)) {
        diagnostics_
            .error(DiagCode::kQuotesNeeded, span(node.token),
                   fmt::format("'{}' must be in quotes in a portable module", spelling))
            .fix(span(node.token), quote(spelling));
      }
      return context_.word(spelling);
    case TokenKind::kWord:
      return context_.word(spelling);
    case TokenKind::kSymbol:
      return context_.symbol_ref(context_.text(symbol_from_text(spelling.substr(1))));
    case TokenKind::kInvalid:
      if (!portable_) value = context_.scalar(AttrKind::kInvalid, spelling);
      break;
    case TokenKind::kDim: {
      auto dim = context_.dims().parse(spelling);
      if (dim) return context_.dim(*dim);
      diagnostics_.error(dim.error().code, span(node.token), dim.error().message);
      return context_.null();
    }
    case TokenKind::kHash:
      if (const Attr** alias = aliases_.find(spelling)) return *alias;
      if (spelling.find('.') == spelling.npos) {
        diagnostics_.error(DiagCode::kUnknownAlias, span(node.token),
                           fmt::format("alias '{}' is not defined before its use", spelling));
      }
      return context_.scalar(AttrKind::kOpaque, spelling);
    case TokenKind::kQuantSpec: {
      const std::uint64_t hash = hash_text(spelling);
      if (const Attr** known = quant_specs_.find(spelling, hash)) return *known;
      value = context_.scalar(AttrKind::kQuantSpec, spelling);
      quant_specs_.insert(spelling, hash, value);
      return value;
    }
    default:
      return context_.scalar(AttrKind::kQuantSpec, canonical(node.token, node.count()));
  }
  if (value != nullptr) return value;
  diagnostics_.error(DiagCode::kMalformedAttribute, span(node.token),
                     fmt::format("value '{}' cannot be read", spelling));
  return context_.null();
}

// -- ops ------------------------------------------------------------------------------------------

void Resolver::State::begin_head(const Node& node) {
  const std::string_view spelling = text(node.token);
  const std::uint64_t hash = hash_text(spelling);
  const OpName* known = op_names_.find(spelling, hash);
  if (known == nullptr) {
    op_names_.insert(spelling, hash, context_.op_name(spelling));
    known = op_names_.find(spelling, hash);
  }
  head_.name = *known;
  head_.token = node.token;
  head_.location = location(node.token);
  head_.open = true;
}

std::span<const NamedAttr> Resolver::State::attributes_of(const Mention& mention) const {
  return std::span(mention_attributes_).subspan(mention.first_attribute, mention.attribute_count);
}

void Resolver::State::set_mention_parts(Value& value, const Mention& mention) {
  value.name_ = mention.name;
  module_->reserve_name(mention.name);
  if (mention.has_symbol) {
    value.symbol_ = mention.symbol;
    value.has_symbol_ = true;
  }
  if (mention.attribute_count != 0) value.attributes_ = module_->copy(attributes_of(mention));
}

namespace {

/// Whether `value` has all attributes and the symbol that `part` has.
bool includes(const Value& value, std::span<const NamedAttr> attributes, bool has_symbol,
              Symbol symbol) {
  return (attributes.empty() || std::ranges::equal(attributes, value.attributes())) &&
         (!has_symbol || (value.has_symbol() && value.symbol() == symbol));
}

}  // namespace

void Resolver::State::define(Value& value, const Mention& mention) {
  set_mention_parts(value, mention);
  const Value* known =
      portable_ && scopes_.defined_here(mention.name) ? scopes_.find(mention.name) : nullptr;
  // Uses above the definition have made a free value that says no more than the definition.
  const bool used_above =
      known != nullptr && known->is_free() &&
      includes(value, known->attributes(), known->has_symbol(), known->symbol());
  if (known != nullptr && !used_above) {
    diagnostics_.error(DiagCode::kRedefinedValue, span(mention.token),
                       fmt::format("value '{}' is defined twice in this region",
                                   text(mention.token).substr(0, text(mention.token).find(':'))));
  }
  scopes_.define(mention.name, &value);
}

/// In a portable module mentions agree; any of a constant's mentions may say what it is.
void Resolver::State::check_mention(const Mention& mention, Value& value) {
  const auto attributes = attributes_of(mention);
  if (value.is_free()) {
    if (value.type() == nullptr) value.type_ = mention.type;
    if (value.attributes().empty()) value.attributes_ = module_->copy(attributes);
    if (mention.has_symbol && !value.has_symbol()) {
      value.symbol_ = mention.symbol;
      value.has_symbol_ = true;
    }
  }
  if (mention.type != nullptr && mention.type != value.type()) {
    diagnostics_.error(DiagCode::kTypeConflict, span(mention.token),
                       fmt::format("value is used as {}, defined as {}", mention.type->spelling(),
                                   value.type() == nullptr ? "untyped" : value.type()->spelling()));
  } else if (!includes(value, attributes, mention.has_symbol, mention.symbol)) {
    diagnostics_.error(DiagCode::kTypeConflict, span(mention.token),
                       "value is used with other attributes than it is defined with");
  }
}

/// The value a mention in operand position means; makes a free value for an undefined name.
Value* Resolver::State::use(const Mention& mention, Region& region) {
  if (Value* value = scopes_.find(mention.name)) {
    if (portable_) check_mention(mention, *value);
    return value;
  }
  Value* value = module_->create_free_value(region, mention.type, mention.name);
  set_mention_parts(*value, mention);
  scopes_.define(mention.name, value);
  return value;
}

/// Remembers what mentions of operands state beyond what their values do.
void Resolver::State::attach_uses(Op* op, std::uint32_t first_operand, MentionList list) {
  if (portable_) return;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const Mention& mention = mentions_[list.first + i];
    const Use& use = op->operand_uses()[first_operand + i];
    const Value& value = *use.value();
    const auto attributes = attributes_of(mention);
    const bool same = (mention.type == nullptr || mention.type == value.type()) &&
                      mention.has_symbol == value.has_symbol() &&
                      mention.symbol == value.symbol() &&
                      std::equal(attributes.begin(), attributes.end(), value.attributes().begin(),
                                 value.attributes().end());
    if (same) continue;
    module_->set_use_override(use, {mention.type == nullptr ? value.type() : mention.type,
                                    module_->copy(attributes), mention.symbol, mention.has_symbol});
  }
}

void Resolver::State::infer_missing_types(std::vector<const Type*>& types) {
  if (std::find(types.begin(), types.end(), nullptr) == types.end()) return;
  const OpKindInfo& info = context_.info(head_.name.kind);
  std::vector<const Type*> inferred;
  if (info.row != nullptr && info.row->infer != nullptr) {
    std::vector<const Type*> operands;
    for (const Value* value : value_scratch_) operands.push_back(value->type());
    InferContext inference(context_, info.mnemonic, operands, head_.attributes, types.size(),
                           span(head_.token), diagnostics_);
    const bool typed = std::find(operands.begin(), operands.end(), nullptr) == operands.end();
    if (typed && info.row->operands.admits(operands.size()) && !info.row->infer(inference)) return;
    inferred = inference.results();
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == nullptr && i < inferred.size()) types[i] = inferred[i];
    if (types[i] != nullptr) continue;
    diagnostics_.error(DiagCode::kTypeMissing, span(mentions_[head_.results.first + i].token),
                       "result needs a type: no rule infers it here");
  }
}

Op* Resolver::State::make_op() {
  Region& region = current_region();
  value_scratch_.clear();
  for (std::uint32_t i = 0; i < head_.operands.count; ++i) {
    value_scratch_.push_back(use(mentions_[head_.operands.first + i], region));
  }
  for (std::size_t s = 0; s < head_.successors.size(); ++s) {
    head_.successors[s].first_operand = static_cast<std::uint32_t>(value_scratch_.size());
    for (std::uint32_t i = 0; i < head_.successor_operands[s].count; ++i) {
      value_scratch_.push_back(use(mentions_[head_.successor_operands[s].first + i], region));
    }
  }
  type_scratch_.clear();
  for (std::uint32_t i = 0; i < head_.results.count; ++i) {
    type_scratch_.push_back(mentions_[head_.results.first + i].type);
  }
  infer_missing_types(type_scratch_);

  Op* op = module_->create({.name = head_.name,
                            .operands = value_scratch_,
                            .result_types = type_scratch_,
                            .location = head_.location,
                            .has_signature = head_.has_signature});
  module_->set_attributes(op, head_.attributes, head_.has_attribute_list);
  if (head_.has_symbol) op->set_symbol(head_.symbol);
  if (head_.has_path) op->set_path(head_.path);
  op->set_square_path(head_.square_path);
  if (head_.has_extra) {
    OpExtra& extra = op->mutable_extra();
    extra = head_.extra;
    extra.angles = module_->copy(std::span<const Symbol>(head_.angles));
    extra.successors = module_->copy(std::span<const OpExtra::Successor>(head_.successors));
  }
  attach_uses(op, 0, head_.operands);
  for (std::size_t s = 0; s < head_.successors.size(); ++s) {
    attach_uses(op, head_.successors[s].first_operand, head_.successor_operands[s]);
  }
  for (std::uint32_t i = 0; i < head_.results.count; ++i) {
    define(*op->result(i), mentions_[head_.results.first + i]);
  }
  current_block().push_back(op);
  module_->declare_symbols(op);
  op->mark_as_read();

  head_.open = head_.has_symbol = head_.has_path = head_.square_path = head_.has_signature = false;
  head_.has_attribute_list = head_.has_extra = false;
  head_.symbol = head_.path = {};
  head_.operands = head_.results = {};
  head_.extra = {};
  head_.attributes.clear();
  head_.angles.clear();
  head_.successors.clear();
  head_.successor_operands.clear();
  forget_mentions();
  return op;
}

// -- regions --------------------------------------------------------------------------------------

Region& Resolver::State::current_region() {
  OpenBody& body = bodies_.back();
  if (body.region == nullptr) body.region = module_->add_region(body.op);
  return *body.region;
}

Block& Resolver::State::current_block() {
  OpenBody& body = bodies_.back();
  if (body.block == nullptr) body.block = module_->create_block(current_region());
  return *body.block;
}

void Resolver::State::forget_mentions() {
  mentions_.clear();
  mention_attributes_.clear();
}

void Resolver::State::begin_body(const Node&) {
  if (head_.open) open_ops_.push_back(make_op());
  Op* op = open_ops_.back();
  bodies_.push_back({op});
  scopes_.enter(op->row() != nullptr && has(op->row()->traits, Trait::kIsolated));
}

void Resolver::State::begin_region(const Node&) {
  Op* op = bodies_.back().op;
  bodies_.back().has_regions = true;
  Region* region = module_->add_region(op);
  region->has_signature_ = true;
  bodies_.push_back({op, region});
  scopes_.enter(false);
  bodies_.back().block = make_block(*region, loose_operands_, {});
  region->results_ = region_results(loose_results_);
  forget_mentions();
}

Block* Resolver::State::make_block(Region& region, MentionList arguments, Symbol name) {
  type_scratch_.clear();
  for (std::uint32_t i = 0; i < arguments.count; ++i) {
    const Mention& mention = mentions_[arguments.first + i];
    type_scratch_.push_back(mention.type);
    if (mention.type == nullptr) {
      diagnostics_.error(DiagCode::kTypeMissing, span(mention.token), "an argument needs a type");
    }
  }
  Block* block = module_->create_block(region, type_scratch_, name);
  for (std::uint32_t i = 0; i < arguments.count; ++i) {
    define(block->arguments()[i], mentions_[arguments.first + i]);
  }
  return block;
}

std::span<const RegionResult> Resolver::State::region_results(MentionList list) {
  std::vector<RegionResult> results;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const Mention& mention = mentions_[list.first + i];
    module_->reserve_name(mention.name);
    results.push_back({mention.name, mention.type, mention.symbol, mention.has_symbol,
                       module_->copy(attributes_of(mention))});
  }
  return module_->copy(std::span<const RegionResult>(results));
}

void Resolver::State::begin_block(const Node& node) {
  bodies_.back().block =
      make_block(current_region(), loose_operands_, context_.intern(text(node.token).substr(1)));
  loose_operands_ = {};
  forget_mentions();
}

void Resolver::State::end_region() {
  leave();
}

void Resolver::State::end_body() {
  if (!bodies_.back().has_regions) current_region();
  leave();
}

void Resolver::State::leave() {
  if (Region* region = bodies_.back().region) settle_free_values(*region);
  scopes_.leave();
  bodies_.pop_back();
}

/// In a portable module a name may be used above its definition; what is still undefined at the
/// end of the region must be a constant or a parameter.
void Resolver::State::settle_free_values(Region& region) {
  if (!portable_) return;
  const std::vector<Value*> free(region.free_values().begin(), region.free_values().end());
  for (Value* value : free) {
    Value* defined = scopes_.find(value->name());
    if (defined != nullptr && defined != value) {
      if (value->type() != nullptr && value->type() != defined->type()) {
        diagnostics_.error(
            DiagCode::kTypeConflict, value->first_use()->user()->span(),
            fmt::format("value is used as {}, defined as {}", value->type()->spelling(),
                        defined->type() == nullptr ? "untyped" : defined->type()->spelling()));
      }
      while (value->has_uses()) value->first_use()->set(defined);
      continue;
    }
    if (value->attribute(constant_key_) != nullptr || value->has_symbol()) {
      if (value->type() != nullptr) continue;
    }
    const Span at = value->has_uses() ? value->first_use()->user()->span() : Span();
    const std::string name = value->name().is_number()
                                 ? std::to_string(value->name().number())
                                 : std::string(context_.text(value->name().symbol()));
    diagnostics_.error(DiagCode::kUndefinedValue, at,
                       fmt::format("value '%{}' is used and nothing defines it", name));
  }
  module_->remove_unused_free_values(region);
}

// -- modules --------------------------------------------------------------------------------------

void Resolver::State::begin_module(const Node& node) {
  const auto attributes = pop_attributes(static_cast<std::uint32_t>(attributes_.size()));
  module_ = &context_.create_module(context_.text(symbol_from_text(text(node.token).substr(1))));
  modules_.push_back(module_);
  Op* top = module_->top();
  top->set_location(location(node.token));
  module_->set_attributes(top, attributes);
  portable_ = false;
  if (const Attr* version = top->attribute(version_key_)) {
    portable_ = true;
    const bool known = version->kind() == AttrKind::kInt && version->integer() == 1;
    if (!known) {
      diagnostics_.error(
          DiagCode::kUnsupportedVersion, span(node.token),
          fmt::format("mir_version {} is not supported, this toolkit reads version 1",
                      version->spelling()));
    }
    check_duplicates(attributes, node.token);
    module_->set_version(1);
    module_->set_attributes(top, attributes);
  }
  Region& region = module_->body();
  bodies_.push_back({top, &region});
  scopes_.enter(true);
  bodies_.back().block = make_block(region, loose_operands_, {});
  region.results_ = region_results(loose_results_);
  top->mark_as_read();
  forget_mentions();
}

void Resolver::State::end_module() {
  leave();
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
  parse_units(file, diagnostics, [&](Unit&& unit) {
    resolver.add(unit);
    return true;
  });
  return resolver.finish();
}

}  // namespace mir
