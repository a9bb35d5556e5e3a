#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/session.hpp"
#include "mir/verify.hpp"
#include "mir/weights.hpp"
#include "support/file_io.hpp"
#include "weights/formats/npy.hpp"

namespace mir {
namespace {

const std::string kFolder = "testdata/examples/qwen2_tiny/";

/// The bundled module as a session reads it, with the bundled weights.
struct Bundled {
  Bundled() {
    register_builtin_dialects(context);
    auto text = read_file(kFolder + "model.mir", SourceManager::kMaxFileSize);
    REQUIRE(text);
    const auto modules =
        read_modules(*context.sources().add("model.mir", *std::move(text)), context, diagnostics);
    REQUIRE(modules.size() == 1);
    REQUIRE(verify(*modules[0], diagnostics));
    REQUIRE(weights.add(kFolder + "model.safetensors"));
    session = Session::create(*modules[0], {.entry = {}, .weights = &weights}, diagnostics);
    REQUIRE(session.has_value());
  }

  Tensor run(const Tensor& ids, const Tensor& positions) {
    const Tensor inputs[] = {ids, positions};
    const auto outputs = session->run(inputs, diagnostics);
    REQUIRE(outputs.has_value());
    REQUIRE(outputs->size() == 1);
    return outputs->front();
  }

  IRContext context;
  Diagnostics diagnostics;
  WeightSet weights;
  std::optional<Session> session;
};

Tensor load(const std::string& name) {
  auto tensor = read_npy(kFolder + name);
  REQUIRE(tensor);
  return *tensor;
}

/// Elements [first, first + count) of a [1, N] tensor.
Tensor part(const Tensor& row, std::size_t first, std::size_t count) {
  auto out = Tensor::allocate(DType::kInt64, {1, static_cast<std::int64_t>(count)});
  REQUIRE(out);
  std::ranges::copy(row.as<std::int64_t>().subspan(first, count),
                    out->as_mutable<std::int64_t>().begin());
  return *out;
}

std::vector<float> values_of(const Tensor& tensor) {
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

}  // namespace

TEST_SUITE("decoder") {
  TEST_CASE("logits agree with an independent evaluation in float64") {
    Bundled bundled;
    const Tensor logits = bundled.run(load("ids.npy"), load("positions.npy"));
    const auto comparison =
        compare_tensors(load("expected_logits.npy"), logits, {.abs = 1e-6, .rel = 0});
    REQUIRE(comparison);
    CHECK_MESSAGE(comparison->passed(), render(*comparison));
    CHECK(bundled.session->cache_length("cache.layers.1") == 10);
  }

  TEST_CASE("steps of any length give the logits of the whole prompt, bit for bit") {
    Bundled bundled;
    const Tensor ids = load("ids.npy"), positions = load("positions.npy");
    const std::vector<float> whole = values_of(bundled.run(ids, positions));
    for (const std::size_t step : {1u, 3u}) {
      CAPTURE(step);
      bundled.session->reset();
      std::vector<float> joined;
      for (std::size_t at = 0; at < 10; at += step) {
        const std::size_t count = std::min<std::size_t>(step, 10 - at);
        const auto logits =
            values_of(bundled.run(part(ids, at, count), part(positions, at, count)));
        joined.insert(joined.end(), logits.begin(), logits.end());
      }
      CHECK(joined == whole);
    }
  }
}

}  // namespace mir
