// Compares paired ops, attributes and values of two modules and lists the differences.
#include "diff/module_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "diff/effective_form.hpp"
#include "diff/op_text.hpp"
#include "diff/pairing.hpp"
#include "diff/same_ids.hpp"
#include "ir/mention.hpp"
#include "ir/ports.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/ops.hpp"
#include "mir/upgrade.hpp"

namespace mir {

namespace {

/// A key and how many of its list came before: a text can state one twice.
using AttributeKey = std::pair<std::string_view, std::size_t>;

std::map<AttributeKey, const Attr*> by_key(const IRContext& context,
                                           std::span<const NamedAttr> list) {
  std::map<AttributeKey, const Attr*> sorted;
  for (const NamedAttr& each : list) {
    AttributeKey key{context.text(each.key), 0};
    while (!sorted.emplace(key, each.value).second) ++key.second;
  }
  return sorted;
}

std::string spelling_of(const Attr* attribute) {
  return attribute == nullptr ? "" : std::string(attribute->spelling());
}

/// The name of a field, such as `operand 2`. Its text is made when a difference is reported.
struct FieldName {
  std::string_view noun;
  std::size_t number;
  std::string text() const { return fmt::format("{} {}", noun, number); }
};

std::string text_of(std::string_view name) {
  return std::string(name);
}
std::string text_of(const FieldName& name) {
  return name.text();
}
std::string text_of(const auto& name) requires std::invocable<decltype(name)> {
  return name();
}

class Comparison {
 public:
  Comparison(const Module& before, const Module& after, bool inputs_by_port, PairedIds& specs,
             ModuleDiff& diff)
      : before_(before),
        after_(after),
        context_(before.context()),
        diff_(diff),
        pairing_(before, after, inputs_by_port),
        ids_(before.context(), !before.is_portable() && !after.is_portable(), specs) {
    place_.module = std::string(context_.text(before.name()));
  }

  void run() {
    if (before_.version() != after_.version()) {
      field(*before_.top(), *after_.top(), "form", form_of(before_), form_of(after_));
    }
    ops(*before_.top(), *after_.top());
  }

 private:
  static std::string form_of(const Module& module) {
    return module.is_portable() ? fmt::format("{} {}", key::kMirVersion.text, module.version())
                                : "dump";
  }

  // -- regions ------------------------------------------------------------------------------------

  void regions(const Region& a, const Region& b) {
    const Op &one = *a.parent(), &other = *b.parent();
    flag(one, other, "signature", a.has_signature(), b.has_signature());
    const Block* next = b.entry();
    for (const Block* block : a.blocks()) {
      const Block* partner = pairing_.after(*block);
      if (partner == nullptr) {
        whole(DiffEntry::Kind::kRemoved, one, block_line(*block));
        continue;
      }
      for (; next != partner; next = next->next()) {
        whole(DiffEntry::Kind::kAdded, other, block_line(*next));
      }
      next = next->next();
      blocks(*block, *partner);
    }
    for (; next != nullptr; next = next->next()) {
      whole(DiffEntry::Kind::kAdded, other, block_line(*next));
    }
    results(a, b);
  }

  std::string block_line(const Block& block) const {
    return fmt::format("block {} of {} operations", block_name(block),
                       std::ranges::distance(block.ops()));
  }

  std::string block_name(const Block& block) const {
    return block.name() ? fmt::format("^{}", context_.text(block.name())) : "without a name";
  }

  void blocks(const Block& a, const Block& b) {
    const Op &one = *a.parent()->parent(), &other = *b.parent()->parent();
    flag(one, other, "name of the first block", static_cast<bool>(a.name()),
         static_cast<bool>(b.name()));
    count(one, other, "inputs", a.arguments().size(), b.arguments().size());
    const bool are_inputs = a.previous() == nullptr && b.previous() == nullptr;
    for (const Value& from : a.arguments()) {
      const Value* to = pairing_.after(from);
      if (to == nullptr) continue;
      values(from, *to, one, other, {"input", from.index()});
      if (!are_inputs) continue;
      port(one, other, {a.parent()->input_port(from.index()), default_port(from)},
           {b.parent()->input_port(to->index()), default_port(*to)}, {"input", from.index()});
    }
    const Op* next = b.front();
    const auto added_until = [&](const Op* end) {
      for (; next != end; next = next->next()) {
        if (pairing_.before(*next) == nullptr) whole(DiffEntry::Kind::kAdded, *next);
      }
    };
    for (const Op* op : a.ops()) {
      const Op* partner = pairing_.after(*op);
      if (partner == nullptr) {
        whole(DiffEntry::Kind::kRemoved, *op);
        continue;
      }
      // Graphs may have changed places.
      if (next != nullptr && !partner->is_before_in_block(next)) added_until(partner->next());
      ops(*op, *partner);
    }
    added_until(nullptr);
  }

  void results(const Region& a, const Region& b) {
    const Op &one = *a.parent(), &other = *b.parent();
    const std::vector<RegionResult> from = signature_results(a), to = signature_results(b);
    count(one, other, "outputs", from.size(), to.size());
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      const FieldName what{"output", i};
      said(from[i], to[i], one, other, what);
      if (a.returned(i) != nullptr && b.returned(i) != nullptr) {
        port(one, other, {a.output_port(i), default_port(*a.returned(i))},
             {b.output_port(i), default_port(*b.returned(i))}, what);
      }
      const bool named = a.returned(i) == nullptr && b.returned(i) == nullptr;
      if (named && !ids_.pair_storages(from[i].name, to[i].name)) {
        field(
            one, other, [&] { return "storage of " + what.text(); }, "one of before", "another",
            true);
      }
    }
  }

  struct NamedPort {
    ValueName name, of_value;
  };

  /// The names of values are not compared, so ports count where one is not the name of its value.
  void port(const Op& one, const Op& other, NamedPort a, NamedPort b, const FieldName& of) {
    if (a.name == a.of_value && b.name == b.of_value) return;
    field(
        one, other, [&] { return "port of " + of.text(); }, name_text(a.name, context_),
        name_text(b.name, context_));
  }

  // -- pairs of ops -------------------------------------------------------------------------------

  void ops(const Op& a, const Op& b) {
    field(a, b, "device", context_.text(a.device()), context_.text(b.device()));
    if (a.device() == b.device()) {
      field(a, b, "operation", context_.text(a.op_name().spelling),
            context_.text(b.op_name().spelling));
    }
    const DumpFacts &facts = a.dump_facts(), &others = b.dump_facts();
    if (a.path() != b.path() || facts.has_square_path != others.has_square_path) {
      field(a, b, "name", path_of(a), path_of(b));
    }
    if (a.symbol() != b.symbol() || a.has_symbol() != b.has_symbol()) {
      field(a, b, "symbol", symbol_of(a), symbol_of(b));
    }
    angles(a, b);
    if (facts.label != others.label) field(a, b, "label", label_of(a), label_of(b));
    flag(a, b, "lists of values", a.has_signature(), b.has_signature());
    if (a.attributes().empty() && b.attributes().empty()) {
      flag(a, b, "list of attributes", a.has_attribute_list(), b.has_attribute_list());
    }
    attributes(a.attributes(), b.attributes(), a, b, nullptr);
    operands(a, b);
    successors(a, b);
    count(a, b, "results", a.result_count(), b.result_count());
    for (std::uint32_t i = 0; i < std::min(a.result_count(), b.result_count()); ++i) {
      values(a.results()[i], b.results()[i], a, b, {"result", i});
    }
    field(a, b, "location", location_of(a), location_of(b));
    count(a, b, "regions", a.region_count(), b.region_count());
    const std::string outer = place_.graph;
    if (is_declared(a)) place_.graph = std::string(context_.text(a.symbol()));
    const Region* other = b.first_region();
    for (const Region* one = a.first_region(); one != nullptr && other != nullptr;
         one = one->next(), other = other->next()) {
      regions(*one, *other);
    }
    place_.graph = outer;
  }

  std::string path_of(const Op& op) const {
    if (!op.has_path()) return "";
    const bool square = op.dump_facts().has_square_path;
    const std::string_view path = context_.text(op.path());
    return square ? fmt::format("[name=\"{}\"]", path) : std::string(path);
  }
  std::string symbol_of(const Op& op) const {
    return op.has_symbol() ? fmt::format("@{}", context_.text(op.symbol())) : "";
  }
  std::string label_of(const Op& op) const {
    const auto label = op.dump_facts().label;
    return label ? std::string(context_.text(*label)) : "";
  }
  std::string location_of(const Op& op) const {
    return context_.locations().spelling(op.location());  // nothing for a position
  }

  void angles(const Op& a, const Op& b) {
    const auto from = a.extra().angles, to = b.extra().angles;
    for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
      if (i < from.size() && i < to.size() && from[i] == to[i]) continue;
      const auto text = [&](std::span<const Symbol> list) {
        return i < list.size() ? fmt::format("<{}>", context_.text(list[i])) : std::string();
      };
      field(a, b, FieldName{"angle", i}, text(from), text(to));
    }
  }

  void operands(const Op& a, const Op& b) {
    const auto from = a.operand_uses(), to = b.operand_uses();
    count(a, b, "operands", from.size(), to.size());
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      operand(from[i], to[i], {"operand", i});
    }
  }

  void operand(const Use& a, const Use& b, const FieldName& what) {
    const Value &one = *a.value(), &other = *b.value();
    const bool known = pairing_.after(one) == &other;
    if (!known && !(constants_are_alike(one, other) && pairing_.meet(one, other))) {
      return other_operand(a, b, what);
    }
    const bool first = one.is_free() && compared_.insert(&one).second;
    if (first) storages(one, other, *a.user(), *b.user(), what);
    const bool stated = stated_mention(a) != nullptr || stated_mention(b) != nullptr;
    if (first || stated) said(mention_of(a), mention_of(b), *a.user(), *b.user(), what);
  }

  void other_operand(const Use& a, const Use& b, const FieldName& what) {
    std::string from = source_text(*a.value()), to = source_text(*b.value());
    if (from == to) {
      from += fmt::format(" ({})", mention_text(*a.value()));
      to += fmt::format(" ({})", mention_text(*b.value()));
    }
    field(*a.user(), *b.user(), what, from, to, true);
  }

  bool constants_are_alike(const Value& a, const Value& b) const {
    return a.attribute(key::kConstant) == b.attribute(key::kConstant);
  }

  void successors(const Op& a, const Op& b) {
    const auto from = a.extra().successors, to = b.extra().successors;
    count(a, b, "successors", from.size(), to.size());
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      const OpExtra::Successor &one = from[i], &other = to[i];
      const FieldName what{"successor", i};
      count(
          a, b, [&] { return "arguments of " + what.text(); }, one.operand_count,
          other.operand_count);
      const bool alike = one.block == nullptr || other.block == nullptr
                             ? one.block == other.block && one.stated == other.stated
                             : pairing_.after(*one.block) == other.block;
      if (!alike) field(a, b, what, successor_text(one), successor_text(other), true);
    }
  }

  std::string successor_text(const OpExtra::Successor& successor) const {
    const std::string name = fmt::format("^{}", context_.text(successor.name()));
    if (successor.block == nullptr) return name + ", which the region lacks";
    return fmt::format("{}, block {}", name, number_of(*successor.block));
  }

  /// The place of a block in its region, from 0.
  std::size_t number_of(const Block& block) const {
    if (const auto known = block_numbers_.find(&block); known != block_numbers_.end()) {
      return known->second;
    }
    std::size_t next = 0;
    for (const Block* each : block.parent()->blocks()) block_numbers_.emplace(each, next++);
    return block_numbers_.at(&block);
  }

  // -- values and attributes ----------------------------------------------------------------------

  void values(const Value& a, const Value& b, const Op& at, const Op& other,
              const FieldName& what) {
    storages(a, b, at, other, what);
    said(StatedMention{a.type(), a.attributes(), a.symbol(), a.has_symbol()},
         StatedMention{b.type(), b.attributes(), b.symbol(), b.has_symbol()}, at, other, what);
  }

  /// Values of one storage must stay in one.
  void storages(const Value& a, const Value& b, const Op& at, const Op& other,
                const FieldName& what) {
    if (!ids_.are_dumps()) return;
    const bool alike = ids_.pair_storages(a.name(), b.name());
    const Value *one = first_in(first_before_, a), *two = first_in(first_after_, b);
    if (alike) return;
    const auto text = [&](const Value& value, const Value& first) {
      return &value == &first
                 ? fmt::format("its own ({})", mention_text(value))
                 : fmt::format("that of {} ({})", source_text(first), mention_text(first));
    };
    field(
        at, other, [&] { return "storage of " + what.text(); }, text(a, *one), text(b, *two), true);
  }

  /// The first value seen of a value's storage.
  static const Value* first_in(std::unordered_map<std::uint32_t, const Value*>& first,
                               const Value& value) {
    return first.emplace(value.name().raw(), &value).first->second;
  }

  /// Compares the type and attributes that two mentions or definitions state for a value.
  void said(const auto& a, const auto& b, const Op& at, const Op& other, const FieldName& what) {
    if (a.type != b.type) {
      field(
          at, other, [&] { return "type of " + what.text(); }, type_text(a.type),
          type_text(b.type));
    }
    const bool symbols = a.has_symbol && b.has_symbol;
    const bool none = !a.has_symbol && !b.has_symbol;
    if (!none &&
        (!symbols || !ids_.pair_symbols(context_.text(a.symbol), context_.text(b.symbol)))) {
      const auto text = [&](const auto& of) {
        return of.has_symbol ? fmt::format("@{}", context_.text(of.symbol)) : std::string();
      };
      field(
          at, other, [&] { return "symbol of " + what.text(); }, text(a), text(b), symbols);
    }
    attributes(a.attributes, b.attributes, at, other, &what);
  }

  /// `of`: the value that has the attributes; null if the op itself has them.
  void attributes(std::span<const NamedAttr> a, std::span<const NamedAttr> b, const Op& at,
                  const Op& other, const FieldName* of) {
    const bool are_equal = std::ranges::equal(a, b);
    if (are_equal &&
        std::ranges::none_of(a, [&](const NamedAttr& each) { return ids_.may_hold_ids(each); })) {
      return;
    }
    const auto from = by_key(context_, a), to = by_key(context_, b);
    const auto compare = [&](const AttributeKey& key, const Attr* one, const Attr* two) {
      if (key.first == key::kMirVersion && before_.version() != after_.version()) return;
      const bool both = one != nullptr && two != nullptr;
      if (both && ids_.are_alike(key.first, *one, *two)) return;
      const auto name = [&] {
        return fmt::format("attribute '{}'{}{}", key.first,
                           of == nullptr ? "" : " of " + of->text(),
                           key.second == 0 ? "" : fmt::format(", again {}", key.second));
      };
      field(at, other, name, spelling_of(one), spelling_of(two), true);
    };
    for (const auto& [key, value] : from) {
      const auto found = to.find(key);
      compare(key, value, found == to.end() ? nullptr : found->second);
    }
    for (const auto& [key, value] : to) {
      if (!from.contains(key)) compare(key, nullptr, value);
    }
  }

  // -- entries ------------------------------------------------------------------------------------

  void count(const Op& a, const Op& b, const auto& name, std::size_t before, std::size_t after) {
    if (before == after) return;
    field(a, b, name, fmt::to_string(before), fmt::to_string(after));
  }

  void flag(const Op& a, const Op& b, std::string_view name, bool before, bool after) {
    field(a, b, name, before ? "present" : "", after ? "present" : "");
  }

  void field(const Op& a, const Op& b, const auto& name, std::string_view before,
             std::string_view after, bool even_if_equal = false) {
    if (before == after && !even_if_equal) return;
    DiffEntry entry = place_;
    entry.op = describe(a);
    entry.field = text_of(name);
    entry.before = before;
    entry.after = after;
    if (before == after) entry.after += ", an id that stands for another one above";
    entry.at_before = a.location();
    entry.at_after = b.location();
    diff_.entries.push_back(std::move(entry));
  }

  void whole(DiffEntry::Kind kind, const Op& op) { whole(kind, op, op_line(op)); }

  void whole(DiffEntry::Kind kind, const Op& op, std::string line) {
    DiffEntry entry = place_;
    entry.kind = kind;
    entry.op = describe(op);
    const bool removed = kind == DiffEntry::Kind::kRemoved;
    (removed ? entry.before : entry.after) = std::move(line);
    (removed ? entry.at_before : entry.at_after) = op.location();
    diff_.entries.push_back(std::move(entry));
  }

  const Module& before_;
  const Module& after_;
  IRContext& context_;
  ModuleDiff& diff_;
  DiffEntry place_;  ///< the current module and graph
  Pairing pairing_;
  SameIds ids_;
  std::unordered_map<std::uint32_t, const Value*> first_before_, first_after_;  // by storage
  std::unordered_set<const Value*> compared_;  ///< free values of `before`
  mutable std::unordered_map<const Block*, std::size_t> block_numbers_;  ///< of regions asked for
};

void whole_module(const Module& module, DiffEntry::Kind kind, ModuleDiff& diff) {
  DiffEntry entry;
  entry.kind = kind;
  entry.module = std::string(module.context().text(module.name()));
  entry.op = std::string(module.top()->name());
  const bool removed = kind == DiffEntry::Kind::kRemoved;
  (removed ? entry.before : entry.after) = fmt::format("@{}", entry.module);
  (removed ? entry.at_before : entry.at_after) = module.top()->location();
  diff.entries.push_back(std::move(entry));
}

}  // namespace

std::size_t ModuleDiff::count(DiffEntry::Kind kind) const {
  return static_cast<std::size_t>(std::ranges::count(entries, kind, &DiffEntry::kind));
}

namespace {

struct ModulePair {
  Module* before = nullptr;
  Module* after = nullptr;
};

/// Pairs the k-th module of a name with the k-th of that name. A module that is left over in each
/// list was renamed. Modules without a partner have their place.
std::vector<ModulePair> pair_modules(std::span<Module* const> before,
                                     std::span<Module* const> after) {
  std::unordered_map<Symbol, std::vector<Module*>> unpaired;  // the first of a name last
  for (auto module = after.rbegin(); module != after.rend(); ++module) {
    unpaired[(*module)->name()].push_back(*module);
  }
  std::vector<ModulePair> pairs;
  std::unordered_set<const Module*> paired;
  for (Module* module : before) {
    std::vector<Module*>& alike = unpaired[module->name()];
    pairs.push_back({module, alike.empty() ? nullptr : alike.back()});
    if (alike.empty()) continue;
    paired.insert(alike.back());
    alike.pop_back();
  }
  std::vector<Module*> added;
  std::ranges::copy_if(after, std::back_inserter(added),
                       [&](const Module* module) { return !paired.contains(module); });
  if (added.size() == 1 && std::ranges::count(pairs, nullptr, &ModulePair::after) == 1) {
    std::ranges::find(pairs, nullptr, &ModulePair::after)->after = added.front();
    return pairs;
  }
  for (Module* module : added) pairs.push_back({nullptr, module});
  return pairs;
}

}  // namespace

ModuleDiff diff_modules(std::span<Module* const> before, std::span<Module* const> after,
                        const DiffOptions& options) {
  ModuleDiff diff;
  PairedIds specs;
  for (const ModulePair& pair : pair_modules(before, after)) {
    if (pair.after == nullptr) {
      whole_module(*pair.before, DiffEntry::Kind::kRemoved, diff);
    } else if (pair.before == nullptr) {
      whole_module(*pair.after, DiffEntry::Kind::kAdded, diff);
    } else {
      if (options.effective) make_effective(*pair.before);
      if (options.effective) make_effective(*pair.after);
      Comparison(*pair.before, *pair.after, options.effective, specs, diff).run();
    }
  }
  return diff;
}

}  // namespace mir
