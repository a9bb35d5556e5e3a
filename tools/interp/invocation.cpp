#include "invocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mir::tools {

Result<Invocation> Invocation::create(const std::string& path, const Arguments& given) {
  Invocation invocation{.path = path, .arguments = given};
  if (path == "-" || !Pack::is_at(path)) return invocation;
  auto pack = Pack::open(path);
  if (!pack) return std::move(pack).error();
  const auto is_given = [&](const PackOption& option) {
    return option.computes && given.has(option.name);
  };
  const bool computes_otherwise = std::ranges::any_of(kPackOptions, is_given);
  for (const auto& [option, values] : pack->arguments()) {
    if (given.has(option)) continue;
    if (option == "expect" && computes_otherwise) {
      invocation.leaves_expectations = true;
      continue;
    }
    invocation.of_pack.insert(option);
    for (const std::string& value : values) invocation.arguments.add(option, value);
  }
  invocation.pack = *std::move(pack);
  return invocation;
}

FileOpener Invocation::files(std::string_view option) const {
  if (!of_pack.contains(option)) return {};
  return pack->files(option == "weights" ? MemberCheck::kNone : MemberCheck::kHash);
}

const SourceFile* Invocation::read(const Run& run, SourceManager& sources, ExitCode& code) const {
  if (!pack) return run.read(path, sources, code);
  const auto file = pack->file(pack->module(), MemberCheck::kHash);
  if (!file) {
    code = run.report(file.error());
    return nullptr;
  }
  const auto* const text = reinterpret_cast<const char*>(file->bytes.data());
  const SourceFile* source = sources.add(file->origin, std::string(text, file->bytes.size()));
  if (source == nullptr)
    code = run.report(
        Error{DiagCode::kFileTooLarge, fmt::format("no room is left for '{}'", file->origin)});
  return source;
}

}  // namespace mir::tools
