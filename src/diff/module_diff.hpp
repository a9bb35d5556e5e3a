// Differences between two texts of IR, op by op. Ids, layout and the order of attributes and graphs
// are ignored.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/context.hpp"
#include "mir/module.hpp"

namespace mir {

struct DiffEntry {
  enum class Kind : std::uint8_t { kChanged, kRemoved, kAdded };
  Kind kind{};
  std::string module;  ///< "main"
  std::string graph;   ///< "model.layers.0"; empty: the module's own body
  std::string op;      ///< "linalg.LinearOp 'model.up'"
  std::string field;   ///< "attribute 'bias'", "operand 1"; empty for a whole op
  std::string before;  ///< the field, or the op without its values; empty: there is none
  std::string after;
  Location at_before{};
  Location at_after{};
};

struct ModuleDiff {
  std::vector<DiffEntry> entries;
  std::size_t count(DiffEntry::Kind kind) const;
};

/// True if the entry is another name or symbol of an op, a module or a value.
bool is_renaming(const DiffEntry& entry);

struct DiffOptions {
  /// Leaves out what outputs do not depend on: attributes as make_effective
  /// (diff/effective_form.hpp) has them, in place, and the order of a module's inputs.
  bool effective = false;
};

/// Compares modules of one context: the k-th of one name with the k-th of that name, and a module
/// that each list has left over with the other one.
/// diff/pairing.hpp defines which of their ops and values belong together. All printed properties
/// of a pair are compared except ids: names of blocks, addresses, uuids of quantisation specs, and
/// names of values. Equal uuids must stay equal, and so must names of values in dumps, where they
/// are storages.
ModuleDiff diff_modules(std::span<Module* const> before, std::span<Module* const> after,
                        const DiffOptions& options = {});

/// Presentation of a diff.
struct DiffStyle {
  std::string_view before_name;
  std::string_view after_name;
  bool colour = false;
  bool each = false;  ///< changes that are alike one by one, not once with their number
};
/// Renders names, then the entries under a line for each graph; empty if there are no entries.
std::string diff_text(const ModuleDiff& diff, const IRContext& context, const DiffStyle& style);
/// A line for each graph that differs with its counts, and one for all.
std::string diff_stat(const ModuleDiff& diff, const DiffStyle& style);
/// A figure of both modules, such as their arithmetic; extents may be symbolic.
struct DiffCost {
  std::string_view what;
  std::string before, after;
};
/// A comment for a review in Markdown: counts for each graph, the costs, and the diff as text below
/// lines that unfold. Markdown of the texts themselves has no effect.
std::string diff_markdown(const ModuleDiff& diff, const IRContext& context, const DiffStyle& style,
                          std::span<const DiffCost> costs);
/// A page in HTML that needs no other file: the same, with the changes side by side.
std::string diff_html(const ModuleDiff& diff, const IRContext& context, const DiffStyle& style,
                      std::span<const DiffCost> costs);
/// docs/diff.md describes the document.
std::string diff_json(const ModuleDiff& diff, const IRContext& context, const DiffStyle& style);

}  // namespace mir
