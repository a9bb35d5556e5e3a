// Verification of modules that declare their symbols, against runs with each admitted value.
//
// A generated module is written twice: with symbols, and with numbers in their place for each
// combination of values that the declarations and a relation admit. The texts with numbers tell the
// truth: verification accepts the text with symbols exactly if it accepts and runs all of them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "../unit/seeds.hpp"
#include "ir/symbol_relations.hpp"
#include "mir/codes/verification.hpp"
#include "mir/dialects.hpp"
#include "mir/fusion.hpp"
#include "mir/rewriter.hpp"
#include "mir/session.hpp"
#include "mir/verify.hpp"

namespace symbolic_modules {

using namespace mir;

namespace {

using Extents = std::vector<Dim>;

/// A module of a few ops, as what its text is written of.
struct Plan {
  struct Operation {
    std::string name;
    std::vector<std::string> operands;
    /// Attributes, with each extent as `{}`.
    std::string attributes;
    /// Those of the attributes, then others that must not be negative either.
    Extents extents;
    std::vector<std::string> results;
  };
  std::vector<SymbolDeclaration> declarations;
  std::string where;  ///< a relation between the symbols; empty: none
  SymbolRelations relations;
  std::vector<Extents> inputs;
  std::vector<Operation> operations;
};

/// All combinations of values that the declarations and relations admit.
std::vector<DimBindings> combinations(const Plan& plan, const DimTable& dims) {
  std::vector<DimBindings> found = {DimBindings()};
  for (const SymbolDeclaration& each : plan.declarations) {
    std::vector<DimBindings> longer;
    for (const DimBindings& values : found) {
      for (std::int64_t value = each.least; value <= each.most; ++value) {
        if (!each.admits(value)) continue;
        longer.push_back(values);
        longer.back().bind(each.name, value);
      }
    }
    found = std::move(longer);
  }
  std::erase_if(found, [&](const DimBindings& values) {
    return std::ranges::any_of(plan.relations.all(), [&](const SymbolRelation& each) {
      return each.holds(dims, values) != true;
    });
  });
  return found;
}

class Generator {
 public:
  Generator(IRContext& context, std::uint32_t seed, bool has_relation)
      : dims_(context.dims()), random_(seed) {
    for (const char* name : {"S", "T"}) {
      const std::int64_t least = below(3), multiple = 1 + below(3);
      plan_.declarations.push_back({.name = context.intern(name),
                                    .least = least,
                                    .most = least + multiple + below(4),
                                    .multiple = multiple});
    }
    if (has_relation) add_relation(context);
  }

  Plan make() {
    shape_ = {dims_.symbol("S"), dims_.symbol("T")};
    current_ = add_input(shape_);
    const int count = 1 + static_cast<int>(below(4));
    for (int i = 0; i < count; ++i) add_operation();
    return std::move(plan_);
  }

 private:
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

  /// A relation that some values satisfy.
  void add_relation(IRContext& context) {
    constexpr std::array kRelations = {"$S <= $T",     "$S == $T",     "$S % $T == 0",
                                       "$T % $S == 0", "$T == 2*$S",   "$S + $T <= 5",
                                       "$S > $T",      "$S == $T + 1", "$S * $T == 4"};
    plan_.where = kRelations[static_cast<std::size_t>(below(std::size(kRelations)))];
    plan_.relations = read_relations(*context.string(plan_.where), context);
    if (!combinations(plan_, dims_).empty()) return;
    plan_.where.clear();
    plan_.relations = {};
  }

  Dim number() { return Dim(1 + below(4)); }

  Dim simple() {
    const Dim leaves[] = {dims_.symbol("S"), dims_.symbol("T"), number(), number()};
    return leaves[below(4)];
  }

  /// Any extent that is not negative.
  Dim extent() {
    switch (below(6)) {
      case 0:
        return dims_.add(simple(), simple());
      case 1:
        return dims_.multiply(number(), simple());
      case 2:
        return dims_.floor_divide(simple(), number());
      case 3: {
        const auto extremum =
            dims_.parse(fmt::format("{} {} {}", dims_.print(simple()),
                                    below(2) == 0 ? "min" : "max", dims_.print(simple())));
        REQUIRE(extremum);
        return *extremum;
      }
      default:
        return simple();
    }
  }

  std::string add_input(Extents extents) {
    plan_.inputs.push_back(std::move(extents));
    return fmt::format("%in{}", plan_.inputs.size() - 1);
  }

  void add(std::string name, std::vector<std::string> operands, std::string attributes,
           Extents extents, std::size_t results = 1) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < results; ++i) names.push_back(fmt::format("%v{}", values_++));
    current_ = names.back();
    plan_.operations.push_back({std::move(name), std::move(operands), std::move(attributes),
                                std::move(extents), std::move(names)});
  }

  void add_operation() {
    const auto dim = static_cast<std::size_t>(below(static_cast<std::int64_t>(shape_.size())));
    switch (below(6)) {
      case 0:
        return add_sum(dim);
      case 1:
        return add_view();
      case 2:
        return add_open_view();
      case 3:
        return add_slice(dim);
      case 4:
        return add_concat(dim);
      default:
        return add_split(dim);
    }
  }

  /// The other operand is alike but for one extent.
  void add_sum(std::size_t dim) {
    Extents other = shape_;
    if (below(2) == 0) other[dim] = below(2) == 0 ? Dim(1) : extent();
    add("linalg.CPU.AddOp", {current_, add_input(std::move(other))}, "", {});
  }

  void add_view() {
    Dim total(1);
    for (const Dim each : shape_) total = dims_.multiply(total, each);
    const Dim part = number();
    shape_ = below(3) == 0 ? Extents{total} : Extents{dims_.floor_divide(total, part), part};
    if (below(6) == 0) shape_.back() = extent();
    std::string places = "{}";
    for (std::size_t i = 1; i < shape_.size(); ++i) places += ", {}";
    add("linalg.CPU.ViewOp", {current_}, "to_shape:[" + places + "]", shape_);
  }

  void add_open_view() {
    Dim total(1);
    for (const Dim each : shape_) total = dims_.multiply(total, each);
    const Dim part = below(3) == 0 ? shape_.back() : number();
    shape_ = {dims_.floor_divide(total, part), part};
    add("linalg.CPU.ViewOp", {current_}, "to_shape:[-1, {}]", {part});
  }

  void add_slice(std::size_t dim) {
    const Dim whole = shape_[dim], offset = Dim(below(3));
    Dim start = below(2) == 0 ? Dim(0) : simple(), end;
    switch (below(3)) {
      case 0:
        end = dims_.add(start, extent());
        break;
      case 1:
        start = offset;
        end = whole;
        break;
      default:
        start = Dim(0);
        end = dims_.floor_divide(dims_.add(whole, offset), number());
    }
    shape_[dim] = dims_.subtract(end, start);
    std::string places;
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      if (i > 0) places += ", ";
      places += i == dim ? R"({{"start":{}, "end":{}, "step":1}})" : "all";
    }
    add("linalg.CPU.SliceOp", {current_}, "indices:[" + places + "]", {start, end, shape_[dim]});
  }

  void add_concat(std::size_t dim) {
    Extents other = shape_;
    other[dim] = extent();
    if (below(4) == 0) other[(dim + 1) % other.size()] = extent();
    const Dim total = dims_.add(shape_[dim], other[dim]);
    add("linalg.CPU.ConcatOp", {current_, add_input(std::move(other))}, fmt::format("dim:{}", dim),
        {});
    shape_[dim] = total;
  }

  void add_split(std::size_t dim) {
    const std::int64_t pieces = 1 + below(3);
    shape_[dim] = dims_.floor_divide(shape_[dim], Dim(pieces));
    add("linalg.CPU.SplitOp", {current_}, fmt::format("dim:{}, split_size_or_sections:[{{}}]", dim),
        {shape_[dim]}, static_cast<std::size_t>(pieces));
  }

  DimTable& dims_;
  std::mt19937_64 random_;
  Plan plan_;
  Extents shape_;
  std::string current_;
  int values_ = 0;
};

using PrintExtent = std::function<std::optional<std::string>(Dim)>;

/// No value if an extent has none or is negative.
std::optional<std::string> text_of(const Plan& plan, const IRContext& context,
                                   const PrintExtent& print, bool is_symbolic) {
  bool is_good = true;
  const auto printed = [&](Dim extent) {
    const auto text = print(extent);
    is_good = is_good && text;
    return text.value_or("");
  };
  std::string head = "mir_version:2";
  for (std::size_t i = 0; is_symbolic && i < plan.declarations.size(); ++i) {
    const SymbolDeclaration& each = plan.declarations[i];
    head += fmt::format("{}{}:{{min:{},max:{},multiple:{}}}", i == 0 ? ", symbols:{" : ",",
                        context.text(each.name), each.least, each.most, each.multiple);
  }
  if (is_symbolic) head += "}";
  if (is_symbolic && !plan.where.empty()) head += fmt::format(", where:\"{}\"", plan.where);
  std::string inputs;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    std::string extents;
    for (const Dim each : plan.inputs[i]) extents += (extents.empty() ? "" : ", ") + printed(each);
    inputs += fmt::format("{}%in{}:tensor<[{}], Float32, CPU>", i == 0 ? "" : ", ", i, extents);
  }
  std::string text = fmt::format("@main [{}] ({}) -> () {{\n", head, inputs);
  for (const Plan::Operation& each : plan.operations) {
    std::string attributes;
    std::size_t next = 0;
    for (std::size_t at = 0; at < each.attributes.size(); ++at) {
      const std::string_view rest = std::string_view(each.attributes).substr(at);
      if (rest.starts_with("{}")) {
        attributes += printed(each.extents[next++]);
        ++at;
      } else if (rest.starts_with("{{") || rest.starts_with("}}")) {
        attributes += rest[0];
        ++at;
      } else {
        attributes += rest[0];
      }
    }
    for (; next < each.extents.size(); ++next) printed(each.extents[next]);
    text += fmt::format("    {} {}({}) -> ({})\n", each.name,
                        attributes.empty() ? "" : fmt::format("[{}] ", attributes),
                        fmt::join(each.operands, ", "), fmt::join(each.results, ", "));
  }
  text += "    cf.ReturnOp () -> ()\n}\n";
  if (!is_good) return std::nullopt;
  return text;
}

/// A text, read and verified.
class Subject {
 public:
  explicit Subject(const std::string& text) {
    register_builtin_dialects(context_);
    const SourceFile* file = context_.sources().add("test.mir", text);
    modules_ = read_modules(*file, context_, diagnostics_);
    if (diagnostics_.has_errors()) return;
    VerifyOptions options;
    REQUIRE(options.policy.deny("symbol_c7"));
    verify(*modules_.front(), diagnostics_, options);
  }

  bool is_sound() const { return !diagnostics_.has_errors(); }
  bool is_undecided() const {
    for (const Diagnostic& each : diagnostics_.sorted()) {
      if (each.code == diag::kExtentUnproven) return true;
    }
    return false;
  }
  std::string errors() const {
    std::string text;
    for (const Diagnostic& each : diagnostics_.sorted()) {
      text += std::string(spelling(each.code)) + " " + each.message + "\n";
    }
    return text;
  }
  IRContext& context() { return context_; }

  /// Errors of a run with inputs of these extents, which the types have; empty: there is none.
  std::string run(const std::vector<Shape>& extents, KernelSet kernels) {
    Diagnostics diagnostics;
    SessionOptions options;
    options.kernels = kernels;
    const auto module = clone(*modules_.front());
    if (kernels == KernelSet::kFast) {
      PassRegistry passes;
      register_standard_passes(passes);
      REQUIRE(fuse(*module, Fusion::kAll, passes, {}, diagnostics));
    }
    auto session = Session::create(*module, options, diagnostics);
    if (session) {
      std::vector<Tensor> inputs;
      for (const Shape& shape : extents) {
        auto tensor = Tensor::allocate(DType::kFloat32, shape);
        REQUIRE(tensor);
        inputs.push_back(*std::move(tensor));
      }
      if (session->run(inputs, diagnostics)) return "";
    }
    std::string text = "no result\n";
    for (const Diagnostic& each : diagnostics.sorted()) text += each.message + "\n";
    return text;
  }

 private:
  IRContext context_;
  Diagnostics diagnostics_{0};
  std::vector<Module*> modules_;
};

void check_modules(bool has_relations) {
  const test::Seeds seeds = test::seeds_of(400);
  std::size_t accepted = 0, refused = 0, related = 0;
  for (const std::uint64_t seed : seeds) {
    CAPTURE(seed);
    IRContext context;
    register_builtin_dialects(context);
    const Plan plan = Generator(context, static_cast<std::uint32_t>(seed), has_relations).make();
    const auto symbolic = text_of(
        plan, context,
        [&](Dim extent) {
          // A slice of numbers may end before it starts: it is empty.
          const bool is_negative = extent.is_constant() && extent.constant() < 0;
          return extent.is_unknown() || is_negative ? std::nullopt
                                                    : std::optional(context.dims().print(extent));
        },
        true);
    if (!symbolic) continue;
    Subject subject(*symbolic);
    CAPTURE(*symbolic);
    CAPTURE(subject.errors());
    CHECK_FALSE(subject.is_undecided());
    bool runs_always = true;
    for (const DimBindings& values : combinations(plan, context.dims())) {
      const PrintExtent print = [&](Dim extent) -> std::optional<std::string> {
        const auto value = context.dims().evaluate(extent, values);
        return value && *value >= 0 ? std::optional(std::to_string(*value)) : std::nullopt;
      };
      const auto text = text_of(plan, context, print, false);
      std::vector<Shape> extents;
      for (const Extents& input : plan.inputs) {
        Shape& shape = extents.emplace_back();
        for (const Dim each : input)
          shape.push_back(context.dims().evaluate(each, values).value_or(0));
      }
      std::string failure = "an extent is negative\n";
      if (text) {
        Subject truth(*text);
        failure = truth.is_sound() ? truth.run(extents, KernelSet::kRef) : truth.errors();
      }
      runs_always = runs_always && failure.empty();
      if (!subject.is_sound()) continue;
      CAPTURE(failure);
      CHECK(failure.empty());
      for (const KernelSet kernels : {KernelSet::kRef, KernelSet::kFast}) {
        CHECK(subject.run(extents, kernels) == "");
      }
    }
    CHECK(subject.is_sound() == runs_always);
    ++(subject.is_sound() ? accepted : refused);
    related += plan.where.empty() ? 0 : 1;
  }
  CHECK(accepted > seeds.count() / 8);
  CHECK(refused > seeds.count() / 8);
  CHECK((related > seeds.count() / 4) == has_relations);
}

}  // namespace

TEST_SUITE("symbolic modules") {
  TEST_CASE("verification accepts what runs with all values, and nothing else") {
    check_modules(false);
  }
  TEST_CASE("verification accepts what runs with all values that satisfy relations") {
    check_modules(true);
  }
}

}  // namespace symbolic_modules
