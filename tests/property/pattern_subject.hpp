// Texts, runs and seeds of the properties of patterns.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "../unit/seeds.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/verify.hpp"
#include "validate/values.hpp"

namespace mir::test {

/// Prints figures of a run with a chosen number of seeds.
inline void report_figures(const std::string& text) {
  if (std::getenv("MIR_SEEDS") != nullptr) MESSAGE(text);
}

inline std::string messages_of(const Diagnostics& found) {
  std::string text;
  for (const Diagnostic& each : found.sorted()) {
    if (each.severity == Severity::kError) text += each.message + '\n';
  }
  return text;
}

/// The one module of a text; null after an error, for which `problems` has the reason.
inline Module* read_module(std::string text, IRContext& context, Diagnostics& problems) {
  const SourceFile* file = context.sources().add("test.mir", std::move(text));
  const std::vector<Module*> modules = read_modules(*file, context, problems);
  const bool is_good =
      modules.size() == 1 && !problems.has_errors() && verify(*modules.front(), problems);
  return is_good ? modules.front() : nullptr;
}

/// A text in a context of its own.
class PatternSubject {
 public:
  explicit PatternSubject(std::string text) {
    register_builtin_dialects(context);
    module = read_module(std::move(text), context, problems);
  }
  std::string errors() const { return messages_of(problems); }

  IRContext context;
  Diagnostics problems;
  Module* module = nullptr;
};

/// Pattern ops as a file.
inline std::string file_of(const std::string& patterns) {
  return fmt::format("@rules [mir_version:1] () -> () {{\n{}}}\n", patterns);
}

/// Inputs of the domain of a claim; no value if a type cannot be drawn.
inline std::optional<std::vector<Tensor>> drawn_inputs(const Module& module,
                                                       const RewriteClaim& claim,
                                                       std::uint64_t seed) {
  validate::Draw draw(seed);
  std::vector<Tensor> inputs;
  for (const Value& input : module.body().only_block().arguments()) {
    const TensorType* type = input.tensor_type();
    if (type == nullptr || !type->dtype() || !type->has_static_shape()) return std::nullopt;
    Shape shape;
    for (const Dim dim : type->dims()) shape.push_back(dim.constant());
    const auto style = draw.one_in(3)                             ? validate::ValueStyle::kSmall
                       : claim.kind == RewriteClaim::Kind::kBound ? validate::ValueStyle::kFinite
                                                                  : validate::ValueStyle::kSpecial;
    auto tensor = validate::draw_tensor(*type->dtype(), shape, style, claim.largest, draw);
    if (!tensor) return std::nullopt;
    inputs.push_back(*std::move(tensor));
  }
  return inputs;
}

}  // namespace mir::test
