// Searches for types of weights within a budget of bytes or accuracy, and reports them.
#include "recipe_plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "conversion.hpp"
#include "mir/codes/usage.hpp"
#include "recipe_choice.hpp"
#include "report.hpp"
#include "text_table.hpp"
#include "weights/statistics.hpp"

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
  const auto before = as_reals(original), after = as_reals(converted->tensor);
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
      std::vector<std::size_t>& types = types_.emplace_back();
      costs.push_back({each.bytes, 0});
      for (std::size_t i = 0; i < each.types.size(); ++i) {
        // A type whose outputs cannot be compared is not a choice.
        const Figure& cosine = each.types[i].results.cosine;
        if (!cosine.is_defined()) {
          if (left_out_.empty()) left_out_ = text_of_left_out(each, each.types[i]);
          continue;
        }
        costs.push_back({each.types[i].bytes, 1 - cosine.value});
        types.push_back(i);
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
    if (!results->cosine.is_defined()) {
      return Error{diag::kUsage,
                   fmt::format("the outputs with the chosen types cannot be compared: cosine {}",
                               render(results->cosine))};
    }
    plan_.results = *results;
    for (std::size_t i = 0; i < choice.size(); ++i) {
      if (choice[i] != 0) plan_.layers[i].types[type_of(i, choice)].is_chosen = true;
    }
    if (!plan_.recipe.empty()) plan_.pipeline = measurement_.pipeline(plan_.recipe);
    return {};
  }

 private:
  static std::string text_of_left_out(const MeasuredLayer& layer, const MeasuredType& type) {
    return fmt::format("; '{}' as {} is left out: cosine {}", layer.layer.name, name_of(type.dtype),
                       render(type.results.cosine));
  }

  /// The position of the type among those of a layer that changes.
  std::size_t type_of(std::size_t layer, const TypeChoice& choice) const {
    return types_[layer][choice[layer] - 1];
  }

  Recipe recipe_of(const TypeChoice& choice) const {
    Recipe recipe;
    for (std::size_t i = 0; i < choice.size(); ++i) {
      if (choice[i] == 0) continue;
      recipe.emplace(plan_.layers[i].layer.name, plan_.layers[i].types[type_of(i, choice)].dtype);
    }
    return recipe;
  }

  Result<std::size_t> position() const {
    if (!bounds_.is_given()) return std::size_t{0};
    std::size_t first = 0;
    while (bounds_.most_bytes && tools::bytes_of(costs_, choices_[first]) > *bounds_.most_bytes) {
      if (++first == choices_.size()) {
        return Error{
            diag::kUsage,
            fmt::format("no choice of these types has {} bytes or fewer; the smallest one "
                        "has {}{}",
                        *bounds_.most_bytes, tools::bytes_of(costs_, choices_.back()), left_out_)};
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
      return Error{diag::kUsage,
                   "no choice of these types within the bytes is accurate enough" + left_out_};
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
    return results->cosine.is_at_least(bounds_.least_cosine.value_or(-1)) &&
           (!bounds_.least_agreement || results->agreement.is_at_least(*bounds_.least_agreement));
  }

  const RecipeMeasurement& measurement_;
  const RecipeBounds& bounds_;
  RecipePlan& plan_;
  std::vector<LayerCosts> costs_;
  std::vector<std::vector<std::size_t>> types_;  // positions of those with costs, by layer
  std::vector<TypeChoice> choices_;
  std::string left_out_;  // about the first type without a cost; empty if there is none
};

// -- reports --------------------------------------------------------------------------------------

/// A column of the table and of CSV; means are only in tables of several runs.
struct RecipeColumn {
  std::string_view head, column;
  char alignment;
  std::string (*cell)(const MeasuredLayer& layer, const MeasuredType& type);
  bool is_mean = false;
};

std::string cell_of(const Figure& figure, int digits) {
  return figure.is_defined() ? fmt::format("{:.{}f}", figure.value, digits) : "undefined";
}

constexpr RecipeColumn kRecipeColumns[] = {
    {"layer", "layer", 'l', [](auto& layer, auto&) { return layer.layer.name; }},
    {"extents", "extents", 'l', [](auto& layer, auto&) { return extents_text(layer.layer.shape); }},
    {"type", "type", 'l', [](auto&, auto& type) { return std::string(name_of(type.dtype)); }},
    {"bytes", "bytes", 'r', [](auto&, auto& type) { return fmt::to_string(type.bytes); }},
    {"SQNR", "sqnr", 'r',
     [](auto&, auto& type) { return fmt::format("{:.2f}", type.noise_ratio); }},
    {"cosine", "cosine", 'r', [](auto&, auto& type) { return cell_of(type.results.cosine, 6); }},
    {"mean", "mean_cosine", 'r',
     [](auto&, auto& type) { return cell_of(type.results.mean_cosine, 6); }, true},
    {"top-1", "top1", 'r', [](auto&, auto& type) { return cell_of(type.results.agreement, 4); }},
    {"mean", "mean_top1", 'r',
     [](auto&, auto& type) { return cell_of(type.results.mean_agreement, 4); }, true},
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
  text += fmt::format("{} of {} layers change: {} bytes before, {} after; cosine {}, top-1 {}",
                      plan.recipe.size(), plan.layers.size(), plan.bytes_before, plan.bytes_after,
                      cell_of(plan.results.cosine, 6), cell_of(plan.results.agreement, 4));
  if (has_means) {
    text +=
        fmt::format("; in the mean of {} runs {}, {}", plan.runs,
                    cell_of(plan.results.mean_cosine, 6), cell_of(plan.results.mean_agreement, 4));
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

nlohmann::ordered_json number_or_null(const Figure& figure) {
  return figure.is_defined() ? nlohmann::ordered_json(figure.value) : nlohmann::ordered_json();
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
                       {"cosine", number_or_null(type.results.cosine)},
                       {"mean_cosine", number_or_null(type.results.mean_cosine)},
                       {"top1", number_or_null(type.results.agreement)},
                       {"mean_top1", number_or_null(type.results.mean_agreement)},
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
                         {"cosine", number_or_null(plan.results.cosine)},
                         {"mean_cosine", number_or_null(plan.results.mean_cosine)},
                         {"top1", number_or_null(plan.results.agreement)},
                         {"mean_top1", number_or_null(plan.results.mean_agreement)},
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
