#include <doctest/doctest.h>

#include <array>

#include "mir/context.hpp"
#include "mir/dialects.hpp"

using namespace mir;

namespace type_attribute_test {

namespace {

struct Fixture {
  Fixture() { register_builtin_dialects(context); }
  const TensorType* tensor(std::initializer_list<const char*> dims) {
    std::vector<Dim> list;
    for (const char* dim : dims) list.push_back(*context.dims().parse(dim));
    return context.tensor(list, DType::kFloat32);
  }
  IRContext context;
};

}  // namespace

TEST_SUITE("types") {
  TEST_CASE_FIXTURE(Fixture, "equal types are the same object") {
    CHECK(tensor({"1", "2*$S"}) == tensor({"1", "$S+$S"}));
    CHECK(tensor({"1"}) != tensor({"2"}));
    CHECK(tensor({"1"}) != context.tensor(std::vector{Dim(1)}, DType::kFloat32, "QNN"));
    CHECK(tensor({"1"}) != context.tensor(std::vector{Dim(1)}, DType::kFloat16));
    const Symbol dtype = context.intern("Float32"), device = context.intern("CPU");
    const Attr* encoding = context.scalar(AttrKind::kDialect, "#tt.tile");
    const std::vector dims{Dim(1)};
    CHECK(tensor({"1"}) == context.tensor(dims, dtype, device));
    CHECK(tensor({"1"}) != context.tensor(dims, dtype, device, encoding));
    CHECK(context.tensor(dims, dtype, device, context.word("true")) !=
          context.tensor(dims, dtype, device, context.boolean(true)));
    const std::vector<Dim> many(12, Dim(3));
    CHECK(context.tensor(many, dtype, device) == context.tensor(many, dtype, device));
    CHECK(context.tensor(many, dtype, device) !=
          context.tensor(std::vector<Dim>(11, Dim(3)), dtype, device));
    CHECK(*context.parse_type("!a.b<1>") == *context.parse_type("!a.b<1>"));
    CHECK(*context.parse_type("!a.b<1>") != *context.parse_type("!a.b<2>"));
  }

  TEST_CASE_FIXTURE(Fixture, "compatible types can describe one value") {
    const auto dim = [&](const char* text) { return *context.dims().parse(text); };
    CHECK(compatible(dim("4"), dim("4")));
    CHECK(compatible(dim("?"), dim("4")));
    CHECK(compatible(dim("$S"), dim("?")));
    CHECK_FALSE(compatible(dim("$S"), dim("4")));
    CHECK_FALSE(compatible(dim("-1"), dim("4")));
    CHECK(Dim(-1).is_negative());
    CHECK_FALSE(Dim(0).is_negative());
    CHECK_FALSE(dim("?").is_negative());

    const TensorType& known = *tensor({"2", "4"});
    CHECK(compatible_shapes(known, *tensor({"2", "?"})));
    CHECK(compatible_shapes(known, *tensor({"-1", "4"})));
    CHECK_FALSE(compatible_shapes(known, *tensor({"2", "5"})));
    CHECK_FALSE(compatible_shapes(known, *tensor({"2", "4", "?"})));
    const std::vector dims{Dim(2), Dim(4)};
    CHECK(compatible(&known, tensor({"?", "-1"})));
    CHECK_FALSE(compatible(&known, context.tensor(dims, DType::kFloat16)));
    CHECK_FALSE(compatible(&known, context.tensor(dims, DType::kFloat32, "QNN")));
    CHECK(compatible_shapes(known, *context.tensor(dims, DType::kFloat32, "QNN")));
    CHECK_FALSE(compatible(&known, *context.parse_type("!a.b<1>")));
    CHECK_FALSE(compatible(&known, nullptr));
  }

  TEST_CASE_FIXTURE(Fixture, "a type's text is canonical") {
    CHECK(tensor({})->spelling() == "tensor<[], Float32, CPU>");
    CHECK(tensor({"1", "-1", "?", "$b+$a"})->spelling() ==
          "tensor<[1, -1, ?, $a+$b], Float32, CPU>");
    const Attr* encoding = context.array(std::vector{context.integer(1), context.integer(2)});
    CHECK(context.tensor(std::vector{Dim(1)}, context.intern("Odd"), context.intern("X"), encoding)
              ->spelling() == "tensor<[1], Odd, X, [1, 2]>");
  }

  TEST_CASE_FIXTURE(Fixture, "a type tells what is known of its elements and extents") {
    const TensorType* known = tensor({"2", "0", "3"});
    CHECK(known->rank() == 3);
    CHECK(known->dtype() == DType::kFloat32);
    CHECK(known->has_static_shape());
    CHECK(known->element_count() == 0);
    CHECK(tensor({})->element_count() == 1);
    CHECK_FALSE(tensor({"$S"})->has_static_shape());
    CHECK_FALSE(tensor({"$S"})->element_count());
    CHECK_FALSE(tensor({"?"})->element_count());
    CHECK_FALSE(tensor({"-1"})->element_count());
    CHECK_FALSE(tensor({"4611686018427387904", "2"})->element_count());
    const Symbol device = context.intern("CPU");
    const TensorType* unknown = context.tensor({}, context.intern("Odd"), device);
    CHECK_FALSE(unknown->dtype());
    CHECK(context.text(unknown->dtype_name()) == "Odd");
    CHECK(context.tensor({}, context.intern("kFp32"), device)->dtype() == DType::kFloat32);
    CHECK(dyn_cast<TensorType>(*context.parse_type("!a.b")) == nullptr);
    CHECK(dyn_cast<TensorType>(static_cast<const Type*>(nullptr)) == nullptr);
  }
}

TEST_SUITE("attributes") {
  TEST_CASE_FIXTURE(Fixture,
                    "attributes of one kind and text are the same object, others are not") {
    CHECK(context.integer(1) == context.scalar(AttrKind::kInt, "1"));
    CHECK(context.integer(1) != context.number(1));
    CHECK(context.word("a") != context.string("a"));
    CHECK(context.word("true") != context.boolean(true));
    CHECK(context.number(0.5) == context.scalar(AttrKind::kFloat, "0.5"));
    CHECK(context.dim(Dim(3)) == context.integer(3));
    CHECK(context.array(std::vector{context.integer(1)}) ==
          context.array(std::vector{context.integer(1)}));
    CHECK(context.symbol_ref("a") != context.word("@a"));
  }

  TEST_CASE_FIXTURE(Fixture, "scalars hold the value that their text spells") {
    CHECK(context.integer(-7)->integer() == -7);
    CHECK(context.integer(-7)->number() == -7.0);
    CHECK(context.scalar(AttrKind::kInt, "-9223372036854775808")->integer() == INT64_MIN);
    CHECK(context.number(1e-6)->spelling() == "1e-06");
    CHECK(context.number(3)->spelling() == "3.0");
    CHECK(context.number(1e300)->number() == 1e300);
    CHECK(context.scalar(AttrKind::kFloat, "9.999999974752427e-07")->number() ==
          9.999999974752427e-07);
    CHECK(context.scalar(AttrKind::kFloat, "1.50")->spelling() == "1.50");
    CHECK(context.boolean(true)->boolean());
    CHECK_FALSE(context.boolean(false)->boolean());
    CHECK(context.null()->kind() == AttrKind::kNull);
    CHECK(context.string("a \"b\"")->spelling() == "\"a \\\"b\\\"\"");
    CHECK(context.string("a \"b\"")->text() == "a \"b\"");
    CHECK(context.string("a")->is_quoted());
    CHECK_FALSE(context.word("a")->is_quoted());
    CHECK(context.symbol_ref("model.w")->spelling() == "@model.w");
    CHECK(context.symbol_ref("a b")->spelling() == "@\"a b\"");
    CHECK(context.symbol_ref("a b")->text() == "a b");
    CHECK(context.type(tensor({"1"}))->type() == tensor({"1"}));
    CHECK(context.dim(*context.dims().parse("$S*2"))->spelling() == "2*$S");
  }

  TEST_CASE_FIXTURE(Fixture, "an integer beyond 64 bits is a number with its own text") {
    const Attr* big = context.scalar(AttrKind::kInt, "99999999999999999999");
    CHECK(big->kind() == AttrKind::kFloat);
    CHECK(big->spelling() == "99999999999999999999");
    CHECK(big->number() == 1e20);
  }

  TEST_CASE_FIXTURE(Fixture, "text that is no scalar of its kind gives none") {
    CHECK(context.scalar(AttrKind::kInt, "") == nullptr);
    CHECK(context.scalar(AttrKind::kInt, "12x") == nullptr);
    CHECK(context.scalar(AttrKind::kFloat, "1e") == nullptr);
    CHECK(context.scalar(AttrKind::kString, "\"\\x\"") == nullptr);
    CHECK(context.scalar(AttrKind::kString, "\"") == nullptr);
  }

  TEST_CASE_FIXTURE(Fixture, "structures know their parts and print canonically") {
    const std::array<const Attr*, 2> parts{context.integer(1), context.word("x")};
    const Attr* list = context.array(parts);
    CHECK(list->spelling() == "[1, x]");
    CHECK(list->elements().size() == 2);
    CHECK(list->elements()[1] == parts[1]);
    const NamedAttr entries[] = {{context.intern("a b"), list},
                                 {context.intern("c"), context.array({})}};
    const Attr* dict = context.dict(entries);
    CHECK(dict->spelling() == "{\"a b\":[1,x],\"c\":[]}");
    CHECK(dict->entries()[0].value == list);
    const Attr* outer = context.array(std::vector{dict, list});
    CHECK(outer->spelling() == "[{\"a b\":[1,x],\"c\":[]}, [1, x]]");
    const Attr* spec = context.scalar(AttrKind::kQuantSpec, "QuantSpec(Raw(type: Int8), uuid=4)");
    const NamedAttr slots[] = {{context.intern("inputs_0"), spec}, {}, {}};
    CHECK(context.quant_annotation(slots)->spelling() ==
          "QuantAnnotation(inputs_0:QuantSpec(Raw(type: Int8), uuid=4), , )");
    CHECK(context.quant_annotation(slots)->entries()[1].value == nullptr);
  }

  TEST_CASE_FIXTURE(Fixture, "type names of upstream lead to their ops") {
    CHECK(context.find_kernel("Linear", 1) == OpKind(OpId::kLinalgLinear));
    CHECK_FALSE(context.find_kernel("LinearOp", 1));
    CHECK_FALSE(context.find_kernel("", 0));
    CHECK(context.find_kind("linalg.LinearOp") == context.op_name("linalg.CPU.LinearOp").kind);
    CHECK_FALSE(context.find_kind("linalg.NoSuchOp"));
  }
}

}  // namespace type_attribute_test
