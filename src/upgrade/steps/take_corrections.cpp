// Applies corrections of the user to what a dump states.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "mir/attribute_keys.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "upgrade/edit_results.hpp"
#include "upgrade/granted.hpp"

// What the user grants against what a dump states: notes on values that fit no tensor, and which of
// several returns ends a graph.

namespace mir {

namespace {

constexpr std::string_view kNone = "none";  // takes a note away

class Corrections {
 public:
  Corrections(Module& module, const UpgradeOptions& options, LossReport& report,
              Diagnostics& diagnostics)
      : module_(module),
        rewriter_(module),
        options_(options),
        report_(report),
        diagnostics_(diagnostics),
        texts_(module.context()) {}

  void run() {
    for (const Grant& grant : options_.grants) {
      if (grant.kind == Grant::Kind::kNote) correct_notes(grant);
      if (grant.kind == Grant::Kind::kType) complete_type(grant);
      if (grant.kind == Grant::Kind::kReturn) end_graph(grant);
    }
    for_each_region(module_, [&](Region& region) { check_ends(region); });
    expand_instructions(module_, report_, diagnostics_);
    end_program(module_, report_);
    name_implementations();
  }

 private:
  void note(const Op& at, std::string_view fact, std::string_view used) {
    report_.entries.push_back({LossEntry::Source::kAssumed, at.location(), describe(at),
                               std::string(fact), std::string(used)});
  }

  // -- options of launches ----------------------------------------------------------------------

  /// `"impl_type":0`: for some days upstream printed the number of what it calls Default.
  void name_implementations() {
    for_each_op(module_, [&](Op& op) {
      const Attr* stated = op.is(OpId::kProgKernelLaunch, OpId::kProgKernelSymbol)
                               ? op.attribute(key::kOpOptions)
                               : nullptr;
      if (stated == nullptr || stated->kind() != AttrKind::kDict) return;
      std::vector<NamedAttr> entries(stated->entries().begin(), stated->entries().end());
      bool changes = false;
      for (NamedAttr& each : entries) {
        const bool number = each.key == key::kImplType && each.value->kind() == AttrKind::kInt;
        if (!number || each.value->integer() != 0) continue;
        each.value = module_.context().string("Default");
        changes = true;
      }
      if (!changes) return;
      rewriter_.set_attribute(op, key::kOpOptions, module_.context().dict(entries));
      report_.entries.push_back({LossEntry::Source::kDerived, op.location(), describe(op),
                                 std::string(key::kImplType),
                                 "\"Default\", which upstream numbers 0"});
    });
  }

  // -- notes on values --------------------------------------------------------------------------

  void correct_notes(const Grant& grant) {
    key_ = module_.context().intern(grant.key);
    storage_ = grant.op;
    note_ = nullptr;
    found_ = nullptr;
    if (grant.text != kNone) {
      const Op* sample = texts_.read(
          fmt::format("a.b (%0:tensor<[1], Float32, CPU>[{}:{}]) -> ()", grant.key, grant.text),
          grant, diagnostics_);
      if (sample == nullptr || sample->operand_count() != 1) return;
      note_ = sample->operand(0)->attribute(key_);
      if (note_ == nullptr) return;
    }
    visit_module();
    if (found_ != nullptr) note(*found_, note_of(grant), grant.text);
  }

  void visit_module() {
    for_each_value(module_, [&](Value& value, Op& at) { correct(value, at); });
    for_each_region(module_, [&](Region& inner) {
      for_each_child(inner, [&](const Op& op) {
        for (const Use& use : op.operand_uses()) correct_mention(use);
      });
      edit_results(rewriter_, inner, [&](RegionResult& result) {
        const auto list = is_meant(result.name) ? corrected(result.attributes) : std::nullopt;
        if (list) result.attributes = rewriter_.keep(*list);
      });
    });
  }

  bool is_meant(ValueName name) const {
    if (name.is_none()) return false;
    return name.is_number() ? fmt::to_string(name.number()) == storage_
                            : module_.context().text(name.symbol()) == storage_;
  }

  void correct(Value& value, const Op& at) {
    if (!is_meant(value.name())) return;
    const auto list = corrected(value.attributes());
    if (!list) return;
    rewriter_.set_attributes(value, *list);
    if (found_ == nullptr) found_ = &at;
  }

  void correct_mention(const Use& use) {
    const StatedMention* other = stated_mention(use);
    if (other == nullptr || !is_meant(use.value()->name())) return;
    StatedMention changed = *other;
    const auto list = corrected(changed.attributes);
    if (!list) return;
    changed.attributes = rewriter_.keep(*list);
    rewriter_.set_mention(use, changed);
  }

  /// The list with the note as granted; none where it does not have it.
  std::optional<std::vector<NamedAttr>> corrected(std::span<const NamedAttr> list) const {
    std::vector<NamedAttr> kept;
    bool changes = false;
    for (const NamedAttr& each : list) {
      const bool meant = each.key == key_;
      changes |= meant;
      if (!meant) kept.push_back(each);
      if (meant && note_ != nullptr) kept.push_back({each.key, note_});
    }
    if (!changes) return std::nullopt;
    return kept;
  }

  // -- types ------------------------------------------------------------------------------------

  /// A parameter of complex numbers: ops that own parameters have no meaning for them.
  static bool is_complex_parameter(const Value& value) {
    const Op* at = value.defining_op();
    const TensorType* type = value.tensor_type();
    const auto dtype = type == nullptr ? std::nullopt : type->dtype();
    return at != nullptr && at->is(OpId::kTensorRegister, OpId::kProgValueSymbol) && dtype &&
           info(*dtype).type_class == DTypeClass::kComplex;
  }

  /// Gives a storage that is printed with negative extents, or a complex parameter, the type that
  /// it has.
  void complete_type(const Grant& grant) {
    storage_ = grant.op;
    const auto is_open = [](const Type* type) {
      const auto* tensor = type == nullptr ? nullptr : dyn_cast<TensorType>(type);
      return tensor != nullptr && std::ranges::any_of(tensor->dims(), &Dim::is_negative);
    };
    const Type* type = nullptr;
    found_ = nullptr;
    for_each_value(module_, [&](Value& value, Op& at) {
      if (!is_meant(value.name())) return;
      if (!is_open(value.type()) && !is_complex_parameter(value)) return;
      if (type == nullptr) type = read_type(module_.context(), grant, diagnostics_);
      if (type != nullptr) rewriter_.set_type(value, type);
      if (found_ == nullptr) found_ = &at;
    });
    if (type == nullptr) return;
    for_each_region(module_, [&](Region& region) {
      edit_results(rewriter_, region, [&](RegionResult& result) {
        if (is_meant(result.name) && is_open(result.type)) result.type = type;
      });
    });
    note(*found_, fmt::format("type of %{}", grant.op), grant.text);
  }

  // -- returns ----------------------------------------------------------------------------------

  /// Removes the returns of a graph before the one that ends it, and what follows that one.
  void end_graph(const Grant& grant) {
    Op* graph = grant.op == module_.context().text(module_.name())
                    ? module_.top()
                    : module_.lookup_op(module_.context().intern(grant.op));
    std::size_t wanted = 0;
    const char* const end = grant.text.data() + grant.text.size();
    const auto [at, error] = std::from_chars(grant.text.data(), end, wanted);
    if (graph == nullptr || graph->region() == nullptr || error != std::errc() || at != end) return;
    std::vector<Op*> returns;
    for_each_child(*graph->region(), [&](Op& op) {
      if (op.is(OpId::kCfReturn)) returns.push_back(&op);
    });
    if (wanted >= returns.size() || (returns.size() == 1 && returns[0]->next() == nullptr)) return;
    note(*graph, kReturnFact, grant.text);
    for (std::size_t i = 0; i < wanted; ++i) remove(*returns[i], "another return ends the graph");
    std::vector<Op*> after;
    for (Op* op = returns[wanted]->next(); op != nullptr; op = op->next()) after.push_back(op);
    for (auto op = after.rbegin(); op != after.rend(); ++op) remove(**op, "after the return");
    rewriter_.erase_unused_free_values(*graph->region());
  }

  /// Reports graphs with several ends, of which the user must choose one.
  void check_ends(const Region& region) {
    for (const Block* block : region.blocks()) {
      for (const Op* op : block->ops()) {
        if (!op->is(OpId::kCfReturn) || op->next() == nullptr) continue;
        const auto graph = module_.context().text(region.parent()->symbol());
        report_.refuse(*op, "end of the graph",
                       fmt::format("operations follow it; --assume='{}.return=0' says that this "
                                   "graph ends with its first return, 1 with its second",
                                   graph),
                       diagnostics_, {fmt::format("{}.return", graph)});
        return;
      }
    }
  }

  void remove(Op& op, std::string_view why) {
    note(op, "left out", why);
    rewriter_.erase(op);
  }

  Module& module_;
  Rewriter rewriter_;
  const UpgradeOptions& options_;
  LossReport& report_;
  Diagnostics& diagnostics_;
  GrantedTexts texts_;
  // Of the note at hand.
  Symbol key_;
  std::string_view storage_;
  const Attr* note_ = nullptr;  // null: taken away
  const Op* found_ = nullptr;
};

}  // namespace

std::string note_of(const Grant& grant) {
  return fmt::format("{} of %{}", grant.key, grant.op);
}

void take_corrections(Module& module, const UpgradeOptions& options, LossReport& report,
                      Diagnostics& diagnostics) {
  Corrections(module, options, report, diagnostics).run();
}

}  // namespace mir
