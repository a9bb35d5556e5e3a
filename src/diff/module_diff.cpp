#include "diff/module_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "ir/mention.hpp"
#include "ir/program_fields.hpp"
#include "mir/ops.hpp"
#include "mir/upgrade.hpp"
#include "support/alignment.hpp"
#include "upgrade/same_ids.hpp"

namespace mir {

namespace {

constexpr std::string_view kStorageId = program_field::kProgramUuid;

using Ops = std::vector<Op*>;

std::string_view type_text(const Type* type) {
  return type == nullptr ? "untyped" : type->spelling();
}

/// Attributes by key, without those that only repeat ids.
std::map<std::string_view, const Attr*> by_key(const IRContext& context,
                                               std::span<const NamedAttr> list) {
  std::map<std::string_view, const Attr*> sorted;
  for (const NamedAttr& each : list) sorted.emplace(context.text(each.key), each.value);
  return sorted;
}

/// What an op is, apart from its values: kind, name, symbol, target.
std::string name_key(const IRContext& context, const Op& op) {
  std::string key(op.name());
  if (op.has_path()) key += fmt::format(" <{}>", context.text(op.path()));
  if (op.has_symbol()) key += fmt::format(" @{}", context.text(op.symbol()));
  if (const auto declared = op.module().declared_symbol(&op)) {
    key += fmt::format(" [{}]", without_id(context.text(*declared)));
  }
  const auto label = op.module().dump_facts().label(op);
  if (label) key += fmt::format(" ->{}", context.text(*label));
  return key;
}

/// Where a value comes from, without its id.
std::string source_of(const IRContext& context, const Value& value) {
  if (value.has_symbol()) return fmt::format("@{}", without_id(context.text(value.symbol())));
  for (const NamedAttr& each : value.attributes()) {
    if (context.text(each.key) == "constant") return std::string(each.value->spelling());
  }
  if (const Op* op = value.defining_op()) {
    return fmt::format("result {} of {}", value.index(), describe(*op));
  }
  return fmt::format("{} {}", value.is_argument() ? "argument" : "undefined value", value.index());
}

/// All of an op but ids: what is compared when ops are aligned.
std::string content_key(const IRContext& context, const Op& op) {
  std::string key = name_key(context, op);
  for (const auto& [name, value] : by_key(context, op.attributes())) {
    if (name == kStorageId) continue;
    key += fmt::format(" {}:{}", name, without_ids(value));
  }
  for (const Use& use : op.operand_uses()) {
    key += fmt::format(" ({} {}", type_text(use.value()->type()), source_of(context, *use.value()));
  }
  for (const Value& result : op.results()) key += fmt::format(" -> {}", type_text(result.type()));
  return key;
}

/// An op as one line without its values' names.
std::string op_line(const IRContext& context, const Op& op) {
  std::string line = describe(op);
  if (op.has_symbol()) line += fmt::format(" @{}", context.text(op.symbol()));
  std::string list;
  for (const auto& [name, value] : by_key(context, op.attributes())) {
    list += fmt::format("{}{}:{}", list.empty() ? "" : ", ", name, value->spelling());
  }
  if (!list.empty()) line += fmt::format(" [{}]", list);
  const auto types = [](auto&& values, auto&& type_of) {
    std::string text;
    for (const auto& each : values) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", type_text(type_of(each)));
    }
    return text;
  };
  return fmt::format("{} ({}) -> ({})", line,
                     types(op.operand_uses(), [](const Use& use) { return use.value()->type(); }),
                     types(op.results(), [](const Value& value) { return value.type(); }));
}

class Comparison {
 public:
  Comparison(const Module& before, const Module& after, ModuleDiff& diff)
      : before_(before), after_(after), context_(before.context()), diff_(diff) {
    place_.module = std::string(context_.text(before.name()));
  }

  void run() {
    if (before_.version() != after_.version()) {
      field(*before_.top(), *after_.top(), "form", form_of(before_), form_of(after_));
    }
    regions(before_.body(), after_.body());
  }

 private:
  static std::string form_of(const Module& module) {
    return module.is_portable() ? fmt::format("mir_version {}", module.version()) : "dump";
  }

  // -- regions ------------------------------------------------------------------------------------

  void regions(const Region& a, const Region& b) {
    const Block* second = b.entry();
    const Block* first = a.entry();
    for (; first != nullptr && second != nullptr; first = first->next(), second = second->next()) {
      blocks(*first, *second, a, b);
    }
    if (first != nullptr || second != nullptr) {
      field(*a.parent(), *b.parent(), "blocks", first == nullptr ? "fewer" : "more",
            second == nullptr ? "fewer" : "more");
    }
    results(a, b);
  }

  void blocks(const Block& a, const Block& b, const Region& in, const Region& other) {
    const auto from = a.arguments(), to = b.arguments();
    if (from.size() != to.size()) {
      field(*in.parent(), *other.parent(), "inputs", fmt::to_string(from.size()),
            fmt::to_string(to.size()));
    }
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      pair(from[i], to[i]);
      values(from[i], to[i], *in.parent(), *other.parent(), fmt::format("input {}", i));
    }
    const Ops before = ops_of(a), after = ops_of(b);
    const auto partner = aligned(before, after);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (partner[i]) pair_results(*before[i], *after[*partner[i]]);
    }
    report(before, after, partner);
  }

  static Ops ops_of(const Block& block) {
    Ops ops;
    for (Op* op : block.ops()) {
      if (!op->is_in(DialectId::kDbg)) ops.push_back(op);
    }
    return ops;
  }

  void results(const Region& a, const Region& b) {
    const std::vector<RegionResult> from = stated_results(a), to = stated_results(b);
    if (from.size() != to.size()) {
      field(*a.parent(), *b.parent(), "outputs", fmt::to_string(from.size()),
            fmt::to_string(to.size()));
    }
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      field(*a.parent(), *b.parent(), fmt::format("type of output {}", i), type_text(from[i].type),
            type_text(to[i].type));
      attributes(from[i].attributes, to[i].attributes, *a.parent(), *b.parent(),
                 fmt::format("of output {} ", i));
    }
  }

  // -- alignment ----------------------------------------------------------------------------------

  using Partners = std::vector<std::optional<std::size_t>>;

  /// Symbols are unique, so graphs are paired wherever they are; other ops in their order.
  Partners aligned(const Ops& before, const Ops& after) {
    Partners partner(before.size());
    std::unordered_map<std::string, std::size_t> graphs;
    std::vector<std::size_t> from, to;
    for (std::size_t j = 0; j < after.size(); ++j) {
      if (is_declared(*after[j])) {
        graphs.emplace(name_key(context_, *after[j]), j);
      } else {
        to.push_back(j);
      }
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!is_declared(*before[i])) {
        from.push_back(i);
        continue;
      }
      const auto found = graphs.find(name_key(context_, *before[i]));
      if (found == graphs.end()) continue;
      partner[i] = found->second;
      graphs.erase(found);
    }
    align_range(before, after, from, to, 0, partner);
    return partner;
  }

  static bool is_declared(const Op& op) { return isa<SubGraphOp>(&op) || isa<FragmentOp>(&op); }

  std::string key(const Op& op, int level) const {
    if (level == 0) return content_key(context_, op);
    return level == 1 ? name_key(context_, op) : std::string(op.name());
  }

  /// By content; between what is aligned so by name; between that by kind.
  void align_range(const Ops& before, const Ops& after, std::span<const std::size_t> from,
                   std::span<const std::size_t> to, int level, Partners& partner) {
    constexpr int kLevels = 3;
    if (from.empty() || to.empty() || level == kLevels) return;
    std::unordered_map<std::string, std::uint32_t> known;
    const auto ids_of = [&](const Ops& ops, std::span<const std::size_t> indices) {
      std::vector<std::uint32_t> ids;
      for (const std::size_t i : indices) {
        const auto next = static_cast<std::uint32_t>(known.size());
        ids.push_back(known.emplace(key(*ops[i], level), next).first->second);
      }
      return ids;
    };
    const auto from_ids = ids_of(before, from), to_ids = ids_of(after, to);
    std::size_t i = 0, j = 0;
    for (const AlignedPair& pair : align(from_ids, to_ids)) {
      const auto x = static_cast<std::size_t>(pair.before);
      const auto y = static_cast<std::size_t>(pair.after);
      align_range(before, after, from.subspan(i, x - i), to.subspan(j, y - j), level + 1, partner);
      partner[from[x]] = to[y];
      i = x + 1, j = y + 1;
    }
    align_range(before, after, from.subspan(i), to.subspan(j), level + 1, partner);
  }

  // -- pairs of ops -------------------------------------------------------------------------------

  void report(const Ops& before, const Ops& after, const Partners& partner) {
    std::vector<bool> taken(after.size(), false);
    for (const auto& other : partner) {
      if (other) taken[*other] = true;
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool in_order = partner[i] && *partner[i] >= next;
      if (in_order) {
        for (; next < *partner[i]; ++next) {
          if (!taken[next]) whole(DiffEntry::Kind::kAdded, *after[next]);
        }
        ++next;
      }
      if (partner[i]) {
        ops(*before[i], *after[*partner[i]]);
      } else {
        whole(DiffEntry::Kind::kRemoved, *before[i]);
      }
    }
    for (; next < after.size(); ++next) {
      if (!taken[next]) whole(DiffEntry::Kind::kAdded, *after[next]);
    }
  }

  void pair_results(const Op& a, const Op& b) {
    for (std::uint32_t i = 0; i < std::min(a.result_count(), b.result_count()); ++i) {
      pair(a.results()[i], b.results()[i]);
    }
  }

  void pair(const Value& a, const Value& b) {
    partner_.emplace(&a, &b);
    ids_.pair_storages(a.name(), b.name());
  }

  void ops(const Op& a, const Op& b) {
    field(a, b, "device", context_.text(a.device()), context_.text(b.device()));
    field(a, b, "name", path_of(a), path_of(b));
    field(a, b, "symbol", symbol_of(a), symbol_of(b));
    field(a, b, "label", label_of(a), label_of(b));
    attributes(a.attributes(), b.attributes(), a, b, "");
    operands(a, b);
    if (a.result_count() != b.result_count()) {
      field(a, b, "results", fmt::to_string(a.result_count()), fmt::to_string(b.result_count()));
    }
    for (std::uint32_t i = 0; i < std::min(a.result_count(), b.result_count()); ++i) {
      values(a.results()[i], b.results()[i], a, b, fmt::format("result {}", i));
    }
    const Region* other = b.first_region();
    for (const Region* one = a.first_region(); one != nullptr && other != nullptr;
         one = one->next(), other = other->next()) {
      const std::string outer = place_.graph;
      if (is_declared(a)) place_.graph = std::string(context_.text(a.symbol()));
      regions(*one, *other);
      place_.graph = outer;
    }
    if (a.region_count() != b.region_count()) {
      field(a, b, "regions", fmt::to_string(a.region_count()), fmt::to_string(b.region_count()));
    }
  }

  std::string path_of(const Op& op) const {
    return op.has_path() ? std::string(context_.text(op.path())) : std::string();
  }
  std::string symbol_of(const Op& op) const {
    return op.has_symbol() ? fmt::format("@{}", context_.text(op.symbol())) : std::string();
  }
  std::string label_of(const Op& op) const {
    const auto label = op.module().dump_facts().label(op);
    return label ? std::string(context_.text(*label)) : std::string();
  }

  void operands(const Op& a, const Op& b) {
    const auto from = a.operand_uses(), to = b.operand_uses();
    if (from.size() != to.size()) {
      field(a, b, "operands", fmt::to_string(from.size()), fmt::to_string(to.size()));
    }
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      const Value &one = *from[i].value(), &other = *to[i].value();
      if (!are_partners(one, other)) {
        field(a, b, fmt::format("operand {}", i), source_of(context_, one),
              source_of(context_, other), true);
      }
      const auto *stated = before_.dump_facts().mention(from[i]),
                 *restated = after_.dump_facts().mention(to[i]);
      const bool free = !one.is_result() && !one.is_argument();
      if (!free && stated == nullptr && restated == nullptr) continue;
      field(a, b, fmt::format("type of operand {}", i), type_text(mention_of(from[i]).type),
            type_text(mention_of(to[i]).type));
    }
  }

  /// Values that nothing defines are partners from their first mention on, where they are alike.
  bool are_partners(const Value& a, const Value& b) {
    const auto found = partner_.find(&a);
    if (found != partner_.end()) return found->second == &b;
    if (!a.is_free() || !b.is_free()) return false;
    const bool named = a.has_symbol() || b.has_symbol();
    if (a.has_symbol() != b.has_symbol()) return false;
    if (named && !ids_.pair_symbols(context_.text(a.symbol()), context_.text(b.symbol()))) {
      return false;
    }
    const Symbol constant = constant_key();
    if (a.attribute(constant) != b.attribute(constant)) return false;
    partner_.emplace(&a, &b);
    return ids_.pair_storages(a.name(), b.name()) || named || a.attribute(constant) != nullptr;
  }

  Symbol constant_key() const { return before_.context().strings().find("constant"); }

  void values(const Value& a, const Value& b, const Op& at, const Op& other,
              const std::string& what) {
    field(at, other, fmt::format("type of {}", what), type_text(a.type()), type_text(b.type()));
    attributes(a.attributes(), b.attributes(), at, other, fmt::format("of {} ", what));
  }

  void attributes(std::span<const NamedAttr> a, std::span<const NamedAttr> b, const Op& at,
                  const Op& other, const std::string& of) {
    if (std::ranges::equal(a, b)) return;
    const auto from = by_key(context_, a), to = by_key(context_, b);
    const auto compare = [&](std::string_view key, const Attr* one, const Attr* two) {
      if (one != nullptr && two != nullptr && ids_.are_alike(key, *one, *two)) return;
      field(at, other, fmt::format("{}attribute '{}'", of, key),
            one == nullptr ? "" : one->spelling(), two == nullptr ? "" : two->spelling(), true);
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

  void field(const Op& a, const Op& b, std::string name, std::string_view before,
             std::string_view after, bool even_if_equal = false) {
    if (before == after && !even_if_equal) return;
    DiffEntry entry = place_;
    entry.op = describe(a);
    entry.field = std::move(name);
    entry.before = before;
    entry.after = after;
    entry.at_before = a.location();
    entry.at_after = b.location();
    diff_.entries.push_back(std::move(entry));
  }

  void whole(DiffEntry::Kind kind, const Op& op) {
    DiffEntry entry = place_;
    entry.kind = kind;
    entry.op = describe(op);
    const bool removed = kind == DiffEntry::Kind::kRemoved;
    (removed ? entry.before : entry.after) = op_line(context_, op);
    (removed ? entry.at_before : entry.at_after) = op.location();
    diff_.entries.push_back(std::move(entry));
  }

  const Module& before_;
  const Module& after_;
  IRContext& context_;
  ModuleDiff& diff_;
  DiffEntry place_;  ///< the current module and graph
  std::unordered_map<const Value*, const Value*> partner_;
  SameIds ids_;
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

ModuleDiff diff_modules(std::span<Module* const> before, std::span<Module* const> after) {
  ModuleDiff diff;
  std::vector<Module*> rest(after.begin(), after.end());
  for (Module* module : before) {
    const auto found = std::ranges::find(rest, module->name(), &Module::name);
    if (found == rest.end()) {
      whole_module(*module, DiffEntry::Kind::kRemoved, diff);
      continue;
    }
    Comparison(*module, **found, diff).run();
    rest.erase(found);
  }
  for (const Module* module : rest) whole_module(*module, DiffEntry::Kind::kAdded, diff);
  return diff;
}

}  // namespace mir
