// Reads the dialects of families and what their heads state.
#include "tools/import/family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/ports.hpp"
#include "mir/codes/import.hpp"
#include "mir/dump_facts.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"
#include "mir/parse.hpp"

namespace mir::tools {
namespace {

struct FamilyText {
  std::string_view name, text;
};
constexpr FamilyText kFamilyTexts[] = {
#include "embedded_families.inc"
};

/// An entry of the dictionary `family` in the head of a dialect; null if there is none.
const Attr* entry_of(const Op& head, std::string_view key, const IRContext& context) {
  const Attr* family = nullptr;
  for (const NamedAttr& each : head.attributes()) {
    if (context.text(each.key) == "family") family = each.value;
  }
  if (family == nullptr || family->kind() != AttrKind::kDict) return nullptr;
  const auto entries = family->entries();
  const auto found = std::ranges::find_if(
      entries, [&](const NamedAttr& each) { return context.text(each.key) == key; });
  return found == entries.end() ? nullptr : found->value;
}

std::vector<std::string> texts_of(const Op& head, std::string_view key, const IRContext& context) {
  std::vector<std::string> texts;
  const Attr* list = entry_of(head, key, context);
  if (list == nullptr || list->kind() != AttrKind::kArray) return texts;
  for (const Attr* each : list->elements()) {
    if (each->kind() == AttrKind::kString) texts.emplace_back(each->text());
  }
  return texts;
}

std::vector<std::pair<std::string, std::string>> pairs_of(const Op& head, std::string_view key,
                                                          const IRContext& context) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const Attr* list = entry_of(head, key, context);
  if (list == nullptr || list->kind() != AttrKind::kDict) return pairs;
  for (const NamedAttr& each : list->entries()) {
    if (each.value->kind() == AttrKind::kString)
      pairs.emplace_back(context.text(each.key), each.value->text());
  }
  return pairs;
}

/// The op that declares an op of a dialect; null if there is none.
const Op* declaration_of(const Module& module, std::string_view op_name) {
  const Region* body = module.top()->region(0);
  if (body == nullptr || body->empty()) return nullptr;
  for (const Op* op : body->entry()->ops()) {
    if (module.context().text(op->symbol()) == op_name) return op;
  }
  return nullptr;
}

/// Inputs and outputs of the model under the names and types of a declared signature.
ModelPorts ports_of(const Region& declaration, IRContext& context) {
  std::vector<std::string> inputs, operands, outputs;
  for (const Value& each : declaration.entry_arguments()) {
    operands.push_back(fmt::format("%{}", name_text(each.name(), context)));
    const TensorType* type = each.tensor_type();
    const TensorType* placed =
        type == nullptr ? nullptr
                        : context.tensor(type->dims(), type->dtype_name(), context.intern("CPU"));
    inputs.push_back(placed == nullptr ? operands.back()
                                       : fmt::format("{}:{}", operands.back(), placed->spelling()));
  }
  for (const RegionResult& each : signature_results(declaration))
    outputs.push_back(fmt::format("%{}", name_text(each.name, context)));
  return {.inputs = fmt::format("{}", fmt::join(inputs, ", ")),
          .outputs = fmt::format("{}", fmt::join(outputs, ", ")),
          .operands = fmt::format("{}", fmt::join(operands, ", "))};
}

/// The families among the dialects that a text declares.
std::optional<std::vector<Family>> read_families(const SourceFile& file, IRContext& context,
                                                 Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.error_count();
  std::vector<Family> families;
  for (Module* module : read_modules(file, context, diagnostics)) {
    const Dialect* dialect = context.find_dialect(context.text(module->name()));
    const Op& head = *module->top();
    if (dialect != nullptr) {
      const auto model = std::ranges::find(dialect->rows, "ModelOp", &OpRow::name);
      if (model != dialect->rows.end()) {
        families.push_back({.name = std::string(dialect->name),
                            .model = &*model,
                            .architectures = texts_of(head, "architectures", context),
                            .model_types = texts_of(head, "model_types", context),
                            .text_of = texts_of(head, "text_of", context),
                            .gguf_architectures = texts_of(head, "gguf", context),
                            .weight_names = pairs_of(head, "weights", context),
                            .other_names = pairs_of(head, "also", context),
                            .signatures = {}});
        const Op* declaration = declaration_of(*module, model->name);
        for (std::size_t i = 0; declaration != nullptr && i < declaration->region_count(); ++i)
          families.back().signatures.push_back(ports_of(*declaration->region(i), context));
      }
    }
    context.release(*module);
  }
  if (diagnostics.error_count() != errors) return std::nullopt;
  return families;
}

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

}  // namespace

bool ModelPorts::has_input(std::string_view name) const {
  return fmt::format(" {},", operands).find(fmt::format(" %{},", name)) != std::string::npos;
}

bool Family::supports(std::string_view architecture, std::string_view model_type) const {
  if (!architecture.empty()) return has(architectures, architecture);
  return has(model_types, model_type);
}

bool Family::supports_text(std::string_view architecture, std::string_view model_type) const {
  return supports(architecture, model_type) ||
         has(text_of, architecture.empty() ? model_type : architecture);
}

bool Family::supports_gguf(std::string_view architecture) const {
  return has(gguf_architectures, architecture);
}

std::optional<std::vector<Family>> toolkit_families(IRContext& context, Diagnostics& diagnostics) {
  std::vector<Family> all;
  // Families use the ops of those before them: the common parts are first.
  std::vector<FamilyText> texts(std::begin(kFamilyTexts), std::end(kFamilyTexts));
  std::stable_partition(texts.begin(), texts.end(),
                        [](const FamilyText& each) { return each.name == "decoder"; });
  for (const FamilyText& each : texts) {
    const std::string name = fmt::format("{}.mir", each.name);
    const SourceFile* file = context.sources().add(name, std::string(each.text));
    if (file == nullptr) {
      const Error error = SourceManager::full(name);
      diagnostics.error(error.code, {}, error.message);
      return std::nullopt;
    }
    const auto families = read_families(*file, context, diagnostics);
    if (!families) return std::nullopt;
    all.insert(all.end(), families->begin(), families->end());
  }
  return all;
}

std::optional<std::vector<Family>> families_of_file(const std::string& path, IRContext& context,
                                                    Diagnostics& diagnostics) {
  const auto file = read_source(path, context.sources());
  if (!file) {
    diagnostics.error(file.error().code, {}, file.error().message);
    return std::nullopt;
  }
  auto families = read_families(**file, context, diagnostics);
  if (families && families->empty()) {
    diagnostics.error(
        diag::kConfigUnsupported, {},
        fmt::format("'{}' declares no family: no dialect with an op 'ModelOp'", path));
    return std::nullopt;
  }
  return families;
}

std::string architectures_text(std::span<const Family> families, bool of_gguf) {
  std::vector<std::string> names;
  for (const Family& each : families) {
    const auto& list = of_gguf ? each.gguf_architectures : each.architectures;
    names.insert(names.end(), list.begin(), list.end());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace mir::tools
