#include "weights/tensor_spec.hpp"

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include "mir/codes/files.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/weights.hpp"
#include "temporary.hpp"
#include "weights/elements.hpp"
#include "weights/formats/npy.hpp"
#include "weights/formats/npz.hpp"
#include "weights/random.hpp"

using namespace mir;
using namespace mir::test;

namespace tensor_spec_test {

using Kind = TensorSpec::Kind;

namespace {

Result<Tensor> load(std::string_view text, const DeclaredTensor& declared) {
  const auto spec = parse_tensor_spec(text);
  if (!spec) return spec.error();
  return load_tensor(*spec, declared);
}

DeclaredTensor declared(DType dtype, std::optional<Shape> shape) {
  return {.name = "x", .dtype = dtype, .shape = std::move(shape), .bound = {}};
}

const Tensor kRamp = tensor_of<std::int32_t>(DType::kInt32, {2, 2}, {1, 2, 3, 4});

}  // namespace

TEST_CASE("tensor arguments are told apart") {
  struct Case {
    std::string text;
    std::string target;
    Kind kind;
    std::string path = "";
    std::string member = "";
    std::string values = "";
  };
  const Case cases[] = {
      {"a.npy", "", Kind::kNpy, "a.npy"},
      {"input_ids=d/a.npy", "input_ids", Kind::kNpy, "d/a.npy"},
      {"./a=b.npy", "", Kind::kNpy, "./a=b.npy"},
      {"x=a=b.npy", "x", Kind::kNpy, "a=b.npy"},
      {"%12=z.npz:layer.0", "%12", Kind::kNpzMember, "z.npz", "layer.0"},
      {"x=d/a.raw", "x", Kind::kRaw, "d/a.raw"},
      {"a.bin:Float32[1, 16]", "", Kind::kRaw, "a.bin"},
      {"0=[[1, 2]]", "0", Kind::kInline, "", "", "[[1, 2]]"},
      {"-1.5e3", "", Kind::kInline, "", "", "-1.5e3"},
      {"flag=true", "flag", Kind::kInline, "", "", "true"},
      {"random:7", "", Kind::kRandom},
      {"model.x=zeros", "model.x", Kind::kZeros},
      {"iota", "", Kind::kIota},
  };
  for (const auto& test : cases) {
    CAPTURE(test.text);
    const auto spec = parse_tensor_spec(test.text);
    REQUIRE(spec);
    CHECK(spec->target == test.target);
    CHECK(spec->kind == test.kind);
    CHECK(spec->path == test.path);
    CHECK(spec->member == test.member);
    CHECK(spec->values == test.values);
  }
  CHECK(parse_tensor_spec("random:18446744073709551615")->seed == ~0ull);
}

TEST_CASE("tensor arguments of no known form are refused") {
  for (const std::string text : {"", "=", "=zeros", "x=", "a.npz", "a.npz:", "a.txt",
                                 "random:", "random:x", "random:-1", "zero", "1 2"}) {
    CAPTURE(text);
    const auto spec = parse_tensor_spec(text);
    REQUIRE_FALSE(spec);
    CHECK(spec.error().code == diag::kTensorSpecInvalid);
  }
}

TEST_CASE("values take the declared type and shape") {
  const auto tensor = load("[[1, 2], [3, 4]]", declared(DType::kInt32, Shape{2, 2}));
  REQUIRE(tensor);
  CHECK(bytes_of(*tensor) == bytes_of(kRamp));
  const auto flat = load("[1,2,3,4]", declared(DType::kInt32, Shape{2, 2}));
  REQUIRE(flat);
  CHECK(flat->shape() == Shape{2, 2});
  const auto scalar = load("true", declared(DType::kBool, Shape{}));
  REQUIRE(scalar);
  CHECK(scalar->bytes()[0] == std::byte{1});
}

TEST_CASE("unknown extents come from the nesting of the values") {
  const auto open = load("[[1, 2, 3]]", declared(DType::kFloat32, Shape{1, kUnknownExtent}));
  REQUIRE(open);
  CHECK(open->shape() == Shape{1, 3});
  CHECK(load("[[], []]", declared(DType::kFloat32, std::nullopt))->shape() == Shape{2, 0});
  const auto wrong = load("[1, 2, 3]", declared(DType::kFloat32, Shape{1, kUnknownExtent}));
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == diag::kTensorTypeConflict);
}

TEST_CASE("lists that are no tensors are refused") {
  const std::string deep(100'000, '[');
  for (const std::string text :
       {"[1, [2]]", "[[1], 2]", "[[1, 2], [3]]", "[[], [1]]", "[[], [[]]]", "[1", "[1]]", "[1,]",
        "[,1]", "[1 2]", "[", "[1], [2]", deep.c_str()}) {
    CAPTURE(text.substr(0, 40));
    const auto tensor = load(text, declared(DType::kInt32, std::nullopt));
    REQUIRE_FALSE(tensor);
    CHECK(tensor.error().code == diag::kTensorSpecInvalid);
  }
  CHECK(load("[1, 300]", declared(DType::kUInt8, Shape{2})).error().code ==
        diag::kElementOutOfRange);
  CHECK(load("[1, x]", declared(DType::kUInt8, Shape{2})).error().code == diag::kElementOutOfRange);
  CHECK(load("[1]", declared(DType::kGgufQ4K, Shape{1})).error().code ==
        diag::kTensorDtypeUnsupported);
  CHECK(load("[1, 2]", declared(DType::kUInt8, Shape{3})).error().code ==
        diag::kTensorTypeConflict);
}

TEST_CASE("a file keeps its type and a declared one must agree") {
  const TemporaryDirectory directory;
  const auto npy = directory.file("x.npy");
  const auto npz = directory.file("x.npz");
  const NamedTensor members[] = {{"m", kRamp}};
  REQUIRE(write_npy(npy, kRamp));
  REQUIRE(write_npz(npz, members));
  for (const auto& text : {"a=" + npy, npz + ":m"}) {
    CAPTURE(text);
    CHECK(bytes_of(*load(text, declared(DType::kInt32, Shape{2, 2}))) == bytes_of(kRamp));
    CHECK(load(text, declared(DType::kInt32, Shape{kUnknownExtent, 2})));
    CHECK(load(text, declared(DType::kInt32, std::nullopt)));
    for (const auto& wrong :
         {declared(DType::kUInt32, Shape{2, 2}), declared(DType::kInt32, Shape{4}),
          declared(DType::kInt32, Shape{kUnknownExtent, 3})})
      CHECK(load(text, wrong).error().code == diag::kTensorTypeConflict);
  }
  CHECK(load(npz + ":n", declared(DType::kInt32, std::nullopt)).error().code ==
        diag::kTensorNotFound);
  CHECK(load(directory.file("none.npy"), declared(DType::kInt32, std::nullopt)).error().code ==
        diag::kFileNotReadable);
}

TEST_CASE("types that NPY lacks take codes, or numbers that they hold exactly") {
  const TemporaryDirectory directory;
  const auto load_as = [&](const Tensor& stored, DType dtype) {
    const auto npy = directory.file("x.npy");
    REQUIRE(write_npy(npy, stored));
    return load(npy, declared(dtype, stored.shape()));
  };
  const auto codes = tensor_of<std::uint16_t>(DType::kUInt16, {2}, {0x3F80, 0xC000});
  const auto brain = load_as(codes, DType::kBFloat16);
  REQUIRE(brain);
  CHECK(brain->dtype() == DType::kBFloat16);
  CHECK(bytes_of(*brain) == bytes_of(codes));
  const auto numbers = tensor_of<float>(DType::kFloat32, {2}, {1, -2});
  CHECK(bytes_of(*load_as(numbers, DType::kBFloat16)) == bytes_of(codes));
  CHECK(bytes_of(*load_as(numbers, DType::kFloat8E4M3)) == "\x38\xC0");
  CHECK(bytes_of(*load_as(tensor_of<double>(DType::kFloat64, {2}, {1, -2}), DType::kFloat8E5M2)) ==
        "\x3C\xC0");
  const auto inexact = load_as(tensor_of<float>(DType::kFloat32, {2}, {1, 0.1f}), DType::kBFloat16);
  REQUIRE_FALSE(inexact);
  CHECK(inexact.error().code == diag::kTensorTypeConflict);
  CHECK(inexact.error().message.find("as element 1, which is not a number of type BFloat16") !=
        std::string::npos);
  CHECK_FALSE(load_as(tensor_of<float>(DType::kFloat32, {1}, {1000}), DType::kFloat8E4M3));
  CHECK_FALSE(load_as(codes, DType::kFloat8E4M3));
  CHECK_FALSE(load_as(tensor_of<std::int16_t>(DType::kInt16, {1}, {1}), DType::kBFloat16));
  const auto small = tensor_of<std::int8_t>(DType::kInt8, {3}, {-8, 7, 0});
  const auto nibbles = load_as(small, DType::kInt4);
  REQUIRE(nibbles);
  CHECK(element_as_double(*nibbles, 0) == -8);
  CHECK(bytes_of(*load_as(tensor_of<std::uint8_t>(DType::kUInt8, {3}, {0xF8, 7, 0}),
                          DType::kInt4)) == bytes_of(*nibbles));
  CHECK_FALSE(load_as(tensor_of<std::uint8_t>(DType::kUInt8, {1}, {8}), DType::kInt4));
  CHECK_FALSE(load_as(tensor_of<std::int8_t>(DType::kInt8, {1}, {-9}), DType::kInt4));
  CHECK_FALSE(load_as(tensor_of<std::int64_t>(DType::kInt64, {1}, {16}), DType::kUInt4));
  CHECK_FALSE(load_as(tensor_of<float>(DType::kFloat32, {1}, {1}), DType::kInt4));
  // A type that NPY has takes no other.
  CHECK_FALSE(load_as(numbers, DType::kFloat16));
}

TEST_CASE("zeros, iota and random fill the declared type") {
  const auto iota = load("iota", declared(DType::kFloat32, Shape{2, 2}));
  REQUIRE(iota);
  CHECK(iota->as<float>()[3] == 3.0f);
  CHECK(load("iota", declared(DType::kUInt8, Shape{257})).error().code == diag::kElementOutOfRange);
  CHECK(bytes_of(*load("zeros", declared(DType::kInt32, Shape{1}))) == std::string(4, '\0'));
  auto wanted = declared(DType::kFloat32, Shape{5});
  CHECK(bytes_of(*load("random:3", wanted)) ==
        bytes_of(*random_reals(RandomStream(3, "x"), DType::kFloat32, {5}, {})));
  wanted.dtype = DType::kInt64;
  CHECK(load("random:3", wanted).error().code == diag::kRandomBoundInvalid);
  wanted.bound = 4;
  for (const auto value : values_of<std::int64_t>(*load("random:3", wanted))) CHECK(value < 4);
  for (const auto* text : {"zeros", "iota", "random:1"})
    CHECK(load(text, declared(DType::kInt32, Shape{kUnknownExtent})).error().code ==
          diag::kTensorTypeConflict);
}

TEST_CASE("raw files have the type that is stated, or the declared one") {
  const TemporaryDirectory folder;
  const auto bytes = kRamp.bytes();
  const std::string path =
      folder.write("ramp.raw", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto shape_of = [&](const std::string& type, const DeclaredTensor& wanted) {
    const auto tensor = load(path + type, wanted);
    if (!tensor) {
      const std::string& message = tensor.error().message;
      return message.substr(message.find("ramp.raw'") + 10);
    }
    CHECK(std::ranges::equal(tensor->bytes(), kRamp.bytes()));
    return std::string(name_of(tensor->dtype())) + " " +
           fmt::to_string(fmt::join(tensor->shape(), "x"));
  };
  CHECK(shape_of("", declared(DType::kInt32, Shape{2, 2})) == "Int32 2x2");
  CHECK(shape_of("", declared(DType::kInt16, Shape{4, kUnknownExtent})) == "Int16 4x2");
  CHECK(shape_of(":Int32[2,2]", declared(DType::kInt32, Shape{2, kUnknownExtent})) == "Int32 2x2");
  CHECK(shape_of(":Int32[ 4 , 1 ]", declared(DType::kInt32, std::nullopt)) == "Int32 4x1");
  CHECK(shape_of(":Int32[2, 2]", declared(DType::kInt32, Shape{4})) ==
        "has Int32 [2, 2], declared is Int32 [4]");
  CHECK(shape_of("", declared(DType::kInt32, Shape{5})) == " it has 16 bytes, Int32 [5] has 20");
  CHECK(shape_of("", declared(DType::kInt64, Shape{3, kUnknownExtent})) ==
        " it has 16 bytes, Int64 [3, -1] has 0");
  CHECK(shape_of("", declared(DType::kInt32, std::nullopt)) == test::Part{"state it: '"});
  for (const char* wrong : {":Int32", ":Int32[2,", ":Int32[2,]", ":Int32[-1]", ":Int33[2]", ":x"}) {
    CAPTURE(wrong);
    CHECK(parse_tensor_spec("a.raw" + std::string(wrong)).error().code == diag::kTensorSpecInvalid);
  }
}

}  // namespace tensor_spec_test
