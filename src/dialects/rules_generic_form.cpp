// Reads the attributes of linalg.GenericOp for its rule and its evaluators.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "dialects/generic_form.hpp"
#include "ir/symbol_relations.hpp"
#include "ir/type_extents.hpp"
#include "mir/codes/shapes.hpp"

namespace mir {

namespace {

struct PrecisionWord {
  std::string_view text;
  SumPrecision precision;
};
constexpr std::array kPrecisionWords = {PrecisionWord{"Float32", SumPrecision::kSingle},
                                        PrecisionWord{"fma32", SumPrecision::kFused}};

struct SumWord {
  std::string_view text;
  LoopSum sum;
};
constexpr std::array kSumWords = {SumWord{"add", LoopSum::kAdd}, SumWord{"mul", LoopSum::kMul},
                                  SumWord{"max", LoopSum::kMax}, SumWord{"min", LoopSum::kMin},
                                  SumWord{"and", LoopSum::kAnd}, SumWord{"or", LoopSum::kOr}};

class GenericReader {
 public:
  using Report = std::function<void(const GenericProblem&)>;

  GenericReader(const GenericSource& source, const Report& report)
      : source_(source), report_(report), dims_(source.context.dims()) {}

  std::optional<GenericForm> read() {
    const bool is_read = read_ranges(key::kLoops, form_.loops) &&
                         read_ranges(key::kSizes, form_.sizes) && read_indices() && read_maps() &&
                         read_sums() && read_precisions() && read_dtypes() && read_starts() &&
                         read_bounds() && read_conditions() && check_starts() &&
                         read_marks(key::kParallel, false, form_.parallel) &&
                         read_marks(key::kVector, false, form_.vector) &&
                         read_marks(key::kUnroll, true, form_.unroll);
    return is_read ? std::optional(std::move(form_)) : std::nullopt;
  }

 private:
  bool fail(AttrKey key, std::string_view constraint, DiagCode code, std::string message) {
    report_({key, constraint, code, std::move(message)});
    return false;
  }
  std::string_view text(Symbol symbol) const { return source_.context.text(symbol); }

  /// Notes a symbol of the op; each may be bound once.
  bool bind(AttrKey key, Symbol name) {
    if (std::ranges::find(bound_, name) == bound_.end()) {
      bound_.push_back(name);
      return true;
    }
    return fail(key, "generic_c1", diag::kAttributeOutOfRange,
                fmt::format("'{}' binds '${}', which is bound already", key.text, text(name)));
  }

  bool is_dictionary(AttrKey key, const Attr& value) {
    return value.kind() == AttrKind::kDict || value.kind() == AttrKind::kNull ||
           fail(key, "generic_c1", diag::kAttributeOutOfRange,
                fmt::format("'{}' is {}, expected a dictionary of symbols", key.text,
                            value.spelling()));
  }

  bool read_ranges(AttrKey key, std::vector<GenericForm::Range>& ranges) {
    const Attr* stated = source_.attribute(key);
    if (stated == nullptr) return true;
    if (!is_dictionary(key, *stated)) return false;
    for (const NamedAttr& entry : stated->entries()) {
      const auto extent = extent_in(*entry.value);
      if (!extent || extent->is_negative() || (extent->is_symbolic() && extent->is_pack())) {
        return fail(key, "generic_c1", diag::kAttributeOutOfRange,
                    fmt::format("'{}' of '{}' is {}, expected an extent", text(entry.key), key.text,
                                entry.value->spelling()));
      }
      if (!bind(key, entry.key)) return false;
      ranges.push_back({entry.key, *extent});
    }
    if (ranges.size() <= kMostLoops) return true;
    return fail(key, "generic_c1", diag::kAttributeOutOfRange,
                fmt::format("'{}' has {} entries, expected at most {}", key.text, ranges.size(),
                            kMostLoops));
  }

  bool read_indices() {
    const Attr* stated = source_.attribute(key::kIndices);
    if (stated == nullptr) return true;
    if (!is_dictionary(key::kIndices, *stated)) return false;
    for (const NamedAttr& entry : stated->entries()) {
      const bool is_number = entry.value->kind() == AttrKind::kInt && entry.value->integer() >= 0;
      const auto operand = static_cast<std::size_t>(entry.value->integer());
      if (!is_number || operand >= source_.operand_count) {
        return fail(key::kIndices, "generic_c1", diag::kAttributeOutOfRange,
                    fmt::format("'{}' of '{}' is {}, expected the number of an operand",
                                text(entry.key), key::kIndices.text, entry.value->spelling()));
      }
      if (!bind(key::kIndices, entry.key)) return false;
      form_.indices.push_back({entry.key, operand});
    }
    return true;
  }

  bool is_index(Symbol name) const {
    return std::ranges::find(form_.indices, name, &GenericForm::Index::name) != form_.indices.end();
  }

  /// Reports a symbol of an extent that the op does not bind.
  bool check_bound(AttrKey key, Dim extent) {
    bool is_bound = true;
    for_each_symbol_of(extent, dims_, [&](Symbol name) {
      if (!is_bound || std::ranges::find(bound_, name) != bound_.end()) return;
      is_bound = false;
      std::vector<std::string> names;
      for (const Symbol each : bound_) names.push_back(fmt::format("${}", text(each)));
      fail(key, "generic_c2", diag::kAttributeOutOfRange,
           fmt::format("'{}' has '${}', expected a symbol that the op binds: {}", key.text,
                       text(name), fmt::join(names, ", ")));
    });
    return is_bound;
  }

  bool read_map(std::size_t number, const Attr& stated, std::vector<Dim>& map) {
    if (stated.kind() != AttrKind::kArray) {
      return fail(
          key::kMaps, "generic_c2", diag::kAttributeOutOfRange,
          fmt::format("map {} is {}, expected a list of indices", number, stated.spelling()));
    }
    for (const Attr* element : stated.elements()) {
      const auto index = extent_in(*element);
      if (!index || index->is_unknown() || (index->is_symbolic() && index->is_pack())) {
        return fail(key::kMaps, "generic_c2", diag::kAttributeOutOfRange,
                    fmt::format("map {} has {}, expected an index over symbols of the op", number,
                                element->spelling()));
      }
      if (!check_bound(key::kMaps, *index)) return false;
      map.push_back(*index);
    }
    return true;
  }

  bool read_maps() {
    const Attr* stated = source_.attribute(key::kMaps);
    const std::size_t count = source_.operand_count + source_.result_count;
    if (stated == nullptr || stated->elements().size() != count) {
      return fail(key::kMaps, "generic_c2", diag::kAttributeOutOfRange,
                  fmt::format("'{}' has {} maps, expected one for each of {} operands and {} "
                              "results",
                              key::kMaps.text, stated == nullptr ? 0 : stated->elements().size(),
                              source_.operand_count, source_.result_count));
    }
    for (std::size_t i = 0; i < source_.operand_count; ++i) {
      if (!read_map(i, *stated->elements()[i], form_.operands.emplace_back())) return false;
    }
    for (std::size_t i = 0; i < source_.result_count; ++i) {
      const std::size_t number = source_.operand_count + i;
      GenericForm::Result& result = form_.results.emplace_back();
      if (!read_map(number, *stated->elements()[number], result.map)) return false;
      if (!find_loops(number, result)) return false;
    }
    return check_index_operands();
  }

  bool find_loops(std::size_t number, GenericForm::Result& result) {
    std::vector<Symbol> used;
    for (const Dim index : result.map) {
      for_each_symbol_of(index, dims_, [&](Symbol name) { used.push_back(name); });
    }
    for (const Symbol name : used) {
      if (!is_index(name)) continue;
      return fail(key::kMaps, "generic_c2", diag::kAttributeOutOfRange,
                  fmt::format("map {} of a result has '${}', whose value an operand decides",
                              number, text(name)));
    }
    for (std::size_t loop = 0; loop < form_.loops.size(); ++loop) {
      if (std::ranges::find(used, form_.loops[loop].name) != used.end()) {
        result.loops.push_back(loop);
      }
    }
    return true;
  }

  /// The map of an operand that decides an index has only indices before it.
  bool check_index_operands() {
    for (std::size_t i = 0; i < form_.indices.size(); ++i) {
      for (const Dim each : form_.operands[form_.indices[i].operand]) {
        for (std::size_t later = i; later < form_.indices.size(); ++later) {
          if (!has_symbol(each, form_.indices[later].name)) continue;
          return fail(key::kIndices, "generic_c2", diag::kAttributeOutOfRange,
                      fmt::format("operand {} decides '${}', and its map has '${}'",
                                  form_.indices[i].operand, text(form_.indices[i].name),
                                  text(form_.indices[later].name)));
        }
      }
    }
    return true;
  }

  bool has_symbol(Dim extent, Symbol name) const {
    bool found = false;
    for_each_symbol_of(extent, dims_, [&](Symbol each) { found = found || each == name; });
    return found;
  }

  // -- sums ---------------------------------------------------------------------------------------

  /// Returns the sums of a result; no value after reporting another kind of attribute.
  std::optional<std::span<const NamedAttr>> sums_of(std::size_t number) {
    const Attr* stated = source_.attribute(key::kSums);
    if (stated == nullptr) return std::span<const NamedAttr>();
    if (stated->kind() == AttrKind::kDict) return stated->entries();
    if (stated->kind() == AttrKind::kArray && stated->elements().size() == source_.result_count &&
        stated->elements()[number]->kind() == AttrKind::kDict) {
      return stated->elements()[number]->entries();
    }
    fail(key::kSums, "generic_c5", diag::kAttributeOutOfRange,
         fmt::format("'{}' is {}, expected a dictionary, or a list with one for each of {} results",
                     key::kSums.text, stated->spelling(), source_.result_count));
    return std::nullopt;
  }

  std::optional<LoopSum> read_sum(const NamedAttr& entry) {
    const bool is_text = entry.value->kind() == AttrKind::kString;
    const auto found = loop_sum(is_text ? entry.value->text() : "");
    if (found) return found;
    fail(key::kSums, "generic_c5", diag::kAttributeOutOfRange,
         fmt::format("'{}' of '{}' is {}, expected add, mul, max, min, and or or", text(entry.key),
                     key::kSums.text, entry.value->spelling()));
    return std::nullopt;
  }

  bool read_sums() {
    std::vector<Symbol> needed;
    for (std::size_t i = 0; i < source_.result_count; ++i) {
      GenericForm::Result& result = form_.results[i];
      const auto entries = sums_of(i);
      if (!entries) return false;
      for (std::size_t loop = 0; loop < form_.loops.size(); ++loop) {
        if (std::ranges::find(result.loops, loop) != result.loops.end()) continue;
        const Symbol name = form_.loops[loop].name;
        const auto entry = std::ranges::find(*entries, name, &NamedAttr::key);
        if (entry == entries->end()) {
          return fail(key::kSums, "generic_c5", diag::kAttributeOutOfRange,
                      fmt::format("the map of result {} lacks '${}', and '{}' does not state how "
                                  "its iterations are joined",
                                  i, text(name), key::kSums.text));
        }
        const auto sum = read_sum(*entry);
        if (!sum) return false;
        result.sums.push_back({loop, *sum});
        needed.push_back(name);
      }
    }
    return check_needed(needed);
  }

  /// Each entry of `sums` must join a loop of some result.
  bool check_needed(std::span<const Symbol> needed) {
    for (std::size_t i = 0; i < source_.result_count; ++i) {
      const auto entries = sums_of(i);
      for (const NamedAttr& entry : *entries) {
        if (std::ranges::find(needed, entry.key) != needed.end()) continue;
        return fail(key::kSums, "generic_c5", diag::kAttributeOutOfRange,
                    fmt::format("'{}' has '{}', expected a loop that the map of a result lacks",
                                key::kSums.text, text(entry.key)));
      }
    }
    return true;
  }

  /// Reads for each loop of a floating sum the numbers that its accumulator holds.
  bool read_precisions() {
    const Attr* stated = source_.attribute(key::kAccumulate);
    if (stated == nullptr) return true;
    if (stated->kind() != AttrKind::kDict) {
      return fail(key::kAccumulate, "generic_c11", diag::kAttributeOutOfRange,
                  fmt::format("'{}' is {}, expected a dictionary", key::kAccumulate.text,
                              stated->spelling()));
    }
    return std::ranges::all_of(stated->entries(),
                               [&](const NamedAttr& entry) { return read_precision(entry); });
  }

  bool read_precision(const NamedAttr& entry) {
    const auto refuse = [&](std::string_view expected) {
      return fail(key::kAccumulate, "generic_c11", diag::kAttributeOutOfRange,
                  fmt::format("'{}' of '{}' is {}, expected {}", text(entry.key),
                              key::kAccumulate.text, entry.value->spelling(), expected));
    };
    const bool is_text = entry.value->kind() == AttrKind::kString;
    const auto word = std::ranges::find(kPrecisionWords, is_text ? entry.value->text() : "",
                                        &PrecisionWord::text);
    if (word == kPrecisionWords.end()) return refuse("Float32 or fma32");
    bool is_summed = false;
    for (GenericForm::Result& result : form_.results) {
      for (GenericForm::SummedLoop& each : result.sums) {
        if (form_.loops[each.loop].name != entry.key) continue;
        if (each.sum != LoopSum::kAdd) return refuse("a loop whose sum is add");
        each.precision = word->precision;
        is_summed = true;
      }
    }
    return is_summed || refuse("a loop that the map of a result lacks");
  }

  // -- marks of loops -----------------------------------------------------------------------------

  /// Reads a list of loops. Loops that run side by side must be in the map of each result.
  bool read_marks(AttrKey key, bool takes_sums, std::vector<std::size_t>& marks) {
    const Attr* stated = source_.attribute(key);
    if (stated == nullptr) return true;
    if (stated->kind() != AttrKind::kArray) {
      return fail(
          key, "generic_c10", diag::kAttributeOutOfRange,
          fmt::format("'{}' is {}, expected a list of loops", key.text, stated->spelling()));
    }
    for (const Attr* each : stated->elements()) {
      const auto loop = std::ranges::find_if(form_.loops, [&](const GenericForm::Range& range) {
        return each->kind() == AttrKind::kString && text(range.name) == each->text();
      });
      const auto number = static_cast<std::size_t>(loop - form_.loops.begin());
      const bool is_new = std::ranges::find(marks, number) == marks.end();
      if (loop == form_.loops.end() || !is_new) {
        return fail(key, "generic_c10", diag::kAttributeOutOfRange,
                    fmt::format("'{}' has {}, expected loops of the op, each once", key.text,
                                each->spelling()));
      }
      if (!takes_sums && is_summed(number)) {
        return fail(
            key, "generic_c10", diag::kAttributeOutOfRange,
            fmt::format("'{}' has '{}', which is a loop of a sum: its iterations change one "
                        "element",
                        key.text, text(loop->name)));
      }
      marks.push_back(number);
    }
    return true;
  }

  bool is_summed(std::size_t loop) const {
    return std::ranges::any_of(form_.results, [&](const GenericForm::Result& result) {
      return std::ranges::find(result.sums, loop, &GenericForm::SummedLoop::loop) !=
             result.sums.end();
    });
  }

  // -- element types, starts, conditions ----------------------------------------------------------

  bool read_dtypes() {
    const Attr* stated = source_.attribute(key::kDtypes);
    if (stated == nullptr) return true;
    const bool is_list =
        stated->kind() == AttrKind::kArray && stated->elements().size() == source_.result_count;
    for (std::size_t i = 0; is_list && i < source_.result_count; ++i) {
      const Attr& word = *stated->elements()[i];
      form_.results[i].dtype =
          word.kind() == AttrKind::kString ? dtype_from_name(word.text()) : std::nullopt;
      if (form_.results[i].dtype && accumulation_type(*form_.results[i].dtype)) continue;
      return fail(key::kDtypes, "generic_c3", diag::kDTypeMismatch,
                  fmt::format("'{}' has {}, expected a floating type, an integer type or Bool",
                              key::kDtypes.text, word.spelling()));
    }
    return is_list ||
           fail(key::kDtypes, "generic_c3", diag::kAttributeOutOfRange,
                fmt::format("'{}' is {}, expected a list with one element type for each "
                            "of {} results",
                            key::kDtypes.text, stated->spelling(), source_.result_count));
  }

  bool read_starts() {
    const Attr* stated = source_.attribute(key::kStart);
    if (stated == nullptr) return true;
    const bool is_list =
        stated->kind() == AttrKind::kArray && stated->elements().size() == source_.result_count;
    for (std::size_t i = 0; is_list && i < source_.result_count; ++i) {
      const Attr& number = *stated->elements()[i];
      if (number.kind() == AttrKind::kNull) continue;
      form_.results[i].start = &number;
      if (number.kind() == AttrKind::kInt || number.kind() == AttrKind::kFloat ||
          number.kind() == AttrKind::kBool) {
        continue;
      }
      return fail(key::kStart, "generic_c7", diag::kAttributeOutOfRange,
                  fmt::format("'{}' has {}, expected a number or null", key::kStart.text,
                              number.spelling()));
    }
    return is_list || fail(key::kStart, "generic_c7", diag::kAttributeOutOfRange,
                           fmt::format("'{}' is {}, expected a list with one number for each of {} "
                                       "results",
                                       key::kStart.text, stated->spelling(), source_.result_count));
  }

  /// Appends the relations of an attribute.
  bool read_relations_of(AttrKey key, std::string_view constraint) {
    const Attr* stated = source_.attribute(key);
    if (stated == nullptr) return true;
    const auto errors = errors_of_symbol_relations(*stated, source_.context, key);
    if (!errors.empty()) {
      return fail(key, constraint, diag::kAttributeOutOfRange, errors.front().message);
    }
    const SymbolRelations relations = read_relations(*stated, source_.context);
    const auto all = relations.all();
    form_.conditions.insert(form_.conditions.end(), all.begin(), all.end());
    return std::ranges::all_of(all, [&](const SymbolRelation& each) {
      return check_bound(key, each.left) && check_bound(key, each.right);
    });
  }

  bool is_loop(Symbol name) const {
    return std::ranges::find(form_.loops, name, &GenericForm::Range::name) != form_.loops.end();
  }

  bool read_bounds() {
    if (!read_relations_of(key::kBounds, "generic_c9")) return false;
    form_.bound_count = form_.conditions.size();
    std::vector<Dim> ended;
    for (const SymbolRelation& each : form_.bounds()) {
      bool has_loop = false, is_over_loops = true, is_constant = true;
      for_each_symbol_of(each.left, dims_, [&](Symbol name) {
        has_loop = has_loop || is_loop(name);
        is_over_loops = is_over_loops && !is_index(name);
      });
      for_each_symbol_of(each.right, dims_, [&](Symbol name) {
        is_constant = is_constant && !is_loop(name) && !is_index(name);
      });
      const bool is_below = each.comparison == SymbolRelation::Comparison::kLess;
      const bool is_new = std::ranges::find(ended, each.left) == ended.end();
      ended.push_back(each.left);
      if (is_below && has_loop && is_over_loops && is_constant && is_new) continue;
      return fail(key::kBounds, "generic_c9", diag::kAttributeOutOfRange,
                  fmt::format("'{}' has '{}', expected an index over loops below an extent without "
                              "loops, each index once",
                              key::kBounds.text, each.text(dims_)));
    }
    return true;
  }

  bool read_conditions() { return read_relations_of(key::kWhere, "generic_c7"); }

  /// True if a condition is a bound that ends the result in one of its dimensions.
  bool ends(const GenericForm::Result& result, std::size_t condition) const {
    if (condition >= form_.bound_count) return false;
    std::vector<Symbol> names;
    for (const GenericForm::Range& loop : form_.loops) names.push_back(loop.name);
    return std::ranges::any_of(result.map, [&](Dim index) {
      return bound_of(index, form_.bounds().subspan(condition, 1), names, dims_).has_value();
    });
  }

  /// A result without sums has its start where a condition leaves out the iteration.
  bool check_starts() {
    for (std::size_t i = 0; i < form_.results.size(); ++i) {
      const GenericForm::Result& result = form_.results[i];
      if (!result.sums.empty() || result.start != nullptr) continue;
      for (std::size_t condition = 0; condition < form_.conditions.size(); ++condition) {
        if (ends(result, condition)) continue;
        const AttrKey key = condition < form_.bound_count ? key::kBounds : key::kWhere;
        return fail(key, "generic_c7", diag::kAttributeMissing,
                    fmt::format("'{}' may leave out the only iteration of an element of result {}, "
                                "and '{}' states no number for it",
                                key.text, i, key::kStart.text));
      }
    }
    return true;
  }

  const GenericSource& source_;
  const Report& report_;
  DimTable& dims_;
  GenericForm form_;
  std::vector<Symbol> bound_;
};

}  // namespace

std::optional<GenericForm> read_generic(const GenericSource& source,
                                        const std::function<void(const GenericProblem&)>& report) {
  return GenericReader(source, report).read();
}

std::string_view word_of(LoopSum sum) {
  return std::ranges::find(kSumWords, sum, &SumWord::sum)->text;
}

std::string_view word_of(SumPrecision precision) {
  return std::ranges::find(kPrecisionWords, precision, &PrecisionWord::precision)->text;
}

std::optional<LoopSum> loop_sum(std::string_view word) {
  const auto found = std::ranges::find(kSumWords, word, &SumWord::text);
  return found == kSumWords.end() ? std::nullopt : std::optional(found->sum);
}

std::optional<Dim> extent_in(const Attr& value) {
  if (value.kind() == AttrKind::kInt) return Dim(value.integer());
  if (value.kind() == AttrKind::kDim) return value.dim();
  return std::nullopt;
}

std::optional<DType> accumulation_type(DType dtype) {
  const DTypeInfo& facts = info(dtype);
  if (facts.lanes != 1) return std::nullopt;
  switch (facts.type_class) {
    case DTypeClass::kFloat:
      return DType::kFloat64;
    case DTypeClass::kSignedInt:
    case DTypeClass::kUnsignedInt:
    case DTypeClass::kBool:
      return dtype;
    default:
      return std::nullopt;
  }
}

}  // namespace mir
