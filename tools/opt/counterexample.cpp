// Writes a pack that reproduces different results of a module before and after a rewrite.
#include "tools/opt/counterexample.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/characters.hpp"
#include "support/file_io.hpp"
#include "support/paths.hpp"
#include "support/platform/atomic_file.hpp"
#include "support/platform/scratch_folder.hpp"
#include "weights/pack.hpp"

namespace mir::tools {

namespace {

/// The text of a module in comments.
std::string commented(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines += fmt::format("// {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Files that become members of a pack.
class MemberFiles {
 public:
  explicit MemberFiles(ScratchFolder folder) : folder_(std::move(folder)) {}

  Result<void> add(PackPlan& plan, const std::string& name, std::string_view bytes) const {
    const std::string path = path_in(folder_.path(), name);
    plan.files.push_back({name, path});
    return write_file_atomically(path, bytes);
  }

 private:
  ScratchFolder folder_;
};

/// A name of a file.
std::string file_name(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](char c) { return !is_name_character(c, ".-"); }, '_');
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

}  // namespace

Result<void> write_counterexample(const std::string& folder, std::string_view name,
                                  std::string_view title, const Counterexample& found,
                                  std::optional<std::string> weights) {
  auto scratch = ScratchFolder::create("mllm-opt");
  if (!scratch) return std::move(scratch).error();
  const MemberFiles members(*std::move(scratch));
  PackPlan plan;
  plan.module = "after.mir";
  const std::string text = fmt::format("// {}\n// before:\n{}\n{}{}", title,
                                       commented(found.before), found.dialects, found.after);
  if (auto added = members.add(plan, plan.module, text); !added) return added;
  const auto add = [&](std::string_view option, std::span<const Tensor> tensors) -> Result<void> {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::string member = fmt::format("{}{}.raw", option, i);
      const auto bytes = tensors[i].bytes();
      const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (auto added = members.add(plan, member, view); !added) return added;
      plan.arguments[std::string(option)].push_back(
          fmt::format("{}={}:{}[{}]", i, member, name_of(tensors[i].dtype()),
                      fmt::join(tensors[i].shape(), ", ")));
    }
    return {};
  };
  if (auto added = add("input", found.inputs); !added) return added;
  if (auto added = add("expect", found.expected); !added) return added;
  plan.arguments["tolerance"] = {"exact"};
  if (weights) plan.arguments["weights"] = {*weights};
  return write_pack(path_in(folder, file_name(name) + ".mirz"), plan);
}

}  // namespace mir::tools
