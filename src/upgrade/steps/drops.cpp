// Upgrade steps that erase ops: bookkeeping of storage and names, and repeated graphs.
#include <algorithm>

#include "ir/mention.hpp"
#include "upgrade/steps/recovery.hpp"

namespace mir {

/// Storage is the planner's business in portable form, and op names say what registers said.
void drop_bookkeeping(Recovery& recovery) {
  std::size_t frees = 0;
  walk<OpView>(recovery.module, [&](OpView op) {
    const bool bookkeeping = op->is(OpId::kTensorFree, OpId::kLinalgRegister, OpId::kDbgComment);
    if (!bookkeeping) return;
    if (op->result_count() != 0) {
      recovery.refuse(*op.op(), "signature", "it has results");
      return;
    }
    frees += op->is(OpId::kTensorFree) ? 1 : 0;
    const Attr* text = op->is(OpId::kDbgComment) ? op->attribute(key::kText) : nullptr;
    if (text != nullptr) {
      recovery.note(*op.op(), LossEntry::Source::kDropped, key::kText,
                    std::string(text->spelling()));
    }
    if (const auto name = recovery.module.declared_symbol(op.op())) {
      recovery.notes.declared_names.emplace_back(*name, op->location());
    }
    recovery.rewriter.erase(*op.op());
  });
  if (frees == 0) return;
  recovery.note(*recovery.module.top(), LossEntry::Source::kDropped, "tensor.free operations",
                fmt::to_string(frees));
}

namespace {

bool is_same(const Value& a, const Value& b) {
  return a.name() == b.name() && a.type() == b.type() && a.symbol() == b.symbol() &&
         a.has_symbol() == b.has_symbol() && std::ranges::equal(a.attributes(), b.attributes());
}

bool is_same_use(const Use& a, const Use& b) {
  const StatedMention x = mention_of(a), y = mention_of(b);
  return a.value()->name() == b.value()->name() && x.type == y.type && x.symbol == y.symbol &&
         x.has_symbol == y.has_symbol && std::ranges::equal(x.attributes, y.attributes);
}

bool is_same(const Region& a, const Region& b);

bool is_same(const Op& a, const Op& b) {
  const auto same_values = [](const Value& x, const Value& y) { return is_same(x, y); };
  const bool heads = a.op_name().spelling == b.op_name().spelling && a.symbol() == b.symbol() &&
                     a.path() == b.path() && a.extra().successors.empty() &&
                     b.extra().successors.empty() &&
                     std::ranges::equal(a.attributes(), b.attributes()) &&
                     std::ranges::equal(a.extra().angles, b.extra().angles) &&
                     std::ranges::equal(a.operand_uses(), b.operand_uses(), is_same_use) &&
                     std::ranges::equal(a.results(), b.results(), same_values);
  const Region *x = a.first_region(), *y = b.first_region();
  bool same = heads;
  for (; same && x != nullptr && y != nullptr; x = x->next(), y = y->next()) same = is_same(*x, *y);
  return same && x == nullptr && y == nullptr;
}

/// Compares regions of one block each or none, as dumps have them.
bool is_same(const Region& a, const Region& b) {
  if (a.empty() || b.empty()) return a.empty() && b.empty();
  const Block &one = a.only_block(), &other = b.only_block();
  const auto same_values = [](const Value& x, const Value& y) { return is_same(x, y); };
  const auto same_ops = [](const Op* x, const Op* y) { return is_same(*x, *y); };
  return std::ranges::equal(one.arguments(), other.arguments(), same_values) &&
         std::ranges::equal(a.result_types(), b.result_types()) &&
         std::ranges::equal(one.ops(), other.ops(), same_ops);
}

}  // namespace

/// A graph that a dump prints twice under one symbol, as one that several modules share: the same
/// text gives the same ops, and one of them is enough.
void drop_repeated_graphs(Recovery& recovery) {
  walk<SubGraphOp>(recovery.module, [&](SubGraphOp graph) {
    const Op* first = recovery.module.lookup_op(graph->symbol());
    if (first == nullptr || first == graph.op() || !is_same(*first, *graph.op())) {
      return;
    }
    recovery.note(*graph.op(), LossEntry::Source::kDropped, "graph", "a repetition");
    recovery.rewriter.erase(*graph.op());
  });
}

}  // namespace mir
