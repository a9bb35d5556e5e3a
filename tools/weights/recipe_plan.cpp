// Searches for types of weights within a budget of bytes or accuracy, and reports them.
#include "recipe_plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "conversion.hpp"
#include "reals.hpp"
#include "recipe_choice.hpp"
#include "report.hpp"
#include "text_table.hpp"

namespace mir::tools {

namespace {

std::uint64_t bytes_of(const Layer& layer, DType dtype) {
  const auto bytes = tensor_bytes(dtype, layer.shape);
  return bytes ? *bytes : 0;
}

/// Signal to noise in dB of a layer in another type.
Result<double> noise_ratio(const Tensor& original, DType dtype) {
  const auto converted = convert_values(original, dtype);
  if (!converted) return converted.error();
  const auto before = as_reals(original), after = as_reals(*converted);
  if (!before) return before.error();
  if (!after) return after.error();
  const double relative = accuracy(**before, **after).relative;
  return relative == 0 ? std::numeric_limits<double>::infinity() : -20 * std::log10(relative);
}

class Planning {
 public:
  Planning(const RecipeMeasurement& measurement, const RecipeBounds& bounds, RecipePlan& plan)
      : measurement_(measurement), bounds_(bounds), plan_(plan) {}

  Result<void> choose() {
    for (const MeasuredLayer& each : plan_.layers) {
      LayerCosts& costs = costs_.emplace_back();
      costs.push_back({each.bytes, 0});
      for (const MeasuredType& type : each.types) {
        costs.push_back({type.bytes, 1 - type.results.cosine});
      }
    }
    choices_ = choices_by_size(costs_);
    auto chosen = position();
    if (!chosen) return std::move(chosen).error();
    const TypeChoice& choice = choices_[*chosen];
    plan_.recipe = recipe_of(choice);
    plan_.bytes_after = tools::bytes_of(costs_, choice);
    auto results = measurement_.measure(plan_.recipe);
    if (!results) return std::move(results).error();
    plan_.results = *results;
    for (std::size_t i = 0; i < choice.size(); ++i) {
      if (choice[i] != 0) plan_.layers[i].types[choice[i] - 1].is_chosen = true;
    }
    if (!plan_.recipe.empty()) plan_.pipeline = measurement_.pipeline(plan_.recipe);
    return {};
  }

 private:
  Recipe recipe_of(const TypeChoice& choice) const {
    Recipe recipe;
    for (std::size_t i = 0; i < choice.size(); ++i) {
      if (choice[i] == 0) continue;
      recipe.emplace(plan_.layers[i].layer.name, plan_.layers[i].types[choice[i] - 1].dtype);
    }
    return recipe;
  }

  Result<std::size_t> position() const {
    if (!bounds_.is_given()) return std::size_t{0};
    std::size_t first = 0;
    while (bounds_.most_bytes && tools::bytes_of(costs_, choices_[first]) > *bounds_.most_bytes) {
      if (++first == choices_.size()) {
        return Error{DiagCode::kUsage,
                     fmt::format("no choice of these types has {} bytes or fewer; the smallest one "
                                 "has {}",
                                 *bounds_.most_bytes, tools::bytes_of(costs_, choices_.back()))};
      }
    }
    if (!bounds_.has_accuracy()) return first;
    return last_accurate(first);
  }

  /// Returns the last accurate choice from `first` on, found by bisection under the assumption that
  /// accuracy decreases. The returned choice has been measured.
  Result<std::size_t> last_accurate(std::size_t first) const {
    auto is_good = is_accurate(first);
    if (!is_good) return std::move(is_good).error();
    if (!*is_good) {
      return Error{DiagCode::kUsage,
                   "no choice of these types within the bytes is accurate enough"};
    }
    std::size_t good = first, bad = choices_.size();
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      is_good = is_accurate(middle);
      if (!is_good) return std::move(is_good).error();
      (*is_good ? good : bad) = middle;
    }
    return good;
  }

  Result<bool> is_accurate(std::size_t position) const {
    const auto results = measurement_.measure(recipe_of(choices_[position]));
    if (!results) return results.error();
    return results->cosine >= bounds_.least_cosine.value_or(-1) &&
           results->agreement >= bounds_.least_agreement.value_or(0);
  }

  const RecipeMeasurement& measurement_;
  const RecipeBounds& bounds_;
  RecipePlan& plan_;
  std::vector<LayerCosts> costs_;
  std::vector<TypeChoice> choices_;
};

// -- reports --------------------------------------------------------------------------------------

/// A column of the table and of CSV; means are only in tables of several runs.
struct RecipeColumn {
  std::string_view head, column;
  char alignment;
  std::string (*cell)(const MeasuredLayer& layer, const MeasuredType& type);
  bool is_mean = false;
};

constexpr RecipeColumn kRecipeColumns[] = {
    {"layer", "layer", 'l', [](auto& layer, auto&) { return layer.layer.name; }},
    {"extents", "extents", 'l', [](auto& layer, auto&) { return extents_text(layer.layer.shape); }},
    {"type", "type", 'l', [](auto&, auto& type) { return std::string(name_of(type.dtype)); }},
    {"bytes", "bytes", 'r', [](auto&, auto& type) { return fmt::to_string(type.bytes); }},
    {"SQNR", "sqnr", 'r',
     [](auto&, auto& type) { return fmt::format("{:.2f}", type.noise_ratio); }},
    {"cosine", "cosine", 'r',
     [](auto&, auto& type) { return fmt::format("{:.6f}", type.results.cosine); }},
    {"mean", "mean_cosine", 'r',
     [](auto&, auto& type) { return fmt::format("{:.6f}", type.results.mean_cosine); }, true},
    {"top-1", "top1", 'r',
     [](auto&, auto& type) { return fmt::format("{:.4f}", type.results.agreement); }},
    {"mean", "mean_top1", 'r',
     [](auto&, auto& type) { return fmt::format("{:.4f}", type.results.mean_agreement); }, true},
    {"chosen", "chosen", 'l',
     [](auto&, auto& type) { return std::string(type.is_chosen ? "yes" : "no"); }},
};

/// Cells of a line for each type of each layer.
std::vector<std::vector<std::string>> lines_of(const RecipePlan& plan, bool has_means) {
  std::vector<std::vector<std::string>> lines;
  for (const MeasuredLayer& each : plan.layers) {
    for (const MeasuredType& type : each.types) {
      lines.emplace_back();
      for (const RecipeColumn& column : kRecipeColumns) {
        if (has_means || !column.is_mean) lines.back().push_back(column.cell(each, type));
      }
    }
  }
  return lines;
}

std::string table_of(const RecipePlan& plan) {
  const bool has_means = plan.runs > 1;
  std::string alignments;
  std::vector<std::string> heads;
  for (const RecipeColumn& column : kRecipeColumns) {
    if (!has_means && column.is_mean) continue;
    alignments += column.alignment;
    heads.emplace_back(column.head);
  }
  TextTable table(alignments);
  table.add(std::move(heads));
  for (auto& line : lines_of(plan, has_means)) table.add(std::move(line));
  std::string text = table.render("");
  if (plan.recipe.empty()) {
    return text + fmt::format("{} bytes in {} layers; no type is chosen\n", plan.bytes_before,
                              plan.layers.size());
  }
  text +=
      fmt::format("{} of {} layers change: {} bytes before, {} after; cosine {:.6f}, top-1 {:.4f}",
                  plan.recipe.size(), plan.layers.size(), plan.bytes_before, plan.bytes_after,
                  plan.results.cosine, plan.results.agreement);
  if (has_means) {
    text += fmt::format("; in the mean of {} runs {:.6f}, {:.4f}", plan.runs,
                        plan.results.mean_cosine, plan.results.mean_agreement);
  }
  return text + '\n';
}

/// In quotes, where a cell needs them.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_of(const RecipePlan& plan) {
  std::string text;
  const auto add = [&](const auto& cells) {
    std::string line;
    for (const auto& cell : cells) {
      if (!line.empty()) line += ',';
      line += csv_cell(std::string(cell));
    }
    text += line + '\n';
  };
  std::vector<std::string_view> columns;
  for (const RecipeColumn& each : kRecipeColumns) columns.push_back(each.column);
  add(columns);
  for (const auto& line : lines_of(plan, true)) add(line);
  return text;
}

nlohmann::ordered_json number_or_null(double number) {
  return std::isfinite(number) ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
}

std::string json_of(const RecipePlan& plan) {
  using Json = nlohmann::ordered_json;
  Json layers = Json::array();
  for (const MeasuredLayer& each : plan.layers) {
    Json types = Json::array();
    for (const MeasuredType& type : each.types) {
      types.push_back({{"type", name_of(type.dtype)},
                       {"bytes", type.bytes},
                       {"sqnr", number_or_null(type.noise_ratio)},
                       {"cosine", type.results.cosine},
                       {"mean_cosine", type.results.mean_cosine},
                       {"top1", type.results.agreement},
                       {"mean_top1", type.results.mean_agreement},
                       {"chosen", type.is_chosen}});
    }
    layers.push_back({{"name", each.layer.name},
                      {"extents", each.layer.shape},
                      {"type", name_of(each.layer.dtype)},
                      {"bytes", each.bytes},
                      {"types", std::move(types)}});
  }
  const Json document = {{"version", 1},
                         {"layers", std::move(layers)},
                         {"bytes_before", plan.bytes_before},
                         {"bytes_after", plan.bytes_after},
                         {"runs", plan.runs},
                         {"cosine", plan.results.cosine},
                         {"mean_cosine", plan.results.mean_cosine},
                         {"top1", plan.results.agreement},
                         {"mean_top1", plan.results.mean_agreement},
                         {"recipe", plan.pipeline}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

Result<RecipePlan> plan_recipe(const RecipeMeasurement& measurement, std::vector<Layer> layers,
                               const RecipeBounds& bounds,
                               const std::function<void(std::size_t, std::size_t)>& progress) {
  RecipePlan plan;
  plan.runs = measurement.run_count();
  std::size_t done = 0;
  for (Layer& layer : layers) {
    auto tensor = measurement.original(layer);
    if (!tensor) return std::move(tensor).error();
    MeasuredLayer measured{.layer = layer, .bytes = bytes_of(layer, layer.dtype)};
    for (const DType dtype : layer.types) {
      auto ratio = noise_ratio(*tensor, dtype);
      if (!ratio) return std::move(ratio).error();
      auto results = measurement.measure({{layer.name, dtype}});
      if (!results) return std::move(results).error();
      measured.types.push_back({dtype, bytes_of(layer, dtype), *ratio, *results});
    }
    plan.bytes_before += measured.bytes;
    plan.layers.push_back(std::move(measured));
    if (progress) progress(++done, layers.size());
  }
  plan.bytes_after = plan.bytes_before;
  if (auto chosen = Planning(measurement, bounds, plan).choose(); !chosen) {
    return std::move(chosen).error();
  }
  return plan;
}

std::string render(const RecipePlan& plan, TableFormat format) {
  switch (format) {
    case TableFormat::kTable:
      return table_of(plan);
    case TableFormat::kCsv:
      return csv_of(plan);
    case TableFormat::kJson:
      return json_of(plan);
  }
  return {};
}

}  // namespace mir::tools
