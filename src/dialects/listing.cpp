// Lists ops, types and keywords of dialects as tables for people.
#include "dialects/listing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "dialects/op_facts.hpp"
#include "dialects/operand_names.hpp"
#include "mir/tensor.hpp"
#include "support/characters.hpp"

namespace mir {

namespace {

std::string arity_text(Arity arity) {
  if (arity.max == Arity::kMany) return fmt::format("{}+", arity.min);
  if (arity.min == arity.max) return fmt::format("{}", arity.min);
  return fmt::format("{}-{}", arity.min, arity.max);
}

struct Line {
  std::string name;
  std::string arity;
  bool inferred;
  bool ref, fast;
  const OpRow* row;
};

/// A row is what makes an op known to the parser and gives it arity, attributes and effects, which
/// verification checks; both hold for all rows, which tests show with the examples of the rows.

std::vector<Line> lines_of(const IRContext& context, const Dialect& dialect,
                           const OpSupport& support) {
  std::vector<Line> lines;
  for (const OpRow& row : dialect.rows) {
    std::string name = fmt::format("{}.{}", dialect.name, row.name);
    const OpId op = context.find_kind(name).value_or(OpId::kNone).op();
    const bool has_body = static_cast<bool>(row.body);
    const bool ref = has_body || support.ref(op), fast = has_body || support.fast(op);
    lines.push_back({std::move(name),
                     fmt::format("{} -> {}", arity_text(row.operands), arity_text(row.results)),
                     row.infer != nullptr || has(row.traits, Trait::kTypedByName), ref, fast,
                     &row});
  }
  std::sort(lines.begin(), lines.end(),
            [](const Line& a, const Line& b) { return a.name < b.name; });
  return lines;
}

std::string parameters_text(const TypeRow& row) {
  std::string text;
  for (const AttrRow& each : row.parameters) {
    if (!text.empty()) text += ", ";
    text += each.required ? std::string(each.name) : fmt::format("[{}]", each.name);
  }
  return text;
}

std::string types_table(const Dialect& dialect) {
  std::string out;
  for (const auto rows : {dialect.types, dialect.attribute_kinds}) {
    if (rows.empty()) continue;
    fmt::format_to(std::back_inserter(out),
                   "\n| {} | parameters | example | meaning |\n|---|---|---|---|\n",
                   rows.data() == dialect.types.data() ? "type" : "attribute");
    for (const TypeRow& row : rows) {
      fmt::format_to(std::back_inserter(out), "| {} | {} | `{}` | {} |\n", row.name,
                     parameters_text(row), row.example, row.summary);
    }
  }
  return out;
}

std::string operands_text(const IRContext& context, const Line& line) {
  const auto kind = context.find_kind(line.name);
  if (!kind) return "";
  const OperandNames operands = operand_names(context.info(*kind), *kind);
  if (operands.names.empty()) return "";
  return fmt::format("  operands: {}{}\n", fmt::join(operands.names, ", "),
                     operands.has_more ? "..." : "");
}

std::string description(const IRContext& context, const Line& line) {
  const OpRow& row = *line.row;
  std::string out = fmt::format("{}{}{}\n  {}\n", op_signature(line.name, &row),
                                line.ref ? ", ref" : "", line.fast ? ", fast" : "", row.summary);
  out += operands_text(context, line);
  for (const AttrRow& each : row.attributes) {
    const std::string_view between = each.summary.empty() ? "" : "; ";
    fmt::format_to(std::back_inserter(out), "  {}{}{}\n", attribute_signature(each), between,
                   each.summary);
  }
  if (!row.example.empty()) fmt::format_to(std::back_inserter(out), "  example: {}\n", row.example);
  if (!row.page.empty()) fmt::format_to(std::back_inserter(out), "  docs/ops/{}.md\n", row.page);
  return out;
}

}  // namespace

std::string describe_ops(const IRContext& context, const OpSupport& support,
                         std::string_view part) {
  const std::string wanted = lower_case(part);
  std::string out;
  for (const Dialect* dialect : context.dialects()) {
    for (const Line& line : lines_of(context, *dialect, support)) {
      if (lower_case(line.name).find(wanted) == std::string::npos) continue;
      if (!out.empty()) out += '\n';
      out += description(context, line);
    }
  }
  return out;
}

std::string list_types(const IRContext& context) {
  std::string out;
  const auto list = [&](char sigil, const Dialect& dialect, std::span<const TypeRow> rows) {
    for (const TypeRow& row : rows) {
      fmt::format_to(std::back_inserter(out), "{:<24} {:<32} {}\n",
                     fmt::format("{}{}.{}", sigil, dialect.name, row.name), parameters_text(row),
                     row.summary);
    }
  };
  for (const Dialect* dialect : context.dialects()) {
    list('!', *dialect, dialect->types);
    list('#', *dialect, dialect->attribute_kinds);
  }
  return out;
}

std::string list_keywords(const IRContext& context) {
  std::set<std::string> lines;
  const auto add = [&](std::string_view kind, std::string_view word) {
    lines.insert(fmt::format("{} {}", kind, word));
  };
  for (const Dialect* dialect : context.dialects()) {
    for (const OpRow& row : dialect->rows) {
      add("op", fmt::format("{}.{}", dialect->name, row.name));
      for (const AttrRow& each : row.attributes) add("attribute", each.name);
    }
    for (const TypeRow& row : dialect->types) {
      add("type", fmt::format("!{}.{}", dialect->name, row.name));
    }
  }
  for (const DTypeInfo& each : dtype_table()) add("element-type", each.name);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::string list_ops(const IRContext& context, const OpSupport& support) {
  std::string out;
  for (const Dialect* dialect : context.dialects()) {
    for (const Line& line : lines_of(context, *dialect, support)) {
      fmt::format_to(std::back_inserter(out), "{:<36} {:<10} parse verify {} {} {}  {}\n",
                     line.name, line.arity, line.inferred ? "infer" : "-    ",
                     line.ref ? "ref" : "-  ", line.fast ? "fast" : "-   ", line.row->summary);
    }
  }
  return out;
}

std::string ops_index(const IRContext& context, const OpSupport& support) {
  std::string out =
      "# Operations\n\n"
      "Generated from the op rows by `mllm-parse --list-ops-markdown`; do not edit.\n\n"
      "*parse*: text with it is read and printed. *verify*: its operands, results and attributes "
      "are\n"
      "checked. *infer*: a rule computes its result types, or what it names has them; an op "
      "without "
      "this\n"
      "has no result or states its type itself. *ref*, *fast*: the reference kernels, the fast "
      "kernels\n"
      "run it. Attributes in **bold** must be given in a portable module.\n";
  for (const Dialect* dialect : context.dialects()) {
    fmt::format_to(std::back_inserter(out), "\n## {}\n\n{}\n\n", dialect->name, dialect->summary);
    out +=
        "| op | operands -> results | attributes | parse | verify | infer | ref | fast | meaning "
        "|\n|---|---|---|---|---|---|---|---|---|\n";
    for (const Line& line : lines_of(context, *dialect, support)) {
      std::string attributes;
      for (const AttrRow& attribute : line.row->attributes) {
        if (!attributes.empty()) attributes += ", ";
        attributes += attribute.required ? fmt::format("**{}**", attribute.name)
                                         : std::string(attribute.name);
      }
      const std::string name = line.row->page.empty()
                                   ? std::string(line.row->name)
                                   : fmt::format("[{}](ops/{}.md)", line.row->name, line.row->page);
      fmt::format_to(std::back_inserter(out), "| {} | {} | {} | yes | yes | {} | {} | {} | {} |\n",
                     name, line.arity, attributes, line.inferred ? "yes" : "",
                     line.ref ? "yes" : "", line.fast ? "yes" : "", line.row->summary);
    }
    out += types_table(*dialect);
  }
  return out;
}

}  // namespace mir
