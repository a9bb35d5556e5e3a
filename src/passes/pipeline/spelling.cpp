// Pipelines to text.
#include <fmt/format.h>

#include "mir/pass.hpp"
#include "passes/pipeline/words.hpp"

namespace mir {

namespace {

std::string word(std::string_view text) {
  if (pipeline_text::is_plain(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return quoted + '"';
}

std::string joined(const auto& list, const auto& text_of) {
  std::string text;
  for (const auto& each : list) {
    if (!text.empty()) text += ',';
    text += text_of(each);
  }
  return text;
}

/// `S=4,T=[1,2]`, the values of one key together.
std::string keyed_text(const std::vector<std::string>& given) {
  std::vector<std::pair<std::string, std::vector<std::string>>> keys;
  for (const std::string& each : given) {
    const auto [key, value] = pipeline_text::key_and_value(each);
    if (keys.empty() || keys.back().first != key) keys.push_back({std::string(key), {}});
    keys.back().second.emplace_back(value);
  }
  return joined(keys, [](const auto& each) {
    const auto& [key, values] = each;
    return values.size() == 1 ? fmt::format("{}={}", word(key), word(values.front()))
                              : fmt::format("{}=[{}]", word(key), joined(values, word));
  });
}

std::string option_text(const PassOption& row, const std::vector<std::string>& given) {
  if (row.is_keyed) return keyed_text(given);
  if (row.kind == PassOption::Kind::kFlag) return std::string(row.name);
  if (!row.is_list) return fmt::format("{}={}", row.name, word(given.front()));
  return fmt::format("{}=[{}]", row.name, joined(given, word));
}

std::string options_text(const PassOptions& options) {
  std::vector<std::string> list;
  for (std::size_t row = 0; row < options.rows().size(); ++row) {
    if (const auto& given = options.given(row))
      list.push_back(option_text(options.rows()[row], *given));
  }
  return list.empty() ? "" : fmt::format("{{{}}}", joined(list, std::identity()));
}

std::string items_text(const std::vector<PipelineItem>& items) {
  return joined(items, [](const PipelineItem& each) { return spelling(each); });
}

/// `graph(@f:`
std::string group_begin(const PipelineItem& group) {
  const std::string anchor = group.op.empty() ? std::string(name_of(group.anchor)) : word(group.op);
  if (!group.selector) return anchor + '(';
  return fmt::format("{}(@{}:", anchor, word(*group.selector));
}

}  // namespace

std::string example_pipeline(const Pass& pass) {
  return pass.example_options.empty() ? pass.name
                                      : fmt::format("{}{{{}}}", pass.name, pass.example_options);
}

std::string spelling(const PipelineItem& item) {
  if (item.pass != nullptr) return std::string(item.pass->name) + options_text(item.options);
  return group_begin(item) + items_text(item.items) + ')';
}

std::string spelling(const Pipeline& pipeline) {
  return items_text(pipeline.items);
}

std::string PassStep::spelling() const {
  std::string text = mir::spelling(*item);
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    text = group_begin(**group) + text + ')';
  }
  return text;
}

}  // namespace mir
