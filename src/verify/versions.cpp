// Checks that a module states the version that its features need, and lowers it.
#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "ir/context/language_versions.hpp"
#include "ir/ports.hpp"
#include "ir/version_needs.hpp"
#include "mir/control_flow.hpp"
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
    const bool is_declaration = need.feature == VersionNeed::Feature::kSymbols ||
                                need.feature == VersionNeed::Feature::kRelations;
    if (kept == nullptr || !is_declaration) return;
    const Span number = version_number(module);
    if (number.begin != number.end) kept->fix(number, std::to_string(need.version));
  });
}

}  // namespace checks

namespace {

/// Copies the returned value before each return: the output has a value of its own then.
void copy_output(Module& module, Region& signature, std::size_t output) {
  IRContext& context = module.context();
  Rewriter rewriter(module);
  for (Block* block : signature.blocks()) {
    Op* const end = block->back();
    if (end == nullptr || !leaves_region(*end)) continue;
    Value& value = *end->operand(output);
    rewriter.set_insertion_point(*end);
    const Op& copy = *rewriter.create(
        {.name = context.op_name(OpId::kLinalgClone, value.tensor_type()->device()),
         .operands = std::vector{&value},
         .result_types = std::vector{value.type()},
         .location = end->location()});
    rewriter.set_operand(*end, output, copy.result());
  }
}

/// True if copies of outputs make the ports of the signature expressible by names of values.
bool can_separate_outputs(const Region& signature) {
  const IRContext& context = signature.parent()->module().context();
  std::unordered_map<std::uint32_t, const Value*> values;
  for (const SignaturePort& port : ports_of(signature)) {
    const Value& value = *port.value;
    const bool is_copied = port.is_output && value.tensor_type() != nullptr;
    const auto [known, is_new] = values.try_emplace(port.name.raw(), &value);
    if (port.name.is_none()) continue;
    if (known->second != &value || !is_printable_name(port.name, value.type(), context)) {
      return false;
    }
    if (!is_copied && value.symbol() && default_port(value) != port.name) return false;
  }
  return true;
}

}  // namespace

bool lower_version(Module& module, std::int64_t version, Diagnostics& diagnostics) {
  if (!module.is_portable() || module.version() <= version) return true;
  bool is_free = true;
  const VerifyOptions options;  // the reporter refers to them
  checks::Reporter reporter(module, diagnostics, options);
  std::vector<Region*> shared;  // signatures that return one value under several names
  for_each_version_need(module, version, [&](const VersionNeed& need) {
    Region* const region = need.place.first_region();
    if (need.feature == VersionNeed::Feature::kPort && can_separate_outputs(*region)) {
      shared.push_back(region);
      return;
    }
    report_need(need, reporter);
    is_free = false;
  });
  if (!is_free) return false;
  for (Region* region : shared) {
    while (const auto port = first_unnameable(*region)) copy_output(module, *region, port->index);
  }
  Rewriter(module).set_version(version);
  return true;
}

}  // namespace mir
