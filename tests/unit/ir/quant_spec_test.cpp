#include <doctest/doctest.h>

#include "read.hpp"

using namespace mir;
using mir::test::Reading;

namespace {

/// The spec that this text spells, and how it reads: "kind key=value.. uuid=.. solved=..".
std::string read(const std::string& text) {
  Reading reading("@main () -> () { a.b [q:" + text + "] () -> () }\n");
  const Attr* attribute = reading.module().body().entry()->front()->attribute("q");
  REQUIRE((attribute->kind() == AttrKind::kQuantSpec));
  const QuantSpec spec = read_quant_spec(*attribute);
  std::string out(spec.kind);
  for (const auto& [key, value] : spec.fields)
    out.append(" ").append(key).append("=").append(value);
  if (spec.uuid) out += " uuid=" + std::to_string(*spec.uuid);
  if (spec.solved) out += *spec.solved ? " solved" : " unsolved";
  return out;
}

}  // namespace

TEST_SUITE("quantisation specs") {
  TEST_CASE("every kind of spec is read") {
    CHECK(read("QuantSpec(SymPerTensor(quant_min: -128, quant_max: 127, quant_to_type: Int8, "
               "scale_type: Float32), uuid=3, solved=1)") ==
          "SymPerTensor quant_min=-128 quant_max=127 quant_to_type=Int8 scale_type=Float32 uuid=3 "
          "solved");
    CHECK(read("QuantSpec(SymPerChannel(quant_min: -8, quant_max: 7, ch_axis: 0), uuid=4, "
               "solved=0)") == "SymPerChannel quant_min=-8 quant_max=7 ch_axis=0 uuid=4 unsolved");
    CHECK(read("QuantSpec(SymPerBlock(quant_min: -8, quant_max: 7, block_size: 32), uuid=5)") ==
          "SymPerBlock quant_min=-8 quant_max=7 block_size=32 uuid=5");
    CHECK(read("QuantSpec(AsymPerTensor(quant_min: 0, quant_max: 65535), uuid=6, solved=0)") ==
          "AsymPerTensor quant_min=0 quant_max=65535 uuid=6 unsolved");
    CHECK(read("QuantSpec(AsymPerChannel(ch_axis: 1), uuid=7)") ==
          "AsymPerChannel ch_axis=1 uuid=7");
    CHECK(read("QuantSpec(AsymPerBlock(block_size: 16), uuid=8)") ==
          "AsymPerBlock block_size=16 uuid=8");
    CHECK(
        read("QuantSpec(LPBQ(quant_min: -8, quant_max: 7, block_size: 16, ch_axis: 0), uuid=9)") ==
        "LPBQ quant_min=-8 quant_max=7 block_size=16 ch_axis=0 uuid=9");
    CHECK(read("QuantSpec(Raw(type: Float32), uuid=10, solved=1)") ==
          "Raw type=Float32 uuid=10 solved");
  }

  TEST_CASE("None is read with its parenthesis closed, absent, and never closed") {
    CHECK(read("QuantSpec(None, uuid=5, solved=0)") == "None uuid=5 unsolved");
    CHECK(read("QuantSpec(None(), uuid=5)") == "None uuid=5");
    CHECK(read("QuantSpec(None(, uuid=5, solved=0)") == "None uuid=5 unsolved");
    CHECK(read("QuantSpec(None(, uuid=5)") == "None uuid=5");
    CHECK(read("QuantSpec(None)") == "None");
  }

  TEST_CASE("spacing does not count") {
    CHECK(read("QuantSpec( Raw ( type:Int8 ,x:  y ),uuid = 4 , solved=1 )") ==
          "Raw type=Int8 x=y uuid=4 solved");
    CHECK(read("QuantSpec(Raw(type:Int8), uuid=4)") == read("QuantSpec(Raw(type: Int8), uuid=4)"));
  }

  TEST_CASE("fields are found by key") {
    Reading reading(
        "@main () -> () { a.b [q:QuantSpec(LPBQ(quant_min: -8, t: Int4), uuid=1)] () -> () }\n");
    const QuantSpec spec =
        read_quant_spec(*reading.module().body().entry()->front()->attribute("q"));
    CHECK(spec.integer("quant_min") == -8);
    CHECK_FALSE(spec.integer("t"));
    CHECK_FALSE(spec.integer("absent"));
  }

  TEST_CASE("specs that differ in uuid and solved alone have one scheme") {
    IRContext context;
    const auto spec = [&](const std::string& text) {
      return context.scalar(AttrKind::kQuantSpec, text);
    };
    const Attr* raw = spec("QuantSpec(Raw(type: Int8), uuid=4, solved=1)");
    CHECK(raw->uuid() == 4);
    for (const char* alike :
         {"QuantSpec(Raw(type: Int8), uuid=4)", "QuantSpec(Raw(type: Int8), uuid=77, solved=0)",
          "QuantSpec(Raw(type: Int8), uuid=-5)"}) {
      CHECK(spec(alike)->scheme() == raw->scheme());
    }
    for (const char* other :
         {"QuantSpec(Raw(type: Int16), uuid=4, solved=1)", "QuantSpec(Raw(type: Int8))",
          "QuantSpec(Raw(type: Int8), uuid=4, solved=1, x=2)",
          "QuantSpec(Raw(type: Int8), uuid=99999999999999999999)"}) {
      CHECK(spec(other)->scheme() != raw->scheme());
    }
    CHECK(spec("QuantSpec(Raw(type: Int8), uuid=7, x=2)")->uuid() == 7);
    CHECK(spec("QuantSpec(Raw(type: Int8))")->uuid() == Attr::kNoUuid);
    CHECK(spec("QuantSpec(Raw(type: Int8), uuid=99999999999999999999)")->uuid() == Attr::kNoUuid);
    CHECK(context.integer(3)->uuid() == Attr::kNoUuid);
  }
}
