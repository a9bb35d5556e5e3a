// Lists quantisations of values as a table or CSV.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "mir/attribute_keys.hpp"
#include "text/emit/emit.hpp"

namespace mir {

namespace {

constexpr std::array<std::string_view, 15> kColumns = {
    "module", "graph",      "value", "type",       "kind", "min",    "max", "stored as",
    "scale",  "zero point", "axis",  "block size", "uuid", "solved", "line"};
using Row = std::array<std::string, kColumns.size()>;

class QuantRows {
 public:
  explicit QuantRows(const Module& module) : module_(module), context_(module.context()) {
    region(module.body(), "");
  }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  void region(const Region& region, std::string_view graph) {
    for (const Value* value : region.free_values()) {
      if (value->has_uses()) add(*value, graph, *value->first_use()->user());
    }
    for (const Block* block : region.blocks()) {
      for (const Value& argument : block->arguments()) add(argument, graph, *region.parent());
      for (const Op* op : block->ops()) this->op(*op, graph);
    }
  }

  void op(const Op& op, std::string_view graph) {
    for (const Value& result : op.results()) add(result, graph, op);
    const Attr* annotation = op.attribute(key::kQuantRecipe);
    if (annotation != nullptr && annotation->kind() == AttrKind::kQuantAnnotation) {
      for (const auto& [key, value] : annotation->entries()) {
        const std::string_view name = context_.text(key);
        // The other entries repeat what the values say.
        if (value == nullptr || !name.starts_with("weight_")) continue;
        const std::string parameter =
            fmt::format("@{}.{}", context_.text(op.path()), name.substr(7));
        add(*value, graph, parameter, "", op);
      }
    }
    const std::string_view inner_graph = op.has_symbol() ? context_.text(op.symbol()) : graph;
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      region(*inner, inner_graph);
    }
  }

  void add(const Value& value, std::string_view graph, const Op& place) {
    const Attr* attribute = value.attribute(key::kQuantRecipe);
    if (attribute == nullptr) return;
    const ValueName name = value.name();
    const std::string shown = value.has_symbol() ? fmt::format("@{}", context_.text(value.symbol()))
                              : name.is_number() ? fmt::format("%{}", name.number())
                                                 : fmt::format("%{}", context_.text(name.symbol()));
    add(*attribute, graph, shown, value.type() == nullptr ? "" : value.type()->spelling(), place);
  }

  void add(const Attr& attribute, std::string_view graph, std::string_view value,
           std::string_view type, const Op& place) {
    if (attribute.kind() != AttrKind::kQuantSpec) return;
    const QuantSpec spec = read_quant_spec(attribute);
    const auto field = [&](std::initializer_list<std::string_view> keys) {
      for (const auto& [key, text] : spec.fields) {
        if (std::ranges::find(keys, key) != keys.end()) return std::string(text);
      }
      return std::string();
    };
    const SourceFile* file = context_.sources().file_of(place.span().begin);
    rows_.push_back(
        {std::string(context_.text(module_.name())), std::string(graph), std::string(value),
         std::string(type), std::string(spec.kind), field({"quant_min"}), field({"quant_max"}),
         field({"quant_to_type", "type"}), field({"scale_type", "scale_1_type"}),
         field({"zero_point_type"}), field({"ch_axis"}), field({"block_size"}),
         spec.uuid ? std::to_string(*spec.uuid) : "",
         spec.solved ? (*spec.solved ? "yes" : "no") : "",
         file == nullptr ? "" : std::to_string(file->line_column(place.span().begin).line)});
  }

  const Module& module_;
  IRContext& context_;
  std::vector<Row> rows_;
};

std::vector<Row> rows_of(std::span<Module* const> modules) {
  std::vector<Row> rows;
  for (const Module* module : modules) {
    for (Row& row : QuantRows(*module).take()) rows.push_back(std::move(row));
  }
  return rows;
}

/// A field of a line of comma-separated values (RFC 4180).
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

std::string emit_quant(std::span<Module* const> modules) {
  const std::vector<Row> rows = rows_of(modules);
  Row head;
  std::ranges::copy(kColumns, head.begin());
  std::array<std::size_t, kColumns.size()> widths{};
  const auto widen = [&](const Row& row) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  };
  widen(head);
  for (const Row& row : rows) widen(row);
  std::string out;
  const auto print = [&](const Row& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{:<{}}", row[i], widths[i] + 2);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  print(head);
  for (const Row& row : rows) print(row);
  return out;
}

std::string emit_quant_csv(std::span<Module* const> modules) {
  std::string out = fmt::format("{}\n", fmt::join(kColumns, ","));
  for (const Row& row : rows_of(modules)) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += (i == 0 ? "" : ",") + csv_field(row[i]);
    }
    out += '\n';
  }
  return out;
}

}  // namespace mir
