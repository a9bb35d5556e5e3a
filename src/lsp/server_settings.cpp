// Takes the settings of the client and their changes, and asks it to report these.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lsp/protocol.hpp"
#include "lsp/server.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

constexpr std::string_view kSection = "mllm-ir";  // of the client's settings
constexpr std::string_view kSettingsRequest = "settings";

}  // namespace

void Server::register_for(std::string_view id, std::string_view method, Json options) {
  const Json registration = {
      {"id", id}, {"method", method}, {"registerOptions", std::move(options)}};
  send({{"jsonrpc", "2.0"},
        {"id", "register-" + std::string(id)},
        {"method", "client/registerCapability"},
        {"params", {{"registrations", Json::array({registration})}}}});
}

/// Asks the client to report changes of files and settings.
void Server::watch_client() {
  if (client_.watches_files) {
    register_for("files", "workspace/didChangeWatchedFiles",
                 {{"watchers", Json::array({{{"globPattern", "**/*.mir"}}})}});
  }
  if (client_.watches_settings) {
    register_for("settings", "workspace/didChangeConfiguration", {{"section", kSection}});
  }
}

/// Clients send the settings with the notification, or answer a request for them.
void Server::change_settings(const Json& params) {
  const Json& settings = member(params, "settings");
  const Json& section = member(settings, kSection.data());
  if (!section.is_object() && client_.tells_settings) {
    send({{"jsonrpc", "2.0"},
          {"id", kSettingsRequest},
          {"method", "workspace/configuration"},
          {"params", {{"items", Json::array({{{"section", kSection}}})}}}});
    return;
  }
  take_settings(section.is_object() ? section : settings);
}

void Server::take_response(const Json& id, const Json& result) {
  const bool has_settings = id == kSettingsRequest && result.is_array() && result.size() == 1;
  if (has_settings) take_settings(result.front());
}

/// Settings that are not stated stay as they are.
void Server::take_settings(const Json& settings) {
  const Json& weights = member(settings, "weights");
  if (!weights.is_null()) choose_weights(weights);
}

/// Takes a path or a list of paths. Anything else changes nothing.
void Server::choose_weights(const Json& files) {
  const auto is_path = [](const Json& each) { return each.is_string(); };
  const bool is_list = files.is_array() && std::ranges::all_of(files, is_path);
  if (!is_list && !files.is_string()) {
    return log("setting 'weights' is ignored: expected a path or a list of paths");
  }
  weights_.choose(is_list ? files.get<std::vector<std::string>>()
                          : std::vector{files.get<std::string>()});
}

}  // namespace mir::lsp
