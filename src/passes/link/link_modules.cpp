// Links several modules to one.
#include "passes/link/link_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "ir/declaration_graphs.hpp"
#include "ir/extent_walk.hpp"
#include "ir/symbol_declarations.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/call_graph.hpp"
#include "mir/codes/passes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "passes/extract/body_graph.hpp"
#include "passes/symbols/substitute_extents.hpp"

namespace mir {

namespace {

class Linking {
 public:
  Linking(const Module& first, NameCollision collision, Diagnostics& diagnostics)
      : linked_(clone(first)),
        context_(first.context()),
        rewriter_(*linked_),
        collision_(collision),
        diagnostics_(diagnostics) {}

  /// Adds a copy of a module that belongs to the link alone.
  void add(Module& module) {
    if (!settle_names(module)) return;
    join_heads(module);
    Rewriter rewriter(module);
    const Op& body = move_body_to_graph(rewriter, text(module.name()));
    for (Op* op : module.body().only_block().ops()) {
      if (isa<RegisterOp>(op)) {
        add_parameter(*op);
      } else if (op != &body) {
        add_graph(*op);
      }
    }
    add_copy(body);
  }

  std::unique_ptr<Module> take() { return is_good_ ? std::move(linked_) : nullptr; }

  void refuse(DiagCode code, const Op& at, std::string message) {
    diagnostics_.error(code, at.span(), std::move(message));
    is_good_ = false;
  }

 private:
  Module& linked() { return *linked_; }
  std::string_view text(Symbol symbol) const { return context_.text(symbol); }

  // -- names --------------------------------------------------------------------------------------

  /// Gives the graphs of the module, and the module itself, names that are not taken.
  bool settle_names(Module& module) {
    const CallGraph calls(module);
    bool is_settled = true;
    for (Op* graph : calls.graphs()) {
      if (graph != module.top() && is_declaration(*graph)) continue;
      if (!is_taken(graph->symbol())) continue;
      if (collision_ == NameCollision::kRefuse) {
        refuse(diag::kDuplicateSymbol, *graph,
               fmt::format("graph '@{}' has the name of a graph in module '@{}'; rename it, or "
                           "link with renaming",
                           text(graph->symbol()), text(linked().name())));
        is_settled = false;
        continue;
      }
      rename(module, *graph, calls.calls_of(*graph), fresh_name(module, graph->symbol()));
    }
    return is_settled;
  }

  bool is_taken(Symbol name) {
    return linked().lookup_op(name) != nullptr || name == linked().name();
  }

  Symbol fresh_name(const Module& module, Symbol name) {
    for (std::size_t i = 1;; ++i) {
      const Symbol made = context_.intern(fmt::format("{}.{}", text(name), i));
      if (!is_taken(made) && module.lookup_op(made) == nullptr) return made;
    }
  }

  void rename(Module& module, Op& graph, std::span<Op* const> calls, Symbol name) {
    Rewriter rewriter(module);
    rewriter.set_symbol(graph, name);
    if (graph.attribute(key::kSymbol) != nullptr) {
      rewriter.set_attribute(graph, key::kSymbol, context_.word(text(name)));
    }
    for (Op* call : calls) rewriter.set_symbol(*call, name);
  }

  // -- heads --------------------------------------------------------------------------------------

  /// Joins versions, declarations and relations of dimension symbols.
  void join_heads(Module& module) {
    rewriter_.set_version(std::max(linked().version(), module.version()));
    std::vector<NamedAttr> all = declarations_of(linked());
    std::map<Symbol, Symbol> names;
    const std::set<Symbol> differing = differing_symbols(module);
    for (const std::string_view text_of_symbol : symbols_of(module)) {
      const Symbol each = context_.intern(text_of_symbol);
      const Attr* const added = find(declarations_of(module), each);
      const Symbol name = differing.contains(each) ? renamed(module, each) : each;
      names[each] = name;
      if (added != nullptr && find(all, name) == nullptr) all.push_back({name, added});
    }
    if (!all.empty()) {
      rewriter_.set_attribute(*linked().top(), key::kSymbols, context_.dict(all));
    }
    join_relations(module, names);
  }

  void join_relations(const Module& module, const std::map<Symbol, Symbol>& names) {
    const auto known = relations_of(linked()), added = relations_of(module);
    std::vector<SymbolRelation> all(known.begin(), known.end());
    for (const SymbolRelation& each : added) {
      const auto relation = each.substitute(context_.dims(), [&](Symbol symbol) {
        const auto name = names.find(symbol);
        return std::optional(
            context_.dims().symbol(text(name == names.end() ? symbol : name->second)));
      });
      const auto is_same = [&](const SymbolRelation& other) {
        return relation && text_of(other) == text_of(*relation);
      };
      if (relation && std::ranges::none_of(all, is_same)) all.push_back(*relation);
    }
    if (all.size() == known.size()) return;
    rewriter_.set_attribute(*linked().top(), key::kWhere, relations_attribute(all, context_));
  }

  std::string text_of(const SymbolRelation& relation) const {
    return relation.text(context_.dims());
  }

  static std::vector<SymbolRelation> relations_of(const Module& module) {
    const SymbolDeclarations declarations = symbol_declarations(module);
    const auto all = declarations.relations().all();
    return {all.begin(), all.end()};
  }

  /// The symbols that extents or relations have.
  std::set<std::string_view> symbols_of(const Module& module) const {
    std::set<std::string_view> symbols = symbols_of_extents(module);
    for (const SymbolRelation& each : relations_of(module)) {
      for (const Symbol symbol : each.symbols(context_.dims())) symbols.insert(text(symbol));
    }
    return symbols;
  }

  /// The symbols of a module whose names mean something else in the modules before: a head declares
  /// them otherwise, or relates them to others. Symbols related to these have another name, too.
  std::set<Symbol> differing_symbols(const Module& module) {
    const std::set<std::string_view> used = symbols_of(linked());
    const auto known = relations_of(linked()), added = relations_of(module);
    const auto texts_with = [&](std::span<const SymbolRelation> relations, Symbol symbol) {
      std::set<std::string> texts;
      for (const SymbolRelation& each : relations) {
        const auto symbols = each.symbols(context_.dims());
        if (std::ranges::find(symbols, symbol) != symbols.end()) texts.insert(text_of(each));
      }
      return texts;
    };
    std::set<Symbol> differing;
    for (const std::string_view name : symbols_of(module)) {
      const Symbol each = context_.intern(name);
      const Attr* const before = find(declarations_of(linked()), each);
      const bool is_known = before != nullptr || used.contains(name);
      if (is_known && (before != find(declarations_of(module), each) ||
                       texts_with(known, each) != texts_with(added, each))) {
        differing.insert(each);
      }
    }
    for (std::size_t size = 0; size != differing.size();) {
      size = differing.size();
      for (const SymbolRelation& each : added) {
        const auto symbols = each.symbols(context_.dims());
        const auto differs = [&](Symbol symbol) { return differing.contains(symbol); };
        if (std::ranges::none_of(symbols, differs)) continue;
        for (const Symbol symbol : symbols) {
          if (used.contains(text(symbol))) differing.insert(symbol);
        }
      }
    }
    return differing;
  }

  static std::vector<NamedAttr> declarations_of(const Module& module) {
    const Attr* const symbols = module.top()->attribute(key::kSymbols);
    if (symbols == nullptr || symbols->kind() != AttrKind::kDict) return {};
    return {symbols->entries().begin(), symbols->entries().end()};
  }

  static const Attr* find(std::span<const NamedAttr> declarations, Symbol name) {
    const auto found = std::ranges::find(declarations, name, &NamedAttr::key);
    return found == declarations.end() ? nullptr : found->value;
  }

  /// A declaration holds for all symbols of its name in a module. So a symbol of the added module
  /// gets a name of its own where the declaration is not that of the modules before.
  Symbol renamed(Module& module, Symbol symbol) {
    const auto is_taken = [&](Symbol name) {
      return symbols_of_extents(module).contains(text(name)) ||
             symbols_of_extents(linked()).contains(text(name)) ||
             find(declarations_of(linked()), name) != nullptr ||
             find(declarations_of(module), name) != nullptr;
    };
    Symbol name = symbol;
    for (std::size_t i = 1; is_taken(name); ++i) {
      name = context_.intern(fmt::format("{}_{}", text(symbol), i));
    }
    Rewriter rewriter(module);
    ExtentSubstitution(rewriter).rename(symbol, name);
    return name;
  }

  // -- graphs -------------------------------------------------------------------------------------

  void add_graph(Op& graph) {
    if (text(graph.symbol()) == "init") {
      for (Op* op : graph.first_region()->only_block().ops()) {
        if (isa<RegisterOp>(op)) add_parameter(*op);
      }
      return;
    }
    if (is_declaration(graph) && linked().lookup_op(graph.symbol()) != nullptr) return;
    add_copy(graph);
  }

  void add_copy(const Op& graph) {
    RewriteMapping ignored;
    move_after_graphs();
    rewriter_.clone(graph, ignored);
  }

  void add_parameter(Op& declaration) {
    const Value& value = *declaration.result();
    const Value* known = linked().lookup_value(value.symbol());
    if (known == nullptr) {
      RewriteMapping ignored;
      rewriter_.set_insertion_point_to_end(init());
      rewriter_.clone(declaration, ignored);
    } else if (known->type() != value.type() ||
               !std::ranges::equal(known->attributes(), value.attributes())) {
      refuse(
          diag::kDuplicateSymbol, declaration,
          fmt::format("parameter '@{}' is {} here and {} in module '@{}'", text(value.symbol()),
                      value.type()->spelling(), known->type()->spelling(), text(linked().name())));
    }
  }

  /// The first op of the body that declares nothing; null if there is none.
  Op* first_computing() {
    for (Op* op : linked().body().entry()->ops()) {
      if (!declares(*op)) return op;
    }
    return nullptr;
  }

  void move_after_graphs() {
    if (Op* first = first_computing()) return rewriter_.set_insertion_point(*first);
    rewriter_.set_insertion_point_to_end(*linked().body().entry());
  }

  Block& init() {
    const Op* known = linked().lookup_op(context_.intern("init"));
    if (known != nullptr) return known->first_region()->only_block();
    Builder builder(linked(), ignored_);
    if (Op* first = linked().body().entry()->front()) builder.set_insertion_point(*first);
    builder.subgraph("init", {}, "notype");
    return *builder.insertion_block();
  }

  std::unique_ptr<Module> linked_;
  IRContext& context_;
  Rewriter rewriter_;
  NameCollision collision_;
  Diagnostics& diagnostics_;
  Diagnostics ignored_;
  bool is_good_ = true;
};

}  // namespace

std::unique_ptr<Module> link_modules(std::span<Module* const> modules, NameCollision collision,
                                     Diagnostics& diagnostics) {
  Linking linking(*modules.front(), collision, diagnostics);
  bool are_linkable = true;
  for (const Module* module : modules) {
    if (module->is_portable() && !module->body().empty()) continue;
    linking.refuse(diag::kPipeline, *module->top(),
                   "only portable modules with a body can be linked");
    are_linkable = false;
  }
  if (!are_linkable) return nullptr;
  for (Module* module : modules.subspan(1)) linking.add(*clone(*module));
  return linking.take();
}

}  // namespace mir
