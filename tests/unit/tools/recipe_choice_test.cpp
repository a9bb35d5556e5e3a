#include "tools/weights/recipe_choice.hpp"

#include <doctest/doctest.h>

using namespace mir::tools;

TEST_CASE("choices go from the types of the layers to the smallest ones, cheapest steps first") {
  // The second layer is sensitive; its 4-bit type costs more per byte than all others.
  const std::vector<LayerCosts> layers = {{{400, 0}, {100, 0.001}, {50, 0.002}},
                                          {{400, 0}, {100, 0.01}, {50, 0.5}}};
  const auto choices = choices_by_size(layers);
  CHECK(choices == std::vector<TypeChoice>{{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}});
  std::vector<std::uint64_t> bytes;
  for (const TypeChoice& each : choices) bytes.push_back(bytes_of(layers, each));
  CHECK(bytes == std::vector<std::uint64_t>{800, 500, 450, 150, 100});
}

TEST_CASE("a smaller type that loses nothing is chosen at once") {
  const std::vector<LayerCosts> layers = {{{400, 0}, {100, 0}, {50, 0}}, {{40, 0}, {10, -0.1}}};
  CHECK(choices_by_size(layers) == std::vector<TypeChoice>{{0, 0}, {0, 1}, {2, 1}});
}

TEST_CASE("layers without smaller types stay") {
  CHECK(choices_by_size(std::vector<LayerCosts>{}) == std::vector<TypeChoice>{{}});
  CHECK(choices_by_size(std::vector<LayerCosts>{{{10, 0}, {20, 0.1}, {10, 0}}}) ==
        std::vector<TypeChoice>{{0}});
}
