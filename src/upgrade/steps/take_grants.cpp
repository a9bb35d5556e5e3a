// Upgrade step: applies granted attributes, operands, names and constants.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "mir/dialects.hpp"
#include "program/launch_places.hpp"
#include "upgrade/granted.hpp"
#include "upgrade/steps/recovery.hpp"

// What the user grants: attributes, operands and names of ops, constants of storages.

namespace mir {

namespace {

std::string_view type_of(const Op& op) {
  if (op.row() != nullptr && !op.row()->type_name.empty()) return type_in_place(op.info());
  std::string_view name = op.name().substr(op.name().rfind('.') + 1);
  if (op.row() != nullptr && name.ends_with("Op")) name.remove_suffix(2);
  return name;
}

/// `graph.Type`, to which upstream adds a number for ops without a name.
std::string family_of(const Op& op) {
  const Op* parent = op.parent_op();
  const std::string_view type = type_of(op);
  if (!isa<SubGraphOp>(parent)) return std::string(type);
  return fmt::format("{}.{}", op.module().context().text(parent->symbol()), type);
}

bool is_named_by_place(const Op& op) {
  return isa<LinalgOp>(&op) || op.is_in(DialectId::kTensor);
}

class Grants {
 public:
  explicit Grants(Recovery& recovery)
      : recovery_(recovery),
        module_(recovery.module),
        texts_(recovery.context()),
        used_(recovery.options.grants.size()) {}

  void run() {
    walk<OpView>(module_, [&](OpView op) { take(*op.op()); });
    take_constants(module_.body());
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const Grant& grant = recovery_.options.grants[i];
      if (used_[i] || was_taken(grant)) continue;
      refuse_unused(module_, grant, recovery_.report, recovery_.diagnostics);
    }
  }

 private:
  /// Corrections are made, and operands of launches and types of inputs taken, before this.
  bool was_taken(const Grant& grant) const {
    std::string fact;
    if (grant.kind == Grant::Kind::kOperand) fact = operand_fact(grant);
    if (grant.kind == Grant::Kind::kType) fact = fmt::format("type of %{}", grant.op);
    if (grant.kind == Grant::Kind::kNote) fact = note_of(grant);
    if (grant.kind == Grant::Kind::kReturn) fact = kReturnFact;
    return !fact.empty() &&
           std::ranges::any_of(recovery_.report.entries, [&](const LossEntry& entry) {
             return entry.fact == fact &&
                    (grant.kind != Grant::Kind::kOperand || entry.used == grant.text);
           });
  }

  void take(Op& op) {
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      take_constants(*inner);
    }
    if (isa<SubGraphOp>(&op)) return take_graph(op);
    if (!is_named_by_place(op)) return;
    const std::string_view type = type_of(op);
    const std::string family = family_of(op);
    const std::string place = fmt::format("{}.{}", family, counts_[family]++);
    const std::string_view path = op.has_path() ? recovery_.text(op.path()) : std::string_view();
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const Grant& grant = recovery_.options.grants[i];
      const bool meant =
          grant.op == place || grant.op == type || (!path.empty() && grant.op == path);
      if (meant) used_[i] = take(op, grant) || used_[i];
    }
  }

  /// Removes attributes of a graph that no dialect declares, as granted.
  void take_graph(Op& op) {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const Grant& grant = recovery_.options.grants[i];
      const bool meant =
          grant.kind == Grant::Kind::kAttribute && grant.op == recovery_.text(op.symbol());
      if (meant && leave_out(op, grant)) used_[i] = true;
    }
  }

  /// Takes away an attribute that upstream could not print or that no dialect declares.
  bool leave_out(Op& op, const Grant& grant) {
    const Attr* stated = op.attribute(grant.key);
    const Symbol key = recovery_.context().intern(grant.key);
    if (stated == nullptr || grant.text != "none" ||
        (stated->kind() != AttrKind::kInvalid && is_declared(op, grant.key))) {
      return false;
    }
    std::vector<NamedAttr> kept(op.attributes().begin(), op.attributes().end());
    std::erase_if(kept, [&](const NamedAttr& each) { return each.key == key; });
    recovery_.rewriter.set_attributes(op, kept);
    recovery_.note(op, LossEntry::Source::kAssumed,
                   fmt::format("attribute '{}' left out", grant.key),
                   std::string(stated->spelling()));
    return true;
  }

  bool take(Op& op, const Grant& grant) {
    switch (grant.kind) {
      case Grant::Kind::kAttribute: {
        if (leave_out(op, grant)) return true;
        const Attr* stated = op.attribute(grant.key);
        if (stated != nullptr && stated->kind() != AttrKind::kInvalid) return false;
        if (grant.key == "meaning") return leave_to_plugin(op, grant);
        if (!is_declared(op, grant.key)) return false;
        const Attr* value = attribute(grant);
        if (value == nullptr) return true;
        recovery_.rewriter.set_attribute(op, recovery_.context().intern(grant.key), value);
        recovery_.note(op, LossEntry::Source::kAssumed, grant.key, std::string(value->spelling()));
        return true;
      }
      case Grant::Kind::kName:
        recovery_.rewriter.set_path(op, recovery_.context().intern(grant.text));
        recovery_.note(op, LossEntry::Source::kAssumed, "name", grant.text);
        return true;
      case Grant::Kind::kOperand:
        return take_operand(op, grant);
      case Grant::Kind::kConstant:
      case Grant::Kind::kType:
      case Grant::Kind::kNote:
      case Grant::Kind::kReturn:
        return false;
    }
    return false;
  }

  /// An op that no dialect declares is what a plug-in makes of it.
  bool leave_to_plugin(Op& op, const Grant& grant) {
    if (op.row() != nullptr || (grant.text != "plugin" && grant.text != "\"plugin\"")) {
      return false;
    }
    recovery_.assume(op, "meaning", recovery_.context().word("plugin"));
    return true;
  }

  bool take_operand(Op& op, const Grant& grant) {
    if (operand_number(grant) != op.operand_count()) return false;
    const Op* sample = read(fmt::format("a.b ({}) -> ()", grant.text), grant);
    if (sample == nullptr || sample->operand_count() != 1) return true;
    const Value& wanted = *sample->operand(0);
    std::vector<Value*> operands;
    for (const Use& use : op.operand_uses()) operands.push_back(use.value());
    operands.push_back(mentioned(op, wanted.name(), wanted.type()));
    recovery_.rewriter.set_operands(op, operands);
    recovery_.note(op, LossEntry::Source::kAssumed, operand_fact(grant), grant.text);
    return true;
  }

  /// The latest value of that name in front of the op; one that nothing defines where there is
  /// none.
  Value* mentioned(const Op& op, ValueName name, const Type* type) {
    for (Op* each = op.previous(); each != nullptr; each = each->previous()) {
      for (Value& result : each->results()) {
        if (result.name() == name) return &result;
      }
    }
    Region& region = *op.parent_region();
    for (Value& argument : op.block()->arguments()) {
      if (argument.name() == name) return &argument;
    }
    for (Value* free : region.free_values()) {
      if (free->name() == name) return free;
    }
    return recovery_.rewriter.create_free_value(region, type, name);
  }

  void take_constants(Region& region) {
    for (Value* value : region.free_values()) {
      if (!value->name().is_number() || recovery_.is_given(*value) || !value->has_uses()) continue;
      for (std::size_t i = 0; i < used_.size(); ++i) {
        const Grant& grant = recovery_.options.grants[i];
        const bool meant = grant.kind == Grant::Kind::kConstant &&
                           grant.op == fmt::to_string(value->name().number());
        const Attr* constant = meant ? attribute(grant) : nullptr;
        if (constant == nullptr) continue;
        const NamedAttr given{key::kConstant, constant};
        recovery_.rewriter.set_attributes(*value, std::span(&given, 1));
        recovery_.note(*value->first_use()->user(), LossEntry::Source::kAssumed,
                       fmt::format("constant %{}", grant.op), grant.text);
        used_[i] = true;
      }
    }
  }

  const Attr* attribute(const Grant& grant) {
    const Op* sample = read(fmt::format("a.b () -> ()[value:{}]", grant.text), grant);
    return sample == nullptr ? nullptr : sample->attribute(key::kValue);
  }

  /// An op of a text of its own; null after reporting what is wrong with it.
  const Op* read(const std::string& text, const Grant& grant) {
    const Op* op = texts_.read(text, grant, recovery_.diagnostics);
    if (op == nullptr) {
      recovery_.note(*module_.top(), LossEntry::Source::kRefused,
                     fmt::format("{}.{}", grant.op, grant.key), "what is granted cannot be read");
    }
    return op;
  }

  Recovery& recovery_;
  Module& module_;
  GrantedTexts texts_;
  std::vector<bool> used_;
  std::unordered_map<std::string, int> counts_;
};

}  // namespace

bool is_declared(const Op& op, std::string_view attribute) {
  const auto named = [&](const AttrRow& each) { return each.name == attribute; };
  return op.row() == nullptr || std::ranges::any_of(op.row()->attributes, named) ||
         std::ranges::any_of(annotation_attributes(), named);
}

std::size_t PlaceNumbers::of(const Op& op) {
  if (op.block() == nullptr) return 0;
  const auto [at, is_new] = blocks_.try_emplace(op.block());
  Counted& counted = at->second;
  if (is_new || has_counted(counted, op)) counted = {.next = op.block()->front()};
  for (; counted.next != &op; counted.next = counted.next->next()) {
    if (is_named_by_place(*counted.next)) ++counted.counts[type_of(*counted.next)];
  }
  return counted.counts[type_of(op)];
}

void PlaceNumbers::did_insert(Op& op) {
  const auto at = blocks_.find(op.block());
  if (at == blocks_.end() || !has_counted(at->second, op)) return;
  if (op.next() != nullptr && op.next() == at->second.next) {
    at->second.next = &op;
  } else {
    blocks_.erase(at);
  }
}

void PlaceNumbers::will_erase(Op& op) {
  const auto at = blocks_.find(op.block());
  if (at == blocks_.end()) return;
  if (&op == at->second.next) {
    at->second.next = op.next();
  } else if (has_counted(at->second, op)) {
    blocks_.erase(at);
  }
}

std::string Recovery::grant_name(const Op& op) {
  if (isa<SubGraphOp>(&op)) return std::string(text(op.symbol()));
  if (op.has_path()) return std::string(text(op.path()));
  return fmt::format("{}.{}", family_of(op), places_.of(op));
}

void Recovery::refuse_grantable(const Op& op, std::string_view facts, std::string_view why) {
  std::string words;
  std::vector<std::string> grants;
  for (std::string_view rest = facts; !rest.empty();) {
    const auto end = std::min(rest.find(", "), rest.size());
    const std::string_view fact = rest.substr(0, end);
    if (!is_stated(op, fact)) {
      grants.push_back(fmt::format("{}.{}", grant_name(op), fact));
      words += fmt::format(" --assume='{}=...'", grants.back());
    }
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  refuse(op, facts, fmt::format("{}; grant it with{}", why, words), std::move(grants));
}

void take_grants(Recovery& recovery) {
  if (!recovery.options.grants.empty()) Grants(recovery).run();
}

}  // namespace mir
