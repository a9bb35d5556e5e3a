// Compares two graphs part by part in the order of their texts.
#include "diff/equal_graphs.hpp"

#include <algorithm>

#include "ir/mention.hpp"

namespace mir {

namespace {

bool have_equal_names(const Op& a, const Op& b) {
  return a.kind() == b.kind() && a.device() == b.device() &&
         a.op_name().spelling == b.op_name().spelling && a.has_symbol() == b.has_symbol() &&
         a.symbol() == b.symbol() && a.has_path() == b.has_path() && a.path() == b.path() &&
         a.module().declared_symbol(&a) == b.module().declared_symbol(&b) &&
         a.dump_facts().label == b.dump_facts().label;
}

bool have_equal_lists(const Op& a, const Op& b) {
  return a.has_signature() == b.has_signature() &&
         std::ranges::equal(a.attributes(), b.attributes()) &&
         a.operand_count() == b.operand_count() && a.result_count() == b.result_count() &&
         a.region_count() == b.region_count();
}

bool are_equal_mentions(const Use& a, const Use& b) {
  const StatedMention *one = stated_mention(a), *other = stated_mention(b);
  if (one == nullptr || other == nullptr) return one == other;
  return one->type == other->type && one->symbol == other->symbol &&
         std::ranges::equal(one->attributes, other->attributes);
}

}  // namespace

bool EqualGraphs::compare(const Op& a, const Op& b) {
  // Uses may be above the definitions of their values, so operands are compared at the end.
  const bool equal = are_alike(a, b) && std::ranges::all_of(ops_, [&](const auto& pair) {
                       return have_equal_operands(*pair.first, *pair.second) &&
                              have_equal_successors(*pair.first, *pair.second);
                     });
  if (!equal) {
    for (const auto& [one, other] : values_) partners_[one->id()] = nullptr;
  }
  return equal;
}

bool EqualGraphs::are_alike(const Op& a, const Op& b) {
  if (!have_equal_names(a, b) || !have_equal_lists(a, b)) return false;
  const bool is_outermost = ops_.empty();
  ops_.emplace_back(&a, &b);
  for (std::uint32_t i = 0; !is_outermost && i < a.result_count(); ++i) {
    if (!pair(*a.result(i), *b.result(i))) return false;
  }
  const Region* other = b.first_region();
  for (const Region* one = a.first_region(); one != nullptr; one = one->next()) {
    if (!are_alike(*one, *other)) return false;
    other = other->next();
  }
  return true;
}

bool EqualGraphs::are_alike(const Region& a, const Region& b) {
  const auto free_a = a.free_values(), free_b = b.free_values();
  if (a.has_signature() != b.has_signature() || free_a.size() != free_b.size()) return false;
  for (std::size_t i = 0; i < free_a.size(); ++i) {
    if (!pair(*free_a[i], *free_b[i])) return false;
  }
  const Block* other = b.entry();
  for (const Block* one : a.blocks()) {
    if (other == nullptr || !are_alike(*one, *other)) return false;
    other = other->next();
  }
  return other == nullptr;
}

bool EqualGraphs::are_alike(const Block& a, const Block& b) {
  if (a.name() != b.name() || a.arguments().size() != b.arguments().size()) return false;
  blocks_.emplace_back(&a, &b);
  for (std::size_t i = 0; i < a.arguments().size(); ++i) {
    if (!pair(a.arguments()[i], b.arguments()[i])) return false;
  }
  const Op* other = b.front();
  for (const Op* one : a.ops()) {
    if (other == nullptr || !are_alike(*one, *other)) return false;
    other = other->next();
  }
  return other == nullptr;
}

bool EqualGraphs::pair(const Value& a, const Value& b) {
  const bool alike = a.type() == b.type() && a.symbol() == b.symbol() &&
                     a.has_symbol() == b.has_symbol() &&
                     std::ranges::equal(a.attributes(), b.attributes());
  if (!alike || partners_[a.id()] != nullptr) return false;
  partners_[a.id()] = &b;
  values_.emplace_back(&a, &b);
  return true;
}

bool EqualGraphs::have_equal_operands(const Op& a, const Op& b) const {
  const auto from = a.operand_uses(), to = b.operand_uses();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (partners_[from[i].value()->id()] != to[i].value()) return false;
    if (!are_equal_mentions(from[i], to[i])) return false;
  }
  return true;
}

bool EqualGraphs::have_equal_successors(const Op& a, const Op& b) const {
  return std::ranges::equal(a.extra().successors, b.extra().successors,
                            [](const OpExtra::Successor& one, const OpExtra::Successor& other) {
                              return one.name() == other.name() &&
                                     (one.block == nullptr) == (other.block == nullptr) &&
                                     one.operand_count == other.operand_count;
                            });
}

}  // namespace mir
