// Tracks pending requests, and notes those that a cancel notification names.
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "lsp/protocol.hpp"
#include "lsp/server.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

void CancelledRequests::look_at(std::string_view message) {
  if (message.find("$/cancelRequest") == message.npos) return;
  const Json json = Json::parse(message, nullptr, false);
  if (member(json, "method") != "$/cancelRequest") return;
  const Json& id = member(member(json, "params"), "id");
  const std::lock_guard lock(mutex_);
  const std::string text = id.dump();
  if (text == running_) stop_ = true;
  ids_.insert(text);
}

void CancelledRequests::begin(const Json& id) {
  const std::lock_guard lock(mutex_);
  running_ = id.dump();
  stop_ = ids_.contains(running_);
}

void CancelledRequests::end() {
  const std::lock_guard lock(mutex_);
  ids_.erase(running_);
  running_.clear();
  stop_ = false;
}

bool CancelledRequests::take(const Json& id) {
  const std::lock_guard lock(mutex_);
  return ids_.erase(id.dump()) != 0;
}

}  // namespace mir::lsp
