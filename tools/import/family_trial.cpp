// Verifies families with random configs and shortens a config that fails.
#include "tools/import/family_trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "mir/codes/import.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/verify.hpp"
#include "tools/import/model_text.hpp"

namespace mir::tools {
namespace {

using nlohmann::json;

/// Integers with many divisors, so that conditions such as "divides" often hold; 4099 is prime.
constexpr std::array<std::int64_t, 20> kIntegers = {0,  1,  2,  3,  4,  5,   6,   8,   12,  16,
                                                    24, 32, 48, 64, 96, 128, 192, 256, 384, 4099};
constexpr std::array<double, 8> kNumbers = {0, 1e-6, 0.5, 0.75, 1, 2, 8, 10000};
/// Random configs for each one that is wanted.
constexpr std::size_t kMostTries = 200, kLeastTries = 10'000;
constexpr std::size_t kMostChanges = 6;

/// Values of a config by their keys.
using Config = std::map<std::string, json, std::less<>>;

class Trial {
 public:
  Trial(const Family& family, IRContext& context, Diagnostics& diagnostics)
      : family_(family), context_(context), diagnostics_(diagnostics) {
    for (const AttrRow& row : family_.model->attributes)
      if (row.config != "-") rows_.push_back(row);
  }

  std::optional<FamilyTrial> run(std::size_t count) {
    for (const AttrRow& row : rows_)
      if (values_of(row).empty()) result_.not_varied.emplace_back(key_of(row));
    if (!add(Config())) return std::nullopt;
    for (std::size_t i = 0;
         i < std::max(count * kMostTries, kLeastTries) && result_.accepted < count; ++i)
      if (!add(random_config())) return std::nullopt;
    if (result_.accepted == count) return result_;
    diagnostics_.error(
        diag::kConfigUnsupported, {},
        fmt::format("family '{}': {} of {} random configs are accepted, expected {}", family_.name,
                    result_.accepted, result_.accepted + result_.refused, count));
    return std::nullopt;
  }

 private:
  enum class Outcome { kVerifies, kRefused, kFails };

  static std::string_view key_of(const AttrRow& row) {
    return row.config.empty() ? row.name : row.config;
  }

  /// Values that a random config may have; empty if the key is not varied.
  static std::vector<json> values_of(const AttrRow& row) {
    std::vector<json> values;
    const auto add = [&](auto number) {
      if (row.range.admits(static_cast<double>(number))) values.push_back(number);
    };
    if (row.type == AttrType::kInt) std::ranges::for_each(kIntegers, add);
    if (row.type == AttrType::kFloat) std::ranges::for_each(kNumbers, add);
    if (row.type == AttrType::kBool) values = {true, false};
    for (const std::string_view each : row.choices) values.push_back(each);
    return values;
  }

  /// An integer that the model has elsewhere, or one with many divisors.
  json random_integer(const AttrRow& row) {
    const AttrRow& other = rows_[random_() % rows_.size()];
    std::int64_t number = kIntegers[random_() % kIntegers.size()];
    const std::string_view text = other.default_text;
    if (other.type == AttrType::kInt && random_() % 3 == 0)
      std::from_chars(text.data(), text.data() + text.size(), number);
    return row.range.admits(static_cast<double>(number)) ? json(number) : json();
  }

  /// A config that was accepted, or the defaults, with some other values.
  Config random_config() {
    Config config = accepted_.empty() ? Config() : accepted_[random_() % accepted_.size()];
    json last;
    for (std::size_t left = 1 + random_() % kMostChanges; left != 0; --left) {
      const AttrRow& row = rows_[random_() % rows_.size()];
      const auto values = values_of(row);
      if (values.empty()) continue;
      json value =
          row.type == AttrType::kInt ? random_integer(row) : values[random_() % values.size()];
      // Conditions often ask for the same number at two keys.
      if (row.type == AttrType::kInt && last.is_number_integer() && random_() % 2 == 0)
        value = last;
      if (value.is_null() || !is_admitted(row, value)) continue;
      config.insert_or_assign(std::string(key_of(row)), value);
      if (row.type == AttrType::kInt) last = value;
    }
    return config;
  }

  static bool is_admitted(const AttrRow& row, const json& value) {
    return !value.is_number() || row.range.admits(value.get<double>());
  }

  /// Counts a config; false after reporting that it fails.
  bool add(Config config) {
    Diagnostics found(0);
    const Outcome outcome = outcome_of(config, found);
    if (outcome == Outcome::kVerifies) {
      ++result_.accepted;
      accepted_.push_back(std::move(config));
      return true;
    }
    if (outcome == Outcome::kRefused) ++result_.refused;
    if (outcome != Outcome::kFails) return true;
    shorten(config);
    Diagnostics last(0);
    outcome_of(config, last);
    const auto is_any = [](const Diagnostic&) { return true; };
    if (Diagnostic* error = last.find_error(is_any))
      error->message += fmt::format("; config: {}", json(config).dump());
    diagnostics_.append(std::move(last));
    return false;
  }

  /// Removes keys without which the config still fails.
  void shorten(Config& config) {
    for (auto each = config.begin(); each != config.end();) {
      Config without = config;
      without.erase(each->first);
      Diagnostics found(0);
      const bool fails = outcome_of(without, found) == Outcome::kFails;
      each = fails ? config.erase(each) : std::next(each);
    }
  }

  Outcome outcome_of(const Config& config, Diagnostics& found) {
    Outcome worst = Outcome::kVerifies;
    for (const ModelPorts& ports : family_.signatures)
      worst = std::max(worst, outcome_of(config, ports, found));
    return worst;
  }

  Outcome outcome_of(const Config& config, const ModelPorts& ports, Diagnostics& found) {
    ModelConfig entries;
    for (const auto& [key, value] : config)
      entries.add({.path = key, .value = value, .at = {}, .spelling = {}});
    const ModelText text = write_model(family_, ports, entries, {}, found);
    const SourceFile* file = context_.sources().add("config", text.text);
    if (file == nullptr) {
      const Error full = SourceManager::full("config");
      found.error(full.code, {}, full.message);
      return Outcome::kFails;
    }
    const auto modules = read_modules(*file, context_, found);
    const bool is_good = !found.has_errors() && modules.size() == 1 &&
                         verify(*modules.front(), found, {.report_findings = false});
    for (Module* each : modules) context_.release(*each);
    return is_good ? Outcome::kVerifies : is_refused(found) ? Outcome::kRefused : Outcome::kFails;
  }

  /// True if a condition of the model, or of a declared op in its body, is the error: messages of
  /// those name the op with its dialect.
  bool is_refused(Diagnostics& found) const {
    const auto is_any = [](const Diagnostic&) { return true; };
    const Diagnostic* error = found.find_error(is_any);
    if (error == nullptr) return false;
    constexpr std::string_view kInner = " would not verify: '";
    std::string_view message = error->message;
    const std::size_t inner = message.rfind(kInner);
    if (inner == message.npos && !message.starts_with("'")) return false;
    message.remove_prefix(inner == message.npos ? 1 : inner + kInner.size());
    return message.substr(0, message.find('\'')).find('.') != message.npos;
  }

  const Family& family_;
  IRContext& context_;
  Diagnostics& diagnostics_;
  std::vector<AttrRow> rows_;  // attributes that keys of a config set
  std::vector<Config> accepted_;
  FamilyTrial result_;
  std::mt19937 random_{1};  // NOLINT(cert-msc32-c,cert-msc51-cpp): trials are the same each time
};

}  // namespace

std::optional<FamilyTrial> try_configs(const Family& family, std::size_t count, IRContext& context,
                                       Diagnostics& diagnostics) {
  return Trial(family, context, diagnostics).run(count);
}

}  // namespace mir::tools
