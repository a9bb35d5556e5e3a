// Feeds tokens to a session and reads the logits of the next one.
#include "generation/generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dialects/parameters.hpp"
#include "interp/session_run.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/generation.hpp"
#include "mir/context.hpp"
#include "mir/module.hpp"
#include "weights/elements.hpp"

namespace mir::generation {
namespace {

bool is_token_type(const TensorType* type) {
  return type != nullptr && (type->dtype() == DType::kInt64 || type->dtype() == DType::kInt32);
}

/// Integers of an input, with its rank: the last extent is that of tokens, the one before it that
/// of sequences, others are 1.
template <class Value>
Result<Tensor> integers(const TensorType& type, std::size_t sequences, std::size_t tokens,
                        const Value& value) {
  Shape shape(std::max<std::size_t>(type.rank(), sequences == 1 ? 1 : 2), 1);
  shape.back() = static_cast<std::int64_t>(tokens);
  if (shape.size() > 1) shape[shape.size() - 2] = static_cast<std::int64_t>(sequences);
  auto tensor = Tensor::allocate(*type.dtype(), std::move(shape));
  if (!tensor) return tensor;
  for (std::size_t i = 0; i < sequences * tokens; ++i) {
    const std::int64_t number = value(i / tokens, i % tokens);
    if (type.dtype() == DType::kInt64) {
      tensor->as_mutable<std::int64_t>()[i] = number;
    } else {
      tensor->as_mutable<std::int32_t>()[i] = static_cast<std::int32_t>(number);
    }
  }
  return tensor;
}

/// Calls `visit` with each op that has a cache, and the cache.
template <class Visit>
void for_each_cache(const Session& session, const Visit& visit) {
  SessionAccess::schedule(session).for_each([&](const Schedule& each) {
    for (const Step& step : each.steps()) {
      if (const Symbol cache = cache_of(*step.op)) visit(*step.op, cache);
    }
  });
}

}  // namespace

std::vector<std::string> cache_names(const Session& session) {
  const IRContext& context = SessionAccess::schedule(session).module().context();
  std::vector<std::string> names;
  for_each_cache(session,
                 [&](const Op&, Symbol cache) { names.emplace_back(context.text(cache)); });
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

std::optional<std::int64_t> Generator::capacity() const {
  std::optional<std::int64_t> fewest;
  for_each_cache(session_, [&](const Op& op, Symbol) {
    const Attr* stated = op.attribute(key::kCapacity);
    if (stated == nullptr || stated->kind() != AttrKind::kInt) return;
    fewest = std::min(fewest.value_or(stated->integer()), stated->integer());
  });
  return fewest;
}

void Generator::reset() {
  session_.reset();
  position_ = 0;
  positions_of_each_.clear();
}

Result<std::vector<Tensor>> Generator::inputs_for(
    std::span<const std::span<const std::uint32_t>> ids) const {
  const auto ports = session_.inputs();
  std::vector<Tensor> inputs(ports.size());
  std::size_t longest = 0;
  for (const auto& each : ids) longest = std::max(longest, each.size());
  // Padding is token 0.
  const auto token = [&](std::size_t sequence, std::size_t i) -> std::int64_t {
    const auto& own = ids[sequence];
    const std::size_t padding = longest - own.size();
    return i < padding ? 0 : own[i - padding];
  };
  auto tokens = integers(*ports[ids_].type, ids.size(), longest, token);
  if (!tokens) return std::move(tokens).error();
  inputs[ids_] = *std::move(tokens);
  if (!positions_) return inputs;
  const auto place = [&](std::size_t sequence, std::size_t i) -> std::int64_t {
    const std::size_t padding = longest - ids[sequence].size();
    return i < padding ? -1 : position_of(sequence) + static_cast<std::int64_t>(i - padding);
  };
  auto places = integers(*ports[*positions_].type, ids.size(), longest, place);
  if (!places) return std::move(places).error();
  inputs[*positions_] = *std::move(places);
  return inputs;
}

std::optional<Tensor> Generator::logits_of(std::span<const std::span<const std::uint32_t>> ids,
                                           Diagnostics& diagnostics, const RunOptions& options) {
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
    const auto has_tokens = [](const auto& each) { return !each.empty(); };
    const auto first = std::ranges::find_if(ids, has_tokens);
    if (error != nullptr && std::ranges::count_if(ids, has_tokens) > 1) {
      error->message += fmt::format("; in run {}, of {} sequences", run, ids.size());
    } else if (error != nullptr) {
      const std::size_t count = first == ids.end() ? 0 : first->size();
      error->message +=
          fmt::format("; in run {}, {} token{} from position {}", run, count, count == 1 ? "" : "s",
                      position_of(static_cast<std::size_t>(first - ids.begin())));
    }
    return std::nullopt;
  }
  Tensor logits = (*outputs)[logits_];
  const Shape& shape = logits.shape();
  const bool has_rows = !shape.empty() && shape.back() > 0 && logits.elements() > 0 &&
                        is_float(logits.dtype()) &&
                        (ids.size() == 1 || shape[0] == std::ssize(ids));
  if (has_rows) return logits;
  diagnostics.error(diag::kNotGenerative, {},
                    ids.size() == 1
                        ? "the logits of the module have no row of floats"
                        : "the logits of the module have no row of floats for each sequence");
  return std::nullopt;
}

namespace {

/// Copies the last row of a sequence's logits.
void copy_last_row(const Tensor& logits, std::size_t sequence, std::size_t sequences,
                   std::span<float> row) {
  const std::int64_t of_one = logits.elements() / static_cast<std::int64_t>(sequences);
  const std::int64_t first =
      (static_cast<std::int64_t>(sequence) + 1) * of_one - static_cast<std::int64_t>(row.size());
  if (logits.dtype() == DType::kFloat32) {
    std::memcpy(row.data(), logits.as<float>().data() + first, row.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i] = static_cast<float>(element_as_double(logits, first + static_cast<std::int64_t>(i)));
}

}  // namespace

std::optional<std::span<const float>> Generator::run(std::span<const std::uint32_t> ids,
                                                     Diagnostics& diagnostics,
                                                     const RunOptions& options) {
  const auto logits = logits_of(std::span(&ids, 1), diagnostics, options);
  if (!logits) return std::nullopt;
  position_ += static_cast<std::int64_t>(ids.size());
  if (!positions_of_each_.empty()) positions_of_each_.front() = position_;
  row_.resize(static_cast<std::size_t>(logits->shape().back()));
  copy_last_row(*logits, 0, 1, row_);
  return std::span<const float>(row_);
}

std::optional<std::vector<std::span<const float>>> Generator::run_each(
    std::span<const std::span<const std::uint32_t>> ids, Diagnostics& diagnostics,
    const RunOptions& options) {
  positions_of_each_.resize(ids.size(), position_);
  const auto logits = logits_of(ids, diagnostics, options);
  if (!logits) return std::nullopt;
  const auto width = static_cast<std::size_t>(logits->shape().back());
  row_.resize(ids.size() * width);
  std::vector<std::span<const float>> rows;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    positions_of_each_[i] += static_cast<std::int64_t>(ids[i].size());
    const auto row = std::span(row_).subspan(i * width, width);
    copy_last_row(*logits, i, ids.size(), row);
    rows.push_back(row);
  }
  position_ = positions_of_each_.empty() ? 0 : positions_of_each_.front();
  return rows;
}

}  // namespace mir::generation
