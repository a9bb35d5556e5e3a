// Extents that data decides: phases of plans, by reference and by fast kernels.
#include <fmt/format.h>

#include "interp/summary.hpp"
#include "planned.hpp"

namespace mir::test::decided_extents {

namespace {

std::string with_types(std::string text) {
  for (auto at = text.find("f["); at != text.npos; at = text.find("f[", at + 1)) {
    const auto end = text.find(']', at);
    text.replace(at, end + 1 - at, "tensor<" + text.substr(at + 1, end - at) + ", Float32, CPU>");
  }
  return text;
}

Tensor mask(const std::string& chosen, DType dtype = DType::kBool) {
  std::vector<double> values;
  for (const char each : chosen) values.push_back(each == '1' ? 1 : 0);
  return tensor(dtype, {static_cast<std::int64_t>(chosen.size())}, values);
}

bool uses_reference(const ExecutionPlan& plan) {
  return std::ranges::any_of(plan.node_names(), [](const std::string& name) {
    return name.find("(ref)") != std::string::npos;
  });
}

/// Runs a text by reference kernels and by fast ones, with and without fusion, on one and two
/// threads, observed or not. Fast kernels compute all of it.
void check_all_ways(const std::string& text, const std::vector<std::vector<Tensor>>& runs) {
  Runner reference(text);
  std::vector<std::vector<Tensor>> expected;
  for (const auto& inputs : runs) expected.push_back(reference.run(inputs));
  for (const Fusion fusion : {Fusion::kAll, Fusion::kOff}) {
    for (const unsigned threads : {1U, 2U}) {
      RunnerOptions options = fast(fusion);
      options.threads = threads;
      Runner runner(text, options);
      CHECK_FALSE(uses_reference(runner.plan()));
      for (int again = 0; again < 2; ++again) {
        for (std::size_t i = 0; i < runs.size(); ++i) {
          const auto found = runner.run(runs[i]);
          REQUIRE(found.size() == expected[i].size());
          for (std::size_t number = 0; number < found.size(); ++number) {
            CHECK(std::ranges::equal(found[number].shape(), expected[i][number].shape()));
          }
          check_close(found, expected[i]);
        }
      }
      std::size_t steps = 0;
      RunOptions observed;
      observed.observe = [&](const StepResults&) -> Result<void> {
        ++steps;
        return {};
      };
      check_close(runner.run(runs.back(), observed), expected.back());
      CHECK(steps == runner.schedule().steps().size());
    }
  }
}

}  // namespace

TEST_CASE("decided extents: what a mask selects is planned and fused like all else") {
  const std::string text = with_types(R"(
@main [mir_version:2, symbols:{T:{max:6}}] (%x:f[6, 8], %m:tensor<[6], Bool, CPU>) -> (%y:f[$T, 8], %s:f[8, $T], %n:f[$T, $T]) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%w:f[8, 8][@a.weight])[symbol:a.weight]
    }
  }
  linalg.CPU.NegOp (%x) -> (%x1:f[6, 8])
  linalg.CPU.CompressOp (%x1, %m) -> (%k:f[$T, 8])
  linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:8, bias:false] (%k) -> (%l:f[$T, 8])
  linalg.CPU.SiLUOp (%l) -> (%a:f[$T, 8])
  linalg.CPU.AddOp (%a, %k) -> (%y:f[$T, 8])
  linalg.CPU.TransposeOp [dim0:0, dim1:1] (%y) -> (%t:f[8, $T])
  linalg.CPU.ContiguousOp (%t) -> (%s:f[8, $T])
  linalg.CPU.MatMulOp [transpose_b:true] (%y, %k) -> (%p:f[$T, $T])
  linalg.CPU.SoftmaxOp [axis:-1] (%p) -> (%n:f[$T, $T])
  cf.ReturnOp (%y, %s, %n) -> ()
}
)");
  check_all_ways(text, {{pattern({6, 8}), mask("101100")},
                        {pattern({6, 8}), mask("000001")},
                        {pattern({6, 8}), mask("111111")},
                        {pattern({6, 8}), mask("000000")},
                        {pattern({6, 8}), mask("010010")}});
}

TEST_CASE("decided extents: every dimension, every kind of mask, codes of one byte") {
  for (const std::string_view dim : {"0", "1", "2", "-1", "-3"}) {
    for (const std::string_view type : {"Bool", "UInt8", "Int8"}) {
      for (const std::string_view element : {"Float32", "Int8", "Float64", "Float16"}) {
        CAPTURE(dim);
        CAPTURE(type);
        CAPTURE(element);
        const std::size_t at = dim[0] == '-' ? static_cast<std::size_t>(3 - (dim[1] - '0'))
                                             : static_cast<std::size_t>(dim[0] - '0');
        std::string shape[] = {"3", "3", "3"};
        shape[at] = "$T";
        const std::string text = fmt::format(
            "@main [mir_version:1] (%x:tensor<[3, 3, 3], {0}, CPU>, %m:tensor<[3], {1}, CPU>) -> "
            "(%y:tensor<[{2}], {0}, CPU>) {{\n  linalg.CPU.CompressOp [dim:{3}] (%x, %m) -> "
            "(%y:tensor<[{2}], {0}, CPU>)\n  cf.ReturnOp (%y) -> ()\n}}\n",
            element, type, fmt::join(shape, ", "), dim);
        std::vector<double> numbers;
        for (int i = 0; i < 27; ++i) numbers.push_back(i);
        const Tensor x = tensor(*dtype_from_name(element), {3, 3, 3}, numbers);
        const DType truth = *dtype_from_name(type);
        Tensor some = mask("101", truth);
        if (truth == DType::kInt8) some.as_mutable<std::int8_t>()[0] = -3;
        Runner reference(text), runner(text, fast());
        CHECK_FALSE(uses_reference(runner.plan()));
        for (const Tensor& each : {some, mask("000", truth), mask("010", truth)}) {
          const auto expected = reference.run({x, each}), found = runner.run({x, each});
          CHECK(hash_bytes(found[0]) == hash_bytes(expected[0]));
          CHECK(std::ranges::equal(found[0].shape(), expected[0].shape()));
        }
        // Element i of dimension `at` of out is element 0 or 2 of x.
        const auto out = values_of(reference.run({x, some})[0]);
        const std::int64_t strides[] = {9, 3, 1};
        std::vector<double> wanted;
        for (int i = 0; i < 27; ++i) {
          if (i / strides[at] % 3 != 1) wanted.push_back(i);
        }
        CHECK(out == wanted);
      }
    }
  }
}

TEST_CASE("decided extents: an extent may decide another one") {
  const std::string text = with_types(R"(
@main [mir_version:2] (%x:f[$S, 2], %m:tensor<[$S], Bool, CPU>) -> (%b:f[$U, 2], %i:tensor<[$T], Int32, CPU>, %c:f[$S+$T+$U, 2]) {
  linalg.CPU.CompressOp (%x, %m) -> (%a:f[$T, 2])
  linalg.CPU.IotaOp [shape:[$S], dtype:Int32, dim:0] () -> (%all:tensor<[$S], Int32, CPU>)
  linalg.CPU.CompressOp (%all, %m) -> (%i:tensor<[$T], Int32, CPU>)
  linalg.CPU.ReduceMaxOp [dim:1] (%a) -> (%r:f[$T])
  linalg.CPU.LessOp (%r, %zero:f[1][constant:[0]]) -> (%n:tensor<[$T], Bool, CPU>)
  linalg.CPU.CompressOp (%a, %n) -> (%b:f[$U, 2])
  linalg.CPU.ConcatOp [dim:0] (%x, %a, %b) -> (%c:f[$S+$T+$U, 2])
  cf.ReturnOp (%b, %i, %c) -> ()
}
)");
  check_all_ways(text, {{pattern({5, 2}), mask("11011")},
                        {pattern({3, 2}), mask("010")},
                        {pattern({7, 2}), mask("1111111")},
                        {pattern({0, 2}), mask("")}});
}

TEST_CASE("decided extents: a declared range and an extent that is known are checked") {
  const auto text = [](std::string_view head, std::string_view extent) {
    return with_types(fmt::format(R"(
@main [mir_version:2{0}] (%x:f[$S, 2], %m:tensor<[$S], Bool, CPU>) -> (%y:f[{1}, 2]) {{
  linalg.CPU.CompressOp (%x, %m) -> (%a:f[{1}, 2])
  linalg.CPU.NegOp (%a) -> (%y:f[{1}, 2])
  cf.ReturnOp (%y) -> ()
}}
)",
                                  head, extent));
  };
  const std::vector<Tensor> inputs = {pattern({4, 2}), mask("1110")};
  for (const RunnerOptions& options : {RunnerOptions(), fast()}) {
    Runner bounded(text(", symbols:{T:{max:2}}", "$T"), options);
    CHECK(bounded.error(inputs).find("its declaration admits 0 to 2") != std::string::npos);
    CHECK(bounded.run({pattern({4, 2}), mask("0110")})[0].shape()[0] == 2);
    CHECK(bounded.error(inputs).find("'$T' is 3") != std::string::npos);
    Runner known(text("", "$S"), options);
    CHECK(known.error(inputs).find("declared is tensor<[$S, 2]") != std::string::npos);
    CHECK(known.run({pattern({4, 2}), mask("1111")})[0].shape()[0] == 4);
    Runner unnamed(text("", "?"), options);
    CHECK(unnamed.run(inputs)[0].shape()[0] == 3);
  }
}

TEST_CASE("decided extents: a run that needs too much memory leaves nothing behind") {
  Runner runner(with_types(R"(
@main [mir_version:2] (%x:f[$S, 16], %m:tensor<[$S], Bool, CPU>) -> (%y:f[1, 16]) {
  linalg.CPU.CompressOp (%x, %m) -> (%a:f[$T, 16])
  linalg.CPU.NegOp (%a) -> (%b:f[$T, 16])
  linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%b) -> (%y:f[1, 16])
  cf.ReturnOp (%y) -> ()
}
)"),
                fast());
  RunOptions limited;
  limited.memory_limit = 64 * 16;
  const auto inputs = [](std::size_t rows) {
    return std::vector<Tensor>{pattern({64, 16}),
                               mask(std::string(rows, '1') + std::string(64 - rows, '0'))};
  };
  for (int again = 0; again < 2; ++again) {
    CHECK(runner.error(inputs(64), limited).find("bytes besides") != std::string::npos);
    CHECK(runner.run(inputs(2), limited)[0].shape()[0] == 1);
  }
}

TEST_CASE("decided extents: what a graph finds out for itself is no one else's") {
  const std::string text = with_types(R"(
@main [mir_version:2] (%x:f[4, 2], %m:tensor<[4], Bool, CPU>, %n:tensor<[4], Bool, CPU>) -> (%a:f[$T, 2], %b:f[1, 2], %c:f[1, 2]) {
  graph.SubGraphOp @sum <CPU> {
    (%x:f[4, 2], %m:tensor<[4], Bool, CPU>) -> (%y:f[1, 2]) {
      linalg.CPU.CompressOp (%x, %m) -> (%k:f[$T, 2])
      linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%k) -> (%y:f[1, 2])
      cf.ReturnOp (%y) -> ()
    }
  }
  linalg.CPU.CompressOp (%x, %m) -> (%a:f[$T, 2])
  graph.CallGraphOp @sum (%x, %n) -> (%b:f[1, 2])
  graph.CallGraphOp @sum (%x, %m) -> (%c:f[1, 2])
  cf.ReturnOp (%a, %b, %c) -> ()
}
)");
  const std::vector<std::vector<Tensor>> runs = {{pattern({4, 2}), mask("1101"), mask("0010")}};
  check_all_ways(text, runs);
  check_close(Runner(after_passes(text, "inline,simplify"), fast()).run(runs[0]),
              Runner(text).run(runs[0]));
}

TEST_CASE("decided extents: passes keep ops where their symbols are found out") {
  const std::string loop = with_types(R"(
@main [mir_version:2] (%x:f[4, 4], %z:tensor<[1], Int32, CPU>, %n:tensor<[1], Int32, CPU>) -> (%y:tensor<[1], Int32, CPU>) {
  cf.ForOp (%z, %n, %one:tensor<[1], Int32, CPU>[constant:[1]], %z) -> (%y:tensor<[1], Int32, CPU>) {
    (%i:tensor<[1], Int32, CPU>, %a:tensor<[1], Int32, CPU>) -> (%b:tensor<[1], Int32, CPU>) {
      linalg.CPU.IotaOp [shape:[4], dtype:Int32, dim:0] () -> (%row:tensor<[4], Int32, CPU>)
      linalg.CPU.LessOp (%row, %i) -> (%m:tensor<[4], Bool, CPU>)
      linalg.CPU.CompressOp (%x, %m) -> (%k:f[$T, 4])
      linalg.CPU.IotaOp [shape:[$T], dtype:Int32, dim:0] () -> (%each:tensor<[$T], Int32, CPU>)
      linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%each) -> (%s:tensor<[1], Int32, CPU>)
      linalg.CPU.AddOp (%a, %s) -> (%b:tensor<[1], Int32, CPU>)
      cf.YieldOp (%b) -> ()
    }
  }
  cf.ReturnOp (%y) -> ()
}
)");
  const std::string branch = with_types(R"(
@main [mir_version:2] (%x:f[4, 4], %m:tensor<[4], Bool, CPU>, %c:tensor<[1], Bool, CPU>) -> (%y:f[1, 4], %each:tensor<[$T], Int32, CPU>) {
  linalg.CPU.CompressOp (%x, %m) -> (%k:f[$T, 4])
  linalg.CPU.IotaOp [shape:[$T], dtype:Int32, dim:0] () -> (%each:tensor<[$T], Int32, CPU>)
  cf.IfOp (%c) -> (%y:f[1, 4]) {
    () -> (%s:f[1, 4]) {
      linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%k) -> (%s:f[1, 4])
      cf.YieldOp (%s) -> ()
    }
    () -> (%s:f[1, 4]) {
      linalg.CPU.SliceOp [indices:[{start:0,end:1}, all]] (%x) -> (%s:f[1, 4])
      cf.YieldOp (%s) -> ()
    }
  }
  cf.ReturnOp (%y, %each) -> ()
}
)");
  const Tensor none = tensor(DType::kInt32, {1}, {0}), four = tensor(DType::kInt32, {1}, {4});
  const std::vector<Tensor> turns = {pattern({4, 4}), none, four};
  const std::vector<Tensor> untaken = {pattern({4, 4}), mask("0110"),
                                       tensor(DType::kBool, {1}, {0})};
  for (const std::string pipeline : {"hoist-invariants", "sink", "simplify,cse,sink", "estimate"}) {
    CAPTURE(pipeline);
    check_close(Runner(after_passes(loop, pipeline), fast()).run(turns), Runner(loop).run(turns));
    check_close(Runner(after_passes(branch, pipeline), fast()).run(untaken),
                Runner(branch).run(untaken));
  }
}

TEST_CASE(
    "decided extents: types that verification would refuse do not reach memory without place") {
  const std::string head = R"(
@main [mir_version:2] (%x:f[$S, 8], %m:tensor<[$S], Bool, CPU>) -> (%y:f[$T, 8], %k:tensor<[$T], Bool, CPU>) {
  linalg.CPU.NegOp (%x) -> (%n:f[$S, 8])
)",
                    end = R"(
  cf.ReturnOp (%y, %k) -> ()
}
)";
  const std::string permuted = R"(
  linalg.CPU.CompressOp (%m, %m) -> (%k:tensor<[$T], Bool, CPU>)
  linalg.CPU.PermuteOp [axis:[0, 1]] (%n) -> (%p:f[$T, 8])
  linalg.CPU.NegOp (%p) -> (%y:f[$T, 8]))";
  const std::string products = R"(
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%v:f[8, 8][@a.weight])[symbol:a.weight]
      tensor.CPU.register () -> (%w:f[8, 8][@b.weight])[symbol:b.weight]
    }
  }
  linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:8, bias:false] (%n) -> (%a:f[$S, 8])
  linalg.CPU.CompressOp (%m, %m) -> (%k:tensor<[$T], Bool, CPU>)
  linalg.CPU.LinearOp <name="b"> [in_channels:8, out_channels:8, bias:false] (%n) -> (%b:f[$T, 8])
  linalg.CPU.AddOp (%b, %a) -> (%y:f[$T, 8]))";
  for (const std::string& body : {permuted, products}) {
    const std::string text = with_types(head + body + end);
    Runner reference(text, SessionOptions(), Checked::kNo), runner(text, fast(), Checked::kNo);
    for (const double scale : {1.0, 2.0}) {
      Tensor x = pattern({3, 8});
      for (float& value : x.as_mutable<float>()) value *= static_cast<float>(scale);
      check_close(runner.run({x, mask("111")}), reference.run({x, mask("111")}));
    }
  }
}

TEST_CASE("decided extents: a run stops when their values do not fit the memory") {
  const std::string text = with_types(R"(
@main [mir_version:2, symbols:{T:{max:64}}] (%x:f[64, 16], %m:tensor<[64], Bool, CPU>) -> (%y:f[$T, 16]) {
  linalg.CPU.CompressOp (%x, %m) -> (%a:f[$T, 16])
  linalg.CPU.NegOp (%a) -> (%b:f[$T, 16])
  linalg.CPU.SinOp (%b) -> (%y:f[$T, 16])
  cf.ReturnOp (%y) -> ()
}
)");
  for (const RunnerOptions& options : {RunnerOptions(), fast()}) {
    Runner runner(text, options);
    RunOptions limited;
    limited.memory_limit = 64 * 16 * 4 + 64 + 8 * 16 * 4 * 3;
    std::string few(64, '0');
    few[3] = few[60] = '1';
    CHECK(runner.run({pattern({64, 16}), mask(few)}, limited)[0].shape()[0] == 2);
    if (options.kernels == KernelSet::kFast) {
      CHECK(runner.error({pattern({64, 16}), mask(std::string(64, '1'))}, limited)
                .find("bytes besides its parameters") != std::string::npos);
    }
    limited.memory_limit = 1000;
    CHECK(runner.error({pattern({64, 16}), mask(few)}, limited).find("bytes besides") !=
          std::string::npos);
  }
}

TEST_CASE("decided extents: each call and each turn of a loop finds its own") {
  const std::string called = with_types(R"(
@main [mir_version:2] (%x:f[5, 2], %m:tensor<[5], Bool, CPU>, %n:tensor<[5], Bool, CPU>) -> (%a:f[$T, 2], %b:f[$U, 2], %s:f[1, 2], %t:f[1, 2]) {
  graph.SubGraphOp @pick <CPU> {
    (%x:f[5, 2], %m:tensor<[5], Bool, CPU>) -> (%y:f[$K, 2]) {
      linalg.CPU.CompressOp (%x, %m) -> (%k:f[$K, 2])
      linalg.CPU.NegOp (%k) -> (%y:f[$K, 2])
      cf.ReturnOp (%y) -> ()
    }
  }
  graph.SubGraphOp @sum <CPU> {
    (%x:f[5, 2], %m:tensor<[5], Bool, CPU>) -> (%y:f[1, 2]) {
      linalg.CPU.CompressOp (%x, %m) -> (%k:f[$L, 2])
      linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%k) -> (%y:f[1, 2])
      cf.ReturnOp (%y) -> ()
    }
  }
  graph.CallGraphOp @pick (%x, %m) -> (%a:f[$T, 2])
  graph.CallGraphOp @pick (%x, %n) -> (%b:f[$U, 2])
  graph.CallGraphOp @sum (%x, %m) -> (%s:f[1, 2])
  graph.CallGraphOp @sum (%x, %n) -> (%t:f[1, 2])
  cf.ReturnOp (%a, %b, %s, %t) -> ()
}
)");
  const std::vector<std::vector<Tensor>> runs = {{pattern({5, 2}), mask("11010"), mask("00100")},
                                                 {pattern({5, 2}), mask("00000"), mask("11111")}};
  check_all_ways(called, runs);
  // What passes make of it means the same.
  Runner reference(called);
  for (const std::string pipeline :
       {"inline", "simplify,cse,eliminate-dead-ops", "inline,cse,sink,hoist-invariants,simplify"}) {
    CAPTURE(pipeline);
    Runner changed(after_passes(called, pipeline), fast());
    for (const auto& inputs : runs) check_close(changed.run(inputs), reference.run(inputs));
  }
  check_all_ways(with_types(R"(
@main [mir_version:2] (%x:f[4, 4], %z:f[1, 4], %lo:tensor<[1], Int32, CPU>, %hi:tensor<[1], Int32, CPU>, %st:tensor<[1], Int32, CPU>) -> (%y:f[1, 4]) {
  cf.ForOp (%lo, %hi, %st, %z) -> (%y:f[1, 4]) {
    (%i:tensor<[1], Int32, CPU>, %a:f[1, 4]) -> (%b:f[1, 4]) {
      linalg.CPU.IotaOp [shape:[4], dtype:Int32, dim:0] () -> (%row:tensor<[4], Int32, CPU>)
      linalg.CPU.LessOp (%row, %i) -> (%m:tensor<[4], Bool, CPU>)
      linalg.CPU.CompressOp (%x, %m) -> (%k:f[$T, 4])
      linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%k) -> (%s:f[1, 4])
      linalg.CPU.AddOp (%a, %s) -> (%b:f[1, 4])
      cf.YieldOp (%b) -> ()
    }
  }
  cf.ReturnOp (%y) -> ()
}
)"),
                 {{pattern({4, 4}), pattern({1, 4}), tensor(DType::kInt32, {1}, {0}),
                   tensor(DType::kInt32, {1}, {5}), tensor(DType::kInt32, {1}, {1})}});
}

TEST_CASE(
    "decided extents: the ops of a dialect have them, with bodies that fast kernels compute") {
  const std::string text = with_types(R"(
@route [mir_version:2] () -> () {
  dialect.OpOp @PickOp [attributes:{expert:int}, fresh:[M], summary:"The tokens of an expert."] {
    (%x:tensor<[$N, $K], T, D>, %to:tensor<[$N], Int32, D>) -> (%y:tensor<[$M, $K], T, D>) {
      linalg.D.EqualOp (%to, %e:tensor<[1], Int32, D>[constant:[$expert]]) -> (%m)
      linalg.D.CompressOp (%x, %m) -> (%k:tensor<[$M, $K], T, D>)
      linalg.D.NegOp (%k) -> (%y)
      cf.ReturnOp (%y) -> ()
    }
  }
}
@main [mir_version:2] (%x:f[5, 2], %to:tensor<[5], Int32, CPU>) -> (%a:f[$T, 2], %b:f[$U, 2]) {
  route.PickOp [expert:0] (%x, %to) -> (%a:f[$T, 2])
  route.PickOp [expert:1] (%x, %to) -> (%y:f[$U, 2])
  linalg.CPU.SinOp (%y) -> (%b:f[$U, 2])
  cf.ReturnOp (%a, %b) -> ()
}
)");
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add("test.mir", text);
  Diagnostics problems;
  const auto modules = read_modules(*file, context, problems);
  for (const Diagnostic& each : problems.sorted()) MESSAGE(each.message);
  REQUIRE(modules.size() == 2);
  const bool verified = verify(*modules[1], problems);
  for (const Diagnostic& each : problems.sorted()) MESSAGE(each.message);
  REQUIRE(verified);
  const std::vector<Tensor> inputs = {pattern({5, 2}), tensor(DType::kInt32, {5}, {1, 0, 1, 1, 0})};
  std::vector<std::vector<Tensor>> found;
  for (const KernelSet kernels : {KernelSet::kRef, KernelSet::kFast}) {
    SessionOptions options;
    options.kernels = kernels;
    auto session = Session::create(*modules[1], options, problems);
    REQUIRE(session);
    if (kernels == KernelSet::kFast) CHECK_FALSE(uses_reference(SessionAccess::plan(*session)));
    auto outputs = session->run(inputs, problems);
    for (const std::string& each : errors_of(problems)) MESSAGE(each);
    REQUIRE(outputs);
    found.push_back(*std::move(outputs));
  }
  CHECK(found[0][0].shape()[0] == 2);
  CHECK(found[0][1].shape()[0] == 3);
  check_close(found[1], found[0]);
}

}  // namespace mir::test::decided_extents
