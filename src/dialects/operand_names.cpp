// Looks up the names that pages, declarations and rules give to the operands of ops.
#include "dialects/operand_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "dialects/signatures.hpp"
#include "support/characters.hpp"

namespace mir {

namespace {

constexpr std::string_view kMany = "..";

/// Names of the operands of an op, as on its page under docs/ops/. A name that ends in `..` is a
/// list.
struct PageNames {
  OpId op{};
  std::string_view names;
};

/// Ops whose rules name less than all operands (signatures.cpp), or name them otherwise.
constexpr PageNames kPageNames[] = {
    {OpId::kCfReturn, "values.."},
    {OpId::kCfIf, "condition"},
    {OpId::kCfFor, "first, last, step, values.."},
    {OpId::kCfWhile, "values.."},
    {OpId::kCfYield, "values.."},
    {OpId::kCfCondition, "condition, values.."},
    {OpId::kCfCondBranch, "condition"},
    {OpId::kCfSwitch, "index"},
    {OpId::kLinalgWhere, "condition, a, b"},
    {OpId::kLinalgConcat, "x.."},
    {OpId::kLinalgStack, "x.."},
    {OpId::kLinalgEinsum, "x.."},
    {OpId::kLinalgGeneric, "x.."},
    {OpId::kLoopKernel, "x.."},
    {OpId::kLoopNest, "indices.."},
    {OpId::kLoopRead, "buffer, indices.."},
    {OpId::kLoopWrite, "x, buffer, indices.."},
    {OpId::kLinalgSTFT, "signal, window"},
    {OpId::kLinalgISTFT, "spec, window"},
    {OpId::kLinalgCompress, "x, mask"},
    {OpId::kLinalgIndex, "x, indices.."},
    {OpId::kLinalgScatter, "x, indices, source"},
    {OpId::kLinalgMaskedScatter, "dst, mask, src"},
    {OpId::kLinalgRMSNorm, "x, w"},
    {OpId::kLinalgRoPE, "x, sin, cos"},
    {OpId::kLinalgMultimodalRoPE, "x, sin, cos"},
    {OpId::kLinalgVisionRoPE, "x, sin, cos"},
    {OpId::kLinalgCausalMask, "scores, positions"},
    {OpId::kLinalgKVCache, "k, v, positions"},
    {OpId::kLinalgFlashAttention2, "q, k, v, positions"},
    {OpId::kLinalgFlashAttention2SwaSink, "q, k, v, sinks"},
    {OpId::kLinalgPagedAttn, "q, k, v, rows, mask"},
    {OpId::kLinalgRadixAttnRelax, "q, key_rows, value_rows, k, v"},
    {OpId::kLinalgRadixAttnSwaSink, "q, key_rows, value_rows, k, v, sinks"},
};

void add_name(std::string_view name, OperandNames& all) {
  all.has_more = name.ends_with(kMany);
  if (all.has_more) name.remove_suffix(kMany.size());
  all.names.emplace_back(name);
}

OperandNames split(std::string_view list) {
  constexpr std::string_view kSeparator = ", ";
  OperandNames all;
  while (true) {
    const auto end = std::min(list.find(kSeparator), list.size());
    add_name(list.substr(0, end), all);
    if (end == list.size()) return all;
    list.remove_prefix(end + kSeparator.size());
  }
}

/// Returns the name of the value with which `text` begins, without its `%`.
std::string_view value_name(std::string_view text) {
  if (!text.starts_with('%')) return {};
  return text.substr(1, std::min(text.find_first_not_of(kNameCharacters, 1), text.size()) - 1);
}

/// The operands of the first signature of an op in the text that declares its dialect: names behind
/// `%` in the first parentheses of its body.
OperandNames declared_names(std::string_view dialect, std::string_view name) {
  OperandNames all;
  const std::string head = fmt::format("dialect.OpOp @{} ", name);
  const auto begin = dialect.find(head);
  if (begin == dialect.npos) return all;
  std::string_view text = dialect.substr(begin + head.size());
  const auto body = text.find("{\n");
  if (body == text.npos) return all;
  text.remove_prefix(body);
  text.remove_prefix(std::min(text.find('('), text.size()));
  text = text.substr(0, text.find(") -> ("));
  for (auto at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    const std::string_view found = value_name(text.substr(at));
    if (!found.empty()) all.names.emplace_back(found);
  }
  return all;
}

}  // namespace

std::string OperandNames::at(std::size_t index, std::size_t count) const {
  if (index < names.size() && !(has_more && index + 1 == names.size() && count > names.size())) {
    return names[index];
  }
  if (has_more) return fmt::format("{}{}", names.back(), index + 2 - names.size());
  return count == 1 ? "x" : fmt::format("operand{}", index);
}

OperandNames operand_names(const OpKindInfo& op, OpKind kind) {
  const auto page = std::ranges::find(kPageNames, kind.op(), &PageNames::op);
  if (page != std::end(kPageNames)) return split(page->names);
  if (op.row.get() == nullptr) return {};
  OperandNames all;
  for (const RuleSignature& each : signatures_of(op.row->infer)) {
    if (op.row->operands.min == 2 && each.operands[1].empty()) continue;
    for (const std::string_view operand : each.operands) {
      if (!operand.empty()) add_name(value_name(operand), all);
    }
    return all;
  }
  const Dialect* dialect = op.dialect.get();
  return dialect == nullptr ? all : declared_names(dialect->text, op.mnemonic);
}

}  // namespace mir
