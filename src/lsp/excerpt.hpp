// The part of a text that decides what names and types in a range mean.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lsp/dialect_texts.hpp"
#include "lsp/outline.hpp"
#include "mir/context.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"

namespace mir::lsp {

/// Ops of modules by the places of their names.
class OpPlaces {
 public:
  explicit OpPlaces(std::span<Module* const> modules);
  /// Returns null if no op has its name there.
  const Op* named_at(SourcePos name) const;

 private:
  std::vector<std::pair<SourcePos, const Op*>> ops_;
};

/// The node that begins the body of a graph; no value if the unit is something else, if the
/// signature leaves types to the body, or if the body declares what others use.
std::optional<std::size_t> body_of_graph(const SyntaxTree& tree, const Unit& unit);

/// Consecutive nodes and tokens of a unit.
struct NodeRange {
  std::size_t first_node = 0, end_node = 0;
  std::uint32_t first_token = 0, end_token = 0;
};
/// The ops in a body that take a part of a value and name it as the value: verification of a dump
/// takes types of these names for stale in all graphs.
std::vector<NodeRange> repeated_parts(const SyntaxTree& tree, const Unit& unit, std::size_t body);

/// The modules of a range without the bodies of graphs elsewhere, whose signatures say all that the
/// range depends on, and all aliases. Answers about a place of a large text need no more. In a
/// dump, bodies keep repeated_parts(), and one keeps an op with a quantisation: whether there are
/// any decides what is reported.
class Excerpt {
 public:
  /// Returns no value if more than half of the text would be in it. The tree must outlive it.
  static std::optional<Excerpt> of(const SyntaxTree& whole, Span range);

  const SyntaxTree& tree() const { return tree_; }
  /// The range in which it has the bodies of graphs.
  Span covered() const { return covered_; }
  bool covers(Span range) const {
    return covered_.begin <= range.begin && range.end < covered_.end;
  }
  /// Made at the first call.
  const Outline& outline(IRContext& rows, const std::function<void()>& check_stop);
  /// The op whose name is at a place, null if there is none. The first call resolves the excerpt.
  const Op* op_named_at(SourcePos name, const DialectTexts& dialects);

 private:
  Excerpt(SyntaxTree tree, Span covered) : tree_(std::move(tree)), covered_(covered) {}

  SyntaxTree tree_;
  Span covered_;
  std::optional<Outline> outline_;
  std::unique_ptr<IRContext> context_;
  std::optional<OpPlaces> ops_;
};

}  // namespace mir::lsp
