#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "mir/pass_plugin.hpp"
#include "mir/walk.hpp"

namespace {

using namespace mir;

PassResult count_ops(PassRun& run) {
  const std::vector<std::string_view> names = run.options().texts("names");
  for_each_op(run.region(), [&](Op& op) {
    const bool is_wanted = names.empty() || std::ranges::find(names, op.name()) != names.end();
    if (is_wanted) run.count(op.name());
  });
  return run.result();
}

std::vector<Pass> passes() {
  return {{.name = "count-ops",
           .summary = "counts operations by name; --statistics shows the counts",
           .anchor = Anchor::kGraph,
           .options = {{.name = "names",
                        .kind = PassOption::Kind::kText,
                        .is_list = true,
                        .summary = "count only these operations"}},
           .run = count_ops}};
}

}  // namespace

extern "C" const mir::PassPlugin* mir_pass_plugin() {
  static constexpr PassPlugin kPlugin{.name = "count-ops", .passes = passes};
  return &kPlugin;
}
