#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/print.hpp"
#include "mir/session.hpp"
#include "mir/verify.hpp"
#include "mir/weights.hpp"
#include "support/file_io.hpp"
#include "tools/generate/qwen2_decoder.hpp"
#include "weights/formats/npy.hpp"
#include "weights/formats/safetensors.hpp"

namespace mir::generate {
namespace {

const std::string kFolder = "testdata/examples/qwen2_tiny/";

/// A context with one decoder in it.
struct Built {
  explicit Built(const DecoderShape& shape = {}) {
    register_builtin_dialects(context);
    module = build_qwen2_decoder(context, shape, diagnostics);
    REQUIRE(module != nullptr);
  }
  IRContext context;
  Diagnostics diagnostics;
  Module* module;
};

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
  TEST_CASE("the bundled module is what the generator makes") {
    const Built built;
    const auto text = read_file(kFolder + "model.mir", SourceManager::kMaxFileSize);
    REQUIRE(text);
    CHECK(print(*built.module) == *text);
  }

  TEST_CASE("the bundled weights are what the generator makes from seed 1") {
    const Built built;
    const auto source = WeightSource::open("random:1");
    const auto made = decoder_weights(*built.module, {}, *source);
    const auto file = SafetensorsFile::open(kFolder + "model.safetensors");
    REQUIRE(made);
    REQUIRE(file);
    CHECK(file->tensors().entries().size() == made->size());
    for (const NamedTensor& weight : *made) {
      CAPTURE(weight.name);
      const auto stored = file->tensors().find(weight.name);
      REQUIRE(stored);
      REQUIRE(stored->has_value());
      CHECK((*stored)->shape() == weight.tensor.shape());
      CHECK(std::ranges::equal((*stored)->bytes(), weight.tensor.bytes()));
    }
  }

  TEST_CASE("decoders of many shapes verify and read back as they print") {
    const DecoderShape shapes[] = {
        {},
        {.layers = 1, .heads = 1, .kv_heads = 1, .head_dim = 2, .ffn = 1, .vocab = 1},
        {.hidden = 48, .heads = 6, .kv_heads = 6, .head_dim = 4},
        {.hidden = 10, .heads = 4, .kv_heads = 1, .head_dim = 6},
        {.layers = 24, .hidden = 896, .heads = 14, .head_dim = 64, .ffn = 4864, .vocab = 32000},
    };
    for (const DecoderShape& shape : shapes) {
      CAPTURE(shape.layers);
      CAPTURE(shape.heads);
      REQUIRE_FALSE(problem_with(shape).has_value());
      Built built(shape);
      CHECK(verify(*built.module, built.diagnostics));
      const std::string text = print(*built.module);
      IRContext context;
      register_builtin_dialects(context);
      Diagnostics diagnostics;
      const auto modules = read_modules(*context.sources().add("text", text), context, diagnostics);
      REQUIRE(modules.size() == 1);
      CHECK_FALSE(diagnostics.has_errors());
      CHECK(verify(*modules[0], diagnostics));
      CHECK(print(*modules[0]) == text);
    }
  }

  TEST_CASE("shapes that no decoder has are named") {
    const std::pair<DecoderShape, std::string_view> cases[] = {
        {{.layers = 0}, "layers is 0, expected 1 to 1000"},
        {{.hidden = -1}, "hidden is -1, expected 1 to 16777216"},
        {{.vocab = std::int64_t{1} << 40}, "vocab is 1099511627776, expected 1 to 16777216"},
        {{.heads = 4, .kv_heads = 3}, "3 kv-heads do not divide 4 heads"},
        {{.head_dim = 15}, "head-dim is 15, expected an even number"},
        {{.heads = 1 << 20, .kv_heads = 1, .head_dim = 32}, "1048576 heads of 32 exceed 16777216"},
        {{.rope_theta = 1}, "rope-theta is 1, expected a number above 1"},
        {{.rms_epsilon = std::nan("")}, "rms-epsilon is nan, expected a number of at least 0"},
    };
    for (const auto& [shape, problem] : cases) {
      const auto found = problem_with(shape);
      REQUIRE(found.has_value());
      CHECK(*found == problem);
    }
  }

  TEST_CASE("rotary tables are sines and cosines of position times frequency") {
    const DecoderShape shape;
    const auto sin = rope_table(RopeTable::kSin, shape);
    const auto cos = rope_table(RopeTable::kCos, shape);
    REQUIRE(sin);
    REQUIRE(cos);
    REQUIRE(sin->shape() == Shape{64, 16});
    for (std::size_t p = 0; p < 64; ++p) {
      for (std::size_t column = 0; column < 16; ++column) {
        const double pair = static_cast<double>(column % 8);
        const double angle = static_cast<double>(p) * std::pow(1e6, -2 * pair / 16);
        CAPTURE(p);
        CAPTURE(column);
        CHECK(std::abs(sin->as<float>()[p * 16 + column] - std::sin(angle)) < 0x1.0001p-25);
        CHECK(std::abs(cos->as<float>()[p * 16 + column] - std::cos(angle)) < 0x1.0001p-25);
      }
    }
  }

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

}  // namespace mir::generate
