#include "weights/pack.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "mir/codes/files.hpp"
#include "mir/codes/weights.hpp"
#include "mir/weights.hpp"
#include "temporary.hpp"
#include "weights/formats/safetensors.hpp"
#include "weights/tensor_spec.hpp"

using namespace mir;
using namespace mir::test;

namespace {

/// A module, weights and an input, on disk and as the plan of a pack.
struct Parts {
  TemporaryDirectory directory;
  Tensor weight = tensor_of<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  PackPlan plan;

  Parts() {
    const NamedTensor tensors[] = {{"w", weight}};
    REQUIRE(write_safetensors(directory.file("w.safetensors"), tensors));
    directory.write("m.mir", "@main () -> () {\n}\n");
    plan.module = "m.mir";
    plan.arguments["weights"] = {"w.safetensors"};
    plan.files = {{"m.mir", directory.file("m.mir")},
                  {"w.safetensors", directory.file("w.safetensors")}};
  }
  Pack written() const {
    REQUIRE(write_pack(directory.file("p.mirz"), plan));
    return *Pack::open(directory.file("p.mirz"));
  }
};

bool lies_in(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

}  // namespace

TEST_CASE("weights of a pack are used where they lie in its mapping") {
  const Parts parts;
  const Pack pack = parts.written();
  const auto* const member = pack.member("w.safetensors");
  REQUIRE(member != nullptr);
  WeightSet weights;
  REQUIRE(weights.add("w.safetensors", pack.files(MemberCheck::kNone)));
  const auto tensor = weights.find({.name = "w", .shape = {2, 3}});
  REQUIRE(tensor);
  const auto bytes = (*tensor)->bytes();
  CHECK(lies_in(bytes, member->bytes));
  CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64 == 0);
  CHECK(bytes_of(**tensor) == bytes_of(parts.weight));
}

TEST_CASE("a pack is all the files there are for what its arguments name") {
  const Parts parts;
  const Pack pack = parts.written();
  WeightSet weights;
  const auto files = pack.files(MemberCheck::kHash);
  for (const std::string& path :
       {parts.directory.file("w.safetensors"), std::string("../w.safetensors"), std::string("w")}) {
    const auto added = weights.add(path, files);
    REQUIRE_FALSE(added);
    CHECK(added.error().code == diag::kPackMalformed);
  }
  const auto spec = parse_tensor_spec(parts.directory.file("x.npy"), files);
  CHECK(load_file(*spec).error().code == diag::kPackMalformed);
}

TEST_CASE("equal plans give equal packs, and a plan that no pack can hold gives none") {
  Parts parts;
  REQUIRE(write_pack(parts.directory.file("a"), parts.plan));
  REQUIRE(write_pack(parts.directory.file("b"), parts.plan));
  CHECK(contents(parts.directory.file("a")) == contents(parts.directory.file("b")));
  for (const char* name : {"../w", "m.mir", "manifest.json", "a/b", ""}) {
    parts.plan.files[1].name = name;
    CHECK(write_pack(parts.directory.file("c"), parts.plan).error().code == diag::kPackMalformed);
  }
  parts.plan.files[1] = {"w", parts.directory.file("nowhere")};
  CHECK(write_pack(parts.directory.file("c"), parts.plan).error().code == diag::kFileNotReadable);
  CHECK(contents(parts.directory.file("c")).empty());
}

TEST_CASE("a changed byte of any member is found when the member is read for its hash") {
  const Parts parts;
  parts.written();
  auto bytes = contents(parts.directory.file("p.mirz"));
  bytes[bytes.find("@main")] ^= 1;
  const auto pack = Pack::open(parts.directory.write("odd.mirz", bytes));
  REQUIRE(pack);
  CHECK(pack->file("m.mir", MemberCheck::kNone));
  CHECK(pack->file("m.mir", MemberCheck::kHash).error().code == diag::kPackMalformed);
  CHECK(pack->file("w.safetensors", MemberCheck::kHash));
  CHECK_FALSE(pack->extract(*pack->member("m.mir"), parts.directory.file("")));
  CHECK(contents(parts.directory.file("m.mir")) == "@main () -> () {\n}\n");
}
