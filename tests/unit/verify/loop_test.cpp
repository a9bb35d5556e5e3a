// Kernels of loops: indices, races and elements that nothing wrote, and ops that do not fit.
#include "../dialects/infer.hpp"
#include "mir/verify.hpp"

namespace loop_rules {

struct Found {
  std::string message;  ///< "code message" of the first error; empty if there is none
  std::string constraint;
};

Found first_error(const std::string& text) {
  mir::IRContext context;
  mir::register_builtin_dialects(context);
  mir::Diagnostics diagnostics;
  const auto* file = context.sources().add("test", text);
  for (mir::Module* module : read_modules(*file, context, diagnostics)) {
    verify(*module, diagnostics);
  }
  const auto found = diagnostics.sorted();
  if (found.empty() || !diagnostics.has_errors()) return {};
  const std::string& cited = found.front().constraint;
  return {std::to_string(static_cast<int>(found.front().code)) + " " + found.front().message,
          cited.substr(0, cited.find(':'))};
}

std::string buffer(const std::string& extents, const std::string& dtype = "Float32") {
  return "!loop.buffer<" + dtype + ", [" + extents + "]>";
}

/// A module with a kernel from a Float32 of one shape to one of another.
std::string kernel(const std::string& from, const std::string& to, const std::string& steps,
                   const std::string& head = "") {
  return "@main [mir_version:2" + head + "] (%x:tensor<[" + from +
         "], Float32, CPU>) -> (%y:tensor<[" + to +
         "], Float32, CPU>) {\nloop.KernelOp (%x) -> (%y) {\n(%a:" + buffer(from) +
         ") -> (%b:" + buffer(to) + ") {\nloop.BufferOp () -> (%b:" + buffer(to) + ")\n" + steps +
         "\ncf.YieldOp (%b) -> ()\n}\n}\ncf.ReturnOp (%y) -> ()\n}\n";
}

std::string nest(const std::string& attributes, const std::string& steps) {
  return "loop.NestOp [" + attributes + "] () -> () {\n() -> () {\n" + steps +
         "\ncf.YieldOp () -> ()\n}\n}\n";
}

std::string read_at(const std::string& at, const std::string& from = "a",
                    const std::string& dtype = "Float32", const std::string& to = "e") {
  return "loop.ReadOp [at:[" + at + "]] (%" + from + ") -> (%" + to + ":tensor<[], " + dtype +
         ", CPU>)\n";
}
std::string write_at(const std::string& at, const std::string& more = "",
                     const std::string& operands = "%e, %b") {
  return "loop.WriteOp [at:[" + at + "]" + more + "] (" + operands + ") -> ()\n";
}

Found of(const std::string& from, const std::string& to, const std::string& steps,
         const std::string& head = "") {
  return first_error(kernel(from, to, steps, head));
}

}  // namespace loop_rules

using loop_rules::buffer;
using loop_rules::first_error;
using loop_rules::nest;
using loop_rules::of;
using loop_rules::read_at;
using loop_rules::write_at;

TEST_CASE("a kernel takes buffers of its operands and passes buffers that it made") {  // loop_c1
  const std::string copy = nest("loops:{i:4}", read_at("$i") + write_at("$i"));
  CHECK(of("4", "4", copy).message == "");
  const auto with = [&](const std::string& arguments, const std::string& passed) {
    return first_error(
        "@main [mir_version:2] (%x:tensor<[4], Float32, CPU>) -> (%y:tensor<[4], Float32, CPU>) "
        "{\nloop.KernelOp (%x) -> (%y) {\n(" +
        arguments + ") -> (%p:" + buffer("4") + ") {\nloop.BufferOp () -> (%b:" + buffer("4") +
        ")\n" +
        nest("loops:{i:4}", write_at("$i", "", "%z:tensor<[], Float32, CPU>[constant:[0]], %b")) +
        "cf.YieldOp (%" + passed + ":" + buffer("4") +
        ") -> ()\n}\n}\ncf.ReturnOp (%y) -> ()\n}\n");
  };
  CHECK(with("%a:" + buffer("4"), "b").message == "");
  CHECK(with("", "b").constraint == "loop_c1");
  CHECK(with("%a:" + buffer("5"), "b").constraint == "loop_c1");
  CHECK(with("%a:" + buffer("4", "Float64"), "b").constraint == "loop_c1");
  CHECK(with("%a:" + buffer("4"), "a").constraint == "loop_c1");
}

TEST_CASE("a kernel has ops on buffers and on single numbers") {  // loop_c2
  CHECK(
      of("4", "4",
         nest("loops:{i:4}", read_at("$i") +
                                 "linalg.CPU.SoftmaxOp [axis:0] (%q:tensor<[2], Float32, CPU>) -> "
                                 "(%r:tensor<[2], Float32, CPU>)\n" +
                                 write_at("$i")))
          .constraint == "loop_c2");
  CHECK(first_error("@main [mir_version:2] () -> () {\n" + nest("loops:{i:4}", "") +
                    "cf.ReturnOp () -> ()\n}\n")
            .message == "419 'loop.NestOp' must be inside 'loop.KernelOp'");
}

TEST_CASE("a nest binds each symbol once") {  // loop_c3
  const std::string copy = read_at("$i") + write_at("$i");
  CHECK(of("4", "4", nest("loops:{i:4}, sizes:{i:4}", copy)).constraint == "loop_c3");
  CHECK(of("4", "4", nest("loops:{i:4}", nest("loops:{i:4}", "") + copy)).message ==
        "504 'loops' binds '$i', which is bound already");
  // Nests beside each other may use the same symbol.
  CHECK(of("4", "4", nest("loops:{i:4}", copy) + nest("loops:{i:4}", copy)).message == "");
  CHECK(of("4", "4", nest("loops:{i:word}", copy)).constraint == "loop_c3");
  CHECK(of("4", "4", nest("loops:{i:4}, indices:{r:0}", copy)).constraint == "loop_c3");
  for (const std::string list : {"[j]", "[i, i]", "i", "[1]"}) {
    CAPTURE(list);
    CHECK(of("4", "4", nest("loops:{i:4}, parallel:" + list, copy)).constraint == "loop_c3");
    CHECK(of("4", "4", nest("loops:{i:4}, vector:" + list, copy)).constraint == "loop_c3");
    CHECK(of("4", "4", nest("loops:{i:4}, unroll:" + list, copy)).constraint == "loop_c3");
  }
}

TEST_CASE("conditions of a nest are over symbols of nests") {  // loop_c4
  const std::string copy = read_at("$i") + write_at("$i");
  CHECK(of("4", "4", nest("loops:{i:4}, where:\"$j < 2\"", copy)).constraint == "loop_c4");
  CHECK(of("4", "4", nest("loops:{i:4}, bounds:\"$i >= 2\"", copy)).constraint == "loop_c4");
  CHECK(of("4", "4", nest("loops:{i:4}, where:\"$i\"", copy)).constraint == "loop_c4");
}

TEST_CASE("indices of reads and writes are inside") {  // loop_c5
  CHECK(of("4", "4", nest("loops:{i:4}", read_at("$i+1") + write_at("$i"))).message ==
        "500 'loop.ReadOp' takes an index below 4 in dimension 0 of %a, found $i+1; $i = 3 makes "
        "it 4");
  CHECK(of("4", "4", nest("loops:{i:4}", read_at("$i") + write_at("$i-1"))).constraint ==
        "loop_c5");
  CHECK(of("4", "4", nest("loops:{i:4}", read_at("$j") + write_at("$i"))).message ==
        "504 'at' has '$j', expected a symbol that the loops around bind: $i");
  CHECK(of("4", "4", nest("loops:{i:4}", read_at("$i, 0") + write_at("$i"))).message ==
        "501 'at' has 2 indices, the buffer has rank 1");
  // The last tile is cut, or it is not.
  const std::string tile = read_at("8*$i+$r") + write_at("8*$i+$r");
  CHECK(of("20", "20", nest("loops:{i:3, r:8}, bounds:\"8*$i+$r < 20\"", tile)).message == "");
  CHECK(of("20", "20", nest("loops:{i:3, r:8}", tile)).message ==
        "500 'loop.ReadOp' takes an index below 20 in dimension 0 of %a, found 8*$i+$r; $i = 2, "
        "$r = 4 makes it 20");
  const std::string symbols = ", symbols:{N:{min:1, max:9}}";
  const std::string back = read_at("$n-1-$i") + write_at("$i");
  CHECK(of("$N", "$N", nest("loops:{i:$N}, sizes:{n:$N}", back), symbols).message == "");
  CHECK(
      of("$N", "$N", nest("loops:{i:$N}, sizes:{n:$N}", read_at("$n-$i") + write_at("$i")), symbols)
          .message ==
      "500 'loop.ReadOp' takes an index below $N in dimension 0 of %a, found -$i+$n; $N = 1, "
      "$i = 0 makes it 1");
}

TEST_CASE("what is read and written has the type of the buffer, or its number") {  // loop_c6
  const auto copy = [&](const std::string& dtype, const std::string& more = "") {
    return of("4", "4", nest("loops:{i:4}", read_at("$i", "a", dtype) + write_at("$i", more)));
  };
  CHECK(copy("Float32").message == "");
  CHECK(copy("Float64").message == "");
  CHECK(copy("Float16").message ==
        "502 'loop.ReadOp' has tensor<[], Float16, CPU>, expected one Float64 or Float32");
  CHECK(copy("Float64", ", join:max").message == "");
  CHECK(copy("Float64", ", join:or").constraint == "loop_c6");
  CHECK(of("4", "4", nest("loops:{i:4}", read_at("$i") + write_at("$i", "", "%e, %a"))).message ==
        "431 'loop.WriteOp' writes %a, which holds an operand of the kernel");
  CHECK(of("4", "4",
           "loop.BufferOp () -> (%c:" + buffer("4", "ComplexFP32") + ")\n" +
               nest("loops:{i:4}", read_at("$i") + write_at("$i")))
            .constraint == "loop_c6");
}

TEST_CASE("iterations of a parallel loop touch elements of their own") {  // loop_c7
  const std::string sum = read_at("$i, $j", "a", "Float64") + write_at("$j", ", join:add");
  CHECK(of("6, 4", "4", nest("loops:{i:6, j:4}", sum)).message == "");
  CHECK(of("6, 4", "4", nest("loops:{i:6, j:4}, parallel:[j]", sum)).message == "");
  CHECK(of("6, 4", "4", nest("loops:{i:6, j:4}, parallel:[i]", sum)).message ==
        "500 iterations $i = 0 and $i = 1 of a parallel loop write element [0] of %b; $i = 1, "
        "$j = 0");
  const std::string shift = read_at("$i", "b") + write_at("$i+1");
  const std::string begin = read_at("0") + write_at("0");
  CHECK(of("4", "5", begin + nest("loops:{i:4}", shift)).message == "");
  CHECK(of("4", "5", begin + nest("loops:{i:4}, parallel:[i]", shift)).constraint == "loop_c7");
  // Too many iterations to try all of them.
  const std::string last = read_at("$i, $j") + write_at("$j");
  CHECK(of("1000, 1000", "1000", nest("loops:{i:1000, j:1000}, parallel:[i]", last)).constraint ==
        "loop_c7");
  // A buffer of each iteration is shared with no other one.
  const std::string own = "loop.BufferOp () -> (%t:" + buffer("") + ")\n" + read_at("$i") +
                          write_at("", "", "%e, %t") + read_at("", "t", "Float32", "f") +
                          write_at("$i", "", "%f, %b");
  CHECK(of("4", "4", nest("loops:{i:4}, parallel:[i]", own)).message == "");
  const std::string shared = "loop.BufferOp () -> (%t:" + buffer("") + ")\n";
  const std::string through = read_at("$i") + write_at("", "", "%e, %t") +
                              read_at("", "t", "Float32", "f") + write_at("$i", "", "%f, %b");
  CHECK(of("4", "4", shared + nest("loops:{i:4}", through)).message == "");
  CHECK(of("4", "4", shared + nest("loops:{i:4}, parallel:[i]", through)).constraint == "loop_c7");
}

TEST_CASE("elements that are read or are results were written before") {  // loop_c8
  const std::string copy = nest("loops:{i:4}", read_at("$i") + write_at("$i"));
  CHECK(of("4", "4", "").message == "500 nothing wrote element [0] of %b, which is result 0");
  CHECK(of("4", "4", nest("loops:{i:3}", read_at("$i") + write_at("$i"))).message ==
        "500 nothing wrote element [3] of %b, which is result 0");
  CHECK(of("4", "4", nest("loops:{i:4}", read_at("$i", "b") + write_at("$i"))).message ==
        "500 'loop.ReadOp' reads element [0] of %b, which nothing wrote; $i = 0");
  CHECK(of("4", "4", copy + nest("loops:{i:4}", read_at("$i", "b") + write_at("$i"))).message ==
        "");
  CHECK(
      of("4", "4", nest("loops:{i:4}", read_at("3-$i", "b") + write_at("$i")) + copy).constraint ==
      "loop_c8");
  // In each iteration of a nest, a buffer begins without elements.
  const std::string stale =
      "loop.BufferOp () -> (%t:" + buffer("2") + ")\n" +
      nest("loops:{k:2}, where:\"$k <= $i\"", read_at("$k") + write_at("$k", "", "%e, %t")) +
      read_at("1", "t", "Float32", "f") + write_at("$i", "", "%f, %b");
  CHECK(of("4", "2", nest("loops:{i:2}", stale)).message ==
        "500 'loop.ReadOp' reads element [1] of %t, which nothing wrote; $i = 0");
}
