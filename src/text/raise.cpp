// Converts a module to tokens, with the original spelling of unchanged ops.
#include "text/raise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/context/language_versions.hpp"
#include "ir/mention.hpp"
#include "ir/ports.hpp"
#include "mir/print.hpp"
#include "mir/walk.hpp"
#include "syntax/spellings.hpp"
#include "syntax/text_literal.hpp"
#include "syntax/token_text.hpp"
#include "text/implied_attributes.hpp"
#include "text/value_scopes.hpp"

// note [names]
// Printing must not change what a name means. A first walk replays name lookup the way resolve does
// it: where a use would find another value than its own, that value gets a fresh number in the
// second walk. Fresh numbers collide with nothing, so one replay is enough: taking a definition's
// name away can only uncover values that were wrong before and are in the set themselves.
//
// note [ports]
// In version 1, the name of an input or output is its port, so its value is printed under the name
// of the port. In later versions the value keeps its name and the port is printed where it differs.
// In both, such a value does not lose its name to another one: where the replay finds that it
// would, the name is reserved for it, and the walk is done once more.

namespace mir {

namespace {

using K = TokenKind;

/// Unquoted texts whose end is searched for are shorter than what the scanner looks at.
constexpr std::size_t kLongestBare = 900;

/// Names for the blocks whose own do not tell them apart or cannot be said.
class BlockNames {
 public:
  explicit BlockNames(IRContext& context) : context_(context) {}

  void add(const Region& region) {
    std::unordered_set<Symbol> taken = missing_blocks(region);
    std::vector<const Block*> open;
    for (const Block* block : region.blocks()) {
      const bool may_lack = block == region.entry() && !needs_name(*block);
      const bool is_named = is_block_name(context_.text(block->name()));
      if (is_named ? !taken.insert(block->name()).second : !may_lack) open.push_back(block);
    }
    std::size_t number = 0;
    for (const Block* block : open) {
      Symbol& fresh = fresh_[block];
      do fresh = context_.intern("bb" + std::to_string(number++));
      while (!taken.insert(fresh).second);
    }
  }

  Symbol of(const Block& block) const {
    // Of an entry under a signature that says all.
    if (block.previous() == nullptr && block.parent()->has_signature()) return {};
    const auto fresh = fresh_.find(&block);
    if (fresh != fresh_.end()) return fresh->second;
    return is_block_name(context_.text(block.name())) ? block.name() : Symbol();
  }
  bool is_fresh(const Block* block) const { return fresh_.contains(block); }

 private:
  /// Names of successors that are not blocks of the region.
  static std::unordered_set<Symbol> missing_blocks(const Region& region) {
    std::unordered_set<Symbol> names;
    for (const Block* block : region.blocks()) {
      const Op* last = block->back();
      if (last == nullptr) continue;
      for (const OpExtra::Successor& each : last->extra().successors) {
        if (each.block == nullptr) names.insert(each.stated);
      }
    }
    return names;
  }

  /// True if the text needs the entry's name to represent it.
  static bool needs_name(const Block& entry) {
    if (entry.parent()->has_signature()) return false;
    return (entry.empty() && entry.next() != nullptr) || !entry.arguments().empty() ||
           !entry.predecessors().empty();
  }

  IRContext& context_;
  std::unordered_map<const Block*, Symbol> fresh_;
};

/// The names of values in text.
struct TextNames {
  explicit TextNames(const Module& module)
      : are_others(module.value_id_end()), others(module.value_id_end()) {}

  /// None: the value needs a fresh name.
  ValueName of(const Value& value) const {
    return are_others[value.id()] ? others[value.id()] : value.name();
  }
  void set(const Value& value, ValueName name) {
    are_others[value.id()] = true;
    others[value.id()] = name;
  }

  std::vector<bool> are_others;  // by id: whether the name is another one than the value's
  std::vector<ValueName> others;
};

/// Mentions of a free value that a reader takes for one value: the first defines the name, and the
/// others find it. Regions that do not see each other have one each.
struct FreeMentions {
  const Value* value = nullptr;
  std::vector<const Op*> users;
};

class NameCheck {
 public:
  NameCheck(const Module& module, TextNames& names, BlockNames& blocks)
      : module_(module), context_(module.context()), names_(names), blocks_(blocks) {
    run();
    while (std::exchange(is_contested_, false)) {
      names_ = TextNames(module);
      scopes_ = {};
      run();
    }
  }

  std::span<const FreeMentions> free_mentions() const { return free_mentions_; }

 private:
  void run() {
    free_mentions_.clear();
    scopes_.enter(true);
    region(module_.body());
    scopes_.leave();
  }

  void region(const Region& of) {
    blocks_.add(of);
    if (of.has_signature() || of.parent() == module_.top()) name_ports(of);
    for (Block* block : of.blocks()) {
      for (Value& argument : block->arguments()) define(argument);
      for (Op* op : block->ops()) visit(*op);
    }
  }

  void name_ports(const Region& signature) {
    if (!module_.is_portable()) return;
    const bool have_names = module_.version() < kPortsVersion && !first_unnameable(signature);
    for (const SignaturePort& port : ports_of(signature)) {
      const Value& value = *port.value;
      if (value.symbol()) continue;
      if (have_names && !port.name.is_none()) {
        if (port.name != value.name()) names_.set(value, port.name);
        owners_.insert(value.id());
      } else if (port.name == value.name()) {
        owners_.insert(value.id());
      }
    }
  }

  void visit(const Op& op) {
    for (const Use& use : op.operand_uses()) {
      const bool is_first = check(*use.value());
      if (use.value()->is_free()) note_mention(*use.value(), op, is_first);
    }
    for (Value& result : op.results()) define(result);
    const bool isolated = op.has(Trait::kIsolated);
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      scopes_.enter(isolated);
      region(*inner);
      scopes_.leave();
    }
  }

  /// A portable region defines a name once; only a use above it may have mentioned it.
  void define(Value& value) {
    const ValueName name = names_.of(value);
    if (!name.is_none() && module_.is_portable() && scopes_.defined_here(name)) {
      const Value* known = scopes_.find(name);
      if (known != nullptr && known != &value) take_name(value, name);
    }
    if (!can_say(value) || is_reserved(value, name)) {
      names_.set(value, {});
    } else if (!names_.of(value).is_none()) {
      scopes_.define(name, &value);
    }
  }

  /// True if the mention defines the name.
  bool check(Value& value) {
    const ValueName name = names_.of(value);
    if (!can_say(value) || is_reserved(value, name)) {
      names_.set(value, {});
      return false;
    }
    Value* found = scopes_.find(name);
    if (found == &value) return false;
    // The first mention of a free value defines its name; a use above its definition is legal
    // where the definition follows in the same region.
    if (found == nullptr) {
      scopes_.define(name, &value);
      return true;
    }
    take_name(value, name);
    return false;
  }

  /// Users of a renamed value print anew in any case.
  void note_mention(const Value& value, const Op& user, bool is_first) {
    std::size_t& at = last_mentions_[value.id()];
    if (is_first) {
      at = free_mentions_.size();
      free_mentions_.push_back({&value, {}});
    }
    if (at < free_mentions_.size() && free_mentions_[at].value == &value) {
      free_mentions_[at].users.push_back(&user);
    }
  }

  /// Another value has the name here. The next walk reserves that of an input or output for it.
  void take_name(const Value& value, ValueName name) {
    if (owners_.contains(value.id())) is_contested_ |= reserved_.insert(name.raw()).second;
    names_.set(value, {});
  }

  bool is_reserved(const Value& value, ValueName name) const {
    return !reserved_.empty() && reserved_.contains(name.raw()) && !owners_.contains(value.id());
  }

  bool can_say(const Value& value) const {
    return is_printable_name(names_.of(value), value.type(), context_);
  }

  const Module& module_;
  const IRContext& context_;
  TextNames& names_;
  BlockNames& blocks_;
  ValueScopes scopes_;
  std::unordered_set<std::uint32_t> owners_;    // inputs and outputs that have the names of ports
  std::unordered_set<std::uint32_t> reserved_;  // names of which others are taken away
  std::vector<FreeMentions> free_mentions_;
  std::unordered_map<std::uint32_t, std::size_t> last_mentions_;  // by value: its last entry
  bool is_contested_ = false;
};

class Raiser {
 public:
  Raiser(const Module& module, LayoutPrinter& printer, const SourceTokens* source)
      : module_(module),
        context_(module.context()),
        out_(printer),
        source_(source),
        blocks_(module.context()),
        names_(module) {
    const NameCheck check(module, names_, blocks_);
    number_renamed();
    if (source_ != nullptr) {
      same_form_ = source_->is_portable(module.top()->span().begin) == module.is_portable();
      has_lower_version_ = module.top()->is_modified() && module.is_portable() &&
                           module.version() < kTypeAliasVersion;
      restated_.resize(module.op_id_end());
      for (const FreeMentions& each : check.free_mentions()) restate_free_value(each);
    }
  }

  void run() { op(*module_.top()); }
  void run(const Op& one) { op(one); }
  void run(const Region& region) { blocks(region, false); }

 private:
  void number_renamed() {
    const std::vector<bool>& are_others = names_.are_others;
    if (std::find(are_others.begin(), are_others.end(), true) == are_others.end()) return;
    std::uint32_t taken = 0;
    for (std::size_t id = 0; id < are_others.size(); ++id) {
      ValueName& name = names_.others[id];
      if (are_others[id] && name.is_none()) name = module_.upcoming_name(taken++);
    }
  }

  std::string_view text(Symbol name) const { return context_.text(name); }

  /// Valid until the next call.
  std::string_view wrapped(std::string_view before, std::string_view inner,
                           std::string_view after) {
    scratch_ = before;
    scratch_ += inner;
    scratch_ += after;
    return scratch_;
  }

  // -- names and values -------------------------------------------------------------------------

  /// True if unquoted text would be read as something else. Dumps quote nothing that they can do
  /// without.
  bool needs_quotes(std::string_view bare, std::string_view special) const {
    if (module_.is_portable()) return !is_bare_word(bare);
    return bare.size() > kLongestBare || bare.find_first_of(special) != bare.npos ||
           bare.starts_with(' ') || bare.ends_with(' ') || bare.find("//") != bare.npos ||
           std::any_of(bare.begin(), bare.end(),
                       [](char c) { return static_cast<unsigned char>(c) < ' '; });
  }

  /// `ends`: whether what follows ends unquoted text with blanks in it.
  void symbol(Symbol name, bool ends = true) {
    const std::string_view bare = text(name);
    if (needs_quotes(bare, "(){}[]<>\"%,@") || !(ends || bare.empty() || is_plain_name(bare))) {
      out_.token(K::kSymbol, wrapped("@", quote(bare), ""));
    } else {
      out_.token(K::kSymbol, wrapped("@", bare, ""));
    }
  }

  /// `%name:`; valid until the next call.
  std::string_view name_and_colon(ValueName value) {
    if (!value.is_number()) return wrapped("%", text(value.symbol()), ":");
    char* end = digits_.data() + digits_.size();
    *--end = ':';
    std::uint32_t number = value.number();
    do {
      *--end = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    *--end = '%';
    return {end, digits_.data() + digits_.size()};
  }

  ValueName name_of(const Value& value) const { return names_.of(value); }
  bool is_renamed(const Value& value) const { return names_.are_others[value.id()]; }

  Symbol name_of(const OpExtra::Successor& successor) const {
    return successor.block == nullptr ? successor.stated : blocks_.of(*successor.block);
  }

  void mention(ValueName printed, const Type* type, bool has_symbol, Symbol of,
               std::span<const NamedAttr> list) {
    std::string_view name = name_and_colon(printed);
    if (type != nullptr) {
      out_.typed_value(name, type->spelling());
    } else {
      out_.token(K::kValue, name.substr(0, name.size() - 1));
    }
    if (has_symbol) {
      out_.token(K::kLBracketSymbol);
      symbol(of);
      out_.token(K::kRBracket);
    }
    attributes(list, false);
  }

  void definition(const Value& value) {
    mention(name_of(value), value.type(), value.has_symbol(), value.symbol(), value.attributes());
  }

  void use(const Use& use) {
    const StatedMention said = mention_of(use);
    mention(name_of(*use.value()), said.type, said.has_symbol, said.symbol, said.attributes);
  }

  template <class Items, class Print>
  void list(const Items& items, Print&& print) {
    out_.token(K::kLParen);
    bool first = true;
    for (auto& item : items) {
      if (!first) out_.token(K::kComma);
      first = false;
      print(item);
    }
    out_.token(K::kRParen);
  }

  // -- attributes -------------------------------------------------------------------------------

  void attributes(std::span<const NamedAttr> list, bool list_present) {
    if (list.empty() && !list_present) return;
    out_.token(K::kLBracket);
    const Attr* before = nullptr;
    for (const NamedAttr& attribute : list) {
      if (before != nullptr) out_.token(K::kComma);
      key(attribute.key, before != nullptr && goes_on(*before));
      out_.token(K::kColon);
      value(*attribute.value);
      before = attribute.value;
    }
    out_.token(K::kRBracket);
  }

  /// True if unquoted text continues after a comma that no plain key follows.
  static bool goes_on(const Attr& value) {
    return value.kind() == AttrKind::kDim ||
           (value.kind() == AttrKind::kString && !value.is_quoted());
  }

  /// A key without quotes wherever it stands.
  static bool is_plain_key(std::string_view bare) {
    return is_plain_name(bare) && bare.find('/') == bare.npos;
  }

  static bool begins_key(char c) { return c != '/' && is_plain_name({&c, 1}); }

  void key(Symbol of, bool follows_text) {
    const std::string_view bare = text(of);
    if (bare.empty() || bare.size() > kLongestBare || !begins_key(bare.front()) ||
        needs_quotes(bare, "(){}[]<>\"%,@:") || (follows_text && !is_plain_name(bare))) {
      out_.token(K::kKey, quote(bare));
    } else {
      out_.token(K::kKey, bare);
    }
  }

  /// Spellings are canonical, so a structured value goes out as one piece of text.
  void value(const Attr& attribute) {
    switch (attribute.kind()) {
      case AttrKind::kInt:
        return out_.token(K::kInt, attribute.spelling());
      case AttrKind::kDim:
        return out_.token(K::kDim, attribute.spelling());
      case AttrKind::kFloat:
        return out_.token(K::kFloat, attribute.spelling());
      case AttrKind::kQuantSpec:
      case AttrKind::kQuantAnnotation:
        return out_.token(K::kQuantSpec, attribute.spelling());
      case AttrKind::kString:
        return out_.token(attribute.is_quoted() ? K::kString : K::kBare, attribute.spelling());
      default:
        return out_.token(K::kString, attribute.spelling());
    }
  }

  // -- ops and regions --------------------------------------------------------------------------

  /// True for an op of the dialect that its module declares, while the dialect is not known yet.
  static bool is_of_declared_here(const Op& op) {
    const Module& module = op.module();
    if (!module.has_made(OpId::kDialectOp)) return false;
    const IRContext& context = module.context();
    const std::string_view name = context.text(op.op_name().spelling);
    const std::string_view dialect = context.text(module.name());
    const Attr* const is_last = module.top()->attribute(key::kAttributesLast);
    return name.size() > dialect.size() && name.starts_with(dialect) &&
           name[dialect.size()] == '.' && (is_last == nullptr || !is_last->boolean());
  }

  /// Heads, contents of regions and what closes them go out alike for all ops: the i-th of the
  /// pieces around n regions is what precedes region i, the last what follows all.
  void op(const Op& op) {
    const auto pieces = pieces_of(op);
    const bool untouched = !pieces.empty() && is_untouched(op, pieces);
    Region* region = op.first_region();
    for (std::size_t i = 0;; ++i) {
      if (untouched) {
        source_->print(pieces[i], out_);
      } else {
        if (i < pieces.size()) source_->print_comments(pieces[i], out_);
        piece(op, i == 0, region);
        if (i < pieces.size()) source_->print_trailing(pieces[i], out_);
      }
      if (region == nullptr) return;
      blocks(*region, untouched);
      region = region->next();
    }
  }

  /// Prints the tokens before `region`, which is the op's first or another one, or those after all.
  void piece(const Op& op, bool first, const Region* region) {
    if (&op == module_.top()) return module_piece(op, first);
    if (first) head(op);
    const bool signatures = op.first_region() != nullptr && op.first_region()->has_signature();
    if (!first) out_.token(K::kRBrace);
    if (signatures && (first || region == nullptr)) out_.token(first ? K::kLBrace : K::kRBrace);
    if (region == nullptr) return location(op);
    if (signatures) signature(*region);
    out_.token(K::kLBrace);
  }

  void module_piece(const Op& top, bool first) {
    if (!first) return out_.token(K::kRBrace);
    symbol(top.symbol());
    attributes(top.attributes(), false);
    signature(module_.body());
    out_.token(K::kLBrace);
  }

  void location(const Op& op) {
    if (!op.location() || op.location().is_position()) return;
    const std::string stated = context_.locations().spelling(op.location());
    if (!stated.empty()) out_.token(K::kLoc, stated);
  }

  void head(const Op& op) {
    const OpExtra& extra = op.extra();
    const DumpFacts& facts = op.dump_facts();
    if (const auto address = facts.address) {
      out_.token(K::kAddress, *address == DumpFacts::kUnnumbered
                                  ? "addr:0xffffffffffffffff"
                                  : fmt::format("addr:{:#016x}", *address));
    }
    out_.token(K::kOpName, text(op.op_name().spelling));
    if (const auto target = facts.label) label(text(*target));
    if (op.has_symbol()) {
      symbol(op.symbol(), !facts.has_square_path && (op.has_signature() || !extra.angles.empty()));
    }
    for (const Symbol angle : extra.angles) {
      out_.token(K::kAngle, wrapped("<", text(angle), ">"));
    }
    if (op.has_path()) path(op);
    const Dialect* dialect = op.info().dialect;
    const bool before =
        !op.has_signature() ||
        (dialect == nullptr ? is_of_declared_here(op)
                            : !op.is(OpId::kLinalgRegister) &&
                                  dialect->attributes == AttrPosition::kBeforeOperands);
    if (before) attributes(op.attributes(), op.has_attribute_list());
    if (op.has_signature()) {
      list(op.plain_operands(), [&](const Use& each) { use(each); });
      out_.token(K::kArrow);
      list(op.results(), [&](const Value& each) { definition(each); });
      if (!before) attributes(op.attributes(), op.has_attribute_list());
      successors(op);
    }
  }

  void label(std::string_view bare) {
    constexpr std::string_view kEntry = ".__entry";
    const bool entry = bare.size() > kEntry.size() && bare.size() <= kLongestBare &&
                       bare.find(kEntry) == bare.size() - kEntry.size();
    if ((is_plain_name(bare) && !bare.starts_with("//")) ||
        (entry && !needs_quotes(bare, "(){}[]<>\"%,@"))) {
      out_.token(K::kLabel, bare);
    } else {
      out_.token(K::kLabel, quote(bare));
    }
  }

  /// With escapes. A quote would end the name where a bracket follows it.
  static std::string escaped_path(std::string_view plain) {
    const std::string quoted = quote(plain);
    std::string escaped;
    for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
      const auto next = quoted.find_first_not_of(' ', i + 1);
      const bool would_end = quoted[i] == '"' && (quoted[next] == '>' || quoted[next] == ']');
      if (would_end) {
        escaped.back() = '\\';
        escaped += "u0022";
      } else {
        escaped += quoted[i];
      }
    }
    return escaped;
  }

  void path(const Op& op) {
    std::string_view plain = text(op.path());
    // Dumps do not escape names.
    std::string escaped;
    if (module_.is_portable()) {
      escaped = escaped_path(plain);
      plain = escaped;
    }
    if (op.dump_facts().has_square_path) {
      out_.token(K::kNameSquare, wrapped("[name=\"", plain, "\"]"));
    } else {
      out_.token(K::kNameAngle, wrapped("<name=\"", plain, "\">"));
    }
  }

  void successors(const Op& op) {
    if (op.extra().successors.empty()) return;
    out_.token(K::kLBracketBlock);
    bool first = true;
    for (const auto& successor : op.extra().successors) {
      if (!first) out_.token(K::kComma);
      first = false;
      out_.token(K::kBlockName, wrapped("^", text(name_of(successor)), ""));
      if (successor.operand_count == 0) continue;
      list(op.operand_uses().subspan(successor.first_operand, successor.operand_count),
           [&](const Use& each) { use(each); });
    }
    out_.token(K::kRBracket);
  }

  void signature(const Region& region) {
    list(region.entry_arguments(), [&](const Value& argument) {
      definition(argument);
      port(region.ports().inputs, argument.index(), printed_port(argument));
    });
    out_.token(K::kArrow);
    const std::vector<RegionResult> results = signature_results(region);
    list(results, [&](const RegionResult& result) {
      const auto i = static_cast<std::size_t>(&result - results.data());
      const Value* const returned = region.returned(i);
      region_result(returned, result);
      port(region.ports().outputs, i,
           returned == nullptr ? sayable(result) : printed_port(*returned));
    });
  }

  /// The port of a value whose mention states none.
  ValueName printed_port(const Value& value) const {
    return value.symbol() ? ValueName::symbol(value.symbol()) : name_of(value);
  }

  void port(std::span<const ValueName> stated, std::size_t i, ValueName implied) {
    if (module_.version() < kPortsVersion || i >= stated.size()) return;
    if (stated[i].is_none() || stated[i] == implied) return;
    const std::string name = name_text(stated[i], context_);
    out_.token(K::kLBracket);
    out_.token(K::kKey, is_plain_key(name) ? name : quote(name));
    out_.token(K::kRBracket);
  }

  /// The stated name serves where nothing is returned.
  void region_result(const Value* returned, const RegionResult& result) {
    mention(returned == nullptr ? sayable(result) : name_of(*returned), result.type,
            result.has_symbol, result.symbol, result.attributes);
  }

  ValueName sayable(const RegionResult& result) const {
    const bool can_say = is_printable_name(result.name, result.type, context_);
    return can_say ? result.name : module_.upcoming_name(module_.value_id_end());
  }

  void blocks(const Region& region, bool untouched) {
    for (Block* block : region.blocks()) {
      if (blocks_.of(*block)) block_head(*block, untouched);
      for (Op* each : block->ops()) op(*each);
    }
  }

  void block_head(const Block& block, bool untouched) {
    std::optional<TokenRange> tokens;
    const Op& op = *block.parent()->parent();
    const Symbol name = blocks_.of(block);
    if (source_ != nullptr && op.was_read() && name == block.name()) {
      tokens = source_->block(op.span().begin, block.parent()->index(), text(name));
    }
    if (tokens && untouched && !any_renamed(block.arguments())) {
      return source_->print(*tokens, out_);
    }
    if (tokens) source_->print_comments(*tokens, out_);
    out_.token(K::kBlockName, wrapped("^", text(name), ""));
    if (!block.arguments().empty()) {
      list(block.arguments(), [&](const Value& argument) { definition(argument); });
    }
    out_.token(K::kColon);
    if (tokens) source_->print_trailing(*tokens, out_);
  }

  // -- what the source has ----------------------------------------------------------------------

  /// The op's own tokens; empty without a source and for an op that is not from it.
  TokenPieces pieces_of(const Op& op) const {
    if (source_ == nullptr || !op.was_read()) return {};
    return source_->pieces(op.span().begin);
  }

  bool any_renamed(ValueRange values) const {
    return std::any_of(values.begin(), values.end(),
                       [&](const Value& value) { return is_renamed(value); });
  }

  /// True if the op's own tokens still represent it.
  bool is_untouched(const Op& op, const TokenPieces& pieces) const {
    if (op.is_modified() || !same_form_ || restated_[op.id()]) return false;
    if (pieces.size() != op.region_count() + 1) return false;
    if (has_lower_version_ && uses_later_forms(op, pieces)) return false;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i].is_line()) continue;
      const ShortForms forms = source_->short_forms(pieces[i]);
      if (forms.any() && (has_lower_version_ || !still_means(forms, op))) return false;
    }
    if (any_renamed(op.results())) return false;
    for (const OpExtra::Successor& successor : op.extra().successors) {
      if (blocks_.is_fresh(successor.block)) return false;
    }
    for (const Use& use : op.operand_uses()) {
      if (is_renamed(*use.value())) return false;
    }
    for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
      if (any_renamed(region->entry_arguments()) || !returns_as_stated(*region)) return false;
    }
    return true;
  }

  /// True if the text of the op may have a short form that the version of the module lacks.
  bool uses_later_forms(const Op& op, const TokenPieces& pieces) const {
    if (op.is(OpId::kTensorRegister, OpId::kGraphSubGraph)) return true;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (source_->has_type_alias(pieces[i])) return true;
    }
    return false;
  }

  bool returns_as_stated(const Region& region) const {
    const std::span<const RegionResult> stated = region.stated_results();
    for (std::size_t i = 0; i < stated.size(); ++i) {
      const Value* returned = region.returned(i);
      if (returned != nullptr && name_of(*returned) != stated[i].name) return false;
    }
    return true;
  }

  /// Some mention must say what a free value is. Where those that the text has for it are gone, or
  /// in regions that these ones do not see, its users print anew.
  void restate_free_value(const FreeMentions& mentions) {
    if (is_stated(mentions)) return;
    for (const Op* user : mentions.users) restated_[user->id()] = true;
  }

  bool is_stated(const FreeMentions& of) {
    const Value& value = *of.value;
    const std::string name = value.name().is_number() ? std::to_string(value.name().number())
                                                      : std::string(text(value.name().symbol()));
    const auto states = [&](const TypedMention& each) {
      return each.name == name && each.has_symbol >= value.has_symbol() &&
             each.has_attributes >= !value.attributes().empty();
    };
    const Op* last = nullptr;
    for (const Op* user : of.users) {
      if (user == std::exchange(last, user)) continue;
      const auto pieces = pieces_of(*user);
      if (user->is_modified() || pieces.empty()) return true;
      if (std::ranges::any_of(mentions_of(*user, pieces[0], name), states)) return true;
    }
    return false;
  }

  /// The mentions of `%name` in the op's tokens, which are read once.
  std::span<const TypedMention> mentions_of(const Op& op, TokenRange tokens,
                                            std::string_view name) {
    const auto [at, is_new] = mentions_.try_emplace(op.id());
    std::vector<TypedMention>& list = at->second;
    if (is_new) {
      list = source_->mentions(tokens);
      std::ranges::sort(list, {}, &TypedMention::name);
    }
    const auto first = std::ranges::lower_bound(list, name, {}, &TypedMention::name);
    const auto last = std::ranges::upper_bound(list, name, {}, &TypedMention::name);
    return {first, last};
  }

  const Module& module_;
  const IRContext& context_;
  LayoutPrinter& out_;
  const SourceTokens* source_;  // null: print everything canonically
  BlockNames blocks_;
  bool same_form_ = false;          // whether the source had the module in the form it has now
  bool has_lower_version_ = false;  // maybe than the source
  std::vector<bool> restated_;      // ops that must be printed anew
  std::unordered_map<std::uint32_t, std::vector<TypedMention>> mentions_;  // by op, of their text
  TextNames names_;
  std::string scratch_;
  std::array<char, 16> digits_{};
};

}  // namespace

void raise(const Module& module, LayoutPrinter& printer, const SourceTokens* source) {
  Raiser(module, printer, source).run();
}

namespace {

/// An IR takes half to twice the memory of its text; what is reserved and not written costs
/// nothing.
std::size_t expected_text(const Module& module) {
  return module.memory() + module.memory() / 4;
}

}  // namespace

std::string print(const Module& module) {
  LayoutPrinter printer(expected_text(module));
  raise(module, printer);
  return printer.finish();
}

std::string print(std::span<Module* const> modules) {
  std::size_t expected = 0;
  for (const Module* module : modules) expected += expected_text(*module);
  LayoutPrinter printer(expected);
  for (const Module* module : modules) raise(*module, printer);
  return printer.finish();
}

std::string print(const Op& op) {
  LayoutPrinter printer;
  Raiser(op.module(), printer, nullptr).run(op);
  return printer.finish();
}

std::string print(const Region& region) {
  LayoutPrinter printer;
  Raiser(region.parent()->module(), printer, nullptr).run(region);
  return printer.finish();
}

void print(std::span<Module* const> modules, const std::function<void(std::string_view)>& sink) {
  LayoutPrinter printer(sink);
  for (const Module* module : modules) raise(*module, printer);
  printer.finish();
}

std::string print(const IRContext& context) {
  return print(context.modules());
}

std::string print(std::span<Module* const> modules, const SyntaxTree& source) {
  LayoutPrinter printer(source.file().size());
  raise(modules, printer, SourceTokens(source));
  return printer.finish();
}

void raise(std::span<Module* const> modules, LayoutPrinter& printer, const SourceTokens& tokens) {
  auto aliases = tokens.aliases();
  SourcePos done = 0;
  for (const Module* module : modules) {
    const SourcePos at = module->top()->span().begin;
    const bool from_source = !tokens.pieces(at).empty() && at > done;
    for (; from_source && !aliases.empty() && tokens.begin(aliases[0]) < at;
         aliases = aliases.subspan(1)) {
      tokens.print(aliases[0], printer);
    }
    raise(*module, printer, from_source ? &tokens : nullptr);
    if (from_source) done = at;
  }
  for (const TokenRange& alias : aliases) tokens.print(alias, printer);
  tokens.print_end(printer);
}

}  // namespace mir
