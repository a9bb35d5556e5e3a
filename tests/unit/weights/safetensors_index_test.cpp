#include <doctest/doctest.h>

#include "mir/codes/files.hpp"
#include "mir/codes/weights.hpp"
#include "mir/weights.hpp"
#include "temporary.hpp"
#include "weights/formats/safetensors.hpp"
#include "weights/tensor_file.hpp"

using namespace mir;
using namespace mir::test;

namespace {

/// A folder with two shards, `a.safetensors` (x) and `b.safetensors` (y and z).
class Model {
 public:
  Model() {
    const auto one = tensor_of<float>(DType::kFloat32, {2}, {1, 2});
    REQUIRE(
        write_safetensors(directory.file("a.safetensors"), std::vector<NamedTensor>{{"x", one}}));
    REQUIRE(write_safetensors(directory.file("b.safetensors"),
                              std::vector<NamedTensor>{{"y", one}, {"z", one}}));
  }
  Result<TensorFile> open(std::string_view map) const {
    return open_text("{\"metadata\": {\"total_size\": 24, \"a\": [{}]}, \"weight_map\": " +
                     std::string(map) + "}");
  }
  Result<TensorFile> open_text(std::string_view text) const {
    return TensorFile::open(directory.write("model.safetensors.index.json", text));
  }

  TemporaryDirectory directory;
};

constexpr const char* kGoodIndex =
    R"({"x": "a.safetensors", "y": "b.safetensors", "z": "b.safetensors"})";

}  // namespace

TEST_CASE("an index opens as the tensors of its files") {
  const Model model;
  const auto file = model.open(kGoodIndex);
  REQUIRE(file);
  CHECK(file->names() == std::vector<std::string>{"x", "y", "z"});
  CHECK(file->contains("z"));
  CHECK_FALSE(file->contains("a.safetensors"));
  CHECK(values_of<float>(**file->find("y")) == std::vector<float>{1, 2});
  CHECK_FALSE(file->find("w")->has_value());
  CHECK(file->tensors()->size() == 3);
  const auto source = WeightSource::open(model.directory.file("model.safetensors.index.json"));
  REQUIRE(source);
  CHECK(source->find({.name = "x", .shape = {2}})->has_value());
}

TEST_CASE("an index that does not agree with its files is refused") {
  const Model model;
  for (const char* map : {
           R"({"x": "a.safetensors", "y": "b.safetensors"})",
           R"({"x": "a.safetensors", "y": "b.safetensors", "z": "a.safetensors"})",
           R"({"x": "a.safetensors", "w": "a.safetensors"})",
           R"({"x": "b.safetensors", "y": "b.safetensors", "z": "b.safetensors"})",
       }) {
    CAPTURE(std::string(map));
    const auto file = model.open(map);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == diag::kSafetensorsMalformed);
  }
  CHECK(model.open(R"({"x": "none.safetensors"})").error().code == diag::kFileNotReadable);
}

TEST_CASE("an index names files beside it alone") {
  const Model model;
  std::filesystem::create_symlink("a.safetensors", model.directory.file("link.safetensors"));
  CHECK(model.open(R"({"x": "link.safetensors"})").error().code == diag::kFileNotReadable);
  for (const char* name : {"", ".", "..", "../a.safetensors", "./a.safetensors", "/etc/passwd",
                           "d/a.safetensors", "d\\\\a", ".a", "C:a", "a\\u0000b", "a\\nb"}) {
    CAPTURE(std::string(name));
    const auto file = model.open("{\"x\": \"" + std::string(name) + "\"}");
    REQUIRE_FALSE(file);
    CHECK(file.error().code == diag::kSafetensorsMalformed);
  }
}

TEST_CASE("an index of another form is refused") {
  const Model model;
  std::string deep = "{\"metadata\": ";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  for (const std::string& text :
       {std::string("{"), std::string("{}"), std::string("{\"weight_map\": []}"),
        std::string("{\"weight_map\": 1}"), std::string("{\"weight_map\": {\"x\": 1}}"),
        std::string("{\"weight_map\": {\"x\": [\"a\"]}}"),
        std::string("{\"weight_map\": {\"x\": {}}}"),
        std::string("{\"weight_map\": {}, \"weight_map\": {}}"),
        std::string("{\"weight_map\": {\"x\": \"a.safetensors\", \"x\": \"a.safetensors\"}}"),
        std::string("{\"weight_map\": {\"\": \"a.safetensors\"}}"),
        std::string("{\"weight_map\": {}} {}"), std::string("{\"weight_map\": {\"\xFF\": \"a\"}}"),
        std::string("{\"weight_map\": {}}\0", 19), deep}) {
    CAPTURE(text.substr(0, 60));
    const auto file = model.open_text(text);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == diag::kSafetensorsMalformed);
  }
}
