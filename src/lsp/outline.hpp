// Mentions of ops, values and symbols in a text, found from syntax and the rows of ops alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "mir/context.hpp"
#include "mir/parse.hpp"

namespace mir::lsp {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// An op, or a module as the op around its contents.
struct OutlineOp {
  Span whole;                    ///< with its regions
  Span head;                     ///< without them
  Span name;                     ///< of the op; of a module, its symbol
  Span symbol{};                 ///< `@symbol`, unknown if there is none
  std::uint32_t parent = kNone;  ///< index of the op around it
  const OpRow* row = nullptr;
  bool is_module = false;
  bool is_portable = false;
  bool is_damaged = false;  ///< cannot be read, or its head cannot
  bool has_body = false;
};

/// One place that names a value.
struct Mention {
  Span at;      ///< `%name`
  Span type{};  ///< unknown if left out
  std::uint32_t op = kNone;
  std::uint32_t value = kNone;
  std::uint32_t index = 0;  ///< among the operands or results of the list
  bool defines = false;
};

/// A value that ops or regions define, or that nothing defines.
struct OutlineValue {
  std::string_view name;             ///< without `%`
  std::uint32_t definition = kNone;  ///< the mention that defines it
  std::uint32_t scope_op = kNone;    ///< the op in whose region it is visible
  std::uint32_t first_mention = kNone;
  std::vector<std::uint32_t> mentions{};  ///< in the order of the text
  bool is_damaged = false;                ///< text that cannot be read may define it
};

/// One place that names a graph, a fragment or a parameter.
struct SymbolMention {
  Span at;  ///< the name alone, without `@` and quotes
  std::string_view name;
  std::uint32_t op = kNone;
  std::uint32_t module = kNone;
  bool declares = false;
  bool is_quoted = false;
};

/// The port that a signature states after a value.
struct PortMention {
  Span at;                        ///< the name alone, without quotes
  std::uint32_t mention = kNone;  ///< of the value; inputs define it
  bool is_quoted = false;
};

/// The layer that an op names: `<name="q">`, `[name="q"]`, or `<.q>` in a graph.
struct LayerMention {
  Span at;  ///< the name alone, without quotes, or `.q` of `<.q>`
  std::uint32_t op = kNone;
  std::string name{};  ///< in full
  bool is_relative = false;
};

struct Outline {
  std::vector<OutlineOp> ops;
  std::vector<Mention> mentions;
  std::vector<OutlineValue> values;
  std::vector<SymbolMention> symbols;
  std::vector<PortMention> ports;
  std::vector<LayerMention> layers;

  /// The innermost op whose text has this place; kNone outside all modules.
  std::uint32_t op_at(SourcePos at) const;
  /// The mention at a place, which may be its end; kNone if there is none.
  std::uint32_t mention_at(SourcePos at) const;
  std::uint32_t symbol_at(SourcePos at) const;
  std::uint32_t port_at(SourcePos at) const;
  std::uint32_t layer_at(SourcePos at) const;
  /// The module that an op is in.
  std::uint32_t module_of(std::uint32_t op) const;
  bool is_inside(std::uint32_t op, std::uint32_t outer) const;
};

/// The outline of a tree that may be damaged. `rows` has the dialects. Names refer to the text.
/// `check_stop` is called now and then, and may throw.
Outline make_outline(const SyntaxTree& tree, IRContext& rows,
                     const std::function<void()>& check_stop);

}  // namespace mir::lsp
