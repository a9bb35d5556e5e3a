// What portable modules become in each version of upstream, as dump_forms.txt stores it;
// UPDATE_GOLDEN=1 writes it anew.
#include <sstream>

#include "../stored_lines.hpp"
#include "upgrade/lower_program.hpp"
#include "upgraded.hpp"

namespace dump_forms_test {

using namespace mir;
using namespace mir::test;

namespace {

/// A graph that is called once or twice, a cache with a name of its own, views and pieces.
std::string module_text(bool calls_twice) {
  const std::string heads = t("1, 2, 4, 8"), row = t("2, 4"), half = t("2, 2");
  return "@main [mir_version:1] (%0:" + row + ", %k:" + heads + ", %h:" + t("2, 4", "Float16") +
         ") -> (%9:" + row + ") {\n" +
         "graph.SubGraphOp @init <notype> { () -> () {\n"
         "tensor.CPU.register () -> (%5:" +
         t("4, 4") +
         "[@m.fc.weight])[symbol:m.fc.weight]\n"
         "tensor.CPU.register () -> (%6:" +
         t("4") +
         "[@m.norm.weight])[symbol:m.norm.weight]\n"
         "} }\n"
         "graph.SubGraphOp @m <CPU> [symbol:m] { (%a:" +
         row + ") -> (%c:" + row +
         ") {\n"
         "linalg.CPU.LinearOp <name=\"m.fc\"> [in_channels:4, out_channels:4, bias:false] (%a) -> "
         "(%b:" +
         row +
         ")\n"
         "linalg.CPU.RMSNormOp <name=\"m.norm\"> [epsilon:1e-6] (%b) -> (%c:" +
         row +
         ")\n"
         "cf.ReturnOp (%c) -> ()\n} }\n"
         "graph.CallGraphOp @m (%0) -> (%1:" +
         row +
         ")\n"
         "linalg.CPU.ViewOp [to_shape:[4, 2], enable_ssa:true] (%1) -> (%v:" +
         t("4, 2") +
         ")\n"
         "linalg.CPU.ViewOp [to_shape:[2, 4]] (%v) -> (%w:" +
         row + ")\n" +
         (calls_twice ? "graph.CallGraphOp @m (%1) -> (%2:" : "linalg.CPU.AbsOp (%1) -> (%2:") +
         row +
         ")\n"
         "linalg.CPU.KVCacheOp <name=\"own\"> [cache:@m.cache, q_head:2, kv_head:2, head_dim:8, "
         "past:0] (%k, %k) -> (%3:" +
         heads + ", %4:" + heads +
         ")\n"
         "linalg.CPU.SplitOp [split_size_or_sections:[2], dim:1] (%2) -> (%p:" +
         half + ", %q:" + half +
         ")\n"
         "linalg.CPU.SliceOp [indices:[{start:0, end:2}, {start:1, end:3}]] (%2) -> (%s:" +
         half +
         ")\n"
         "linalg.CPU.AddOp (%p, %q) -> (%d:" +
         half +
         ")\n"
         "linalg.CPU.AddOp (%d, %s) -> (%e:" +
         half +
         ")\n"
         "linalg.CPU.ConcatOp [dim:1] (%e, %s) -> (%f:" +
         row +
         ")\n"
         "linalg.CPU.CastTypeOp [dtype:Float32] (%h) -> (%g:" +
         row +
         ")\n"
         "linalg.CPU.AddOp (%f, %g) -> (%i:" +
         row +
         ")\n"
         "linalg.CPU.AddOp (%i, %w) -> (%9:" +
         row +
         ")\n"
         "cf.ReturnOp (%9) -> ()\n}\n";
}

}  // namespace

TEST_CASE("what a portable module becomes in each version of upstream is as it is stored") {
  std::vector<std::string> found;
  const auto add = [&](const std::string& title, const std::string& text) {
    found.push_back(title);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) found.push_back("  " + line);
  };
  const std::pair<Generation, std::string> generations[] = {{Generation::k2025_06, "2025-06"},
                                                            {Generation::k2025_07, "2025-07"},
                                                            {Generation::k2025_10, "2025-10"},
                                                            {Generation::k2025_12, "2025-12"}};
  for (const auto& [generation, name] : generations) {
    Reading reading(module_text(true));
    LossReport report;
    Diagnostics diagnostics(0);
    downgrade(reading.module(), generation, report, diagnostics);
    add(name, print(reading.module()));
    for (const std::string& line : lines_of(diagnostics, reading.context)) found.push_back(line);
    add("report", loss_text(report, reading.context));
  }
  Reading reading(module_text(false));
  LossReport report;
  Diagnostics diagnostics(0);
  lower_program(reading.module(), report, diagnostics);
  add("program", print(reading.module()));
  for (const std::string& line : lines_of(diagnostics, reading.context)) found.push_back(line);
  add("report", loss_text(report, reading.context));
  CHECK(found == stored_lines("testdata/unit/upgrade/dump_forms.txt", found));
}

}  // namespace dump_forms_test
