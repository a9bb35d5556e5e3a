// Upgrade step: normalises attribute lists to portable form.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "mir/dialects.hpp"
#include "upgrade/edit_results.hpp"
#include "upgrade/steps/recovery.hpp"

// Attribute lists of portable form: each key once, no value that upstream could not print, quotes
// around what is not a word.

namespace mir {

namespace {

class AttributeLists {
 public:
  explicit AttributeLists(Recovery& recovery) : recovery_(recovery), module_(recovery.module) {}

  void settle(const Region& region, const Op& owner) {
    for (Value* value : region.free_values()) {
      settle(*value, value->has_uses() ? *value->first_use()->user() : owner);
    }
    for (Block* block : region.blocks()) {
      for (Value& argument : block->arguments()) settle(argument, owner);
      for (Op* op : block->ops()) settle(*op);
    }
  }

 private:
  void settle(Op& op) {
    for (const NamedAttr& each : op.attributes()) check_meaning(op, each.key);
    if (const auto list = settled(op.attributes(), op, recovery_.grant_name(op))) {
      recovery_.rewriter.set_attributes(op, *list);
      recovery_.rewriter.mark_modified(op);
    }
    for (Value& result : op.results()) settle(result, op);
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      settle(*inner, op);
      settle_results(*inner, op);
    }
  }

  /// Graphs and ops of dumps may carry notes that no dialect declares.
  void check_meaning(const Op& op, Symbol key) {
    if (&op == module_.top() || is_declared(op, recovery_.text(key))) return;
    const auto name = std::string(recovery_.text(key));
    const std::string fact = fmt::format("{}.{}", recovery_.grant_name(op), name);
    recovery_.report.refuse(
        op, fmt::format("meaning of attribute '{}'", name),
        fmt::format("no dialect declares it; --assume='{}=none' leaves it out", fact),
        recovery_.diagnostics, {fact});
  }

  void settle(Value& value, const Op& at) {
    const std::string place = place_of(value.name());
    std::vector<NamedAttr> known = with_meaning(value.attributes());
    if (known.size() != value.attributes().size()) {
      for (const NamedAttr& each : value.attributes()) note_dropped(each, at, place);
      recovery_.rewriter.set_attributes(value, known);
    }
    if (const auto list = settled(value.attributes(), at, place))
      recovery_.rewriter.set_attributes(value, *list);
  }

  /// Dumps print every note of a tensor; portable values have only those with a meaning.
  std::vector<NamedAttr> with_meaning(std::span<const NamedAttr> list) const {
    std::vector<NamedAttr> known(list.begin(), list.end());
    std::erase_if(known, [&](const NamedAttr& each) { return !has_meaning(each); });
    return known;
  }

  bool has_meaning(const NamedAttr& attribute) const {
    return find_value_attribute(recovery_.text(attribute.key)) != nullptr;
  }

  void note_dropped(const NamedAttr& attribute, const Op& at, const std::string& place) {
    if (has_meaning(attribute)) return;
    recovery_.note(at, LossEntry::Source::kDropped,
                   fmt::format("attribute '{}' of {}", recovery_.text(attribute.key), place),
                   std::string(attribute.value->spelling()));
  }

  void settle_results(Region& region, const Op& owner) {
    edit_results(recovery_.rewriter, region, [&](RegionResult& result) {
      result.attributes = recovery_.rewriter.keep(with_meaning(result.attributes));
      if (const auto list = settled(result.attributes, owner, place_of(result.name)))
        result.attributes = recovery_.rewriter.keep(*list);
    });
  }

  /// The list in portable form; none when it is so already.
  std::optional<std::vector<NamedAttr>> settled(std::span<const NamedAttr> list, const Op& at,
                                                const std::string& place) {
    std::vector<NamedAttr> kept;
    std::unordered_map<Symbol, const Attr*> values;
    for (const NamedAttr& each : list) {
      const auto key = std::string(recovery_.text(each.key));
      const auto [before, is_new] = values.try_emplace(each.key, in_quotes(each.value));
      if (!is_new) {
        if (before->second != in_quotes(each.value))
          lose(at, key, "it is printed twice, with different values");
        continue;
      }
      if (each.value->kind() == AttrKind::kInvalid)
        lose(at, key,
             fmt::format("upstream could not print its value; --assume='{}.{}=...' states "
                         "it, none leaves it out",
                         place, key),
             {fmt::format("{}.{}", place, key)});
      kept.push_back({each.key, before->second});
    }
    if (std::ranges::equal(kept, list)) return std::nullopt;
    return kept;
  }

  std::string place_of(ValueName name) const {
    return name.is_number() ? fmt::format("%{}", name.number())
                            : fmt::format("%{}", recovery_.text(name.symbol()));
  }

  const Attr* in_quotes(const Attr* value) {
    const bool bare = value->kind() == AttrKind::kString && !value->is_quoted();
    return bare && !is_bare_word(value->text()) ? recovery_.context().string(value->text()) : value;
  }

  void lose(const Op& at, const std::string& key, std::string_view why,
            std::vector<std::string> grants = {}) {
    recovery_.refuse(at, fmt::format("attribute '{}'", key), std::string(why), std::move(grants));
  }

  Recovery& recovery_;
  Module& module_;
};

}  // namespace

void settle_attributes(Recovery& recovery) {
  AttributeLists(recovery).settle(recovery.module.body(), *recovery.module.top());
}

}  // namespace mir
