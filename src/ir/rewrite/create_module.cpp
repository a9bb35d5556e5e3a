// The life of modules, and those that a context owns.
#include <algorithm>

#include "ir/context/context_state.hpp"
#include "mir/module.hpp"
#include "mir/rewriter.hpp"
#include "support/arena.hpp"

namespace mir {

Module::Module(IRContext& context, Symbol name) : context_(context) {
  own_.is_of_module_ = true;
  Rewriter rewriter(*this);
  top_ = rewriter.create_detached(
      {.name = context.op_name(OpId::kBuiltinModule), .regions = 1, .has_signature = false});
  rewriter.set_symbol(*top_, name);
  rewriter.set_has_signature(body(), true);
}

Module::~Module() {
  const auto let_go = [](const GraphState& graph) {
    for (Cursor* each = graph.cursors; each != nullptr; each = each->next_) each->graph_ = nullptr;
  };
  let_go(state_);
  for (const GraphState* each = states_; each != nullptr; each = each->next) let_go(*each);
}

IRContext::State::State(IRContext& owner) : context(owner) {
  add_kinds_of_build();
  tensor_kind = &type_kind(type_kinds, "builtin.tensor");
}
IRContext::State::~State() = default;

void IRContext::State::update_modules(const Dialect& dialect) {
  for (Module* module : module_pointers) module->update_names(dialect.name);
}

Module& IRContext::create_module(std::string_view name) {
  state_->modules.push_back(std::make_unique<Module>(*this, intern(name)));
  state_->module_pointers.push_back(state_->modules.back().get());
  return *state_->modules.back();
}

void IRContext::release(Module& module) {
  // The latest ones come and go most.
  auto& pointers = state_->module_pointers;
  const auto found = std::find(pointers.rbegin(), pointers.rend(), &module);
  if (found == pointers.rend()) return;
  const auto index = pointers.rend() - found - 1;
  pointers.erase(pointers.begin() + index);
  state_->modules.erase(state_->modules.begin() + index);
}

std::span<Module* const> IRContext::modules() const {
  return state_->module_pointers;
}

IRContext::SymbolUse IRContext::lookup_symbol(std::string_view name) const {
  for (const Module* module : state_->module_pointers) {
    if (const SymbolUse found = module->lookup_symbol(name)) return found;
  }
  return {};
}

}  // namespace mir
