// Elements, sums and stores of the results of a generic op.
#include <fmt/format.h>

#include <algorithm>

#include "emit_c/c_elements.hpp"
#include "emit_c/c_generic_result.hpp"
#include "eval/generic_sums.hpp"

namespace mir::c {

// -- results ------------------------------------------------------------------------------------

void CGenericResult::emit_start() {
  const auto start = eval::start_number(result_.start, *accumulation_type(dtype_of(result_port())));
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

void CGenericResult::clear_marks() {
  const std::string at = names_.fresh("e");
  out_.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", at, elements()));
  out_.line(fmt::format("{}[{}] = 0;", mark_, at));
  out_.close();
}

void CGenericResult::check_marks() {
  const std::string at = names_.fresh("e");
  out_.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", at, elements()));
  out_.line(fmt::format("if ({}[{}] == 0) return {};", mark_, at, kNotOneIteration));
  out_.close();
}

/// Writes `number` to the element where the loops are.
Result<void> CGenericResult::store(std::string_view text) {
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
Result<void> CGenericResult::emit_elements() {
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

bool CGenericResult::is_float() const {
  return is_floating(dtype_of(result_port()));
}
/// The type of sums, in which integers of all sizes wrap.
std::string_view CGenericResult::sum_type(const Group& group) const {
  if (is_float()) return group.kind.precision == SumPrecision::kWide ? "double" : "float";
  return is_signed(dtype_of(result_port())) ? "int64_t" : "uint64_t";
}

/// Joins two numbers. If the sum adds them exactly before it rounds, `b` is a double.
std::string CGenericResult::joined(const Group& group, std::string_view a,
                                   std::string_view b) const {
  if (group.kind.sum == LoopSum::kAdd && group.kind.precision == SumPrecision::kFused) {
    return fmt::format("mir_add_once({}, {})", a, b);
  }
  return join_text(group.kind.sum, is_float(), sum_type(group), a, b);
}

/// The number that a sum begins with. It changes nothing, also in an extreme.
std::string CGenericResult::neutral(LoopSum sum) const {
  const bool is_largest = sum == LoopSum::kMin;
  if (sum != LoopSum::kMax && sum != LoopSum::kMin) {
    return sum == LoopSum::kMul || sum == LoopSum::kAnd ? "1" : "0";
  }
  if (is_float()) return is_largest ? "INFINITY" : "-INFINITY";
  if (is_signed(dtype_of(result_port()))) return is_largest ? "INT64_MAX" : "INT64_MIN";
  return is_largest ? "UINT64_MAX" : "0";
}

/// The element of a sum where the inner loops are.
std::string CGenericResult::side(const Group& group, const std::string& name) const {
  if (group.inner.empty()) return name;
  Dim at(0);
  for (const std::size_t each : group.inner) {
    const GenericForm::Range& loop = form_.loops[order_[each]];
    at = dims_.add(dims_.multiply(at, loop.extent), dims_.symbol(context_.text(loop.name)));
  }
  return fmt::format("{}[{}]", name, symbols_.text(at));
}

void CGenericResult::declare(Group& group, bool has_start) {
  group.sum_name = names_.fresh(group.kind.precision == SumPrecision::kWide ? "sum" : "part");
  const bool has_flag = may_lack(group.kind.sum) && !has_start;
  group.found_name = has_flag ? names_.fresh("is_found") : "";
  const bool is_narrow = group.kind.precision != SumPrecision::kWide;
  const std::string first = !has_start  ? neutral(group.kind.sum)
                            : is_narrow ? "(float)" + operand_text(start_)
                                        : start_;
  if (group.inner.empty()) {
    out_.line(fmt::format("{} {} = {};", sum_type(group), group.sum_name, first));
    if (has_flag) out_.line(fmt::format("int {} = 0;", group.found_name));
    return;
  }
  const std::int64_t width = std::max<std::int64_t>(1, group.width);
  const std::string at = names_.fresh("e");
  out_.line(fmt::format("{} {}[{}];", sum_type(group), group.sum_name, width));
  if (has_flag) out_.line(fmt::format("uint8_t {}[{}];", group.found_name, width));
  out_.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", at, width));
  out_.line(fmt::format("{}[{}] = {};", group.sum_name, at, first));
  if (has_flag) out_.line(fmt::format("{}[{}] = 0;", group.found_name, at));
  out_.close();
}

/// Joins the number that the region computes.
void CGenericResult::join_number(const Group& group) {
  const std::string& number = region_->number();
  const bool is_fused = group.kind.precision == SumPrecision::kFused;
  if (group.kind.precision == SumPrecision::kWide || (is_fused && !has_single_terms_)) {
    return join(group, number);
  }
  const std::string sum = side(group, group.sum_name);
  if (!has_single_terms_) {
    out_.line(fmt::format("{0} = {0} + (float){1};", sum, number));
    return;
  }
  const auto factors = region_->factors();
  const std::string& a = region_->argument(factors.front());
  const std::string& b = region_->argument(factors.back());
  if (factors.size() == 1) {
    out_.line(fmt::format("{0} = {0} + {1};", sum, a));
  } else if (is_fused) {
    out_.line(fmt::format("{0} = fmaf({1}, {2}, {0});", sum, a, b));
  } else {
    out_.line(fmt::format("{0} = {0} + {1} * {2};", sum, a, b));
  }
}

void CGenericResult::join(const Group& group, std::string_view number) {
  const std::string sum = side(group, group.sum_name), text = joined(group, sum, number);
  if (group.found_name.empty()) {
    out_.line(fmt::format("{} = {};", sum, text));
    return;
  }
  const std::string found = side(group, group.found_name);
  out_.line(fmt::format("{} = {} != 0 ? ({}) : {};", sum, found, text, number));
  out_.line(fmt::format("{} = 1;", found));
}

/// A result with sums: for each element or tile the sums, then what they give. Tiles that bounds do
/// not cut off have loops of their own, whose extents are numbers.
Result<void> CGenericResult::emit_sums() {
  const auto ends = [](const Condition& each) { return each.ends_result; };
  read_data(0);
  open_conditions(0, ends);
  for (std::size_t at = 0; at < first_sum_; ++at) open_loop(at, ends);
  const std::size_t depth = out_.depth();
  std::vector<std::size_t> met;
  const std::string is_full = full_tile_text(met);
  if (is_full.empty()) return emit_sums_of_tile();
  const auto set_met = [&](bool is_met) {
    for (const std::size_t each : met) conditions_[each].is_met = is_met;
  };
  const CNames names = names_;
  const std::vector<Condition> conditions = conditions_;
  out_.open(fmt::format("if (MIR_LIKELY({}))", is_full));
  set_met(true);
  auto done = emit_sums_of_tile();
  out_.close_to(depth);
  if (!done) return done;
  names_ = names;
  conditions_ = conditions;
  is_storing_ = false;
  out_.open("else");
  return emit_sums_of_tile();
}

Result<void> CGenericResult::emit_sums_of_tile() {
  const auto ends = [](const Condition& each) { return each.ends_result; };
  const auto all = [](const Condition&) { return true; };
  const auto are_of_sums = [](const Condition& each) { return !each.ends_result; };
  const std::size_t depth = out_.depth();
  std::size_t group = 0;
  declare(groups_[0], !start_.empty());
  std::vector<std::size_t> depths = {depth};
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
  join_number(groups_[group]);
  for (; group > 0; --group) {
    out_.close_to(depths[group]);
    close_group(groups_[group], groups_[group - 1]);
  }
  out_.close_to(depth);
  return store_sums();
}

/// Opens the loops of the result that are inside the sums of a group, to visit its elements.
void CGenericResult::open_inner(const Group& group) {
  is_storing_ = true;
  for (const std::size_t at : group.inner) {
    open_loop(at, [](const Condition& each) { return each.ends_result; });
  }
  is_storing_ = false;
}

/// Joins what an inner group gives to the one around it. Integers wrap in their type before.
void CGenericResult::close_group(const Group& inner, const Group& outer) {
  open_inner(inner);
  const std::string sum = side(inner, inner.sum_name);
  if (!inner.found_name.empty()) {
    out_.open(fmt::format("if ({} != 0)", side(inner, inner.found_name)));
  }
  std::string number = sum;
  const bool is_wide = inner.kind.precision == SumPrecision::kWide;
  if (!is_float()) {
    number = names_.fresh("number");
    const DType dtype = dtype_of(result_port());
    out_.line(
        fmt::format("const {} {} = {};", *storage_type_of(dtype), number, stored(dtype, sum)));
  } else if (outer.kind.precision == SumPrecision::kSingle) {
    if (is_wide) number = "(float)" + sum;
  } else if (!is_wide) {
    number = "(double)" + sum;
  }
  join(outer, number);
}

Result<void> CGenericResult::store_sums() {
  const Group& group = groups_[0];
  is_storing_ = true;
  for (const std::size_t at : group.inner) {
    open_loop(at, [](const Condition& each) { return each.ends_result; });
  }
  if (!group.found_name.empty()) {
    out_.line(fmt::format("if ({} == 0) return {};", side(group, group.found_name), kOverNothing));
  }
  // Conditions on iterations do not hold for all elements.
  std::erase_if(conditions_, [](const Condition& each) { return !each.ends_result; });
  const std::string sum = side(group, group.sum_name);
  const bool is_wide = group.kind.precision == SumPrecision::kWide;
  return store(stored(dtype_of(result_port()), is_wide ? sum : "(double)" + sum));
}

}  // namespace mir::c
