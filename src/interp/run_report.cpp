// Writes outputs, comparisons and divergences of runs as JSON.
#include "interp/run_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace mir {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json json_of(const ElementNumber& number) {
  return std::visit([](auto value) { return Json(value); }, number);
}

Json json_of(const TensorSummary& summary) {
  Json json = {{"dtype", name_of(summary.dtype)}, {"shape", summary.shape}};
  json["hash"] = fmt::format("{:016x}", summary.hash);
  if (!summary.real) return json;
  json["min"] = summary.min;  // what is not finite is written as null
  json["max"] = summary.max;
  json["mean"] = summary.mean;
  json["deviation"] = summary.deviation;
  json["nans"] = summary.nans;
  json["infinities"] = summary.infinities;
  json["zeros"] = summary.zeros;
  return json;
}

Json json_of(const Tolerance& tolerance) {
  Json json;
  const bool distances = tolerance.judges_elements && !tolerance.exact;
  json["exact"] = tolerance.judges_elements && tolerance.exact;
  json["abs"] = distances ? Json(tolerance.abs) : Json();
  json["rel"] = distances ? Json(tolerance.rel) : Json();
  json["ulp"] = distances ? Json(tolerance.ulp) : Json();
  json["correlation"] = optional(tolerance.min_correlation);
  json["cosine"] = optional(tolerance.min_cosine);
  json["top"] = optional(tolerance.min_top_agreement);
  return json;
}

Json json_of(const Comparison& comparison) {
  Json json = {{"passed", comparison.passed()},
               {"tolerance", json_of(comparison.tolerance)},
               {"elements", comparison.elements},
               {"differing", comparison.differing},
               {"over_tolerance", comparison.over_tolerance}};
  json["nans"] = {{"expected", comparison.nans_expected},
                  {"found", comparison.nans_found},
                  {"mismatches", comparison.nan_mismatches}};
  json["infinities"] = {{"mismatches", comparison.infinity_mismatches}};
  const auto largest = [&](double error, std::int64_t index) {
    return Json{{"error", error}, {"index", index}};
  };
  json["max_abs"] = largest(comparison.max_abs_error, comparison.max_abs_index);
  json["max_rel"] = largest(comparison.max_rel_error, comparison.max_rel_index);
  json["max_ulp"] = largest(comparison.max_ulp_error, comparison.max_ulp_index);
  const auto value = [](const Figure& figure) {
    return figure.is_defined() ? Json(figure.value) : Json();
  };
  json["cosine"] = value(comparison.cosine);
  json["correlation"] = value(comparison.correlation);
  json["top"] = {{"count", comparison.top_count}, {"agreement", value(comparison.top_agreement)}};
  json["sqnr"] = value(comparison.sqnr);
  json["worst"] = Json::array();
  for (const ElementDifference& each : comparison.worst) {
    json["worst"].push_back({{"index", each.index},
                             {"expected", json_of(each.expected)},
                             {"found", json_of(each.actual)},
                             {"error", each.abs_error}});
  }
  return json;
}

Json json_of(const ResultPlace& place) {
  return {{"graph", place.graph},
          {"activation", place.activation},
          {"value", place.value},
          {"op", place.op}};
}

Json json_of(const RunReport::OneRun& run) {
  Json json = {{"title", run.title}, {"seconds", run.seconds}};
  for (const char* key : {"fed", "outputs", "checks", "probes"}) json[key] = Json::array();
  for (const auto& [name, summary, values] : run.fed) {
    Json fed = {{"name", name}, {"tensor", json_of(summary)}};
    for (const ElementNumber& each : values) fed["values"].push_back(json_of(each));
    json["fed"].push_back(std::move(fed));
  }
  for (const auto& [name, summary] : run.outputs) {
    json["outputs"].push_back({{"name", name}, {"tensor", json_of(summary)}});
  }
  for (const auto& [output, expected, comparison] : run.checks) {
    json["checks"].push_back(
        {{"output", output}, {"expected", expected}, {"comparison", json_of(comparison)}});
  }
  for (const auto& [place, step, summary] : run.probes) {
    json["probes"].push_back(
        {{"step", step}, {"place", json_of(place)}, {"tensor", json_of(summary)}});
  }
  return json;
}

Json json_of(const ComparedResult& result) {
  return {{"run", result.run},
          {"step", result.step},
          {"result", result.result},
          {"place", json_of(result.place)},
          {"other_op", result.other_op == nullptr ? Json() : Json(result.other_op->name())},
          {"reason", result.difference},
          {"comparison", result.comparison ? json_of(*result.comparison) : Json()}};
}

}  // namespace

double runs_per_second(const RunReport& report) {
  double seconds = 0;
  for (const RunReport::OneRun& each : report.runs) seconds += each.seconds;
  return seconds > 0 ? static_cast<double>(report.runs.size()) / seconds : 0;
}

std::string to_json(const RunReport& report) {
  Json json = {{"schema", 1}, {"file", report.file}, {"passed", report.passed}};
  json["runs"] = Json::array();
  for (const RunReport::OneRun& run : report.runs) json["runs"].push_back(json_of(run));
  json["runs_per_second"] = runs_per_second(report);
  json["agreement"] = nullptr;
  if (report.searched) {
    json["agreement"] = {{"equal_bits", report.agreement.equal_bits},
                         {"within_tolerance", report.agreement.within_tolerance},
                         {"beyond_tolerance", report.agreement.beyond_tolerance},
                         {"without_partner", report.agreement.without_partner}};
    json["agreement"]["results"] = Json::array();
    for (const ComparedResult& each : report.compared) {
      json["agreement"]["results"].push_back(json_of(each));
    }
  }
  json["divergence"] = report.divergence ? json_of(*report.divergence) : Json();
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace mir
