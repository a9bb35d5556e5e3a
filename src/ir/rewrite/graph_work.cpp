// What the graphs of a module own, and work on graphs in threads.
//
// note [editors]
// An op belongs to a graph, and its graph has an editor, from which edits take memory and ids. All
// graphs of a module share one editor, so that many small graphs need no memory of their own, until
// a thread takes a graph. Ids are unique in the module, because nearly all tables that they index
// are tables of a whole module: printing, verification, numbering. A thread takes them in blocks.
// So an op keeps its id wherever it goes.
#include <utility>

#include "mir/module.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "support/arena.hpp"

namespace mir {

Editor::Editor() : arena_(std::make_unique<Arena>()) {}
Editor::~Editor() = default;

/// Adds the state of an isolated op.
GraphState& Module::add_graph(Editor& editor) {
  auto* graph = editor.arena_->create<GraphState>(this, &editor, nullptr, states_.load());
  while (!states_.compare_exchange_weak(graph->next, graph)) {
  }
  return *graph;
}

// -- work on graphs -------------------------------------------------------------------------------

namespace {

/// Calls `visit` for the op and for the isolated ops inside it.
template <class Visit>
void for_each_graph(Op& graph, const Visit& visit) {
  Region* body = graph.first_region();
  if (body == nullptr) return;
  visit(*body);
  if (!body->may_have_graphs()) return;
  for (; body != nullptr; body = body->next()) {
    for_each_op({*body, WalkScope::kAll}, [&](Op& op) {
      if (op.has(Trait::kIsolated) && op.first_region() != nullptr) visit(*op.first_region());
    });
  }
}

}  // namespace

void Module::take(Op& graph, Editor& editor) {
  for_each_graph(graph, [&](const Region& body) { body.graph_->editor = &editor; });
}

void Module::end_graphs(std::span<Editor> editors) {
  for (Editor& each : editors) {
    if (each.arena_->bytes_reserved() != 0) more_arenas_.push_back(std::move(each.arena_));
    own_.edits_ += each.edits_;
    own_.region_edits_ += each.region_edits_;
    op_id_end_.compare_exchange_strong(each.op_ids_.end, each.op_ids_.next);  // gives back the rest
    value_id_end_.compare_exchange_strong(each.value_ids_.end, each.value_ids_.next);
    own_.constants_.clear();  // it may hold tables of regions that were edited
  }
  own_.admit_all();
  works_on_graphs_ = false;
}

void Module::name_new_values(Op& graph) {
  if (graph.is_erased()) return;
  bool has_any = false;
  for_each_graph(graph, [&](const Region& body) {
    has_any |= std::exchange(body.graph_->has_new_values, false);
  });
  if (!has_any) return;
  const auto name = [&](Value& value) {
    if (value.name_.is_none()) value.name_ = fresh_name();
  };
  const auto name_inside = [&](auto& self, Op& op) -> void {
    for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
      for (Value* value : region->free_values()) name(*value);
      for (Block* block : region->blocks()) {
        for (Value& argument : block->arguments()) name(argument);
        for (Op* inner : block->ops()) {
          for (Value& result : inner->results()) name(result);
          self(self, *inner);
        }
      }
    }
  };
  name_inside(name_inside, graph);
}

/// An op whose name has become that of an isolated op gets a graph of its own.
void Module::isolate(Op& op) {
  GraphState& before = *op.graph_;
  if (&op == top_ || op.first_region() == nullptr || op.first_region()->graph_ != &before) return;
  GraphState& graph = add_graph(own_);
  for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
    region->graph_ = &graph;
    for_each_child(*region, [&](Op& inner) { inner.move_in(graph); });
  }
  Cursor::leave(before);
}

}  // namespace mir
