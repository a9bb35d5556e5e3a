// Whether two modules are the same but for value names, ids and places in text.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/ports.hpp"
#include "mir/module.hpp"

namespace mir::test {

/// Compares ops, kinds, attributes, types, symbols, regions and blocks in order, and operands by
/// which value they are. Modules may belong to different contexts. A region without blocks equals
/// one whose only block is empty, unnamed and without arguments: text does not tell them apart.
/// Types and attributes of a use are those its mention states.
class Isomorphism {
 public:
  enum class Match {
    kExact,
    /// After edits: blocks may get names, and text has a value that nothing defines in the region
    /// of its first mention.
    kEdited
  };
  Isomorphism(const Module& a, const Module& b, Match match = Match::kExact)
      : a_(a), b_(b), match_(match) {
    same("form", a.is_portable(), b.is_portable()) && same("version", a.version(), b.version()) &&
        ops(*a.top(), *b.top());
  }

  bool holds() const { return difference_.empty(); }
  /// What differs, and where; empty when nothing does.
  const std::string& difference() const { return difference_; }

 private:
  std::string_view text(Symbol symbol, bool first) const {
    return (first ? a_ : b_).context().text(symbol);
  }

  bool fail(std::string_view what, std::string_view a, std::string_view b) {
    difference_ = where_;
    difference_.append(": ").append(what).append(": '").append(a).append("' and '").append(b) +=
        "'";
    return false;
  }

  template <class T>
  bool same(std::string_view what, T a, T b) {
    return a == b || fail(what, std::to_string(a), std::to_string(b));
  }
  bool texts(std::string_view what, std::string_view a, std::string_view b) {
    return a == b || fail(what, a, b);
  }
  bool symbols(std::string_view what, Symbol a, Symbol b) {
    return texts(what, text(a, true), text(b, false));
  }
  bool types(std::string_view what, const Type* a, const Type* b) {
    return texts(what, a == nullptr ? "none" : a->spelling(),
                 b == nullptr ? "none" : b->spelling());
  }

  bool attributes(std::string_view what, std::span<const NamedAttr> a,
                  std::span<const NamedAttr> b) {
    if (!same(what, a.size(), b.size())) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!symbols("key", a[i].key, b[i].key)) return false;
      if (!texts(text(a[i].key, true), a[i].value->spelling(), b[i].value->spelling()))
        return false;
      if (!same("kind of attribute", static_cast<int>(a[i].value->kind()),
                static_cast<int>(b[i].value->kind()))) {
        return false;
      }
    }
    return true;
  }

  /// Pairs two objects, or checks that they are the pair they were before.
  bool pair(std::string_view what, const void* a, const void* b) {
    const auto [at, fresh] = to_b_.try_emplace(a, b);
    const auto [back, fresh_back] = to_a_.try_emplace(b, a);
    return (at->second == b && back->second == a) || fail(what, "a value", "another value");
  }

  bool values(const Value& a, const Value& b) {
    if (!same("result", a.is_result(), b.is_result()) ||
        !same("argument", a.is_argument(), b.is_argument())) {
      return false;
    }
    if (a.is_free() && match_ == Match::kEdited) {
      return to_a_.try_emplace(&b, &a).first->second == &a || fail("free value", "one", "another");
    }
    if (a.is_free() && !pair("region of a free value", a.free_in(), b.free_in())) return false;
    return pair("operand", &a, &b);
  }

  bool definitions(const Value& a, const Value& b) {
    return values(a, b) && types("type", a.type(), b.type()) &&
           same("has symbol", a.has_symbol(), b.has_symbol()) &&
           symbols("symbol", a.symbol(), b.symbol()) &&
           attributes("value attributes", a.attributes(), b.attributes());
  }

  struct Mention {
    const Type* type;
    bool has_symbol;
    Symbol symbol;
    std::span<const NamedAttr> attributes;
  };
  static Mention mention(const Use& use) {
    if (const StatedMention* other = stated_mention(use)) {
      return {other->type, other->has_symbol, other->symbol, other->attributes};
    }
    const Value& value = *use.value();
    return {value.type(), value.has_symbol(), value.symbol(), value.attributes()};
  }

  bool uses(const Use& a, const Use& b) {
    const Mention one = mention(a), other = mention(b);
    return values(*a.value(), *b.value()) && types("type of operand", one.type, other.type) &&
           same("operand has symbol", one.has_symbol, other.has_symbol) &&
           symbols("symbol of operand", one.symbol, other.symbol) &&
           attributes("attributes of operand", one.attributes, other.attributes);
  }

  static std::string stated_location(const Op& op) {
    return op.module().context().locations().spelling(op.location());
  }

  /// Blocks are what they are, not what text calls them.
  bool blocks_gone_to(const OpExtra::Successor& a, const OpExtra::Successor& b) {
    if (!same("successor exists", a.block != nullptr, b.block != nullptr)) return false;
    return a.block == nullptr ? symbols("successor", a.stated, b.stated)
                              : pair("successor", a.block, b.block);
  }

  bool extras(const OpExtra& a, const OpExtra& b) {
    if (!same("angles", a.angles.size(), b.angles.size()) ||
        !same("successors", a.successors.size(), b.successors.size())) {
      return false;
    }
    for (std::size_t i = 0; i < a.angles.size(); ++i) {
      if (!symbols("angle", a.angles[i], b.angles[i])) return false;
    }
    for (std::size_t i = 0; i < a.successors.size(); ++i) {
      if (!blocks_gone_to(a.successors[i], b.successors[i]) ||
          !same("first successor operand", a.successors[i].first_operand,
                b.successors[i].first_operand) ||
          !same("successor operands", a.successors[i].operand_count,
                b.successors[i].operand_count)) {
        return false;
      }
    }
    return true;
  }

  bool facts(const Op& a, const Op& b) {
    const DumpFacts &one = a.dump_facts(), &other = b.dump_facts();
    return same("square name", one.has_square_path, other.has_square_path) &&
           same("has label", one.label.has_value(), other.label.has_value()) &&
           symbols("label", one.label.value_or(Symbol()), other.label.value_or(Symbol())) &&
           same("has address", one.address.has_value(), other.address.has_value()) &&
           same("address", one.address.value_or(0), other.address.value_or(0));
  }

  bool heads(const Op& a, const Op& b) {
    return symbols("op", a.op_name().spelling, b.op_name().spelling) &&
           texts("kind", a.name(), b.name()) &&
           same("has symbol", a.has_symbol(), b.has_symbol()) &&
           symbols("symbol", a.symbol(), b.symbol()) &&
           same("has name", a.has_path(), b.has_path()) && symbols("name", a.path(), b.path()) &&
           facts(a, b) && same("has lists", a.has_signature(), b.has_signature()) &&
           same("has attribute list", a.has_attribute_list(), b.has_attribute_list()) &&
           attributes("attributes", a.attributes(), b.attributes()) &&
           texts("location", stated_location(a), stated_location(b)) &&
           extras(a.extra(), b.extra()) && same("operands", a.operand_count(), b.operand_count()) &&
           same("results", a.result_count(), b.result_count()) &&
           same("regions", a.region_count(), b.region_count());
  }

  bool ops(const Op& a, const Op& b) {
    where_ = "op ";
    where_ += std::to_string(++count_);
    where_ += " '";
    where_ += text(a.op_name().spelling, true);
    where_ += "'";
    if (!heads(a, b)) return false;
    for (std::uint32_t i = 0; i < a.operand_count(); ++i) {
      if (!uses(a.operand_uses()[i], b.operand_uses()[i])) return false;
    }
    for (std::uint32_t i = 0; i < a.result_count(); ++i) {
      if (!definitions(*a.result(i), *b.result(i))) return false;
    }
    const Region* right = b.first_region();
    for (const Region* left = a.first_region(); left != nullptr; left = left->next()) {
      if (!regions(*left, *right)) return false;
      right = right->next();
    }
    return true;
  }

  /// Those that both state. Version 1 says only what names of values can say.
  bool ports(std::span<const ValueName> a, std::span<const ValueName> b) {
    if (a_.version() < 2) return true;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (a[i].is_none() || b[i].is_none()) continue;
      if (!texts("port", name_text(a[i], a_.context()), name_text(b[i], b_.context())))
        return false;
    }
    return true;
  }

  static bool is_blank(const Region& region) {
    const Block* block = region.entry();
    return block == nullptr || (block->empty() && block->next() == nullptr && !block->name() &&
                                block->arguments().empty());
  }

  bool regions(const Region& a, const Region& b) {
    if (!pair("region", &a, &b) ||
        !same("region signature", a.has_signature(), b.has_signature()) ||
        !same("region results", a.result_types().size(), b.result_types().size())) {
      return false;
    }
    const std::vector<RegionResult> stated = signature_results(a), restated = signature_results(b);
    for (std::size_t i = 0; i < stated.size(); ++i) {
      const RegionResult &one = stated[i], &other = restated[i];
      if (!types("type of region result", one.type, other.type) ||
          !same("region result has symbol", one.has_symbol, other.has_symbol) ||
          !symbols("symbol of region result", one.symbol, other.symbol) ||
          !attributes("attributes of region result", one.attributes, other.attributes)) {
        return false;
      }
    }
    if (!ports(a.ports().inputs, b.ports().inputs) || !ports(a.ports().outputs, b.ports().outputs))
      return false;
    if (is_blank(a) && is_blank(b)) return true;
    const Block *left = a.entry(), *right = b.entry();
    for (; left != nullptr && right != nullptr; left = left->next(), right = right->next()) {
      if (!blocks(*left, *right)) return false;
    }
    return same("more blocks", left != nullptr, right != nullptr);
  }

  bool blocks(const Block& a, const Block& b) {
    if (!pair("block", &a, &b) ||
        (match_ == Match::kExact && !symbols("block", a.name(), b.name())) ||
        !same("block arguments", a.arguments().size(), b.arguments().size())) {
      return false;
    }
    for (std::size_t i = 0; i < a.arguments().size(); ++i) {
      if (!definitions(a.arguments()[i], b.arguments()[i])) return false;
    }
    const Op *left = a.front(), *right = b.front();
    for (; left != nullptr && right != nullptr; left = left->next(), right = right->next()) {
      if (!ops(*left, *right)) return false;
    }
    return same("more ops", left != nullptr, right != nullptr);
  }

  const Module& a_;
  const Module& b_;
  const Match match_;
  std::string where_ = "module";
  std::string difference_;
  std::size_t count_ = 0;
  std::unordered_map<const void*, const void*> to_b_, to_a_;
};

inline bool is_isomorphic(const Module& a, const Module& b) {
  return Isomorphism(a, b).holds();
}

}  // namespace mir::test
