// The signature of the op that is being typed.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dialects/op_facts.hpp"
#include "dialects/operand_names.hpp"
#include "lsp/op_context.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

Json signature_help(const View& whole, SourcePos at) {
  const View view = whole.near({at, at});
  const OpContext context = op_context(view, at, at);
  const OpRow* row = row_of(view, context.op);
  if (row == nullptr || context.inside == OpContext::Inside::kNothing) return nullptr;
  std::string label(context.op);
  Json parameters = Json::array();
  const auto parameter = [&](const std::string& word, std::string_view summary) {
    const auto begin = label.size();
    label += word;
    Json json = {{"label", {begin, label.size()}}};
    if (!summary.empty()) json["documentation"] = std::string(summary);
    parameters.push_back(std::move(json));
  };
  std::uint32_t active = context.commas;
  if (context.inside == OpContext::Inside::kAttributes) {
    label += " [";
    for (std::size_t i = 0; i < row->attributes.size(); ++i) {
      if (i != 0) label += ", ";
      if (row->attributes[i].name == context.key) active = static_cast<std::uint32_t>(i);
      parameter(attribute_signature(row->attributes[i]), row->attributes[i].summary);
    }
    label += "]";
  } else {
    const bool of_results = context.inside == OpContext::Inside::kResults;
    const OpName op = view.rows.op_name(context.op);
    const OperandNames names = of_results ? OperandNames() : operand_names(*op.info, op.kind);
    const Arity arity = of_results ? row->results : row->operands;
    label += of_results ? " (...) -> (" : " (";
    const auto stated = static_cast<std::uint32_t>(names.names.size());
    const std::uint32_t least =
        std::max<std::uint32_t>(arity.min, stated - (names.has_more ? 1 : 0));
    const std::uint32_t shown = arity.max == Arity::kMany ? least + 1u : arity.max;
    for (std::uint32_t i = 0; i < shown; ++i) {
      if (i != 0) label += ", ";
      const bool is_rest = arity.max == Arity::kMany && i + 1 == shown;
      const std::string word = of_results ? fmt::format("result {}", i) : names.at(i, shown);
      parameter(is_rest ? (names.has_more ? names.names.back() + "..." : "...") : word, "");
    }
    label += ")";
    if (arity.max == Arity::kMany && shown != 0) active = std::min(active, shown - 1);
  }
  return {{"signatures", Json::array({{{"label", label},
                                       {"documentation", std::string(row->summary)},
                                       {"parameters", std::move(parameters)}}})},
          {"activeSignature", 0},
          {"activeParameter", active}};
}

}  // namespace mir::lsp
