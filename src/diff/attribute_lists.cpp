// Replaces the lists of attributes of a module, in place.
#include "diff/attribute_lists.hpp"

#include "ir/mention.hpp"
#include "mir/module.hpp"

namespace mir {

namespace {

class AttributeLists {
 public:
  AttributeLists(Rewriter& rewriter, const RewriteAttributes& rewrite)
      : rewriter_(rewriter), rewrite_(rewrite) {}

  void visit(Op& op) {
    if (!op.attributes().empty()) {
      rewriter_.set_attributes(op,
                               rewrite_(op.attributes(), op.has_symbol() ? op.symbol() : Symbol()));
    }
    rewriter_.mark_modified(op);
    for (Value& result : op.results()) visit(result);
    for (const Use& use : op.operand_uses()) visit(use);
    for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
      visit(*region);
    }
  }

 private:
  void visit(Value& value) {
    if (value.attributes().empty()) return;
    rewriter_.set_attributes(value, rewrite_(value.attributes(), symbol_of(value)));
  }

  void visit(const Use& use) {
    const StatedMention* stated = stated_mention(use);
    if (stated == nullptr || stated->attributes.empty()) return;
    StatedMention other = *stated;
    const auto list = rewrite_(other.attributes, symbol_of(*use.value()));
    other.attributes = list;
    rewriter_.set_mention(use, other);
  }

  void visit(Region& region) {
    // An edit of a returned value forgets what the signature states of it.
    std::vector<RegionResult> results = signature_results(region);
    for (Value* value : region.free_values()) visit(*value);
    for (Block* block : region.blocks()) {
      for (Value& argument : block->arguments()) visit(argument);
      for (Op* op : block->ops()) visit(*op);
    }
    std::vector<std::vector<NamedAttr>> lists;
    lists.reserve(results.size());
    for (RegionResult& result : results) {
      lists.push_back(rewrite_(result.attributes, result.has_symbol ? result.symbol : Symbol()));
      result.attributes = lists.back();
    }
    rewriter_.state_results(region, results);
  }

  static Symbol symbol_of(const Value& value) {
    return value.has_symbol() ? value.symbol() : Symbol();
  }

  Rewriter& rewriter_;
  const RewriteAttributes& rewrite_;
};

}  // namespace

void rewrite_attribute_lists(Rewriter& rewriter, const RewriteAttributes& rewrite) {
  AttributeLists(rewriter, rewrite).visit(*rewriter.module().top());
}

}  // namespace mir
