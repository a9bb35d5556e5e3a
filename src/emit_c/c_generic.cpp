// Writes the loops of a generic op in the order that it states, with the sums of each element in
// the order of the reference kernel.
#include "emit_c/c_generic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emit_c/c_elements.hpp"
#include "emit_c/c_generic_result.hpp"
#include "mir/codes/passes.hpp"

namespace mir::c {

namespace {

/// Sums of more elements side by side are not kept on the stack.
constexpr std::int64_t kMostSideBySide = 4096;

Error refusal(std::string message) {
  return {diag::kNoC, std::move(message)};
}

}  // namespace

CGenericResult::CGenericResult(const Op& op, const GenericForm& form, std::uint32_t number,
                               const CGenericPlace& place, const CNames& names, CLines& out)
    : op_(op),
      context_(op.module().context()),
      dims_(context_.dims()),
      form_(form),
      result_(form.results[number]),
      number_(number),
      place_(place),
      names_(&names),
      out_(out) {}

Result<void> CGenericResult::emit() {
  for (auto step :
       {&CGenericResult::bind_loops, &CGenericResult::bind_indices, &CGenericResult::bind_region,
        &CGenericResult::bind_conditions, &CGenericResult::bind_result}) {
    if (auto done = (this->*step)(); !done) return done;
  }
  const std::size_t depth = out_.depth();
  if (result_.start != nullptr) emit_start();
  if (!mark_.empty()) clear_marks();
  auto done = result_.sums.empty() ? emit_elements() : emit_sums();
  out_.close_to(depth);
  state_parallel();
  if (done && !mark_.empty() && result_.start == nullptr) check_marks();
  return done;
}

const TensorType& CGenericResult::type_of(std::size_t port) const {
  return port < op_.operand_count() ? *op_.operand(port)->tensor_type()
                                    : *op_.result(port - op_.operand_count())->tensor_type();
}

bool CGenericResult::is_summed(std::size_t loop) const {
  return std::ranges::find(result_.loops, loop) == result_.loops.end();
}

// -- preparation --------------------------------------------------------------------------------

/// Loops inside a summed one that belong to the result compute elements side by side.
Result<void> CGenericResult::bind_loops() {
  for (const GenericForm::Range& size : form_.sizes) {
    if (size.extent.is_constant()) sizes_.bind(size.name, size.extent.constant());
  }
  std::int64_t width = 1;
  bool is_inside = false;
  for (std::size_t loop = 0; loop < form_.loops.size(); ++loop) {
    const Dim extent = form_.loops[loop].extent;
    if (!extent.is_constant()) {
      return refusal(
          fmt::format("the extent of loop '${}' is a symbol; 'bind-symbols' gives it "
                      "a number",
                      context_.text(form_.loops[loop].name)));
    }
    is_inside = is_inside || is_summed(loop);
    if (is_inside && !is_summed(loop)) {
      width = checked_multiply(width, extent.constant()).value_or(kMostSideBySide + 1);
    }
  }
  order_loops(width <= kMostSideBySide);
  find_groups();
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const GenericForm::Range& loop = form_.loops[order_[at]];
    symbols_.variables.push_back(
        {.symbol = loop.name,
         .name = names_.fresh(context_.text(loop.name)),
         .range = {0, std::max<std::int64_t>(0, loop.extent.constant() - 1)},
         .level = at + 1});
    is_empty_ = is_empty_ || loop.extent == Dim(0);
  }
  return {};
}

void CGenericResult::order_loops(bool is_written_order) {
  if (is_written_order) {
    for (std::size_t loop = 0; loop < form_.loops.size(); ++loop) order_.push_back(loop);
  } else {
    order_ = result_.loops;
    for (const auto& each : result_.sums) order_.push_back(each.loop);
  }
  const auto first = std::ranges::find_if(order_, [&](std::size_t at) { return is_summed(at); });
  first_sum_ = static_cast<std::size_t>(first - order_.begin());
}

void CGenericResult::find_groups() {
  for (std::size_t at = first_sum_; at < order_.size(); ++at) {
    if (!is_summed(order_[at])) {
      for (Group& each : groups_) {
        each.inner.push_back(at);
        each.width *= extent_at(at);
      }
      continue;
    }
    const SumKind kind =
        std::ranges::find(result_.sums, order_[at], &GenericForm::SummedLoop::loop)->kind();
    if (groups_.empty() || groups_.back().kind != kind) {
      groups_.push_back({.kind = kind, .first = at, .inner = {}});
    }
  }
}

Result<void> CGenericResult::bind_indices() {
  for (const GenericForm::Index& index : form_.indices) {
    std::size_t level = 0;
    for (const Dim each : form_.operands[index.operand]) {
      if (!symbols_.range(known(each))) return refusal("an index depends on a later one");
      level = std::max(level, symbols_.level(known(each), dims_));
    }
    level = level_of_reading(index.operand, level);
    const DType dtype = dtype_of(index.operand);
    const int bits = 8 * info(dtype).unit_bytes;
    Interval range{-kLargestCIndex, kLargestCIndex};
    if (is_signed(dtype) && bits < 64) {
      range = {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
    } else if (bits < 64) {
      range = {0, (std::int64_t{1} << bits) - 1};
    }
    const std::string name = names_.fresh(context_.text(index.name));
    data_.push_back({.symbol = index.name, .name = name, .range = range, .level = level});
    symbols_.variables.push_back(data_.back());
  }
  return {};
}

Result<void> CGenericResult::bind_region() {
  auto region = CRegion::create(op_, number_, names_);
  if (!region) return region.error();
  region_ = *std::move(region);
  if (result_.sums.empty() || groups_.back().kind.precision == SumPrecision::kWide) return {};
  // Products of two numbers of Float32 are exact in double, so that rounding happens once.
  const auto is_single = [&](std::size_t operand) {
    const DType dtype = dtype_of(operand);
    return is_floating(dtype) && dtype != DType::kFloat64;
  };
  bool are_single = true;
  for (std::size_t i = 0; i < op_.operand_count(); ++i) {
    are_single = are_single && (!region_->needs(i) || is_single(i));
  }
  has_single_terms_ = are_single && !region_->factors().empty();
  return {};
}

/// The level at which an index is read that data decides and whose place may be outside of the
/// operand where conditions leave the iteration out: that of the last of these.
std::size_t CGenericResult::level_of_reading(std::size_t operand, std::size_t level) const {
  const auto extents = type_of(operand).dims();
  bool is_inside = true;
  for (std::size_t i = 0; i < extents.size() && i < form_.operands[operand].size(); ++i) {
    const auto range = symbols_.range(known(form_.operands[operand][i]));
    is_inside = is_inside && range && range->least >= 0 && range->most < extents[i].constant();
  }
  if (is_inside) return level;
  for (const SymbolRelation& each : form_.conditions) {
    const Dim margin = known(each.margin);
    const auto names = dims_.symbols(margin);
    const bool has_data = std::ranges::any_of(names, [&](Symbol name) {
      return std::ranges::find(form_.indices, name, &GenericForm::Index::name) !=
             form_.indices.end();
    });
    if (has_data) continue;
    level = std::max(level, symbols_.level(margin, dims_));
    // Conditions of sums are decided inside the last group of them.
    if (!groups_.empty()) level = std::max(level, groups_.back().first + 1);
  }
  return level;
}

/// True if a bound ends the result, as a sum of the reference kernel has it.
bool CGenericResult::ends_result(const SymbolRelation& bound) const {
  std::vector<Symbol> names;
  for (const auto& each : form_.loops) names.push_back(each.name);
  return std::ranges::any_of(result_.map, [&](Dim index) {
    return bound_of(known(index), {&bound, 1}, names, dims_).has_value();
  });
}

Result<void> CGenericResult::bind_conditions() {
  const auto number = [&](Symbol symbol) -> std::optional<Dim> {
    const auto size = sizes_.find(symbol);
    return size ? std::optional(Dim(*size)) : std::nullopt;
  };
  std::vector<Dim> used;
  for (std::size_t i = 0; i < form_.conditions.size(); ++i) {
    auto relation = form_.conditions[i].substitute(dims_, number);
    const auto margin = relation ? symbols_.range(relation->margin) : std::nullopt;
    if (!margin) return refusal("a condition may exceed 64 bits, or its divisor may be 0");
    Condition made{.relation = *relation, .text = condition_text(*relation)};
    made.level = symbols_.level(relation->margin, dims_);
    made.has_data = std::ranges::any_of(data_, [&](const CSymbols::Variable& index) {
      const auto names = dims_.symbols(relation->margin);
      return std::ranges::find(names, index.symbol) != names.end();
    });
    used.push_back(relation->margin);
    made.ends_result = i < form_.bound_count && !result_.sums.empty() && ends_result(*relation);
    if (always_holds(*relation, *margin)) continue;
    const bool is_of_iterations = !made.ends_result && !result_.sums.empty();
    // A sum over nothing is a number for the sum around it.
    if (is_of_iterations) made.level = std::max(made.level, groups_.back().first);
    has_filter_ = has_filter_ || is_of_iterations;
    conditions_.push_back(std::move(made));
  }
  for (const auto& map : form_.operands) {
    for (const Dim each : map) used.push_back(known(each));
  }
  for (const Dim each : result_.map) used.push_back(known(each));
  for (const CSymbols::Variable& index : data_) {
    are_clamped_.push_back(
        std::ranges::all_of(used, [&](Dim extent) { return may_clamp(index.symbol, extent); }));
  }
  return {};
}

/// True if an extent compares with any number below 2^61 as before when the symbol is clamped to
/// kLargestCIndex: the symbol, or its negation, is a term beside small ones.
bool CGenericResult::may_clamp(Symbol symbol, Dim extent) const {
  const auto mentions = [&](Dim dim) {
    const auto names = dims_.symbols(dim);
    return std::ranges::find(names, symbol) != names.end();
  };
  if (!mentions(extent)) return true;
  const Dim term = dims_.symbol(context_.text(symbol));
  for (const Dim rest : {dims_.subtract(extent, term), dims_.add(extent, term)}) {
    const auto range = rest.is_unknown() || mentions(rest) ? std::nullopt : symbols_.range(rest);
    if (range && range->least > -kLargestCIndex / 2 && range->most < kLargestCIndex / 2) {
      return true;
    }
  }
  return false;
}

Result<void> CGenericResult::bind_result() {
  GenericForm::Result seen = result_;
  for (Dim& each : seen.map) each = known(each);
  std::vector<Symbol> names;
  std::vector<Dim> extents;
  for (const auto& each : form_.loops) {
    names.push_back(each.name);
    extents.push_back(each.extent);
  }
  if (!counts_each_element_once(seen, names, extents, dims_)) {
    mark_ = names_.fresh("is_written");
    out_.line(fmt::format("uint8_t* const {} = {};", mark_, place_.scratch(elements())));
  }
  return {};
}

std::string CGenericResult::condition_text(const SymbolRelation& relation) const {
  using Comparison = SymbolRelation::Comparison;
  const std::string left = symbols_.text(relation.left), right = symbols_.text(relation.right);
  if (!symbols_.range(relation.left) || !symbols_.range(relation.right)) {
    return fmt::format("{} {} 0", symbols_.text(relation.margin),
                       relation.is_equation() ? "==" : ">=");
  }
  const std::string_view sign = relation.comparison == Comparison::kEqual     ? "=="
                                : relation.comparison == Comparison::kAtMost  ? "<="
                                : relation.comparison == Comparison::kAtLeast ? ">="
                                : relation.comparison == Comparison::kLess    ? "<"
                                                                              : ">";
  return fmt::format("{} {} {}", left, sign, right);
}

void call_blocks(CLines& out, std::size_t from, const std::string& index,
                 std::vector<std::pair<std::string, std::string>> variables,
                 const CGenericPlace& place) {
  const std::string loop = out.take_from(from);
  const std::size_t blanks = loop.find_first_not_of(' '), body = loop.find('\n') + 1;
  const std::string indent(blanks, ' ');
  const std::size_t end = loop.find(fmt::format("\n{}}}\n", indent), body - 1) + 1;
  const auto part = [&](std::string_view before) {
    const std::size_t begin = loop.find(before) + before.size();
    return loop.substr(begin, loop.find(';', begin) - begin);
  };
  const std::string argument =
      fmt::format("MIR_BLOCK({}, {}, {})", index, part(" = "), part(" < "));
  const std::string call = place.call_block({.index = index,
                                             .argument = argument,
                                             .body = loop.substr(body, end - body),
                                             .variables = std::move(variables)});
  CLines made(blanks / 2);
  made.directive(loop.substr(0, body - 1));
  made.directive(fmt::format("{}  {};", indent, call));
  made.directive(loop.substr(end, loop.size() - end - 1));
  out.append(made);
}

Result<void> emit_generic(const Op& op, const CGenericPlace& place, const CNames& names,
                          CLines& out) {
  if (const auto why = why_no_region(op); !why.empty()) return refusal(std::string(why));
  std::string problem;
  auto form = read_generic({.context = op.module().context(),
                            .attribute = [&](AttrKey key) { return op.attribute(key); },
                            .operand_count = op.operand_count(),
                            .result_count = op.result_count()},
                           [&](const GenericProblem& found) { problem = found.message; });
  if (!form) return refusal(std::move(problem));
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    out.open("");
    if (auto done = CGenericResult(op, *form, i, place, names, out).emit(); !done) return done;
    out.close();
  }
  return {};
}

}  // namespace mir::c
