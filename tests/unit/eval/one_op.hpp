// One op as text, evaluated on operands written as numbers.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dialects/parameters.hpp"
#include "eval/evaluate.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "weights/elements.hpp"

namespace mir::test {

/// A tensor with these elements.
inline Tensor tensor(DType dtype, Shape shape, const std::vector<double>& values) {
  auto made = Tensor::allocate(dtype, std::move(shape));
  REQUIRE(made);
  REQUIRE(made->elements() == static_cast<std::int64_t>(values.size()));
  const std::size_t width = info(dtype).unit_bytes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = encode_element(dtype, values[i]);
    REQUIRE(bits);
    std::memcpy(made->mutable_bytes() + i * width, &*bits, width);
  }
  return *made;
}
inline Tensor floats(Shape shape, const std::vector<double>& values) {
  return tensor(DType::kFloat32, std::move(shape), values);
}
inline Tensor ints(Shape shape, const std::vector<double>& values) {
  return tensor(DType::kInt64, std::move(shape), values);
}

inline std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    values.push_back(element_as_double(tensor, i));
  }
  return values;
}

/// The op of one line of text with everything that it may touch.
class OneOp {
 public:
  explicit OneOp(const std::string& line) {
    register_builtin_dialects(context_);
    const SourceFile* file = context_.sources().add("test", "@main () -> () {\n" + line + "\n}\n");
    Diagnostics diagnostics;
    const auto modules = read_modules(*file, context_, diagnostics);
    for (const Diagnostic& each : diagnostics.sorted()) MESSAGE(each.message);
    REQUIRE_FALSE(diagnostics.has_errors());
    op_ = modules.front()->body().entry()->front();
    REQUIRE(op_ != nullptr);
  }

  OneOp& parameter(std::string_view name, Tensor value) {
    parameters_[context_.intern(name)] = std::move(value);
    return *this;
  }
  OneOp& bind(std::string_view symbol, std::int64_t value) {
    dims_.bind(context_.intern(symbol), value);
    return *this;
  }
  const Op& op() const { return *op_; }
  /// Tokens that the op's cache holds.
  std::int64_t cached() const { return caches_.pending(cache_of(*op_)); }

  Result<std::vector<Tensor>> run(const std::vector<Tensor>& operands) {
    return evaluate(*op_, operands,
                    {.parameters = &parameters_, .caches = &caches_, .dims = &dims_});
  }
  /// The values of the only result.
  std::vector<double> values(const std::vector<Tensor>& operands) {
    const auto results = run(operands);
    if (!results.ok()) MESSAGE(results.error().message);
    REQUIRE(results);
    REQUIRE(results->size() == 1);
    shape_ = results->front().shape();
    return values_of(results->front());
  }
  /// The shape of the result of the last values().
  const Shape& shape() const { return shape_; }
  /// "810 message".
  std::string error(const std::vector<Tensor>& operands) {
    const auto results = run(operands);
    REQUIRE_FALSE(results);
    return std::to_string(static_cast<int>(results.error().code)) + " " + results.error().message;
  }

 private:
  IRContext context_;
  const Op* op_ = nullptr;
  ParameterTable parameters_;
  CacheStore caches_;
  DimBindings dims_;
  Shape shape_;
};

}  // namespace mir::test
