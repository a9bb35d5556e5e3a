// Words of the protocol that several files of the server read and write.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "lsp/position.hpp"
#include "lsp/server.hpp"

namespace mir::lsp {

// Error codes of JSON-RPC and of the protocol.
inline constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
                     kInvalidParams = -32602, kInternalError = -32603,
                     kServerNotInitialized = -32002, kRequestFailed = -32803,
                     kRequestCancelled = -32800, kContentModified = -32801;
inline constexpr int kWarningMessage = 2, kInfoMessage = 3;

/// A request that cannot be answered, as the protocol's error. Never leaves the server.
struct Server::Failure {
  int code;
  std::string message;
};

/// The member of an object; null if there is none.
const nlohmann::json& member(const nlohmann::json& from, const char* key);
/// Returns true if the member at a path of keys, separated by dots, is true.
bool flag(const nlohmann::json& from, std::string_view path);
/// Reads a position. Throws if `json` is not one.
Position read_position(const nlohmann::json& json);

}  // namespace mir::lsp
