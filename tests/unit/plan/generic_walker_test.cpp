// Walks of generic ops: the same bits as by the reference kernel, with any number of threads, at
// every instruction set; and what a walk leaves to the reference kernel.
#include "plan/generic_walker.hpp"

#include "../eval/one_op.hpp"
#include "kernels/isa.hpp"

namespace mir::test::generic_walks {

std::string number(std::string_view dtype) {
  return "tensor<[], " + std::string(dtype) + ", CPU>";
}

std::string_view computed_of(std::string_view dtype) {
  return dtype.starts_with("Float") || dtype.starts_with("BFloat") ? "Float64" : dtype;
}

struct Operand {
  std::string dtype;
  Shape shape;
};

std::string type_of(const Operand& operand) {
  std::string dims;
  for (const std::int64_t extent : operand.shape) {
    dims += (dims.empty() ? "" : ", ") + std::to_string(extent);
  }
  return "tensor<[" + dims + "], " + operand.dtype + ", CPU>";
}

/// `steps`: lines of the region, over %a0, %a1, ... and %b.
std::string text(const std::string& attributes, const std::vector<Operand>& operands,
                 const Operand& result, const std::string& steps, const std::string& passed) {
  std::string names, arguments;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string comma = i == 0 ? "" : ", ", at = std::to_string(i);
    names += comma + "%" + at + ":" + type_of(operands[i]);
    arguments += comma + "%a" + at + ":" + number(computed_of(operands[i].dtype));
  }
  const std::string end = passed + ":" + number(computed_of(result.dtype));
  return "linalg.CPU.GenericOp [" + attributes + ", dtypes:[" + result.dtype + "]] (" + names +
         ") -> (%9:" + type_of(result) + ") {\n(" + arguments + ") -> (" + end + ") {\n" + steps +
         "cf.YieldOp (" + end + ") -> ()\n}\n}";
}

/// Elements of a tensor: small whole numbers, and for floats some halves, zeros and NaN.
Tensor elements(const Operand& operand, std::int64_t below) {
  const DType dtype = *dtype_from_name(operand.dtype);
  std::int64_t count = 1;
  for (const std::int64_t extent : operand.shape) count *= extent;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto mixed = static_cast<double>((i * 7919 + 13) % 97 % below);
    const bool is_float = computed_of(operand.dtype) == "Float64";
    values.push_back(!is_float        ? mixed
                     : i % 211 == 210 ? std::nan("")
                     : i % 53 == 52   ? -0.0
                                      : (mixed - 11) / 8);
  }
  return tensor(dtype, operand.shape, values);
}

TensorRef as_ref(const Tensor& tensor) {
  TensorRef made{.data = const_cast<std::byte*>(tensor.bytes().data()),
                 .dtype = tensor.dtype(),
                 .rank = static_cast<std::uint8_t>(tensor.rank())};
  std::ranges::copy(tensor.shape(), made.extents.begin());
  return row_major_at(made, made.data);
}

struct Case {
  const char* name;
  std::string attributes;
  std::vector<Operand> operands;
  Operand result;
  std::string steps = {};
  std::string passed = "%a0";
  std::int64_t below = 97;  // of the elements
};

const std::string kMul =
                      "linalg.CPU.MulOp (%a0:tensor<[], Float64, CPU>, %a1:tensor<[], Float64, "
                      "CPU>) -> (%b:tensor<[], Float64, CPU>)\n",
                  kExp =
                      "linalg.CPU.ExpOp (%a0:tensor<[], Float64, CPU>) -> "
                      "(%b:tensor<[], Float64, CPU>)\n",
                  kSub =
                      "linalg.CPU.SubOp (%a0:tensor<[], Float64, CPU>, %a1:tensor<[], Float64, "
                      "CPU>) -> (%c:tensor<[], Float64, CPU>)\nlinalg.CPU.MulOp (%c:tensor<[], "
                      "Float64, CPU>, %c:tensor<[], Float64, CPU>) -> (%b:tensor<[], Float64, "
                      "CPU>)\n",
                  kIntegers =
                      "linalg.CPU.MulOp (%a0:tensor<[], Int8, CPU>, %a1:tensor<[], Int8, "
                      "CPU>) -> (%b:tensor<[], Int8, CPU>)\n";

const Case kCases[] = {
    {"a matrix product",
     "loops:{i:5, j:70, k:33}, maps:[[$i, $k], [$k, $j], [$i, $j]], sums:{k:add}",
     {{"Float32", {5, 33}}, {"Float32", {33, 70}}},
     {"Float32", {5, 70}},
     kMul,
     "%b"},
    {"a product with rows of the second factor",
     "loops:{i:9, j:37, k:21}, maps:[[$i, $k], [$j, $k], [$i, $j]], sums:{k:add}",
     {{"Float32", {9, 21}}, {"Float32", {37, 21}}},
     {"BFloat16", {9, 37}},
     kMul,
     "%b"},
    {"distances",
     "loops:{i:4, j:600, k:7}, maps:[[$i, $k], [$k, $j], [$i, $j]], sums:{k:add}",
     {{"Float32", {4, 7}}, {"Float16", {7, 600}}},
     {"Float32", {4, 600}},
     kSub,
     "%b"},
    {"a padded convolution",
     "loops:{o:3, y:11, x:40, c:2, r:3, s:3}, maps:[[$c, $y+$r-1, 2*$x+$s-1], [$o, $c, $r, $s], "
     "[$o, $y, $x]], "
     "sums:{c:add, r:add, s:add}, where:[\"$y+$r >= 1\", \"$y+$r <= 11\", \"2*$x+$s >= 1\", "
     "\"2*$x+$s <= 80\"]",
     {{"Float32", {2, 11, 80}}, {"Float32", {3, 2, 3, 3}}},
     {"Float32", {3, 11, 40}},
     kMul,
     "%b"},
    {"a maximum over a window",
     "loops:{y:20, x:20, r:2, s:3}, maps:[[2*$y+$r, $x+$s], [$y, $x]], sums:{r:max, s:max}",
     {{"Float32", {40, 22}}},
     {"Float32", {20, 20}}},
    {"a largest sum",
     "loops:{j:30, i:4, k:5}, maps:[[$i, $k, $j], [$j]], sums:{i:max, k:add}",
     {{"Float32", {4, 5, 30}}},
     {"Float64", {30}}},
    {"a long sum",
     "loops:{i:5, k:3000}, maps:[[$i, $k], [$i]], sums:{k:add}",
     {{"Float32", {5, 3000}}},
     {"Float32", {5}},
     kExp,
     "%b"},
    // Verification refuses it.
    {"logic of numbers",
     "loops:{j:30, k:3}, maps:[[$k, $j], [$j]], sums:{k:and}",
     {{"Float32", {3, 30}}},
     {"Float32", {30}}},
    {"integers that wrap",
     "loops:{i:3, j:20, k:40}, maps:[[$i, $k], [$k, $j], [$i, $j]], sums:{k:add}",
     {{"Int8", {3, 40}}, {"Int8", {40, 20}}},
     {"Int8", {3, 20}},
     kIntegers,
     "%b"},
    {"tiles",
     "loops:{i:96, j:3}, maps:[[$i/32, $i%32, $j], [$i, $j]]",
     {{"Float32", {3, 32, 3}}},
     {"Float32", {96, 3}},
     kExp,
     "%b"},
    {"quotients that no loop counts",
     "loops:{i:50, j:6}, maps:[[($i+$j)/5, $i%7], [$j, $i]]",
     {{"Float32", {12, 7}}},
     {"Float32", {6, 50}},
     kExp,
     "%b"},
    {"moved elements",
     "loops:{i:50, j:6}, maps:[[($i+$j)/5, $i%7], [$j, $i]]",
     {{"Float32", {12, 7}}},
     {"Float32", {6, 50}}},
    {"a transposed copy",
     "loops:{i:31, j:65}, maps:[[$j, 30-$i], [$i, $j]]",
     {{"Float16", {65, 31}}},
     {"Float16", {31, 65}}},
    {"rows that data selects",
     "loops:{g:9, c:40, t:3}, maps:[[$r, $c], [$g, $t], [$g, $c]], indices:{r:1}, sums:{t:add}",
     {{"Float32", {6, 40}}, {"Int32", {9, 3}}},
     {"Float32", {9, 40}},
     "",
     "%a0",
     6},
    {"elements that data selects",
     "loops:{i:700}, maps:[[$r], [$i], [$i]], indices:{r:1}, where:\"$r < 4\", start:[-1]",
     {{"Float32", {6}}, {"Int32", {700}}},
     {"Float32", {700}},
     "",
     "%a0",
     6},
    {"a diagonal of two iterations at most",
     "loops:{i:40, j:40}, maps:[[$i], [$i]], sums:{j:mul}, where:\"$i == $j\"",
     {{"Float32", {40}}},
     {"Float32", {40}}},
    {"elements without an iteration",
     "loops:{i:20}, maps:[[$i], [2*$i]], start:[3]",
     {{"Float32", {20}}},
     {"Float32", {39}},
     kExp,
     "%b"},
    {"one number", "loops:{}, maps:[[], []]", {{"Float32", {}}}, {"Float32", {}}, kExp, "%b"},
    {"nothing",
     "loops:{i:0, j:9}, maps:[[$i], [$j]], sums:{i:add}",
     {{"Float32", {0}}},
     {"Float32", {9}}},
};

bool walk(const OneOp& one, const std::vector<Tensor>& operands, Tensor& result,
          fast::Context& context) {
  const auto form = read_generic({.context = one.op().module().context(),
                                  .attribute = [&](AttrKey key) { return one.op().attribute(key); },
                                  .operand_count = operands.size(),
                                  .result_count = 1},
                                 [](const GenericProblem&) {});
  REQUIRE(form);
  std::vector<TensorRef> refs;
  for (const Tensor& each : operands) refs.push_back(as_ref(each));
  return walk_generic(one.op(), *form, 0, refs, as_ref(result), {}, context);
}

TEST_CASE("a walk gives the bits of the reference kernel") {
  for (const Case& each : kCases) {
    CAPTURE(each.name);
    OneOp one(text(each.attributes, each.operands, each.result, each.steps, each.passed));
    std::vector<Tensor> operands;
    for (const Operand& operand : each.operands) operands.push_back(elements(operand, each.below));
    const auto wanted = one.run(operands);
    if (!wanted) MESSAGE(wanted.error().message);
    REQUIRE(wanted);
    for (const IsaLevel isa : isa_levels()) {
      if (isa > detected_isa_level()) continue;
      for (const unsigned threads : {1U, 3U}) {
        fast::Context context(threads, isa);
        auto found = Tensor::allocate(wanted->front().dtype(), wanted->front().shape());
        REQUIRE(found);
        std::ranges::fill(std::span(found->mutable_bytes(), found->bytes().size()),
                          std::byte{0x7b});
        CHECK(walk(one, operands, *found, context));
        CHECK(std::ranges::equal(found->bytes(), wanted->front().bytes()));
      }
    }
  }
}

TEST_CASE("a walk leaves mistakes to the reference kernel") {
  const auto finds = [](const std::string& attributes, const std::vector<Operand>& operands,
                        const Operand& result, std::int64_t below = 97) {
    OneOp one(text(attributes, operands, result, "", "%a0"));
    std::vector<Tensor> values;
    for (const Operand& operand : operands) values.push_back(elements(operand, below));
    auto found = Tensor::allocate(*dtype_from_name(result.dtype), result.shape);
    REQUIRE(found);
    fast::Context context(2);
    return walk(one, values, *found, context);
  };
  const Operand nine{"Float32", {9}};
  CHECK(finds("loops:{i:9}, maps:[[$i], [$i]]", {nine}, nine));
  // An index outside, also of data.
  CHECK_FALSE(finds("loops:{i:9}, maps:[[$i+1], [$i]]", {nine}, nine));
  CHECK_FALSE(
      finds("loops:{i:9}, maps:[[$r], [$i], [$i]], indices:{r:1}", {nine, {"Int32", {9}}}, nine));
  CHECK(finds("loops:{i:9}, maps:[[$r], [$i], [$i]], indices:{r:1}", {nine, {"Int32", {9}}}, nine,
              9));
  // Two iterations of an element, none of an element.
  CHECK_FALSE(finds("loops:{i:9}, maps:[[$i], [$i/2]]", {nine}, {"Float32", {5}}));
  CHECK_FALSE(finds("loops:{i:9}, maps:[[$i], [2*$i]]", {nine}, {"Float32", {17}}));
  // Extents that the map does not reach.
  CHECK_FALSE(finds("loops:{i:9}, maps:[[$i], [$i]]", {nine}, {"Float32", {12}}));
  // Numbers too large to count with, in maps and in conditions.
  CHECK_FALSE(finds("loops:{i:9}, maps:[[$i+9223372036854775800], [$i]]", {nine}, nine));
  CHECK_FALSE(
      finds("loops:{i:9}, maps:[[$i], [$i]], where:\"$i+9223372036854775800 >= 1\", start:[0]",
            {nine}, nine));
  CHECK_FALSE(finds("loops:{i:2}, maps:[[$i+700000000000000000, $i+2300000000000000000, 0], [$i]]",
                    {{"Float32", {3, 3, 4}}}, {"Float32", {2}}));
  CHECK_FALSE(
      finds("loops:{j:2, i:9}, maps:[[$i], [$j, $i]], "
            "where:\"9223372036854775807-$j*$j-$i >= 0\", start:[0]",
            {nine}, {"Float32", {2, 9}}));
  // The step of a loop of one iteration is never taken.
  CHECK(finds("loops:{i:1, j:9}, maps:[[4611686018427387904*$i+$j], [$i, $j]]", {nine},
              {"Float32", {1, 9}}));
  // A maximum over nothing.
  CHECK_FALSE(finds("loops:{i:9, k:0}, maps:[[$i], [$i]], sums:{k:max}", {nine}, nine));
}

}  // namespace mir::test::generic_walks
