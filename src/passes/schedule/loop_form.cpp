// Reads the attributes of generic ops for schedules, and writes them back.
#include "passes/schedule/loop_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "ir/symbol_relations.hpp"
#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"

namespace mir {

// -- reading --------------------------------------------------------------------------------------

LoopForm read_loops(const Op& op) {
  auto read = read_generic({.context = op.module().context(),
                            .attribute = [&](AttrKey key) { return op.attribute(key); },
                            .operand_count = op.operand_count(),
                            .result_count = op.result_count()},
                           [](const GenericProblem&) {});
  assert(read);
  LoopForm form{.loops = read->loops,
                .sizes = read->sizes,
                .indices = read->indices,
                .maps = read->operands,
                .sums = {},
                .bounds = {},
                .filters = {},
                .parallel = {},
                .vector = {},
                .unroll = {}};
  for (const GenericForm::Result& result : read->results) {
    form.maps.push_back(result.map);
    auto& sums = form.sums.emplace_back();
    for (const auto& each : result.sums) sums.push_back({read->loops[each.loop].name, each.kind()});
  }
  const auto name_all = [&](std::span<const std::size_t> marks, std::vector<Symbol>& names) {
    for (const std::size_t each : marks) names.push_back(read->loops[each].name);
  };
  name_all(read->parallel, form.parallel);
  name_all(read->vector, form.vector);
  name_all(read->unroll, form.unroll);
  const auto bounds = read->bounds();
  form.bounds.assign(bounds.begin(), bounds.end());
  form.filters.assign(read->conditions.begin() + static_cast<std::ptrdiff_t>(read->bound_count),
                      read->conditions.end());
  return form;
}

std::optional<std::size_t> LoopForm::find_loop(std::string_view name,
                                               const IRContext& context) const {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (context.text(loops[i].name) == name) return i;
  }
  return std::nullopt;
}

// -- edits ----------------------------------------------------------------------------------------

void LoopForm::substitute(Symbol name, Dim by, DimTable& dims) {
  const auto value = [&](Symbol each) { return each == name ? std::optional(by) : std::nullopt; };
  for (auto& map : maps) {
    for (Dim& index : map) index = dims.substitute(index, value);
  }
  const auto replace = [&](SymbolRelation& each) {
    if (auto made = each.substitute(dims, value)) each = *std::move(made);
  };
  std::ranges::for_each(bounds, replace);
  std::ranges::for_each(filters, replace);
}

Symbol LoopForm::new_symbol(std::string_view name, IRContext& context) const {
  const auto is_bound = [&](Symbol symbol) {
    const auto is_it = [&](const auto& each) { return each.name == symbol; };
    return std::ranges::any_of(loops, is_it) || std::ranges::any_of(sizes, is_it) ||
           std::ranges::any_of(indices, is_it);
  };
  Symbol made = context.intern(name);
  for (int i = 2; is_bound(made); ++i) made = context.intern(fmt::format("{}{}", name, i));
  return made;
}

Dim LoopForm::size_of(Dim extent, IRContext& context) {
  if (extent.is_constant()) return extent;
  auto found = std::ranges::find(sizes, extent, &GenericForm::Range::extent);
  if (found == sizes.end()) {
    sizes.push_back({new_symbol("n", context), extent});
    found = std::prev(sizes.end());
  }
  return context.dims().symbol(context.text(found->name));
}

void LoopForm::drop_unused_sizes(DimTable& dims) {
  std::vector<Symbol> used;
  const auto note = [&](Dim each) {
    for_each_symbol_of(each, dims, [&](Symbol name) { used.push_back(name); });
  };
  for (const auto& map : maps) std::ranges::for_each(map, note);
  for (const auto* list : {&bounds, &filters}) {
    for (const SymbolRelation& each : *list) {
      note(each.left);
      note(each.right);
    }
  }
  std::erase_if(sizes, [&](const GenericForm::Range& size) {
    return std::ranges::find(used, size.name) == used.end();
  });
}

void LoopForm::order_sums() {
  const auto place = [&](const Sum& sum) {
    return std::ranges::find(loops, sum.loop, &GenericForm::Range::name);
  };
  for (auto& each : sums) std::ranges::stable_sort(each, {}, place);
}

// -- writing --------------------------------------------------------------------------------------

namespace {

const Attr* ranges_attribute(std::span<const GenericForm::Range> ranges, IRContext& context) {
  std::vector<NamedAttr> entries;
  for (const auto& each : ranges) entries.push_back({each.name, context.dim(each.extent)});
  return entries.empty() ? nullptr : context.dict(entries);
}

const Attr* maps_attribute(std::span<const std::vector<Dim>> maps, IRContext& context) {
  std::vector<const Attr*> lists;
  for (const auto& map : maps) {
    std::vector<const Attr*> indices;
    for (const Dim each : map) indices.push_back(context.dim(each));
    lists.push_back(context.array(indices));
  }
  return context.array(lists);
}

using Words = std::vector<NamedAttr>;

/// Words of all results by loop. No value if results state different ones.
std::optional<Words> joined_words(std::span<const Words> words_of_results) {
  Words all;
  for (const Words& words : words_of_results) {
    for (const NamedAttr& each : words) {
      const auto known = std::ranges::find(all, each.key, &NamedAttr::key);
      if (known == all.end()) {
        all.push_back(each);
      } else if (known->value != each.value) {
        return std::nullopt;
      }
    }
  }
  return all;
}

/// A dictionary for all results if they agree, otherwise a list.
const Attr* sums_attribute(const LoopForm& form, IRContext& context) {
  std::vector<Words> words_of_results;
  for (const auto& sums : form.sums) {
    Words& words = words_of_results.emplace_back();
    for (const LoopForm::Sum& each : sums) {
      words.push_back({each.loop, context.word(word_of(each.kind.sum))});
    }
  }
  if (const auto all = joined_words(words_of_results)) {
    return all->empty() ? nullptr : context.dict(*all);
  }
  std::vector<const Attr*> lists;
  for (const Words& each : words_of_results) lists.push_back(context.dict(each));
  return context.array(lists);
}

/// All results that sum over a loop do so with one precision.
const Attr* accumulate_attribute(const LoopForm& form, IRContext& context) {
  std::vector<Words> words_of_results;
  for (const auto& sums : form.sums) {
    Words& words = words_of_results.emplace_back();
    for (const LoopForm::Sum& each : sums) {
      if (each.kind.precision == SumPrecision::kWide) continue;
      words.push_back({each.loop, context.word(word_of(each.kind.precision))});
    }
  }
  const auto all = joined_words(words_of_results);
  return !all || all->empty() ? nullptr : context.dict(*all);
}

const Attr* marks_attribute(std::span<const Symbol> marks, IRContext& context) {
  std::vector<const Attr*> words;
  for (const Symbol each : marks) words.push_back(context.word(context.text(each)));
  return words.empty() ? nullptr : context.array(words);
}

}  // namespace

void write_loops(Rewriter& rewriter, Op& op, const LoopForm& form) {
  IRContext& context = rewriter.context();
  const auto write = [&](AttrKey key, const Attr* value) {
    if (value != nullptr) {
      rewriter.set_attribute(op, key.symbol, value);
    } else if (op.attribute(key) != nullptr) {
      rewriter.remove_attribute(op, key.symbol);
    }
  };
  const Attr* const loops = ranges_attribute(form.loops, context);
  write(key::kLoops, loops == nullptr ? context.dict({}) : loops);
  write(key::kMaps, maps_attribute(form.maps, context));
  write(key::kSums, sums_attribute(form, context));
  write(key::kAccumulate, accumulate_attribute(form, context));
  write(key::kParallel, marks_attribute(form.parallel, context));
  write(key::kVector, marks_attribute(form.vector, context));
  write(key::kUnroll, marks_attribute(form.unroll, context));
  write(key::kBounds, relations_attribute(form.bounds, context));
  write(key::kWhere, relations_attribute(form.filters, context));
  write(key::kSizes, ranges_attribute(form.sizes, context));
}

}  // namespace mir
