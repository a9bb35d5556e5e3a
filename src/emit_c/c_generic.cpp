// Writes the loops of a generic op in the order that it states, with the sums of each element in
// the order of the reference kernel.
#include "emit_c/c_generic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dialects/generic_form.hpp"
#include "emit_c/c_elements.hpp"
#include "emit_c/c_extents.hpp"
#include "emit_c/c_region.hpp"
#include "eval/generic_sums.hpp"
#include "mir/codes/passes.hpp"

namespace mir::c {

namespace {

/// Sums of more elements side by side are not kept on the stack.
constexpr std::int64_t kMostSideBySide = 4096;
/// Larger indices that data decides are clamped, or end the run, so that arithmetic on them does
/// not overflow.
constexpr std::int64_t kLargestIndex = std::int64_t{1} << 62;

Error refusal(std::string message) {
  return {diag::kNoC, std::move(message)};
}

/// A relation that each iteration fulfils.
struct Condition {
  SymbolRelation relation;
  std::string text;
  std::size_t level = 0;     ///< how many loops are around the place where it is decided
  bool ends_result = false;  ///< elements for which it does not hold do not exist
};

class CNest {
 public:
  CNest(const Op& op, const GenericForm& form, std::uint32_t number, const CGenericPlace& place,
        const CNames& names, CLines& out)
      : op_(op),
        context_(op.module().context()),
        dims_(context_.dims()),
        form_(form),
        result_(form.results[number]),
        number_(number),
        place_(place),
        names_(&names),
        out_(out) {}

  Result<void> emit() {
    for (auto step : {&CNest::bind_loops, &CNest::bind_indices, &CNest::bind_region,
                      &CNest::bind_conditions, &CNest::bind_result}) {
      if (auto done = (this->*step)(); !done) return done;
    }
    const std::size_t depth = out_.depth();
    if (result_.start != nullptr) emit_start();
    if (!mark_.empty()) clear_marks();
    auto done = result_.sums.empty() ? emit_elements() : emit_sums();
    out_.close_to(depth);
    if (done && !mark_.empty() && result_.start == nullptr) check_marks();
    return done;
  }

 private:
  struct Group {
    LoopSum sum{};
    std::size_t first = 0;  ///< position of its first loop
    std::string sum_name{}, found_name{};
  };

  const TensorType& type_of(std::size_t port) const {
    return port < op_.operand_count() ? *op_.operand(port)->tensor_type()
                                      : *op_.result(port - op_.operand_count())->tensor_type();
  }
  DType dtype_of(std::size_t port) const { return *type_of(port).dtype(); }
  std::size_t result_port() const { return op_.operand_count() + number_; }
  bool is_summed(std::size_t loop) const {
    return std::ranges::find(result_.loops, loop) == result_.loops.end();
  }

  // -- preparation --------------------------------------------------------------------------------

  Result<void> bind_loops() {
    for (const GenericForm::Range& size : form_.sizes) {
      if (size.extent.is_constant()) sizes_.bind(size.name, size.extent.constant());
    }
    for (const auto& each : result_.sums) {
      if (groups_.empty() || groups_.back().sum != each.sum) groups_.push_back({.sum = each.sum});
    }
    // One group of sums keeps the written order, with sums of several elements side by side.
    bool is_written_order = groups_.size() <= 1;
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
    is_written_order = is_written_order && width <= kMostSideBySide;
    if (is_written_order) {
      for (std::size_t loop = 0; loop < form_.loops.size(); ++loop) order_.push_back(loop);
    } else {
      order_ = result_.loops;
      for (const auto& each : result_.sums) order_.push_back(each.loop);
      width = 1;
    }
    width_ = width;
    const auto first = std::ranges::find_if(order_, [&](std::size_t at) { return is_summed(at); });
    first_sum_ = static_cast<std::size_t>(first - order_.begin());
    std::size_t group = 0;
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const GenericForm::Range& loop = form_.loops[order_[at]];
      if (is_summed(order_[at])) {
        const auto sum =
            std::ranges::find(result_.sums, order_[at], &GenericForm::SummedLoop::loop);
        if (at != first_sum_ && sum->sum != groups_[group].sum) groups_[++group].first = at;
        if (at == first_sum_) groups_[0].first = at;
      } else if (at > first_sum_) {
        inner_.push_back(at);
      }
      symbols_.variables.push_back(
          {.symbol = loop.name,
           .name = names_.fresh(context_.text(loop.name)),
           .range = {0, std::max<std::int64_t>(0, loop.extent.constant() - 1)},
           .level = at + 1});
      is_empty_ = is_empty_ || loop.extent == Dim(0);
    }
    return {};
  }

  Result<void> bind_indices() {
    for (const GenericForm::Index& index : form_.indices) {
      std::size_t level = 0;
      for (const Dim each : form_.operands[index.operand]) {
        if (!symbols_.range(known(each))) return refusal("an index depends on a later one");
        level = std::max(level, symbols_.level(known(each), dims_));
      }
      const DType dtype = dtype_of(index.operand);
      const int bits = 8 * info(dtype).unit_bytes;
      Interval range{-kLargestIndex, kLargestIndex};
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

  Result<void> bind_region() {
    auto region = CRegion::create(op_, number_, names_);
    if (!region) return region.error();
    region_ = *std::move(region);
    return {};
  }

  /// True if a bound ends the result, as a sum of the reference kernel has it.
  bool ends_result(const SymbolRelation& bound) const {
    std::vector<Symbol> names;
    for (const auto& each : form_.loops) names.push_back(each.name);
    return std::ranges::any_of(result_.map, [&](Dim index) {
      return bound_of(known(index), {&bound, 1}, names, dims_).has_value();
    });
  }

  Result<void> bind_conditions() {
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
  /// kLargestIndex: the symbol, or its negation, is a term beside small ones.
  bool may_clamp(Symbol symbol, Dim extent) const {
    const auto mentions = [&](Dim dim) {
      const auto names = dims_.symbols(dim);
      return std::ranges::find(names, symbol) != names.end();
    };
    if (!mentions(extent)) return true;
    const Dim term = dims_.symbol(context_.text(symbol));
    for (const Dim rest : {dims_.subtract(extent, term), dims_.add(extent, term)}) {
      const auto range = rest.is_unknown() || mentions(rest) ? std::nullopt : symbols_.range(rest);
      if (range && range->least > -kLargestIndex / 2 && range->most < kLargestIndex / 2) {
        return true;
      }
    }
    return false;
  }

  Result<void> bind_result() {
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

  std::int64_t elements() const { return *type_of(result_port()).element_count(); }
  Dim known(Dim index) const { return dims_.substitute(index, sizes_); }

  std::string condition_text(const SymbolRelation& relation) const {
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

  // -- places -------------------------------------------------------------------------------------

  /// Writes checks of the indices that are not inside for certain, and returns the element.
  /// `checks_conditions`: every condition holds where the element is.
  Result<std::string> element(std::size_t port, std::string_view array, bool checks_conditions) {
    const auto& map = port < op_.operand_count() ? form_.operands[port] : result_.map;
    const auto extents = type_of(port).dims();
    if (map.size() != extents.size()) return refusal("a map has another rank");
    Dim flat(0);
    std::string apart;
    for (std::size_t i = 0; i < map.size(); ++i) {
      const Dim index = known(map[i]);
      const std::int64_t extent = extents[i].constant();
      const auto range = symbols_.range(index);
      if (!range) return refusal("an index may exceed 64 bits, or its divisor may be 0");
      const bool is_below = range->most < extent ||
                            is_implied(dims_.subtract(Dim(extent - 1), index), checks_conditions);
      const bool is_above = range->least >= 0 || is_implied(index, checks_conditions);
      // Without iterations, no element is read.
      if (!is_empty_ || port == result_port()) {
        check_index(symbols_.text(index), extent, is_above, is_below);
      }
      flat = dims_.add(dims_.multiply(flat, Dim(extent)), index);
      apart =
          i == 0 ? operand_text(symbols_.text(index))
                 : fmt::format("({} * {} + {})", apart, extent, operand_text(symbols_.text(index)));
    }
    const bool is_known = !flat.is_unknown() && symbols_.range(flat).has_value();
    if (map.empty()) return fmt::format("{}[0]", array);
    return fmt::format("{}[{}]", array, is_known ? symbols_.text(flat) : apart);
  }

  /// True if a condition implies that an extent is at least 0.
  bool is_implied(Dim extent, bool checks_conditions) const {
    return checks_conditions && std::ranges::any_of(conditions_, [&](const Condition& each) {
             if (each.relation.is_equation()) return false;
             const auto rest = symbols_.range(dims_.subtract(extent, each.relation.margin));
             return rest && rest->least >= 0;
           });
  }

  /// Ends the run for an index that is not inside, unless proofs have decided it.
  void check_index(const std::string& index, std::int64_t extent, bool is_above, bool is_below) {
    if (is_above && is_below) return;
    std::string outside;
    if (!is_above) outside = fmt::format("{} < 0", index);
    if (!is_below) {
      outside += fmt::format("{}{} >= {}", outside.empty() ? "" : " || ", index, extent);
    }
    // No index is inside of nothing; compilers warn of the comparisons.
    if (extent == 0) {
      out_.line(fmt::format("return {};", kIndexOutside));
    } else {
      out_.line(fmt::format("if ({}) return {};", outside, kIndexOutside));
    }
  }

  // -- loops --------------------------------------------------------------------------------------

  const CSymbols::Variable& variable_at(std::size_t position) const {
    return *symbols_.find(form_.loops[order_[position]].name);
  }

  /// The factor of the variable in a relation that limits its loop: 1 or -1; 0 for other relations.
  int limit_factor(const Condition& condition, const CSymbols::Variable& variable) const {
    if (condition.relation.is_equation() || condition.level != variable.level) return 0;
    for (const Symbol each : dims_.symbols(condition.relation.margin)) {
      const auto* other = symbols_.find(each);
      if (other != &variable && other->level >= variable.level) return 0;
    }
    for (const int factor : {1, -1}) {
      const Dim limit = limit_of(condition, variable, factor);
      if (limit.is_unknown() || !symbols_.range(limit)) continue;
      const auto names = dims_.symbols(limit);
      if (std::ranges::find(names, variable.symbol) == names.end()) return factor;
    }
    return 0;
  }

  /// The first number of the loop, or the one after the last. The margin is the variable and a
  /// rest, or the rest less the variable.
  Dim limit_of(const Condition& condition, const CSymbols::Variable& variable, int factor) const {
    const Dim symbol = dims_.symbol(context_.text(variable.symbol));
    const Dim margin = condition.relation.margin;
    return factor > 0 ? dims_.subtract(symbol, margin)
                      : dims_.add(dims_.add(margin, symbol), Dim(1));
  }

  /// Opens the loop at a position, which conditions of its level limit, and the conditions.
  template <class IsWanted>
  void open_loop(std::size_t position, IsWanted is_wanted) {
    const CSymbols::Variable& variable = variable_at(position);
    std::string begin = "0", end = fmt::to_string(form_.loops[order_[position]].extent.constant());
    for (const Condition& each : conditions_) {
      const int factor = is_wanted(each) ? limit_factor(each, variable) : 0;
      if (factor == 0) continue;
      const std::string limit = symbols_.text(limit_of(each, variable, factor));
      std::string& to = factor > 0 ? begin : end;
      to = fmt::format("{}({}, {})", factor > 0 ? "mir_greater" : "mir_lesser", limit, to);
    }
    if (end.front() == 'm') {
      const std::string name = names_.fresh(variable.name + "_end");
      out_.line(fmt::format("const int64_t {} = {};", name, end));
      end = name;
    }
    out_.open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", variable.name, begin, end));
    read_data(position + 1);
    open_conditions(position + 1, [&](const Condition& each) {
      return is_wanted(each) && limit_factor(each, variable) == 0;
    });
  }

  template <class IsWanted>
  void open_conditions(std::size_t level, IsWanted is_wanted) {
    for (const Condition& each : conditions_) {
      if (each.level == level && is_wanted(each)) out_.open(fmt::format("if ({})", each.text));
    }
  }

  bool needs_data(Symbol symbol) const {
    const auto mentions = [&](Dim index) {
      const auto names = dims_.symbols(index);
      return std::ranges::find(names, symbol) != names.end();
    };
    for (std::size_t i = 0; i < op_.operand_count(); ++i) {
      if (region_->needs(i) && std::ranges::any_of(form_.operands[i], mentions)) return true;
    }
    for (const GenericForm::Index& each : form_.indices) {
      const bool is_other = each.name != symbol;
      if (is_other && std::ranges::any_of(form_.operands[each.operand], mentions) &&
          needs_data(each.name)) {
        return true;
      }
    }
    return std::ranges::any_of(conditions_, [&](const Condition& each) {
      return mentions(each.relation.margin) || mentions(each.relation.left) ||
             mentions(each.relation.right);
    });
  }

  /// Reads the indices that data decides whose level this is. Errors stay in `problem_`.
  void read_data(std::size_t level) {
    if (is_storing_) return;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      if (data_[i].level != level || !needs_data(data_[i].symbol)) continue;
      const std::size_t operand = form_.indices[i].operand;
      const auto from = element(operand, place_.operands[operand], false);
      if (!from) {
        problem_ = from.error();
        return;
      }
      const DType dtype = dtype_of(operand);
      const bool is_wide = info(dtype).unit_bytes == 8;
      if (is_wide && are_clamped_[i]) {
        out_.line(
            fmt::format("const int64_t {0} = mir_lesser(mir_greater((int64_t){1}, -INT64_C({2})), "
                        "INT64_C({2}));",
                        data_[i].name, *from, kLargestIndex));
        continue;
      }
      out_.line(fmt::format("const int64_t {} = (int64_t){};", data_[i].name, *from));
      if (is_wide) {
        out_.line(fmt::format("if ({0} > INT64_C({1}) || {0} < -INT64_C({1})) return {2};",
                              data_[i].name, kLargestIndex, kIndexOutside));
      }
    }
  }

  /// Writes the elements that the number needs, and the statements of the region.
  Result<void> emit_number() {
    for (std::size_t i = 0; i < op_.operand_count(); ++i) {
      if (!region_->needs(i)) continue;
      auto from = element(i, place_.operands[i], true);
      if (!from) return from.error();
      out_.line(fmt::format("const {} {} = {};", number_type_of(dtype_of(i)), region_->argument(i),
                            widened(dtype_of(i), *from)));
    }
    for (const std::string& each : region_->statements()) out_.line(each);
    return {};
  }

  // -- results ------------------------------------------------------------------------------------

  void emit_start() {
    const auto start =
        eval::start_number(result_.start, *accumulation_type(dtype_of(result_port())));
    if (!start) {
      problem_ = start.error();
      return;
    }
    start_ = number_literal(*start, 0);
    const std::string at = names_.fresh("e");
    out_.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", at, elements()));
    out_.line(fmt::format("{}[{}] = {};", place_.results[number_], at,
                          stored(dtype_of(result_port()), start_)));
    out_.close();
  }

  void clear_marks() {
    const std::string at = names_.fresh("e");
    out_.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", at, elements()));
    out_.line(fmt::format("{}[{}] = 0;", mark_, at));
    out_.close();
  }

  void check_marks() {
    const std::string at = names_.fresh("e");
    out_.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", at, elements()));
    out_.line(fmt::format("if ({}[{}] == 0) return {};", mark_, at, kNotOneIteration));
    out_.close();
  }

  /// Writes `number` to the element where the loops are.
  Result<void> store(std::string_view text) {
    auto to = element(result_port(), place_.results[number_], true);
    if (!to) return to.error();
    if (!mark_.empty()) {
      const std::string mark = mark_ + to->substr(place_.results[number_].size());
      out_.line(fmt::format("if ({0} != 0) return {1};", mark, kNotOneIteration));
      out_.line(fmt::format("{} = 1;", mark));
    }
    out_.line(fmt::format("{} = {};", *to, text));
    return problem_ ? Result<void>(*problem_) : Result<void>();
  }

  /// A result without sums.
  Result<void> emit_elements() {
    const auto all = [](const Condition&) { return true; };
    read_data(0);
    open_conditions(0, all);
    for (std::size_t at = 0; at < order_.size(); ++at) open_loop(at, all);
    for (std::size_t i = 0; i < op_.operand_count(); ++i) {
      if (!region_->needs(i) || !region_->passes_on(i) || dtype_of(i) != dtype_of(result_port())) {
        continue;
      }
      auto from = element(i, place_.operands[i], true);
      return from ? store(*from) : Result<void>(from.error());
    }
    if (auto done = emit_number(); !done) return done;
    return store(stored(dtype_of(result_port()), region_->number()));
  }

  bool is_float() const { return is_floating(dtype_of(result_port())); }
  /// The type of sums, in which integers of all sizes wrap.
  std::string_view sum_type() const {
    if (is_float()) return "double";
    return is_signed(dtype_of(result_port())) ? "int64_t" : "uint64_t";
  }

  std::string joined(LoopSum sum, std::string_view a, std::string_view b) const {
    return join_text(sum, is_float(), sum_type(), a, b);
  }

  /// True if an extreme may have nothing to choose from.
  bool may_lack(LoopSum sum) const { return !has_neutral(sum) && (has_filter_ || is_empty_); }

  /// The number that a sum begins with. It changes nothing, also in an extreme.
  std::string neutral(LoopSum sum) const {
    const bool is_largest = sum == LoopSum::kMin;
    if (sum != LoopSum::kMax && sum != LoopSum::kMin) {
      return sum == LoopSum::kMul || sum == LoopSum::kAnd ? "1" : "0";
    }
    if (is_float()) return is_largest ? "INFINITY" : "-INFINITY";
    if (is_signed(dtype_of(result_port()))) return is_largest ? "INT64_MAX" : "INT64_MIN";
    return is_largest ? "UINT64_MAX" : "0";
  }

  /// The element of a sum where the inner loops are.
  std::string side(const std::string& name) const {
    if (inner_.empty()) return name;
    Dim at(0);
    for (const std::size_t each : inner_) {
      const GenericForm::Range& loop = form_.loops[order_[each]];
      at = dims_.add(dims_.multiply(at, loop.extent), dims_.symbol(context_.text(loop.name)));
    }
    return fmt::format("{}[{}]", name, symbols_.text(at));
  }

  void declare(Group& group, bool has_start) {
    group.sum_name = names_.fresh("sum");
    const bool has_flag = may_lack(group.sum) && !has_start;
    if (has_flag) group.found_name = names_.fresh("is_found");
    const std::string first = has_start ? start_ : neutral(group.sum);
    if (inner_.empty()) {
      out_.line(fmt::format("{} {} = {};", sum_type(), group.sum_name, first));
      if (has_flag) out_.line(fmt::format("int {} = 0;", group.found_name));
      return;
    }
    const std::int64_t width = std::max<std::int64_t>(1, width_);
    const std::string at = names_.fresh("e");
    out_.line(fmt::format("{} {}[{}];", sum_type(), group.sum_name, width));
    if (has_flag) out_.line(fmt::format("uint8_t {}[{}];", group.found_name, width));
    out_.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", at, width));
    out_.line(fmt::format("{}[{}] = {};", group.sum_name, at, first));
    if (has_flag) out_.line(fmt::format("{}[{}] = 0;", group.found_name, at));
    out_.close();
  }

  void join(const Group& group, std::string_view number) {
    const std::string sum = side(group.sum_name), text = joined(group.sum, sum, number);
    if (group.found_name.empty()) {
      out_.line(fmt::format("{} = {};", sum, text));
      return;
    }
    const std::string found = side(group.found_name);
    out_.line(fmt::format("{} = {} != 0 ? ({}) : {};", sum, found, text, number));
    out_.line(fmt::format("{} = 1;", found));
  }

  /// A result with sums: for each element or tile the sums, then what they give.
  Result<void> emit_sums() {
    const auto ends = [](const Condition& each) { return each.ends_result; };
    const auto all = [](const Condition&) { return true; };
    read_data(0);
    open_conditions(0, ends);
    for (std::size_t at = 0; at < first_sum_; ++at) open_loop(at, ends);
    const std::size_t depth = out_.depth();
    std::size_t group = 0;
    declare(groups_[0], !start_.empty());
    std::vector<std::size_t> depths = {depth};
    const auto are_of_sums = [](const Condition& each) { return !each.ends_result; };
    const std::size_t innermost = groups_.back().first;
    for (std::size_t at = first_sum_; at < order_.size(); ++at) {
      if (group + 1 < groups_.size() && groups_[group + 1].first == at) {
        ++group;
        depths.push_back(out_.depth());
        declare(groups_[group], false);
      }
      if (at == innermost) open_conditions(at, are_of_sums);
      if (at < innermost) {
        open_loop(at, ends);
      } else {
        open_loop(at, all);
      }
    }
    if (auto done = emit_number(); !done) return done;
    join(groups_[group], region_->number());
    for (; group > 0; --group) {
      out_.close_to(depths[group]);
      close_group(groups_[group], groups_[group - 1]);
    }
    out_.close_to(depth);
    return store_sums();
  }

  /// Joins what an inner group gives to the one around it. Integers wrap in their type before.
  void close_group(const Group& inner, const Group& outer) {
    const bool is_flagged = !inner.found_name.empty();
    if (is_flagged) out_.open(fmt::format("if ({} != 0)", inner.found_name));
    std::string number = inner.sum_name;
    if (!is_float()) {
      number = names_.fresh("part");
      const DType dtype = dtype_of(result_port());
      out_.line(fmt::format("const {} {} = {};", *storage_type_of(dtype), number,
                            stored(dtype, inner.sum_name)));
    }
    join(outer, number);
    if (is_flagged) out_.close();
  }

  Result<void> store_sums() {
    const auto ends = [](const Condition& each) { return each.ends_result; };
    is_storing_ = true;
    for (const std::size_t at : inner_) open_loop(at, ends);
    if (!groups_[0].found_name.empty()) {
      out_.line(fmt::format("if ({} == 0) return {};", side(groups_[0].found_name), kOverNothing));
    }
    // Conditions on iterations do not hold for all elements.
    std::erase_if(conditions_, [](const Condition& each) { return !each.ends_result; });
    return store(stored(dtype_of(result_port()), side(groups_[0].sum_name)));
  }

  const Op& op_;
  IRContext& context_;
  DimTable& dims_;
  const GenericForm& form_;
  const GenericForm::Result& result_;
  std::uint32_t number_;
  const CGenericPlace& place_;
  CNames names_;
  CLines& out_;
  DimBindings sizes_;
  CSymbols symbols_;
  std::vector<CSymbols::Variable> data_;  // indices that data decides
  std::vector<bool> are_clamped_;         // those that clamping to kLargestIndex does not change
  std::vector<std::size_t> order_;        // loops from the outermost to the innermost one
  std::size_t first_sum_ = 0;             // position of the first summed loop
  std::vector<std::size_t> inner_;        // positions of loops of the result inside the first sum
  std::int64_t width_ = 1;                // elements side by side
  std::vector<Group> groups_;
  std::optional<CRegion> region_;
  std::vector<Condition> conditions_;
  bool has_filter_ = false;
  bool is_empty_ = false;    // a loop has no iterations
  std::string start_;        // number that sums begin with; empty if there is none
  std::string mark_;         // array of elements that are written; empty if each is for certain
  bool is_storing_ = false;  // loops store sums, and read no indices
  std::optional<Error> problem_;
};

}  // namespace

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
    if (auto done = CNest(op, *form, i, place, names, out).emit(); !done) return done;
    out.close();
  }
  return {};
}

}  // namespace mir::c
