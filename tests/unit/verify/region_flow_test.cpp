// Values that control takes into regions and out of them.
#include "../ir/flow_dialect.hpp"
#include "mir/verify.hpp"

using namespace mir;
using mir::test::FlowReading;

namespace region_flow_test {

TEST_SUITE("region flow") {
  TEST_CASE("flow_c1, flow_c2: MIR0431 values that do not fit a region or the results") {
    const auto problems = [](std::string_view line) {
      FlowReading reading("@main [mir_version:1] (%x:$, %i:tensor<[2], Int32, CPU>) -> () {\n" +
                          std::string(line) + "\n}\n");
      Diagnostics found;
      verify(reading.module(), found);
      std::vector<std::string> lines;
      for (const std::string& each : test::lines_of(found, reading.context)) {
        if (each.find("MIR0431") != each.npos) lines.push_back(each);
      }
      return lines;
    };
    using Lines = std::vector<std::string>;
    CHECK(problems("flow.scope (%x) -> (%a:$) { (%0:$) -> () { flow.yield (%0) -> () } }") ==
          Lines{});
    CHECK(
        problems("flow.scope (%x) -> () { () -> () { flow.yield () -> () } }") ==
        Lines{"2:1 MIR0431 'flow.scope' passes 1 values to the entry of region 0 of 'flow.scope', "
              "which takes 0"});
    CHECK(problems("flow.scope () -> (%a:$) { () -> () { flow.yield () -> () } }") ==
          Lines{"2:62 MIR0431 'flow.yield' passes 0 values to the results of 'flow.scope', which "
                "takes 1"});
    CHECK(
        problems("flow.loop (%i) -> (%a:$) { (%0:tensor<[2], Int32, CPU>) -> () { flow.yield (%0) "
                 "-> () } }") ==
        Lines{"2:1 MIR0431 value 0 that 'flow.loop' passes to the results of 'flow.loop' is "
              "tensor<[2], Int32, CPU>, expected tensor<[2], Float32, CPU>",
              "2:89 MIR0431 value 0 that 'flow.yield' passes to the results of 'flow.loop' is "
              "tensor<[2], Int32, CPU>, expected tensor<[2], Float32, CPU>"});
  }
}

}  // namespace region_flow_test
