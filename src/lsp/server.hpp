// The language server: a state that messages change, and the answers to them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lsp/dialect_texts.hpp"
#include "lsp/document.hpp"
#include "lsp/features.hpp"
#include "lsp/folder_symbols.hpp"
#include "lsp/weight_files.hpp"
#include "mir/context.hpp"

namespace mir::lsp {

/// Ids of requests that the client has cancelled. Thread-safe: the thread that reads messages adds
/// to it while the server works.
class CancelledRequests {
 public:
  /// Notes the id if the message is a cancellation, and stops the work for that request.
  void look_at(std::string_view message);
  /// The request that the server works for from now on.
  void begin(const nlohmann::json& id);
  /// Forgets that request.
  void end();
  /// Flag that is set when the current request is cancelled.
  const std::atomic<bool>& stop() const { return stop_; }
  /// True if the request is cancelled, which is then forgotten.
  bool take(const nlohmann::json& id);

 private:
  std::mutex mutex_;
  std::set<std::string> ids_;  // as JSON
  std::string running_;        // likewise; empty: none
  std::atomic<bool> stop_ = false;
};

/// Messages are bodies without headers. Not thread-safe.
class Server {
 public:
  /// `send` is given each message for the client, in order. `version` is the server's own.
  /// All documents may use `dialects`, and those that files in the client's folders declare.
  Server(std::function<void(std::string_view)> send, std::string version,
         CancelledRequests& cancelled, std::vector<DialectText> dialects = {});
  ~Server();

  /// Handles one message.
  void receive(std::string body);
  /// Answers a message whose headers are wrong.
  void refuse_frame(std::string_view error);
  /// Analyses one document that has changed, and publishes its findings, unless `stop` becomes true
  /// before; the next call goes on. False if there is none.
  bool work(const std::atomic<bool>* stop = nullptr);
  /// True once after messages whose work left much freed memory: an analysis, a long answer.
  bool has_freed_memory() { return std::exchange(has_freed_memory_, false); }

  /// True after the notification `exit`.
  bool has_exited() const { return exited_; }
  /// The status of the process: 0 if the client has sent `shutdown`.
  int exit_status() const { return shut_down_ ? 0 : 1; }
  /// The process that started the server; 0 if it is not known.
  std::int64_t client_process() const { return client_process_; }

 private:
  struct Failure;
  using Json = nlohmann::json;

  void request(const Json& id, const std::string& method, const Json& params);
  void notify(const std::string& method, Json& params);
  Json answer(const std::string& method, const Json& params);
  Json initialize(const Json& params);
  Json full_tokens(const View& of, std::string_view previous);
  Json pulled_diagnostics(Document& document, const Json& previous);
  Json resolve_action(const Json& action);
  void send_progress(const Json& token, Json value);
  Json workspace_symbols(const std::string& query);
  Json text_document_request(const std::string& method, const Json& params);

  void open(Json& params);
  void change(const Json& params);
  void close(const Json& params);
  void save(const Json& params);
  void watch_client();
  void change_folders(const Json& params);
  void read_dialects();
  void register_for(std::string_view id, std::string_view method, Json options);
  void change_settings(const Json& params);
  void take_response(const Json& id, const Json& result);
  void take_settings(const Json& settings);
  void choose_weights(const Json& files);
  OtherTexts other_texts() const;

  void send(const Json& message);
  void send_error(const Json& id, int code, std::string_view message);
  void log(std::string_view message);
  void publish(Document& document, bool is_final);
  View view(Document& document) { return {document, *rows_, &cancelled_.stop()}; }
  Document& document_of(const Json& params);
  SourcePos position_in(const Document& document, const Json& params) const;
  Span range_in(const Document& document, const Json& params) const;

  std::function<void(std::string_view)> send_;
  std::string version_;
  CancelledRequests& cancelled_;
  DialectTexts dialects_;
  WeightFiles weights_;
  FolderSymbols folder_symbols_;
  std::vector<std::string> folders_;  // of the client
  std::unique_ptr<IRContext> rows_;
  std::map<std::string, std::unique_ptr<Document>> documents_;  // by URI
  std::map<std::string, std::size_t> shown_syntax_errors_;      // by URI
  PositionEncoding encoding_ = PositionEncoding::kUtf16;
  ClientFeatures client_;
  std::string answer_text_;  // of the request at hand; longer than its head if written as text
  std::int64_t client_process_ = 0;
  std::uint64_t last_revision_ = 0;
  bool has_freed_memory_ = false;  // since it was asked for
  bool initialized_ = false;
  bool shut_down_ = false;
  bool exited_ = false;
};

}  // namespace mir::lsp
