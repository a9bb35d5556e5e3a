#include "pattern_term.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <iterator>

namespace mir::test {

namespace {

constexpr std::array<std::string_view, 9> kMoves = {"TransposeOp",  "PermuteOp", "ViewOp",
                                                    "SliceOp",      "ConcatOp",  "SplitOp",
                                                    "ContiguousOp", "CloneOp",   "RepeatOp"};
constexpr std::array<std::string_view, 4> kBinary = {"AddOp", "SubOp", "MulOp", "DivOp"};
constexpr std::array<std::string_view, 7> kUnary = {"NegOp",     "AbsOp", "ReLUOp", "ClipOp",
                                                    "SigmoidOp", "ExpOp", "SiLUOp"};
constexpr std::array<std::string_view, 4> kCalm = {"NegOp", "AbsOp", "ReLUOp", "SigmoidOp"};

template <class List>
bool is_one_of(const Term& term, const List& names) {
  return term.kind == Term::Kind::kOp &&
         std::ranges::find(names, std::string_view(term.name)) != names.end();
}

/// `[0, 2, 1]` as numbers.
std::vector<int> numbers_in(std::string_view text) {
  std::vector<int> numbers;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) continue;
    const bool is_negative = i > 0 && text[i - 1] == '-';
    int number = 0;
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i) {
      number = number * 10 + (text[i] - '0');
    }
    numbers.push_back(is_negative ? -number : number);
  }
  return numbers;
}

std::size_t axis_of(std::string_view text, std::size_t rank) {
  const int axis = numbers_in(text).at(0);
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<int>(rank) : axis);
}

/// `[$a, 3]` as its entries.
TermExtents entries_of(std::string_view list) {
  TermExtents entries;
  list = list.substr(1, list.size() - 2);
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    std::string_view entry = list.substr(0, comma);
    while (entry.starts_with(' ')) entry.remove_prefix(1);
    entries.emplace_back(entry);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return entries;
}

/// The extent of a slice with literal bounds; "" for the whole.
std::string sliced(std::string_view entry) {
  const std::vector<int> bounds = numbers_in(entry);
  if (bounds.size() < 3) return "";
  const int count = bounds[1] - bounds[0];
  return std::to_string(count <= 0 ? 0 : (count + bounds[2] - 1) / bounds[2]);
}

std::string sum_of(const std::vector<std::string>& extents) {
  const auto is_literal = [](const std::string& extent) {
    return extent.find_first_not_of("0123456789") == std::string::npos;
  };
  if (!std::ranges::all_of(extents, is_literal)) return fmt::format("{}", fmt::join(extents, "+"));
  int sum = 0;
  for (const std::string& each : extents) sum += std::stoi(each);
  return std::to_string(sum);
}

std::optional<TermExtents> extents_of(const Term& term) {
  const auto has_dims = [](const TermPtr& each) { return each->dims.has_value(); };
  if (!std::ranges::all_of(term.operands, has_dims)) return std::nullopt;
  const Term& from = *term.operands.back();
  TermExtents dims = *from.dims;
  if (term.name == "TransposeOp") {
    std::swap(dims.at(axis_of(term.attribute("dim0"), dims.size())),
              dims.at(axis_of(term.attribute("dim1"), dims.size())));
  } else if (term.name == "PermuteOp") {
    const std::vector<int> axes = numbers_in(term.attribute("axis"));
    for (std::size_t i = 0; i < axes.size(); ++i) {
      dims[i] = from.dims->at(static_cast<std::size_t>(axes[i]));
    }
  } else if (term.name == "ViewOp") {
    dims = entries_of(term.attribute("to_shape"));
  } else if (term.name == "SliceOp") {
    std::string_view rest = term.attribute("indices");
    for (std::string& dim : dims) {
      const auto open = rest.find('{'), close = rest.find('}');
      const std::string extent = sliced(rest.substr(open, close - open + 1));
      if (!extent.empty()) dim = extent;
      rest.remove_prefix(close + 1);
    }
  } else if (term.name == "ConcatOp") {
    const std::size_t axis = axis_of(term.attribute("dim"), dims.size());
    std::vector<std::string> parts;
    for (const TermPtr& each : term.operands) parts.push_back(each->dims->at(axis));
    dims[axis] = sum_of(parts);
  } else if (term.name == "SplitOp") {
    dims[axis_of(term.attribute("dim"), dims.size())] =
        entries_of(term.attribute("split_size_or_sections"))
            .at(static_cast<std::size_t>(term.result));
  }
  return dims;
}

/// The shape of a move: a name where extents are not known.
std::string shape_of(const Term& term) {
  if (term.dims) return fmt::format("[{}]", fmt::join(*term.dims, ", "));
  std::vector<std::string> parts{term.name};
  if (term.name == "ContiguousOp" || term.name == "CloneOp" || term.name == "RepeatOp") {
    return term.operands[0]->shape;
  }
  for (const auto& each : term.attributes) parts.push_back(each.second);
  for (const TermPtr& each : term.operands) parts.push_back(each->shape);
  parts.push_back(std::to_string(term.result));
  return fmt::format("{}", fmt::join(parts, " "));
}

void describe(Term& term) {
  const Term& last = *term.operands.back();
  term.dtype = last.dtype;
  if (is_move(term)) {
    term.dims = extents_of(term);
    term.shape = shape_of(term);
    term.has_one_nan = std::ranges::all_of(term.operands, &Term::has_one_nan);
    term.is_calm = std::ranges::all_of(term.operands, &Term::is_calm);
    return;
  }
  const Term& like = *term.operands[term.name == "WhereOp" ? 1 : 0];
  term.dims = like.dims;
  term.shape = like.shape;
  if (is_binary(term) && last.kind != Term::Kind::kConstant && last.shape != like.shape) {
    term.shape = fmt::format("broadcast {} {}", like.shape, last.shape);
    term.dims.reset();
  }
  if (term.name == "WhereOp") {
    term.has_one_nan = like.has_one_nan && last.has_one_nan;
    term.is_calm = like.is_calm && last.is_calm;
    return;
  }
  if (term.name == "CastTypeOp") term.dtype = term.attribute("dtype");
  term.has_one_nan = true;
  term.is_calm = is_one_of(term, kCalm) && like.is_calm;
}

std::string key_of(const Term& term) {
  std::string key = term.name;
  for (const auto& each : term.attributes) key += fmt::format(" {}:{}", each.first, each.second);
  key += '(';
  for (const TermPtr& each : term.operands) key += each->key + ',';
  return fmt::format("{})#{}", key, term.result);
}

}  // namespace

std::string_view Term::attribute(std::string_view attribute) const {
  for (const auto& each : attributes) {
    if (each.first == attribute) return each.second;
  }
  return "";
}

TermPtr input_term(std::string name, std::string dtype, std::string shape,
                   std::optional<TermExtents> dims) {
  Term made{.kind = Term::Kind::kInput, .name = std::move(name)};
  made.dtype = std::move(dtype);
  made.shape = std::move(shape);
  made.dims = std::move(dims);
  made.key = made.name;
  return std::make_shared<const Term>(std::move(made));
}

TermPtr constant_term(std::string number, const TermPtr& like) {
  Term made{.kind = Term::Kind::kConstant, .name = std::move(number)};
  made.dtype = like->dtype;
  made.shape = like->shape;
  made.dims = like->dims;
  made.has_one_nan = true;
  made.key = fmt::format("constant {} {}", made.name, made.dtype);
  return std::make_shared<const Term>(std::move(made));
}

TermPtr op_term(std::string name, TermAttributes attributes, std::vector<TermPtr> operands,
                int result, int results) {
  Term made{.kind = Term::Kind::kOp, .name = std::move(name)};
  made.attributes = std::move(attributes);
  made.operands = std::move(operands);
  made.result = result;
  made.results = results;
  describe(made);
  made.key = key_of(made);
  return std::make_shared<const Term>(std::move(made));
}

TermPtr with_operands(const Term& term, std::vector<TermPtr> operands) {
  return op_term(term.name, term.attributes, std::move(operands), term.result, term.results);
}

bool is_move(const Term& term) {
  return is_one_of(term, kMoves);
}

bool is_unary(const Term& term) {
  return is_one_of(term, kUnary);
}

bool is_binary(const Term& term) {
  return is_one_of(term, kBinary);
}

std::vector<std::vector<std::size_t>> places_in(const TermPtr& term) {
  std::vector<std::vector<std::size_t>> places{{}};
  for (std::size_t i = 0; i < term->operands.size(); ++i) {
    for (std::vector<std::size_t>& each : places_in(term->operands[i])) {
      each.insert(each.begin(), i);
      places.push_back(std::move(each));
    }
  }
  return places;
}

const TermPtr& at_place(const TermPtr& term, const std::vector<std::size_t>& place) {
  const TermPtr* at = &term;
  for (const std::size_t operand : place) at = &(*at)->operands[operand];
  return *at;
}

TermPtr replaced_at(const TermPtr& term, const std::vector<std::size_t>& place, TermPtr with) {
  if (place.empty()) return with;
  std::vector<TermPtr> operands = term->operands;
  TermPtr& at = operands[place.front()];
  at = replaced_at(at, {place.begin() + 1, place.end()}, std::move(with));
  return with_operands(*term, std::move(operands));
}

std::vector<std::string> variables_in(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') continue;
    std::size_t end = i + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    found.emplace_back(text.substr(i, end - i));
    i = end - 1;
  }
  return found;
}

std::string substituted(std::string_view text, const Assignment& values) {
  std::string made;
  for (std::size_t i = 0; i < text.size();) {
    const auto is_word = [&](std::size_t at) {
      return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    if (text[i] != '$' && !is_word(i)) {
      made += text[i++];
      continue;
    }
    std::size_t end = i + 1;
    while (is_word(end)) ++end;
    const bool is_pack = text.substr(end).starts_with("..");
    const auto value = values.find(std::string(text.substr(i, end - i)));
    made += value == values.end() ? std::string(text.substr(i, end - i)) : value->second;
    i = end + (is_pack ? 2 : 0);
    // An empty pack takes its comma with it.
    if (is_pack && value != values.end() && value->second.empty() &&
        text.substr(i).starts_with(", ")) {
      i += 2;
    }
  }
  return made;
}

namespace {

class TermWriter {
 public:
  explicit TermWriter(const TermStyle& style) : style_(style) {}

  std::string value(const TermPtr& term) {
    if (term->kind == Term::Kind::kInput) return '%' + term->name;
    if (term->kind == Term::Kind::kConstant) return constant(*term);
    const std::string op = fmt::format("{}{}", term->key.substr(0, term->key.rfind('#')),
                                       style_.shares ? "" : fmt::format(" {}", text_.count));
    const auto known = names_.find(op);
    if (known != names_.end()) return known->second[static_cast<std::size_t>(term->result)];
    std::vector<std::string> operands;
    for (const TermPtr& each : term->operands) {
      operands.push_back(value(each));
      if (each->kind == Term::Kind::kOp) ++text_.uses[operands.back()];
    }
    std::vector<std::string> names;
    for (int i = 0; i < term->results; ++i) names.push_back(fmt::format("%v{}", values_++));
    text_.ops +=
        fmt::format("{}linalg.{}.{} {}({}) -> ({})\n", style_.indent, style_.device, term->name,
                    attributes(*term), fmt::join(operands, ", "), fmt::join(names, ", "));
    ++text_.count;
    text_.commutative += term->is("AddOp") || term->is("MulOp") ? 1 : 0;
    names_.emplace(op, names);
    return names[static_cast<std::size_t>(term->result)];
  }

  TermText& text() { return text_; }

 private:
  std::string put(std::string_view text) const {
    return style_.values == nullptr ? std::string(text) : substituted(text, *style_.values);
  }

  std::string attributes(const Term& term) const {
    std::vector<std::string> parts;
    for (const auto& each : term.attributes) {
      parts.push_back(fmt::format("{}:{}", each.first, put(each.second)));
    }
    return parts.empty() ? "" : fmt::format("[{}] ", fmt::join(parts, ", "));
  }

  std::string constant(const Term& term) {
    const std::string type =
        style_.types_constants ? put(fmt::format(":tensor<[1], {}, {}>", term.dtype, style_.device))
                               : "";
    return fmt::format("%c{}{}[constant:[{}]]", constants_++, type, put(term.name));
  }

  const TermStyle& style_;
  TermText text_;
  std::map<std::string, std::vector<std::string>> names_;
  int values_ = 0, constants_ = 0;
};

void add_inputs(const TermPtr& term, std::vector<TermPtr>& found) {
  if (term->kind == Term::Kind::kInput &&
      std::ranges::find(found, term->name, &Term::name) == found.end()) {
    found.push_back(term);
  }
  for (const TermPtr& each : term->operands) add_inputs(each, found);
}

void add_variables(const Term& term, std::vector<std::string>& found) {
  if (term.kind == Term::Kind::kConstant)
    std::ranges::copy(variables_in(term.name), std::back_inserter(found));
  for (const auto& each : term.attributes) {
    std::ranges::copy(variables_in(each.second), std::back_inserter(found));
  }
  for (const TermPtr& each : term.operands) add_variables(*each, found);
}

template <class Test>
bool any_in(const std::vector<TermPtr>& terms, Test test) {
  return std::ranges::any_of(
      terms, [&](const TermPtr& each) { return test(*each) || any_in(each->operands, test); });
}

}  // namespace

TermText text_of(const std::vector<TermPtr>& terms, const TermStyle& style) {
  TermWriter writer(style);
  for (const TermPtr& each : terms) writer.text().results.push_back(writer.value(each));
  return std::move(writer.text());
}

std::vector<TermPtr> inputs_of(const std::vector<TermPtr>& terms) {
  std::vector<TermPtr> found;
  for (const TermPtr& each : terms) add_inputs(each, found);
  return found;
}

std::vector<std::string> variables_of(const std::vector<TermPtr>& terms) {
  std::vector<std::string> found;
  for (const TermPtr& each : terms) add_variables(*each, found);
  return found;
}

bool has_constant(const std::vector<TermPtr>& terms) {
  return any_in(terms, [](const Term& each) { return each.kind == Term::Kind::kConstant; });
}

bool has_move(const std::vector<TermPtr>& terms) {
  return any_in(terms, is_move);
}

}  // namespace mir::test
