// Types of weights for a budget of bytes or accuracy.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recipe_measurement.hpp"
#include "report_format.hpp"

namespace mir::tools {

/// Bounds of a recipe. Without any, no types are chosen.
struct RecipeBounds {
  std::optional<std::uint64_t> most_bytes{};  ///< of all layers
  std::optional<double> least_cosine{};
  std::optional<double> least_agreement{};

  bool has_accuracy() const { return least_cosine || least_agreement; }
  bool is_given() const { return most_bytes || has_accuracy(); }
};

/// A layer in one type, alone.
struct MeasuredType {
  DType dtype = DType::kFloat32;
  std::uint64_t bytes = 0;
  double noise_ratio = 0;  ///< signal to quantisation noise of the weights in dB; infinite if equal
  ResultChange results{};
  bool is_chosen = false;
};

struct MeasuredLayer {
  Layer layer;
  std::uint64_t bytes = 0;  ///< as the module states it
  std::vector<MeasuredType> types{};
};

struct RecipePlan {
  std::size_t runs = 1;  ///< that are compared
  std::vector<MeasuredLayer> layers;
  std::uint64_t bytes_before = 0;
  // With the chosen types together:
  Recipe recipe;
  std::string pipeline;  ///< empty: no layer changes
  std::uint64_t bytes_after = 0;
  ResultChange results;
};

/// Measures each type of each layer alone. Then chooses: the most accurate of the choices by size
/// that fits the bytes, or the smallest one that keeps the accuracy, which is measured for all of
/// its layers together. An error if there is none.
Result<RecipePlan> plan_recipe(const RecipeMeasurement& measurement, std::vector<Layer> layers,
                               const RecipeBounds& bounds,
                               const std::function<void(std::size_t, std::size_t)>& progress);

std::string render(const RecipePlan& plan, TableFormat format);

}  // namespace mir::tools
