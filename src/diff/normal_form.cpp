// Prints modules with ids renumbered and attributes sorted.
#include "diff/normal_form.hpp"

#include <algorithm>
#include <vector>

#include "diff/attribute_lists.hpp"
#include "ir/rewrite/settle_ports.hpp"
#include "mir/codes/usage.hpp"
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
    rewrite_attribute_lists(rewriter_, [&](std::span<const NamedAttr> list, Symbol) {
      std::vector<NamedAttr> copy(list.begin(), list.end());
      std::ranges::stable_sort(
          copy, {}, [&](const NamedAttr& each) { return module_.context().text(each.key); });
      return copy;
    });
    if (!module_.is_portable()) return;
    for_each_signature(module_.body(),
                       [&](Region& each) { forget_implied_ports(rewriter_, each); });
    unname(module_.body());
  }

 private:
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
  if (file == nullptr) return Error{diag::kUsage, "the text is too long"};
  const auto tree = parse(*file, diagnostics);
  if (!tree) {
    const auto said = diagnostics.sorted();
    return Error{diag::kUsage,
                 said.empty() ? "the text cannot be read back" : said.front().message};
  }
  return rewrite(*tree, {.expand_attributes = true, .renumber = true});
}

}  // namespace mir
