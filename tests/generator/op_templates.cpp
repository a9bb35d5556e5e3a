#include "op_templates.hpp"

#include <map>
#include <stdexcept>

#include "dialects/parameters.hpp"
#include "mir/dialects.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"

namespace mir::test {

namespace {

/// Ops that a module of tensors and graphs is made of.
bool is_portable_op(const Dialect& dialect, const OpRow& row) {
  return dialect.name == "linalg" && row.infer != nullptr && !has(row.traits, Trait::kDumpOnly) &&
         !has(row.traits, Trait::kNoMeaning);
}

/// New extents for the constants of a pattern.
using Extents = std::map<std::int64_t, Dim>;

class Substitution {
 public:
  Substitution(IRContext& context, const Extents& extents, bool in_attributes)
      : context_(context), extents_(extents), in_attributes_(in_attributes) {}

  const TensorType* operator()(const TensorType& type) const {
    std::vector<Dim> dims(type.dims().begin(), type.dims().end());
    for (Dim& dim : dims) dim = (*this)(dim);
    return context_.tensor(dims, type.dtype_name(), type.device(), type.encoding());
  }

  const Attr* operator()(const Attr& attribute) const {
    if (!in_attributes_) return &attribute;
    switch (attribute.kind()) {
      case AttrKind::kInt: {
        const auto found = extents_.find(attribute.integer());
        if (found == extents_.end()) return &attribute;
        return found->second.is_constant() ? context_.integer(found->second.constant())
                                           : context_.dim(found->second);
      }
      case AttrKind::kArray: {
        std::vector<const Attr*> elements;
        for (const Attr* element : attribute.elements()) elements.push_back((*this)(*element));
        return context_.array(elements);
      }
      default:
        return &attribute;
    }
  }

 private:
  Dim operator()(Dim dim) const {
    if (!dim.is_constant()) return dim;
    const auto found = extents_.find(dim.constant());
    return found == extents_.end() ? dim : found->second;
  }

  IRContext& context_;
  const Extents& extents_;
  bool in_attributes_;
};

/// Extents of one trace: every symbol has a value, and caches are empty.
class Tracing {
 public:
  explicit Tracing(IRContext& context) : context_(context) {}

  const TensorType* operator()(const TensorType& type) const {
    std::vector<Dim> dims(type.dims().begin(), type.dims().end());
    for (Dim& dim : dims) dim = (*this)(dim);
    return context_.tensor(dims, type.dtype_name(), type.device(), type.encoding());
  }

  const Attr* operator()(const Attr& attribute) const {
    if (attribute.kind() == AttrKind::kDim)
      return context_.integer((*this)(attribute.dim()).constant());
    if (attribute.kind() != AttrKind::kArray) return &attribute;
    std::vector<const Attr*> elements;
    for (const Attr* element : attribute.elements()) elements.push_back((*this)(*element));
    return context_.array(elements);
  }

 private:
  Dim operator()(Dim dim) const {
    DimBindings values;
    for (const Symbol symbol : context_.dims().symbols(dim)) {
      values.bind(symbol, context_.text(symbol) == "past" ? 0 : 6);
    }
    return context_.dims().substitute(dim, values);
  }

  IRContext& context_;
};

/// The distinct constants above 1 among the extents of the operands and results.
std::vector<std::int64_t> extents_of(const OpPattern& pattern) {
  std::vector<std::int64_t> found;
  for (const auto* list : {&pattern.operands, &pattern.results}) {
    for (const TensorType* type : *list) {
      for (const Dim dim : type->dims()) {
        if (dim.is_constant() && dim.constant() > 1) found.push_back(dim.constant());
      }
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

OpTemplates::OpTemplates(IRContext& context) : context_(context) {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (!is_portable_op(*dialect, row)) continue;
      if (!read(row)) throw std::logic_error("unusable example: " + std::string(row.example));
    }
  }
}

bool OpTemplates::read(const OpRow& row) {
  const SourceFile* file = context_.sources().add(
      "example", "@example () -> () {\n" + std::string(row.example) + "\n}\n");
  Diagnostics diagnostics;
  const auto modules = read_modules(*file, context_, diagnostics);
  if (diagnostics.has_errors() || modules.size() != 1) return false;
  const Op& op = *modules.front()->body().entry()->front();
  OpPattern pattern{.row = &row,
                    .spelling = std::string(context_.text(op.op_name().spelling)),
                    .operands = {},
                    .operand_attributes = {},
                    .results = {},
                    .attributes = {op.attributes().begin(), op.attributes().end()}};
  for (const Use& use : op.operand_uses()) {
    const Value& value = *use.value();
    if (value.tensor_type() == nullptr) return false;
    pattern.operands.push_back(value.tensor_type());
    std::string attributes;
    for (const NamedAttr& attribute : value.attributes()) {
      attributes += "[" + std::string(context_.text(attribute.key)) + ":" +
                    std::string(attribute.value->spelling()) + "]";
    }
    pattern.operand_attributes.push_back(std::move(attributes));
  }
  for (const Value& result : op.results()) pattern.results.push_back(result.tensor_type());
  patterns_.push_back(std::move(pattern));
  context_.release(*modules.front());
  return true;
}

std::optional<OpPattern> OpTemplates::try_extents(const OpPattern& pattern, Random& random,
                                                  int boldness, bool symbolic) const {
  constexpr std::string_view kSymbols[] = {"A", "B", "N"};
  constexpr std::int64_t kSmall[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 32};
  Extents extents;
  const auto factor = static_cast<std::int64_t>(below(random, 3)) + 1;
  for (const std::int64_t extent : extents_of(pattern)) {
    Dim dim(extent);
    const std::uint64_t choice = below(random, 8);
    if (symbolic && choice == 0) {
      dim = context_.dims().symbol(kSymbols[below(random, std::size(kSymbols))]);
    } else if (boldness == 0) {
      dim = Dim(extent * factor);
    } else if (choice < 5) {
      dim = Dim(kSmall[below(random, std::size(kSmall))]);
    }
    extents.emplace(extent, dim);
  }
  const Substitution substitute(context_, extents, below(random, 2) == 0);
  OpPattern made{pattern.row, pattern.spelling, {}, pattern.operand_attributes, {}, {}};
  for (std::size_t i = 0; i < pattern.operands.size(); ++i) {
    // The elements of a constant are as many as they are.
    const bool constant = !pattern.operand_attributes[i].empty();
    made.operands.push_back(constant ? pattern.operands[i] : substitute(*pattern.operands[i]));
  }
  for (const NamedAttr& attribute : pattern.attributes) {
    made.attributes.push_back({attribute.key, substitute(*attribute.value)});
  }
  Diagnostics ignored;
  const std::vector<const Type*> types(made.operands.begin(), made.operands.end());
  const auto given = infer({.context = context_,
                            .row = *pattern.row,
                            .operands = types,
                            .attributes = made.attributes,
                            .result_count = pattern.results.size()},
                           ignored);
  if (!given || given->size() > pattern.results.size()) return std::nullopt;
  for (std::size_t i = 0; i < pattern.results.size(); ++i) {
    const bool inferred = i < given->size() && (*given)[i] != nullptr;
    made.results.push_back(inferred ? dyn_cast<TensorType>((*given)[i]) : pattern.results[i]);
    if (made.results.back() == nullptr) return std::nullopt;
    for (const Dim dim : made.results.back()->dims()) {
      if (dim.is_unknown() || (dim.is_constant() && dim.constant() < 0)) return std::nullopt;
    }
  }
  return made;
}

OpPattern OpTemplates::traced(const OpPattern& pattern) const {
  const Tracing trace(context_);
  OpPattern made = pattern;
  for (const TensorType*& type : made.operands) type = trace(*type);
  for (const TensorType*& type : made.results) type = trace(*type);
  for (NamedAttr& attribute : made.attributes) attribute.value = trace(*attribute.value);
  return made;
}

OpPattern OpTemplates::vary(const OpPattern& example, Random& random, bool symbolic) const {
  const OpPattern pattern = symbolic ? example : traced(example);
  for (int attempt = 0; attempt < 6; ++attempt) {
    if (auto made = try_extents(pattern, random, attempt % 2, symbolic)) return *std::move(made);
  }
  return pattern;
}

std::optional<std::vector<Parameter>> OpTemplates::parameters(const OpPattern& pattern) const {
  std::vector<Parameter> list;
  for (const WeightRow& weight : pattern.row->weights) {
    if (!owns_parameter(*pattern.row, weight, context_, pattern.attributes)) continue;
    const auto extents = parameter_extents(weight, context_, pattern.operands.front(),
                                           pattern.results.front(), pattern.attributes);
    if (!extents) return std::nullopt;
    const std::vector<Dim> dims(extents->begin(), extents->end());
    list.push_back({std::string(weight.suffix), context_.tensor(dims, DType::kFloat32)});
  }
  return list;
}

}  // namespace mir::test
