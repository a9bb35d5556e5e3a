// Suggests replacements for misspelled names and numbers of quantisation specs.
#include "verify/suggestions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/op_places.hpp"
#include "mir/ops.hpp"
#include "mir/tensor.hpp"
#include "mir/walk.hpp"
#include "support/foreign_types.hpp"
#include "support/suggest.hpp"
#include "syntax/op_text.hpp"
#include "syntax/text_literal.hpp"
#include "syntax/token_text.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

constexpr std::size_t kMostFixes = 4096;  // of one diagnostic
constexpr std::size_t kMostMissing = 16;  // operands that are suggested for a call

void add_mentions(std::vector<Span>& places, const SourceFile& file, std::size_t begin,
                  std::size_t end, std::string_view piece) {
  const std::string_view text = file.text().substr(0, end);
  for (auto at = text.find(piece, begin); at != text.npos;
       at = text.find(piece, at + piece.size())) {
    const SourcePos from = file.base() + static_cast<SourcePos>(at);
    places.push_back({from, from + static_cast<SourcePos>(piece.size())});
  }
}

/// The op that begins last in the text of `op`.
const Op& last_op_in(const Op& op) {
  const Op* last = &op;
  while (true) {
    const Op* inner = nullptr;
    for (const Region* region = last->first_region(); region != nullptr; region = region->next()) {
      for (const Block* block : region->blocks()) {
        if (!block->empty()) inner = block->back();
      }
    }
    if (inner == nullptr) return *last;
    last = inner;
  }
}

/// Where a piece of text stands: mentions of a value or type agree, and so must their repair. Looks
/// at the text of the module and at the beginning of the file, where aliases are defined: files of
/// many modules are not searched as a whole for each of them.
std::vector<Span> mentions_of(const SourceFile& file, const Module& module,
                              std::string_view piece) {
  constexpr std::size_t kMost = std::size_t{64} << 10;  // of aliases, and of the last op
  const auto offset_of = [&](const Op& op) {
    const SourcePos at = op.span().begin;
    return at < file.base() ? 0 : std::min<std::size_t>(at - file.base(), file.size());
  };
  const std::size_t begin = offset_of(*module.top());
  const std::size_t last = std::max(begin, offset_of(last_op_in(*module.top())));
  const std::size_t line_end = file.text().substr(0, last + kMost).find('\n', last);
  std::vector<Span> places;
  add_mentions(places, file, 0, std::min(begin, kMost), piece);
  add_mentions(places, file, begin, std::min(line_end, last + kMost), piece);
  return places;
}

/// A word of types and names, with the text around it by which it is found.
struct WordInText {
  std::string_view before, word, after;
};

/// Tells strings and comments from other text. Places are asked for in order, so that the text is
/// read once.
class PlainText {
 public:
  explicit PlainText(std::string_view text) : text_(text) {}

  /// True if the place is in no string and no comment.
  bool has(std::size_t place) {
    // Strings and comments end with their line.
    const std::string_view unread = text_.substr(at_, place - std::min(at_, place));
    if (const std::size_t line = unread.rfind('\n'); line != unread.npos) {
      at_ += line + 1;
      in_string_ = in_comment_ = false;
    }
    for (; at_ < place; ++at_) {
      const char byte = text_[at_];
      if (in_comment_) continue;
      if (byte == '"') {
        in_string_ = !in_string_;
      } else if (in_string_ && byte == '\\') {
        ++at_;
      } else if (!in_string_ && text_.substr(at_, 2) == "//") {
        in_comment_ = true;
      }
    }
    return !in_string_ && !in_comment_;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool in_string_ = false, in_comment_ = false;
};

/// Offers `meant` in place of the word, in every mention.
void offer_instead(Diagnostic& diagnostic, const Op& place, const WordInText& of,
                   std::string_view meant, bool is_certain) {
  const SourceFile* file = place.module().context().sources().file_of(place.span().begin);
  if (file == nullptr) return;
  std::vector<FixIt>& edits = edits_of(diagnostic, is_certain);
  PlainText plain(file->text());
  for (const Span at :
       mentions_of(*file, place.module(), fmt::format("{}{}{}", of.before, of.word, of.after))) {
    if (edits.size() == kMostFixes) return;
    if (!plain.has(at.begin - file->base())) continue;
    const SourcePos begin = at.begin + static_cast<SourcePos>(of.before.size());
    edits.push_back({{begin, begin + static_cast<SourcePos>(of.word.size())}, std::string(meant)});
  }
}

/// `dialect.Device.Name` split into its words; the device is empty where there is none.
struct NameParts {
  std::string_view dialect, device, mnemonic;
};

NameParts parts_of(std::string_view spelling) {
  const auto first = spelling.find('.'), last = spelling.rfind('.');
  if (first == spelling.npos) return {{}, {}, spelling};
  const std::string_view device =
      first == last ? std::string_view() : spelling.substr(first + 1, last - first - 1);
  return {spelling.substr(0, first), device, spelling.substr(last + 1)};
}

}  // namespace

void suggest_op(Diagnostic* diagnostic, const Op& op) {
  if (diagnostic == nullptr) return;
  const std::string_view spelling = text(op, op.op_name().spelling);
  const NameParts parts = parts_of(spelling);
  NearestName nearest(spelling);
  for (const Dialect* dialect : op.module().context().dialects()) {
    std::string prefix = fmt::format("{}.", dialect->name);
    if (dialect->device_in_path) {
      fmt::format_to(std::back_inserter(prefix), "{}.",
                     parts.device.empty() ? "CPU" : parts.device);
    }
    for (const OpRow& row : dialect->rows) {
      if (!has(row.traits, Trait::kDumpOnly)) nearest.offer(prefix + std::string(row.name));
    }
  }
  const Span at = text_of(op) ? op.span() : Span{};
  suggest(*diagnostic, nearest.best(), at, std::string(nearest.best()));
}

void suggest_attribute(Diagnostic* diagnostic, const Op& op, std::string_view key) {
  if (diagnostic == nullptr) return;
  NearestName nearest(key);
  for (const AttrRow& row : op.row()->attributes) {
    if (op.attribute(row.name) == nullptr) nearest.offer(row.name);
  }
  if (nearest.best().empty()) return;
  const auto source = text_of(op);
  suggest(*diagnostic, nearest.best(), source ? source->key(key) : Span{},
          std::string(nearest.best()));
}

namespace {

/// Returns the element type that was probably meant, empty if there is none.
std::string nearest_dtype(std::string_view word) {
  if (const auto dtype = dtype_from_other_tools(word)) return std::string(name_of(*dtype));
  NearestName nearest(word);
  for (const DTypeInfo& row : dtype_table()) nearest.offer(row.name);
  return std::string(nearest.best());
}

}  // namespace

void suggest_dtype(Diagnostic* diagnostic, const Op& op, std::string_view key) {
  const Attr* value = op.attribute(key);
  if (diagnostic == nullptr || value == nullptr || value->kind() != AttrKind::kString) return;
  const std::string meant = nearest_dtype(value->text());
  if (meant.empty()) return;
  const auto source = text_of(op);
  suggest(*diagnostic, meant, source ? source->value(key) : Span{}, meant);
}

void suggest_element_type(Diagnostic* diagnostic, const Op& place, const TensorType& type) {
  if (diagnostic == nullptr) return;
  const std::string_view word = text(place, type.dtype_name());
  const std::string meant = nearest_dtype(word);
  if (meant.empty()) return;
  suggest(*diagnostic, meant);
  offer_instead(*diagnostic, place, {"], ", word, ", "}, meant, true);
}

void suggest_device(Diagnostic* diagnostic, const Op& place, std::string_view word,
                    std::string_view meant) {
  if (diagnostic == nullptr || meant.empty()) return;
  suggest(*diagnostic, meant);
  const bool is_certain = is_certain_slip(word, meant);
  offer_instead(*diagnostic, place, {", ", word, ">"}, meant, is_certain);
  offer_instead(*diagnostic, place, {".", word, "."}, meant, is_certain);
  offer_instead(*diagnostic, place, {"<", word, ">"}, meant, is_certain);
}

void suggest_callee(Diagnostic* diagnostic, const Op& call) {
  if (diagnostic == nullptr) return;
  NearestName nearest(text(call, call.symbol()));
  for_each_op(call.module(), [&](const Op& op) {
    if (is_graph(op)) nearest.offer(text(op, op.symbol()));
  });
  if (nearest.best().empty()) return;
  const auto source = text_of(call);
  const bool certain = is_certain_slip(text(call, call.symbol()), nearest.best());
  const Span at = source ? source->first(TokenKind::kSymbol) : Span{};
  const bool has_quotes = at.known() && source->text(at).find('"') != std::string_view::npos;
  const std::string name(nearest.best());
  const bool is_plain = !has_quotes && is_plain_name(name);
  suggest(*diagnostic, name, at, "@" + (is_plain ? name : quote(name)), certain);
}

namespace {

/// Returns the nearest value that is defined above the op, in its block or around it, and that
/// `fits` accepts. Returns null if it is far above, so that the work of many calls stays linear.
template <class Fits>
const Value* value_above(const Op& op, const Fits& fits) {
  std::size_t left = 1000;  // ops and values to look at
  const Value* found = nullptr;
  const auto ends_in = [&](const auto& values) {
    for (const Value& value : values) {
      if (left == 0) return true;
      --left;
      if (!fits(value)) continue;
      found = &value;
      return true;
    }
    return false;
  };
  for (const Op* at = &op; at != nullptr && at->block() != nullptr;
       at = at->parent_region()->parent()) {
    for (const Op* above = at->previous(); above != nullptr; above = above->previous()) {
      if (left == 0) return nullptr;
      --left;
      if (ends_in(above->results())) return found;
    }
    if (ends_in(at->block()->arguments())) return found;
  }
  return nullptr;
}

/// Returns a value that a call may be meant to pass for an argument: the one of its name, otherwise
/// the nearest one of its type that is not in `passed`.
const Value* value_to_pass(const Op& call, const Value& argument,
                           const std::unordered_set<const Value*>& passed) {
  const auto is_named = [&](const Value& value) { return value.name() == argument.name(); };
  if (const Value* named = value_above(call, is_named)) return named;
  const auto is_new = [&](const Value& value) {
    return value.type() != nullptr && value.type() == argument.type() && !passed.contains(&value);
  };
  return value_above(call, is_new);
}

}  // namespace

void suggest_operands(Diagnostic* diagnostic, const Op& call, const Region& body) {
  const auto source = diagnostic == nullptr ? std::nullopt : text_of(call);
  const Span end = source ? source->first(TokenKind::kRParen) : Span{};
  if (!end.known()) return;
  // A call that lacks many operands is no slip.
  if (body.entry_arguments().size() > call.operand_count() + kMostMissing) return;
  std::string added;
  std::unordered_set<const Value*> passed;
  for (const Use& use : call.operand_uses()) passed.insert(use.value());
  for (std::size_t i = call.operand_count(); i < body.entry_arguments().size(); ++i) {
    const Value* value = value_to_pass(call, body.entry_arguments()[i], passed);
    if (value == nullptr) return;
    passed.insert(value);
    added += i == 0 ? "" : ", ";
    added += spelling_of(call.module(), value->name());
    if (!call.module().is_portable() && value->type() != nullptr) {
      fmt::format_to(std::back_inserter(added), ":{}", value->type()->spelling());
    }
  }
  if (!added.empty()) diagnostic->proposals.push_back({{end.begin, end.begin}, added});
}

void suggest_parameter(Diagnostic* diagnostic, const Op& op, std::string_view symbol,
                       std::string_view suffix) {
  if (diagnostic == nullptr) return;
  NearestName nearest(symbol);
  bool is_stated = false;  // by `symbol:` of a register: the name of its value is misspelt then
  for_each_op(op.module(), [&](const Op& each) {
    const Attr* const stated = each.attribute(key::kSymbol);
    is_stated = is_stated || (stated != nullptr && stated->kind() == AttrKind::kString &&
                              stated->text() == symbol);
    for (const Value& result : each.results()) {
      if (result.has_symbol()) nearest.offer(text(each, result.symbol()));
    }
  });
  std::string_view name = nearest.best();
  if (name.empty()) return;
  // Only another name of the op can lead to it; a missing bias is no slip of the name.
  if (!name.ends_with(suffix)) return;
  name.remove_suffix(suffix.size());
  const auto source = text_of(op);
  const bool certain = !is_stated && is_certain_slip(symbol, nearest.best());
  const Span at = source ? source->first(TokenKind::kNameAngle) : Span{};
  suggest(*diagnostic, nearest.best(), at, fmt::format("<name=\"{}\">", name), certain);
}

namespace {

/// The spelling of a spec with another number in a field.
std::string with_field(std::string spelling, std::string_view key, std::int64_t value) {
  const auto at = spelling.find(std::string(key) + ": ");
  if (at == spelling.npos) return spelling;
  const auto begin = at + key.size() + 2;
  return spelling.replace(begin, spelling.find_first_of(",)", begin) - begin,
                          std::to_string(value));
}

/// A hash of the spec with a range, or of a long part of it, that begins a text.
std::uint32_t hash_of_spec(std::string_view text) {
  constexpr std::size_t kMost = 256;
  text = text.substr(0, kMost);
  text = text.substr(0, text.find(')', text.find(')') + 1));  // its fields have parentheses
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
}

}  // namespace

std::vector<Span> SpecPlaces::of(std::string_view spec, const Op& place) {
  const SourceFile* file = place.module().context().sources().file_of(place.span().begin);
  if (file == nullptr) return {};
  if (file != searched_) {
    begins_.clear();
    for (const Span at : mentions_of(*file, place.module(), "QuantSpec(")) {
      begins_.push_back({hash_of_spec(file->text().substr(at.begin - file->base())), at.begin});
    }
    std::ranges::sort(begins_);
  }
  searched_ = file;
  std::vector<Span> places;
  const std::uint32_t hash = hash_of_spec(spec);
  for (auto at = std::ranges::lower_bound(begins_, std::pair(hash, SourcePos{0}));
       at != begins_.end() && at->first == hash; ++at) {
    const SourcePos begin = at->second;
    const SourcePos end = begin + static_cast<SourcePos>(spec.size());
    if (file->text().substr(begin - file->base(), spec.size()) != spec) continue;
    places.push_back({begin, end});
    if (places.size() == kMostFixes) break;
  }
  return places;
}

void suggest_quant_range(Diagnostic* diagnostic, const Op& place, const Attr& spec,
                         std::int64_t low, std::int64_t high, SpecPlaces& places) {
  if (diagnostic == nullptr) return;
  diagnostic->hint = compiled(FMT_COMPILE("did you mean {} to {}?"), low, high);
  const std::string_view old = spec.spelling();
  const std::string repaired =
      with_field(with_field(std::string(old), "quant_min", low), "quant_max", high);
  for (const Span at : places.of(old, place)) diagnostic->fix(at, repaired);
}

}  // namespace mir::checks
