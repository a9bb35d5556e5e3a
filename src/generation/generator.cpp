// Feeds tokens to a session and reads the logits of the next one.
#include "generation/generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dialects/parameters.hpp"
#include "interp/session_run.hpp"
#include "mir/codes/generation.hpp"
#include "mir/context.hpp"
#include "mir/module.hpp"
#include "weights/elements.hpp"

namespace mir::generation {
namespace {

bool is_token_type(const TensorType* type) {
  return type != nullptr && (type->dtype() == DType::kInt64 || type->dtype() == DType::kInt32);
}

/// Integers of an input, with its rank: the extents before the last one are 1.
template <class Value>
Result<Tensor> integers(const TensorType& type, std::size_t count, const Value& value) {
  Shape shape(std::max<std::size_t>(type.rank(), 1), 1);
  shape.back() = static_cast<std::int64_t>(count);
  auto tensor = Tensor::allocate(*type.dtype(), std::move(shape));
  if (!tensor) return tensor;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t number = value(i);
    if (type.dtype() == DType::kInt64) {
      tensor->as_mutable<std::int64_t>()[i] = number;
    } else {
      tensor->as_mutable<std::int32_t>()[i] = static_cast<std::int32_t>(number);
    }
  }
  return tensor;
}

}  // namespace

std::vector<std::string> cache_names(const Session& session) {
  const Schedule& schedule = SessionAccess::schedule(session);
  std::vector<std::string> names;
  schedule.for_each([&](const Schedule& each) {
    for (const Step& step : each.steps()) {
      const Symbol cache = cache_of(*step.op);
      if (cache) names.emplace_back(schedule.module().context().text(cache));
    }
  });
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<Generator> Generator::create(Session session, Diagnostics& diagnostics) {
  Generator generator(std::move(session));
  if (!generator.find_ports(diagnostics)) return std::nullopt;
  return generator;
}

bool Generator::find_ports(Diagnostics& diagnostics) {
  const auto refuse = [&](std::string message) {
    diagnostics.error(diag::kNotGenerative, {}, std::move(message));
    return false;
  };
  const auto inputs = session_.inputs(), outputs = session_.outputs();
  std::optional<std::size_t> ids;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool is_positions = inputs[i].name == "positions";
    const bool is_ids = inputs[i].name == "ids" || inputs.size() == 1;
    if (!is_positions && !is_ids)
      return refuse(fmt::format(
          "the module has an input '%{}', expected 'ids' and 'positions' only", inputs[i].name));
    if (!is_token_type(inputs[i].type))
      return refuse(
          fmt::format("input '%{}' is {}, expected Int64 or Int32", inputs[i].name,
                      inputs[i].type == nullptr ? "no tensor" : inputs[i].type->spelling()));
    (is_positions ? positions_ : ids) = i;
  }
  if (!ids) return refuse("the module has no input 'ids' for token ids");
  ids_ = *ids;
  std::optional<std::size_t> logits;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].name == "logits" || outputs.size() == 1) logits = i;
  }
  if (!logits) return refuse("the module has no output 'logits'");
  const TensorType* type = outputs[*logits].type;
  if (type != nullptr && (type->rank() < 2 || !type->dtype() || !is_float(*type->dtype())))
    return refuse(fmt::format("output '%{}' is {}, expected floats [batch, tokens, vocabulary]",
                              outputs[*logits].name, type->spelling()));
  logits_ = *logits;
  if (cache_names(session_).empty())
    return refuse("the module has no caches: a run would not know the tokens before its own");
  return true;
}

void Generator::reset() {
  session_.reset();
  position_ = 0;
}

Result<std::vector<Tensor>> Generator::inputs_for(std::span<const std::uint32_t> ids) const {
  const auto ports = session_.inputs();
  std::vector<Tensor> inputs(ports.size());
  auto tokens = integers(*ports[ids_].type, ids.size(),
                         [&](std::size_t i) { return static_cast<std::int64_t>(ids[i]); });
  if (!tokens) return std::move(tokens).error();
  inputs[ids_] = *std::move(tokens);
  if (!positions_) return inputs;
  auto places = integers(*ports[*positions_].type, ids.size(),
                         [&](std::size_t i) { return position_ + static_cast<std::int64_t>(i); });
  if (!places) return std::move(places).error();
  inputs[*positions_] = *std::move(places);
  return inputs;
}

std::optional<std::span<const float>> Generator::run(std::span<const std::uint32_t> ids,
                                                     Diagnostics& diagnostics,
                                                     const RunOptions& options) {
  const auto inputs = inputs_for(ids);
  if (!inputs) {
    diagnostics.error(inputs.error().code, {}, inputs.error().message);
    return std::nullopt;
  }
  const std::size_t errors_before = diagnostics.error_count();
  const std::size_t run = runs_++;
  const auto outputs = session_.run(*inputs, diagnostics, options);
  if (!outputs) {
    std::size_t seen = 0;
    Diagnostic* error =
        diagnostics.find_error([&](const Diagnostic&) { return seen++ >= errors_before; });
    if (error != nullptr)
      error->message += fmt::format("; in run {}, {} token{} from position {}", run, ids.size(),
                                    ids.size() == 1 ? "" : "s", position_);
    return std::nullopt;
  }
  const Tensor& logits = (*outputs)[logits_];
  const Shape& shape = logits.shape();
  const std::int64_t width = shape.empty() ? 0 : shape.back();
  if (width == 0 || logits.elements() == 0 || !is_float(logits.dtype())) {
    diagnostics.error(diag::kNotGenerative, {}, "the logits of the module have no row of floats");
    return std::nullopt;
  }
  position_ += static_cast<std::int64_t>(ids.size());
  row_.resize(static_cast<std::size_t>(width));
  const std::int64_t first = logits.elements() - width;
  if (logits.dtype() == DType::kFloat32) {
    std::memcpy(row_.data(), logits.as<float>().data() + first, row_.size() * sizeof(float));
  } else {
    for (std::size_t i = 0; i < row_.size(); ++i)
      row_[i] = static_cast<float>(element_as_double(logits, first + static_cast<std::int64_t>(i)));
  }
  return std::span<const float>(row_);
}

}  // namespace mir::generation
