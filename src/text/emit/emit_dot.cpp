// Renders modules as Graphviz graphs.
#include <fmt/format.h>

#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "text/emit/emit.hpp"

namespace mir {

namespace {

/// Text inside a double-quoted Graphviz string.
std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

class DotEmitter {
 public:
  DotEmitter(const Module& module, std::string& out, std::size_t number)
      : context_(module.context()), out_(out), prefix_(fmt::format("m{}_", number)) {
    region(module.body(), 1);
  }

 private:
  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    out_.append(static_cast<std::size_t>(2 * depth), ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  std::string node(const Op& op) const { return fmt::format("{}op{}", prefix_, op.id()); }
  std::string node(const Value& value) const {
    if (const Op* definition = value.defining_op()) return node(*definition);
    return fmt::format("{}v{}", prefix_, value.id());
  }

  void source(const Value& value, std::string_view shape, int depth) {
    const std::string type = value.type() == nullptr ? "" : std::string(value.type()->spelling());
    const std::string name =
        value.has_symbol() ? fmt::format("@{}", context_.text(value.symbol())) : "";
    line(depth, "{} [shape={}, label=\"{}\\n{}\"];", node(value), shape, escape(name),
         escape(type));
  }

  void region(const Region& of, int depth) {
    for (const Value* value : of.free_values()) source(*value, "note", depth);
    for (Block* block : of.blocks()) {
      for (const Value& argument : block->arguments()) source(argument, "oval", depth);
      for (Op* each : block->ops()) op(*each, depth);
    }
  }

  void op(const Op& of, int depth) {
    const bool holds_ops = of.first_region() != nullptr;
    if (holds_ops) {
      const std::string title =
          of.has_symbol() ? fmt::format("@{}", context_.text(of.symbol())) : std::string(of.name());
      line(depth++, "subgraph \"cluster_{}\" {{", node(of));
      line(depth, "label=\"{}\";", escape(title));
    }
    // The box of a graph is its cluster; an op with values is a node as well.
    if (!holds_ops || of.operand_count() + of.result_count() != 0) box(of, depth);
    for (Region* inner = of.first_region(); inner != nullptr; inner = inner->next())
      region(*inner, depth);
    if (holds_ops) line(--depth, "}}");
  }

  void box(const Op& of, int depth) {
    std::string label(of.info().mnemonic);
    if (of.has_path()) label += fmt::format("\\n{}", escape(context_.text(of.path())));
    if (callee_of(of)) label += fmt::format(" @{}", escape(context_.text(of.symbol())));
    line(depth, "{} [shape=box, label=\"{}\"];", node(of), label);
    for (const Use& use : of.operand_uses()) {
      const Type* type = use.value()->type();
      line(depth, "{} -> {} [label=\"{}\"];", node(*use.value()), node(of),
           type == nullptr ? "" : escape(type->spelling()));
    }
  }

  const IRContext& context_;
  std::string& out_;
  std::string prefix_;
};

}  // namespace

std::string emit_dot(std::span<Module* const> modules) {
  std::string out = "digraph mir {\n  node [fontname=\"monospace\"];\n";
  std::size_t number = 0;
  for (const Module* module : modules) DotEmitter(*module, out, number++);
  return out + "}\n";
}

}  // namespace mir
