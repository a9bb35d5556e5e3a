#include <fmt/format.h>

#include "ir/context/language_versions.hpp"
#include "ir/version_needs.hpp"
#include "mir/rewriter.hpp"
#include "verify/checks.hpp"
#include "verify/lower_version.hpp"
#include "verify/suggestions.hpp"

namespace mir {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// Where the head of a module has the number of its version; empty if its text is not there, or if
/// a pass has set another version.
Span version_number(const Module& module) {
  constexpr std::string_view kKey = key::kMirVersion;
  constexpr std::size_t kMostText = 4096;
  const Span head = module.top()->span();
  const SourceFile* file = module.context().sources().file_of(head.begin);
  if (file == nullptr || head.begin < file->base()) return {};
  const std::string_view text = file->text().substr(head.begin - file->base(), kMostText);
  std::size_t at = text.find(kKey);
  if (at == text.npos) return {};
  at += kKey.size();
  while (at < text.size() && (is_blank(text[at]) || text[at] == ':' || text[at] == '"')) ++at;
  std::size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  if (text.substr(at, end - at) != std::to_string(module.version())) return {};
  const auto position = [&](std::size_t offset) {
    return head.begin + static_cast<SourcePos>(offset);
  };
  return {position(at), position(end)};
}

/// Reports a need. Returns the diagnostic if it is kept.
Diagnostic* report_need(const VersionNeed& need, checks::Reporter& reporter) {
  return reporter.report(ConstraintId::version_c1, need.place, [&] { return describe(need); });
}

/// The head of a dump has no attributes: what has some was meant to be portable.
void head_of_dump(checks::Reporter& reporter) {
  const Op& head = *reporter.module().top();
  for (const NamedAttr& attribute : head.attributes()) {
    const std::string_view key = checks::text(head, attribute.key);
    const AttributePlace place{key, AttributePart::kKey};
    Diagnostic* kept = reporter.report_at(ConstraintId::version_c2, head, place, [&] {
      return fmt::format("the module has '{}' but no 'mir_version', so it is read as a dump", key);
    });
    checks::suggest_attribute(kept, head, key);
  }
}

}  // namespace

namespace checks {

void versions(Reporter& reporter) {
  const Module& module = reporter.module();
  if (!module.is_portable() && reporter.wants(ConstraintId::version_c2)) head_of_dump(reporter);
  if (!module.is_portable() || module.version() >= kLatestVersion ||
      !reporter.wants(ConstraintId::version_c1)) {
    return;
  }
  for_each_version_need(module, module.version(), [&](const VersionNeed& need) {
    Diagnostic* kept = report_need(need, reporter);
    // What declares symbols was written for the later version. Other texts may change their
    // meaning.
    if (kept == nullptr || need.feature != VersionNeed::Feature::kSymbols) return;
    const Span number = version_number(module);
    if (number.begin != number.end) kept->fix(number, std::to_string(need.version));
  });
}

}  // namespace checks

bool lower_version(Module& module, std::int64_t version, Diagnostics& diagnostics) {
  if (!module.is_portable() || module.version() <= version) return true;
  bool is_free = true;
  const VerifyOptions options;  // the reporter refers to them
  checks::Reporter reporter(module, diagnostics, options);
  for_each_version_need(module, version, [&](const VersionNeed& need) {
    report_need(need, reporter);
    is_free = false;
  });
  if (is_free) Rewriter(module).set_version(version);
  return is_free;
}

}  // namespace mir
