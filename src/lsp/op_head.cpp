// Reads the operands of an op being typed, and decides which types fit the next one.
#include "lsp/op_head.hpp"

#include <algorithm>
#include <iterator>

#include "lsp/named.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/infer.hpp"
#include "syntax/lexer.hpp"

namespace mir::lsp {

OpHead head_of(const View& view, SourcePos op, SourcePos at) {
  using enum TokenKind;
  OpHead head;
  const SourceFile& file = view.now().file();
  Diagnostics ignored(1);
  Lexer lexer(file, ignored, op - Document::kBase);
  int parentheses = 0, dictionaries = 0;
  bool has_operands = false, has_name = false;
  while (true) {
    const TokenKind kind = lexer.next();
    const bool starts_next = has_name && (kind == kOpName || kind == kAddress);
    if (kind == kEnd || kind == kError || kind == kLBrace || kind == kRBrace || starts_next) break;
    const std::string_view text(lexer.begin(),
                                static_cast<std::size_t>(lexer.end() - lexer.begin()));
    const SourcePos begin = file.position_of(lexer.begin()), end = file.position_of(lexer.end());
    has_name = has_name || kind == kOpName;
    if (kind == kLParen && parentheses++ == 0 && !has_operands) head.operands.emplace_back();
    if (kind == kRParen && --parentheses == 0) has_operands = true;
    dictionaries += (kind == kDictOpen) - (kind == kDictClose);
    if (kind == kSymbol && parentheses == 0 && head.symbol.empty()) head.symbol = text.substr(1);
    if (kind == kKey && parentheses == 0 && dictionaries == 0 && (at < begin || at > end)) {
      head.keys.push_back(text);
    }
    if (parentheses != 1 || has_operands) continue;
    const bool is_value = kind == kValue || kind == kTypedValue;
    if (kind == kComma) head.operands.emplace_back();
    if (is_value) head.operands.back() = text.substr(1, text.find(':') - 1);
  }
  return head;
}

namespace {

/// The type of the value of this name that is defined last before the op; null if unknown.
const Type* type_of(const View& view, std::string_view name, SourcePos before) {
  const Outline& outline = view.outline();
  std::uint32_t found = kNone;
  for (std::uint32_t i = 0; i < outline.values.size(); ++i) {
    const OutlineValue& value = outline.values[i];
    if (value.name != name || value.definition == kNone) continue;
    if (outline.mentions[value.definition].at.begin < before) found = i;
  }
  if (found == kNone) return nullptr;
  return read_type(view, type_text(view, found));
}

}  // namespace

const Type* read_type(const View& view, std::string_view text) {
  const std::string_view meaning = alias_value(view, text);
  const auto type = view.rows.parse_type(meaning.empty() ? text : meaning);
  return type ? *type : nullptr;
}

OperandFit::OperandFit(const View& view, std::string_view op, const OpHead& head,
                       std::uint32_t index)
    : view_(view), row_(nullptr), index_(index), operands_(head.operands.size()) {
  const OpName name = view.rows.op_name(op);
  row_ = name.info->row.get();
  device_ = name.device;
  operands_.resize(std::max<std::size_t>(operands_.size(), index + 1));
  const SourcePos begin = view.now().file().position_of(op.data());
  is_known_ = true;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (i == index) continue;
    if (i < head.operands.size()) operands_[i] = type_of(view, head.operands[i], begin);
    is_known_ = is_known_ && operands_[i] != nullptr;
  }
  if (row_ != nullptr && row_->callee) use_callee(head, index);
}

namespace {

bool is_about_types(const Diagnostic& refusal) {
  constexpr DiagCode kCodes[] = {diag::kShapeMismatch, diag::kRankMismatch, diag::kDTypeMismatch,
                                 diag::kNotATensor};
  return std::ranges::find(kCodes, refusal.code) != std::end(kCodes);
}

}  // namespace

/// The parameter of the graph that is called.
void OperandFit::use_callee(const OpHead& head, std::uint32_t index) {
  const Outline& outline = view_.outline();
  for (const SymbolMention& each : outline.symbols) {
    if (!each.declares || each.name != head.symbol) continue;
    for (std::uint32_t i = 0; i < outline.values.size(); ++i) {
      const OutlineValue& value = outline.values[i];
      if (value.definition == kNone) continue;
      const Mention& definition = outline.mentions[value.definition];
      const bool is_parameter = definition.op == each.op && definition.index == index &&
                                definition.at.begin > outline.ops[each.op].head.end;
      if (is_parameter) exact_ = read_type(view_, type_text(view_, i));
    }
  }
}

bool OperandFit::admits(const Type* type) {
  if (type == nullptr) return true;
  if (exact_ != nullptr) return compatible(type, exact_);
  const bool can_ask =
      row_ != nullptr && row_->infer && is_known_ && row_->operands.admits(operands_.size());
  if (!can_ask) return true;
  operands_[index_] = type;
  Diagnostics found(1);
  const auto inferred = infer({.context = view_.rows,
                               .row = *row_,
                               .operands = operands_,
                               .result_count = row_->results.min,
                               .device = device_},
                              found);
  // Errors of attributes do not count, because they may not be typed yet.
  return inferred || !found.find_error(is_about_types);
}

}  // namespace mir::lsp
