// Prints modules with ids renumbered and attributes sorted.
#include "diff/normal_form.hpp"

#include <algorithm>
#include <vector>

#include "ir/rewrite/settle_ports.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "syntax/edit.hpp"

namespace mir {

namespace {

class Normalising {
 public:
  explicit Normalising(Module& module) : module_(module), rewriter_(module) {}

  void run() {
    sort(*module_.top());
    if (!module_.is_portable()) return;
    for_each_signature(module_.body(),
                       [&](Region& each) { forget_implied_ports(rewriter_, each); });
    unname(module_.body());
  }

 private:
  std::vector<NamedAttr> sorted(std::span<const NamedAttr> list) const {
    std::vector<NamedAttr> copy(list.begin(), list.end());
    const auto key = [&](const NamedAttr& each) { return module_.context().text(each.key); };
    std::ranges::stable_sort(copy, {}, key);
    return copy;
  }

  void sort(Op& op) {
    if (op.attributes().size() > 1) rewriter_.set_attributes(op, sorted(op.attributes()));
    rewriter_.mark_modified(op);
    for (Value& result : op.results()) sort(result);
    for (const Use& use : op.operand_uses()) sort_mention(use);
    for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
      sort(*region);
    }
  }

  void sort(Value& value) {
    if (value.attributes().size() > 1) {
      rewriter_.set_attributes(value, sorted(value.attributes()));
    }
  }

  void sort_mention(const Use& use) {
    const StatedMention* stated = stated_mention(use);
    if (stated == nullptr || stated->attributes.size() < 2) return;
    StatedMention other = *stated;
    const auto list = sorted(other.attributes);
    other.attributes = list;
    rewriter_.set_mention(use, other);
  }

  void sort(Region& region) {
    for (Value* value : region.free_values()) sort(*value);
    for (Block* block : region.blocks()) {
      for (Value& argument : block->arguments()) sort(argument);
      for (Op* op : block->ops()) sort(*op);
    }
    std::vector<RegionResult> results = signature_results(region);
    std::vector<std::vector<NamedAttr>> lists;
    lists.reserve(results.size());
    for (RegionResult& result : results) {
      lists.push_back(sorted(result.attributes));
      result.attributes = lists.back();
    }
    rewriter_.state_results(region, results);
  }

  /// Numbers of values in a portable module only distinguish them: printing numbers them anew.
  void unname(Region& region) {
    for (Block* block : region.blocks()) {
      for (Value& argument : block->arguments()) unname(argument);
      for (Op* op : block->ops()) {
        for (Value& result : op->results()) unname(result);
        for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
          unname(*inner);
        }
      }
    }
    for (Value* value : region.free_values()) unname(*value);
  }

  void unname(Value& value) {
    if (value.name().is_number()) rewriter_.set_name(value, ValueName());
  }

  Module& module_;
  Rewriter rewriter_;
};

}  // namespace

Result<std::string> normal_form(std::span<Module* const> modules) {
  std::string text;
  for (Module* module : modules) {
    Normalising(*module).run();
    text += print(*module);
  }
  SourceManager sources;
  Diagnostics diagnostics(1);
  const SourceFile* file = sources.add("normal form", std::move(text));
  if (file == nullptr) return Error{DiagCode::kUsage, "the text is too long"};
  const auto tree = parse(*file, diagnostics);
  if (!tree) {
    const auto said = diagnostics.sorted();
    return Error{DiagCode::kUsage,
                 said.empty() ? "the text cannot be read back" : said.front().message};
  }
  return rewrite(*tree, {.expand_attributes = true, .renumber = true});
}

}  // namespace mir
