// Plans the members and manifest of a pack from the options of a run.
#include "creation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "mir/codes/weights.hpp"
#include "mir/weights.hpp"
#include "reference.hpp"
#include "weights/tensor_file.hpp"

namespace mir::tools {
namespace {

/// Returns a member name that needs no quoting in arguments or shells.
std::string plain_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  const auto is_odd = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 0x7F ||
           std::string_view("=:[]()%$@,'\"\\*?&;|<>`~#!").find(c) != std::string_view::npos;
  };
  std::ranges::replace_if(name, is_odd, '_');
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "_");
  return name;
}

class Planner {
 public:
  explicit Planner(const RunSettings& settings)
      : settings_(settings), runs_(settings.run_count()) {}

  Result<PackPlan> plan(const std::string& module) {
    plan_.module = add_file(module, 0);
    for (const PackOption& option : kPackOptions) {
      const OptionRow& row = *settings_.options.find(option.name);
      for (const std::string& value : row.given()) {
        auto packed = packed_value(row, value);
        if (!packed) return std::move(packed).error();
        plan_.arguments[std::string(option.name)].push_back(*std::move(packed));
      }
    }
    return std::move(plan_);
  }

 private:
  /// An argument with members in the place of files.
  Result<std::string> packed_value(const OptionRow& option, const std::string& value) {
    if (&option == &settings_.weights) return packed_weights(value);
    if (&option == &settings_.dialects.files || &option == &settings_.facts.sidecar) {
      return add_file(value, 0);
    }
    if (&option == &settings_.feed) {
      const auto feed = parse_feed(value);
      if (!feed) return feed.error();
      if (feed->kind != Feed::Kind::kTensor || !feed->spec.names_file()) return value;
      return feed->input + "=" + packed_spec(feed->spec, 0);
    }
    const bool is_expected = &option == &settings_.expect;
    if (&option != &settings_.input && !is_expected) return value;
    const auto spec = parse_tensor_spec(value);
    if (!spec) return spec.error();
    return spec->names_file() ? packed_spec(*spec, is_expected ? runs_ : 0) : value;
  }

  std::string packed_spec(const TensorSpec& spec, std::size_t runs) {
    std::string text = spec.target.empty() ? std::string() : spec.target + "=";
    text += add_file(spec.path, runs);
    const std::string& rest = spec.kind == TensorSpec::Kind::kNpzMember ? spec.member : spec.type;
    return rest.empty() ? text : text + ":" + rest;
  }

  Result<std::string> packed_weights(const std::string& value) {
    const auto source = WeightSource::open(value);
    if (!source) return source.error();
    if (source->invents()) return value;
    const auto parts = TensorFile::parts(value);
    if (!parts) return parts.error();
    const auto folder = std::filesystem::path(value).parent_path();
    for (const auto& part : *parts) {
      // The file itself may be one of its parts: it keeps its name and its path.
      const bool is_given = std::filesystem::path(value).filename() == part;
      const auto path = is_given ? value : (folder / part).string();
      const bool is_free =
          std::ranges::find(plan_.files, part, &PackPlan::File::name) == plan_.files.end();
      if (!is_free && name_of_path(path) != part)
        return Error{diag::kPackMalformed,
                     fmt::format("two files are to be called '{}', which '{}' names", part, value)};
      if (is_free) plan_.files.push_back({part, path});
    }
    return add_file(value, 0);
  }

  /// The name of a file that has its place already; else nothing.
  std::string name_of_path(const std::string& path) const {
    const auto known = std::ranges::find(plan_.files, path, &PackPlan::File::path);
    return known == plan_.files.end() ? std::string() : known->name;
  }

  bool is_free(const std::vector<std::string>& names) const {
    return std::ranges::none_of(names, [&](const std::string& name) {
      return name == "manifest.json" ||
             std::ranges::find(plan_.files, name, &PackPlan::File::name) != plan_.files.end();
    });
  }

  /// The member for a file, or for the files of all runs if `runs` is not 0: its name, with `{run}`
  /// if `path` has it.
  std::string add_file(const std::string& path, std::size_t runs) {
    const auto earlier = patterns_.find({path, runs});
    if (earlier != patterns_.end()) return earlier->second;
    const bool is_of_runs = runs != 0 && path.find(kRunNumber) != path.npos;
    const auto paths = is_of_runs ? paths_of_runs(path, runs) : std::vector{path};
    if (!is_of_runs) {
      if (auto known = name_of_path(path); !known.empty()) return known;
    }
    const std::filesystem::path wanted(plain_name(path));
    std::string name = wanted.string();
    const auto names = [&] { return is_of_runs ? paths_of_runs(name, runs) : std::vector{name}; };
    for (int number = 2; !is_free(names()); ++number)
      name = fmt::format("{}-{}{}", wanted.stem().string(), number, wanted.extension().string());
    const auto free = names();
    for (std::size_t i = 0; i < paths.size(); ++i) plan_.files.push_back({free[i], paths[i]});
    patterns_[{path, runs}] = name;
    return name;
  }

  const RunSettings& settings_;
  std::size_t runs_;
  PackPlan plan_;
  std::map<std::pair<std::string, std::size_t>, std::string> patterns_;
};

}  // namespace

std::vector<std::string> paths_of_runs(const std::string& path, std::size_t runs) {
  const auto at = path.find(kRunNumber);
  if (at == path.npos) return {path};
  std::vector<std::string> paths;
  for (std::size_t run = 0; run < runs; ++run)
    paths.push_back(std::string(path).replace(at, kRunNumber.size(), fmt::to_string(run)));
  return paths;
}

Result<PackPlan> plan_pack(const Invocation& invocation) {
  return Planner(invocation.settings).plan(invocation.path);
}

}  // namespace mir::tools
