// Places of elements, conditions, and reads of indices in loops of a generic op.
#include <fmt/format.h>

#include <algorithm>

#include "emit_c/c_elements.hpp"
#include "emit_c/c_generic_result.hpp"
#include "mir/codes/passes.hpp"

namespace mir::c {

namespace {

/// The most copies of an innermost body that are written out.
constexpr std::int64_t kMostCopies = 64;

Error no_place(std::string message) {
  return {diag::kNoC, std::move(message)};
}

}  // namespace

// -- places -------------------------------------------------------------------------------------

/// Writes checks of the indices that are not inside for certain, and returns the element.
/// `checks_conditions`: every condition holds where the element is.
Result<std::string> CGenericResult::element(std::size_t port, std::string_view array,
                                            bool checks_conditions) {
  const auto& map = port < op_.operand_count() ? form_.operands[port] : result_.map;
  const auto extents = type_of(port).dims();
  if (map.size() != extents.size()) return no_place("a map has another rank");
  Dim flat(0);
  std::string apart;
  for (std::size_t i = 0; i < map.size(); ++i) {
    const Dim index = known(map[i]);
    const std::int64_t extent = extents[i].constant();
    const auto range = symbols_.range(index);
    if (!range) return no_place("an index may exceed 64 bits, or its divisor may be 0");
    const bool is_below = range->most < extent ||
                          is_implied(dims_.subtract(Dim(extent - 1), index), checks_conditions);
    const bool is_above = range->least >= 0 || is_implied(index, checks_conditions);
    // Without iterations, no element is read.
    if (!is_empty_ || port == result_port()) {
      check_index(symbols_.text(index), extent, is_above, is_below);
    }
    flat = dims_.add(dims_.multiply(flat, Dim(extent)), index);
    apart = i == 0
                ? operand_text(symbols_.text(index))
                : fmt::format("({} * {} + {})", apart, extent, operand_text(symbols_.text(index)));
  }
  const bool is_known = !flat.is_unknown() && symbols_.range(flat).has_value();
  if (map.empty()) return fmt::format("{}[0]", array);
  return fmt::format("{}[{}]", array, is_known ? symbols_.text(flat) : apart);
}

/// True if a condition implies that an extent is at least 0.
bool CGenericResult::is_implied(Dim extent, bool checks_conditions) const {
  return checks_conditions && std::ranges::any_of(conditions_, [&](const Condition& each) {
           if (each.relation.is_equation()) return false;
           const auto rest = symbols_.range(dims_.subtract(extent, each.relation.margin));
           return rest && rest->least >= 0;
         });
}

/// Ends the run for an index that is not inside, unless proofs have decided it.
void CGenericResult::check_index(const std::string& index, std::int64_t extent, bool is_above,
                                 bool is_below) {
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

const CSymbols::Variable& CGenericResult::variable_at(std::size_t position) const {
  return *symbols_.find(form_.loops[order_[position]].name);
}

/// The factor of the variable in a relation that limits its loop: 1 or -1; 0 for other relations.
int CGenericResult::limit_factor(const Condition& condition,
                                 const CSymbols::Variable& variable) const {
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
Dim CGenericResult::limit_of(const Condition& condition, const CSymbols::Variable& variable,
                             int factor) const {
  const Dim symbol = dims_.symbol(context_.text(variable.symbol));
  const Dim margin = condition.relation.margin;
  return factor > 0 ? dims_.subtract(symbol, margin) : dims_.add(dims_.add(margin, symbol), Dim(1));
}

/// Opens the loop at a position, which conditions of its level limit, and the conditions.
void CGenericResult::open_loop(std::size_t position, IsWanted is_wanted) {
  const CSymbols::Variable& variable = variable_at(position);
  std::string begin = "0", end = fmt::to_string(extent_at(position));
  for (const Condition& each : conditions_) {
    const int factor = is_wanted(each) && !each.is_met ? limit_factor(each, variable) : 0;
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
  open_head(position, begin, end);
  const auto open_here = [&](bool has_data) {
    for (const Condition& each : conditions_) {
      const bool is_here = each.level == position + 1 && is_wanted(each) && !each.is_met;
      if (is_here && each.has_data == has_data && limit_factor(each, variable) == 0) {
        out_.open(fmt::format("if ({})", each.text));
      }
    }
  };
  open_here(false);
  read_data(position + 1);
  open_here(true);
}

void CGenericResult::open_conditions(std::size_t level, IsWanted is_wanted) {
  for (const Condition& each : conditions_) {
    if (each.level == level && is_wanted(each) && !each.is_met) {
      out_.open(fmt::format("if ({})", each.text));
    }
  }
}

bool CGenericResult::is_marked(const std::vector<std::size_t>& marks, std::size_t position) const {
  return std::ranges::find(marks, order_[position]) != marks.end();
}

/// False if a loop or a tensor is empty, so that compilers may leave out a loop.
bool CGenericResult::has_elements() const {
  const auto is_full = [](const Value* value) {
    return value->tensor_type()->element_count().value_or(0) != 0;
  };
  for (std::uint32_t i = 0; i < op_.operand_count(); ++i) {
    if (!is_full(op_.operand(i))) return false;
  }
  return !is_empty_ && is_full(op_.result(number_));
}

/// Begins a loop from `begin` to `end`, as the op states that it runs.
void CGenericResult::open_head(std::size_t position, std::string_view begin, std::string_view end) {
  const std::string& name = variable_at(position).name;
  const std::int64_t extent = extent_at(position);
  const bool has_all = begin == "0" && end == fmt::to_string(extent);
  if (is_marked(form_.unroll, position) && has_all && extent > 1 &&
      out_.copies() * extent <= kMostCopies) {
    out_.open_copies(name, extent);
    return;
  }
  // A loop has one mark. Compilers warn of marks on loops that they leave out.
  if (is_marked(form_.parallel, position) && position < first_sum_ && !parallel_ &&
      out_.copies() == 1) {
    parallel_ = out_.text().size();
    parallel_position_ = position;
  } else if (is_marked(form_.vector, position) && extent > 1 && has_elements()) {
    out_.line("MIR_VECTOR");
  }
  out_.open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", name, begin, end));
}

/// Threads cannot leave a function, so loops that may end the run are not stated to be parallel.
void CGenericResult::state_parallel() {
  if (!parallel_ || out_.text().find("return ", *parallel_) != std::string::npos) return;
  if (place_.call_block) {
    std::vector<std::pair<std::string, std::string>> around;
    for (const CSymbols::Variable& each : symbols_.variables) {
      if (each.level <= parallel_position_) around.emplace_back("int64_t ", each.name);
    }
    call_blocks(out_, *parallel_, variable_at(parallel_position_).name, std::move(around), place_);
  }
  out_.insert_line(*parallel_, "MIR_PARALLEL");
}

/// A condition under which bounds do not cut off the tile that loops inside the first summed one
/// count through; empty if there are none. Appends the conditions that it decides.
std::string CGenericResult::full_tile_text(std::vector<std::size_t>& met) const {
  std::string text;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const Condition& each = conditions_[i];
    if (!each.ends_result || each.level <= first_sum_) continue;
    const CSymbols::Variable& variable = variable_at(each.level - 1);
    if (limit_factor(each, variable) != -1) continue;
    const Dim limit = limit_of(each, variable, -1);
    if (symbols_.level(limit, dims_) > first_sum_) continue;
    text += fmt::format("{}{} >= {}", text.empty() ? "" : " && ", symbols_.text(limit),
                        extent_at(each.level - 1));
    met.push_back(i);
  }
  return text;
}

bool CGenericResult::needs_data(Symbol symbol) const {
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
void CGenericResult::read_data(std::size_t level) {
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
                      data_[i].name, *from, kLargestCIndex));
      continue;
    }
    out_.line(fmt::format("const int64_t {} = (int64_t){};", data_[i].name, *from));
    if (is_wide) {
      out_.line(fmt::format("if ({0} > INT64_C({1}) || {0} < -INT64_C({1})) return {2};",
                            data_[i].name, kLargestCIndex, kIndexOutside));
    }
  }
}

/// Writes the elements that the number needs, and the statements of the region.
Result<void> CGenericResult::emit_number() {
  for (std::size_t i = 0; i < op_.operand_count(); ++i) {
    if (!region_->needs(i)) continue;
    auto from = element(i, place_.operands[i], true);
    if (!from) return from.error();
    const std::string number = widened(dtype_of(i), *from);
    if (has_single_terms_) {
      out_.line(fmt::format("const float {} = {};", region_->argument(i),
                            dtype_of(i) == DType::kFloat32 ? *from : "(float)" + number));
    } else {
      out_.line(fmt::format("const {} {} = {};", number_type_of(dtype_of(i)), region_->argument(i),
                            number));
    }
  }
  if (has_single_terms_) return {};
  for (const std::string& each : region_->statements()) out_.line(each);
  return {};
}

}  // namespace mir::c
