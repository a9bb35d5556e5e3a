// Draws the data flow of modules.
#include "text/emit/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/ports.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "text/emit/repetitions.hpp"

namespace mir {

namespace {

using Ops = std::vector<const Op*>;

/// Where a value comes from: a node, or a text that its readers show.
struct Source {
  std::optional<std::size_t> node;
  std::string text;
};

/// Values that are visible in a graph, or in a region and around it.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<const Value*, Source> sources = {};

  const Source* find(const Value& value) const {
    const auto found = sources.find(&value);
    if (found != sources.end()) return &found->second;
    return outer == nullptr ? nullptr : outer->find(value);
  }
};

/// Where ops are drawn.
struct Place {
  std::size_t cluster = 0;
  std::string prefix = {};           ///< of names, left out
  std::size_t depth = 0;             ///< how deep the graphs and regions inside may go
  std::vector<const Op*> open = {};  ///< graphs around
};

constexpr std::size_t kNoLimit = 1000;
constexpr std::size_t kMostNodes = 50'000;  // calls are not drawn inside larger pictures

class Drawing {
 public:
  Drawing(const PictureOptions& options, Picture& picture) : options_(options), picture_(picture) {}

  void draw(const Module& module, std::size_t cluster) {
    Place place{.cluster = cluster, .depth = options_.depth.value_or(kNoLimit)};
    const Region* root = &module.body();
    if (!options_.graph.empty()) {
      const Op* graph = graph_of(module);
      if (graph == nullptr || graph->first_region() == nullptr) return;
      root = graph->first_region();
      place.cluster = new_cluster("@" + options_.graph, cluster);
      place.prefix = options_.graph + ".";
      place.open.push_back(graph);
    }
    Scope scope;
    const IRContext& context = module.context();
    for (const Value& argument : root->entry_arguments()) {
      const std::string name = name_text(root->input_port(argument.index()), context);
      scope.sources[&argument] = {ported(PictureNode::Kind::kInput, name, argument, cluster), ""};
    }
    region(*root, scope, place);
    const Op* last = first_return(*root);
    if (last == nullptr || root->has_several_blocks()) return;
    for (const Use& use : last->operand_uses()) {
      const std::string name = name_text(root->output_port(use.index()), context);
      connect(use, ported(PictureNode::Kind::kOutput, name, *use.value(), cluster), scope);
    }
  }

 private:
  const Op* graph_of(const Module& module) const {
    const Op* found = nullptr;
    for_each_op(module, [&](const Op& op) {
      const bool is_it = is_graph(op) && op.module().context().text(op.symbol()) == options_.graph;
      if (found == nullptr && is_it) found = &op;
    });
    return found;
  }

  std::size_t new_cluster(std::string title, std::size_t parent) {
    picture_.clusters.push_back({std::move(title), parent});
    return picture_.clusters.size() - 1;
  }

  std::size_t new_node(PictureNode::Kind kind, std::size_t cluster,
                       std::vector<std::string> lines) {
    picture_.nodes.push_back({kind, cluster, std::move(lines)});
    return picture_.nodes.size() - 1;
  }

  std::size_t ported(PictureNode::Kind kind, const std::string& name, const Value& value,
                     std::size_t cluster) {
    return new_node(kind, cluster, {fmt::format("%{}", name), type_text(value)});
  }

  static std::string type_text(const Value& value) {
    return value.type() == nullptr ? "" : std::string(value.type()->spelling());
  }

  void edge(std::size_t from, std::size_t to, std::string label, bool is_control = false) {
    if (!edges_.insert(fmt::format("{} {} {} {}", from, to, is_control, label)).second) return;
    picture_.edges.push_back({from, to, std::move(label), is_control});
  }

  // -- values -------------------------------------------------------------------------------------

  /// Describes a value that no op of the picture makes: its symbol, constant or name.
  static std::string text_of(const Value& value, const IRContext& context) {
    if (value.has_symbol()) return fmt::format("@{}", context.text(value.symbol()));
    if (const Attr* constant = value.attribute(key::kConstant)) {
      constexpr std::size_t kLongest = 32;
      const std::string_view text = constant->spelling();
      return text.size() <= kLongest ? std::string(text)
                                     : fmt::format("{}...", text.substr(0, kLongest));
    }
    return "";
  }

  /// Adds an edge from the source of the operand; true if it has a node.
  bool connect(const Use& use, std::size_t to, const Scope& scope) {
    const Source* source = scope.find(*use.value());
    if (source == nullptr || !source->node) return false;
    edge(*source->node, to, options_.has_types ? type_text(*use.value()) : "");
    return true;
  }

  /// An input that no signature states, as in dumps.
  void add_free_values(const Region& of, Scope& scope, const Place& place) {
    for (const Value* value : of.free_values()) {
      const IRContext& context = of.parent()->module().context();
      if (!text_of(*value, context).empty() || scope.find(*value) != nullptr) continue;
      const std::string name = name_text(value->name(), context);
      scope.sources[value] = {ported(PictureNode::Kind::kInput, name, *value, place.cluster), ""};
    }
  }

  // -- regions ------------------------------------------------------------------------------------

  void region(const Region& of, Scope& scope, const Place& place) {
    add_free_values(of, scope, place);
    if (!of.has_several_blocks()) {
      for (const Block* block : of.blocks()) ops_of(*block, scope, place);
      return;
    }
    std::unordered_map<const Block*, std::size_t> entries;  // the first node of each
    std::vector<std::pair<std::size_t, const Op*>> branches;
    for (const Block* block : of.blocks()) {
      const std::string name = name_of(*block);
      Place inside = place;
      inside.cluster = new_cluster(name, place.cluster);
      if (block != of.entry()) add_arguments(*block, scope, inside);
      entries.emplace(block, picture_.nodes.size());
      if (block != of.entry() && !block->arguments().empty()) {
        entries[block] = *scope.find(block->arguments()[0])->node;
      }
      ops_of(*block, scope, inside);
      if (const Op* last = block->back()) branches.emplace_back(box(*last, scope, inside), last);
    }
    for (const auto& branch : branches) {
      for (const OpExtra::Successor& each : branch.second->extra().successors) {
        if (each.block != nullptr) edge(branch.first, entries[each.block], "", true);
      }
    }
  }

  static std::string name_of(const Block& block) {
    const IRContext& context = block.parent()->parent()->module().context();
    return fmt::format("^{}", block.name() ? context.text(block.name()) : "entry");
  }

  void add_arguments(const Block& block, Scope& scope, const Place& place) {
    const IRContext& context = block.parent()->parent()->module().context();
    for (const Value& argument : block.arguments()) {
      const std::string name = fmt::format("%{}", name_text(argument.name(), context));
      scope.sources[&argument] = {new_node(PictureNode::Kind::kInput, place.cluster, {name}), ""};
    }
  }

  void ops_of(const Block& block, Scope& scope, const Place& place) {
    Ops ops;
    for (const Op* op : block.ops()) {
      const bool is_drawn = !is_graph(*op) && !isa<RegisterOp>(op) && !op->has(Trait::kTerminator);
      if (is_drawn) ops.push_back(op);
    }
    std::size_t at = 0;
    for (const Repetition& each : repetitions_.find(ops)) {
      for (; at < each.first; ++at) op(*ops[at], scope, place);
      repetition(each, ops, scope, place);
      at += each.length * each.count;
    }
    for (; at < ops.size(); ++at) op(*ops[at], scope, place);
  }

  void repetition(const Repetition& of, const Ops& ops, Scope& scope, const Place& place) {
    const std::string first = path_of(*ops[of.first]), next = path_of(*ops[of.first + of.length]);
    const auto mismatch = std::ranges::mismatch(first, next);
    std::string common(first.begin(), mismatch.in1);
    common.resize(common.rfind('.') + 1);  // whole parts; npos + 1 is 0
    const std::size_t end = first.find('.', common.size());
    Place inside = place;
    inside.prefix = end == first.npos ? common : first.substr(0, end + 1);
    const std::string shown =
        common.starts_with(place.prefix) ? common.substr(place.prefix.size()) : common;
    inside.cluster = new_cluster(
        fmt::format("{} times{}", of.count, shown.empty() ? "" : fmt::format(": {}*", shown)),
        place.cluster);
    for (std::size_t i = 0; i < of.length; ++i) op(*ops[of.first + i], scope, inside);
    // What later copies make comes from the one that is drawn.
    for (std::size_t i = of.length; i < of.length * of.count; ++i) {
      const Op &copy = *ops[of.first + i], &drawn = *ops[of.first + i % of.length];
      for (const Value& result : copy.results()) {
        if (const Source* source = scope.find(drawn.results()[result.index()])) {
          scope.sources[&result] = Source(*source);
        }
      }
    }
    for (std::size_t i = 0; i < of.length; ++i) {
      const Op &drawn = *ops[of.first + i], &second = *ops[of.first + of.length + i];
      for (const Use& use : second.operand_uses()) carry(use, drawn, scope);
    }
  }

  /// An edge for what a copy takes from the copy before.
  void carry(const Use& use, const Op& drawn, const Scope& scope) {
    const Source* before = scope.find(*use.value());
    const Source* now = scope.find(*drawn.operand(use.index()));
    const auto reader = readers_.find(&drawn);
    if (before == nullptr || !before->node || reader == readers_.end()) return;
    if (now != nullptr && now->node == before->node) return;
    edge(*before->node, reader->second, "next", true);
  }

  // -- ops ----------------------------------------------------------------------------------------

  static std::string path_of(const Op& op) {
    const IRContext& context = op.module().context();
    if (op.has_path()) return std::string(context.text(op.path()));
    return callee_of(op) ? std::string(context.text(op.symbol())) : "";
  }

  void op(const Op& of, Scope& scope, const Place& place) {
    const Op* callee = called_graph(of);
    const bool is_open = std::ranges::find(place.open, callee) != place.open.end();
    const bool has_room = place.depth > 0 && picture_.nodes.size() < kMostNodes;
    if (callee != nullptr && callee->first_region() != nullptr && !is_open && has_room) {
      call(of, *callee, scope, place);
    } else if (of.first_region() != nullptr && has_room) {
      structured(of, scope, place);
    } else {
      const std::size_t node = box(of, scope, place);
      readers_[&of] = node;
      for (const Value& result : of.results()) scope.sources[&result] = {node, ""};
    }
  }

  std::size_t box(const Op& of, const Scope& scope, const Place& place) {
    std::string_view mnemonic = of.info().mnemonic;
    if (mnemonic.ends_with("Op")) mnemonic.remove_suffix(2);
    std::vector<std::string> lines = {std::string(mnemonic)};
    const std::string path = shown_path(of, place);
    if (!path.empty()) lines.push_back(path);
    const Op* callee = called_graph(of);
    std::size_t inside = 0;
    for_each_child(callee == nullptr ? of : *callee, [&](const Op&) { ++inside; });
    if (inside != 0) lines.push_back(fmt::format("{} operations", inside));
    const IRContext& context = of.module().context();
    const std::size_t node = new_node(PictureNode::Kind::kOp, place.cluster, {});
    for (const Use& use : of.operand_uses()) {
      if (connect(use, node, scope)) continue;
      const Source* known = scope.find(*use.value());
      std::string text = known == nullptr ? text_of(*use.value(), context) : known->text;
      const std::string at = "@" + place.prefix;
      if (!place.prefix.empty() && text.starts_with(at)) text = "@" + text.substr(at.size());
      if (!text.empty()) lines.push_back(std::move(text));
    }
    picture_.nodes[node].lines = std::move(lines);
    return node;
  }

  static std::string shown_path(const Op& of, const Place& place) {
    const std::string path = path_of(of);
    const std::string shown = !place.prefix.empty() && path.starts_with(place.prefix)
                                  ? path.substr(place.prefix.size())
                                  : path;
    return callee_of(of) && !of.has_path() && !shown.empty() ? "@" + shown : shown;
  }

  /// The graph in place of the call.
  void call(const Op& of, const Op& callee, Scope& scope, const Place& place) {
    const Region& body = *callee.first_region();
    const IRContext& context = of.module().context();
    Place inside = place;
    inside.cluster = new_cluster(shown_path(of, place), place.cluster);
    inside.prefix = fmt::format("{}.", context.text(callee.symbol()));
    inside.depth = place.depth - 1;
    inside.open.push_back(&callee);
    Scope own;
    for (const Value& argument : body.entry_arguments()) {
      if (argument.index() >= of.operand_count()) break;
      const Value& operand = *of.operand(argument.index());
      const Source* source = scope.find(operand);
      own.sources[&argument] =
          source != nullptr ? *source : Source{std::nullopt, text_of(operand, context)};
    }
    const std::size_t first = picture_.nodes.size();
    region(body, own, inside);
    if (first < picture_.nodes.size()) readers_[&of] = first;
    for (const Value& result : of.results()) {
      const Value* returned = body.returned(result.index());
      const Source* source = returned == nullptr ? nullptr : own.find(*returned);
      if (source != nullptr) {
        scope.sources[&result] = *source;
      } else if (returned != nullptr) {
        scope.sources[&result] = {std::nullopt, text_of(*returned, context)};
      }
    }
  }

  /// An op with regions: its box leads into them, and their ends to its results.
  void structured(const Op& of, Scope& scope, const Place& place) {
    Place inside = place;
    inside.cluster = new_cluster(std::string(of.info().mnemonic), place.cluster);
    inside.depth = place.depth - 1;
    const std::size_t begin = box(of, scope, inside);
    readers_[&of] = begin;
    std::vector<std::pair<Scope, const Op*>> ends;
    const bool is_one = of.region_count() == 1;
    for (Region* inner = of.first_region(); inner != nullptr; inner = inner->next()) {
      Place within = inside;
      if (!is_one) {
        within.cluster = new_cluster(fmt::format("region {}", inner->index()), inside.cluster);
      }
      Scope own{.outer = &scope};
      const std::size_t first = picture_.nodes.size();
      if (const Block* entry = inner->entry()) add_arguments(*entry, own, within);
      const std::size_t arguments = picture_.nodes.size();
      region(*inner, own, within);
      const std::size_t entries = std::max(arguments, std::min(first + 1, picture_.nodes.size()));
      for (std::size_t node = first; node < entries; ++node) edge(begin, node, "", true);
      if (const Op* last = first_return(*inner)) ends.emplace_back(std::move(own), last);
    }
    if (of.result_count() == 0) return;
    const std::size_t end = new_node(PictureNode::Kind::kOp, inside.cluster,
                                     {fmt::format("results of {}", of.info().mnemonic)});
    for (const auto& each : ends) {
      for (const Use& use : each.second->operand_uses()) connect(use, end, each.first);
    }
    for (const Value& result : of.results()) scope.sources[&result] = {end, ""};
  }

  const PictureOptions& options_;
  Picture& picture_;
  RepetitionSearch repetitions_;
  std::unordered_set<std::string> edges_;
  std::unordered_map<const Op*, std::size_t> readers_;  // the node that operands enter
};

}  // namespace

Picture picture_of(std::span<Module* const> modules, const PictureOptions& options) {
  Picture picture;
  picture.clusters.push_back({});
  for (const Module* module : modules) {
    std::size_t cluster = 0;
    if (modules.size() > 1) {
      const std::string_view name = module->context().text(module->name());
      picture.clusters.push_back({fmt::format("@{}", name), 0});
      cluster = picture.clusters.size() - 1;
    }
    Drawing(options, picture).draw(*module, cluster);
  }
  return picture;
}

}  // namespace mir
