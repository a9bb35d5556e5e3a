// Features that a client can request for a document. Each returns its result in the protocol's
// JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/document.hpp"
#include "mir/diagnostic.hpp"

namespace mir::lsp {

class OtherTexts;
class WeightFiles;

/// Input of a feature.
struct View {
  /// `stop` ends the work for a request; null if nothing does.
  View(Document& of, IRContext& shared, const std::atomic<bool>* stop = nullptr)
      : document(of), rows(rows_of(of, shared, stop)) {}

  Document& document;
  IRContext& rows;  ///< has the dialects, also those that the document declares

  Snapshot& now() const { return document.now(); }
  /// Like the view, for a feature that depends on names and types in a range. The next call ends
  /// it.
  View near(Span range) const {
    View part = *this;
    part.part_ = now().excerpt(range);
    return part;
  }
  const Outline& outline() const {
    return part_ ? part_->outline(rows, [this] { check_stop(); }) : now().outline(rows);
  }
  /// The op whose name is at a place, null if there is none. Resolves.
  const Op* op_named_at(SourcePos name) const {
    return part_ ? part_->op_named_at(name, document.dialects()) : now().op_named_at(name);
  }
  std::string_view text(Span span) const { return now().file().slice(span); }
  void check_stop() const { now().check_stop(); }

 private:
  static IRContext& rows_of(Document& of, IRContext& shared, const std::atomic<bool>* stop) {
    Snapshot& now = of.now();
    now.set_stop(stop);
    return now.rows(shared);
  }

  Excerpt* part_ = nullptr;
};

/// Features of the client that answers depend on.
struct ClientFeatures {
  bool document_changes = false;
  bool related_information = false;
  bool markdown = false;
  bool hierarchical_symbols = false;
  bool prepare_rename = false;
  bool asks_for_token_edits = false;
  bool pull_diagnostics = false;
  bool resolves_edits = false;  ///< of code actions
  bool creates_files = false;   ///< in edits of resolved code actions
  bool refreshes_diagnostics = false;
  bool watches_files = false;
  bool watches_settings = false;
  bool tells_settings = false;  ///< answers `workspace/configuration`
  bool runs_graphs = false;     ///< has the command kRunCommand
  bool runs_tests = false;      ///< has the command kCheckCommand
  bool snippets = false;        ///< fills in places of completions
};

// -- facts.cpp
nlohmann::json diagnostic_json(const Document& document, const Diagnostic& diagnostic,
                               bool related_information);
nlohmann::json hover(const View& view, SourcePos at, bool markdown, const WeightFiles& weights);
/// The type of a value in text: as it is written, or else as it was inferred; empty if unknown.
std::string type_text(const View& view, std::uint32_t value);
nlohmann::json inlay_hints(const View& view, Span in);

// -- navigation.cpp
nlohmann::json definition(const View& view, SourcePos at);
nlohmann::json references(const View& view, SourcePos at, bool with_declaration);
nlohmann::json highlights(const View& view, SourcePos at);
nlohmann::json prepare_call_hierarchy(const View& view, SourcePos at);
nlohmann::json incoming_calls(const View& view, std::string_view graph);
nlohmann::json outgoing_calls(const View& view, std::string_view graph);

// -- rename.cpp
Result<nlohmann::json> prepare_rename(const View& view, SourcePos at);
/// Names that texts declare for others are renamed in these, too.
Result<nlohmann::json> rename(const View& view, SourcePos at, const std::string& name,
                              bool document_changes, const OtherTexts& others);

// -- structure.cpp
nlohmann::json document_symbols(const View& view, bool hierarchical);
/// A module, a graph, a parameter, an alias or whatever else declares a symbol.
struct TextSymbol {
  std::string name;  ///< with its sigil
  int kind = 0;      ///< of the protocol
  Range range{};

  nlohmann::json information(const std::string& uri) const;
};
/// True if the text contains the query; the case of letters does not count.
bool contains(std::string_view text, std::string_view query);
/// The symbols of a text whose names contain the query.
std::vector<TextSymbol> text_symbols(const View& view, std::string_view query);
nlohmann::json folding_ranges(const View& view);
nlohmann::json selection_range(const View& view, SourcePos at);

// -- completion.cpp
/// With `snippets`, ops are completed with their operands, attributes and results.
nlohmann::json completion(const View& view, SourcePos at, bool snippets);
// -- signature_help.cpp
nlohmann::json signature_help(const View& view, SourcePos at);

// -- semantic_tokens.cpp
nlohmann::json semantic_token_legend();
/// Five numbers for each word, as the protocol has them.
std::vector<std::uint32_t> semantic_tokens(const View& view, Span in);
/// Appends these numbers as a JSON array, which takes less memory.
void append_semantic_tokens(std::string& json, const View& view, Span in);
void append_semantic_tokens(std::string& json, std::span<const std::uint32_t> tokens);
/// Returns the splice that turns `before` into `now`; empty if they are equal.
nlohmann::json token_edits(std::span<const std::uint32_t> before,
                           std::span<const std::uint32_t> now);

// -- edits.cpp
/// Edits that make `text` of the text of the document, one for each place that changes.
nlohmann::json edits_to(const Document& document, std::string_view text);
/// Like the above, for a part of the text, `old`, which begins at an offset and becomes `text`.
nlohmann::json edits_to(const Document& document, std::size_t offset, std::string_view old,
                        std::string_view text);
/// An error if the text has errors of syntax there.
Result<nlohmann::json> formatting(const View& view, std::optional<Span> in);
/// Returns the edits after typing `typed` at a place: the line that it ends is formatted, and a new
/// line gets its indentation. Empty if the text has errors of syntax there.
nlohmann::json on_type_formatting(const View& view, SourcePos at, std::string_view typed);
/// True if the context of a request for code actions admits a kind.
bool wants(const nlohmann::json& context, std::string_view kind);
nlohmann::json code_actions(const View& view, Span in, const nlohmann::json& context,
                            const ClientFeatures& client);
// -- refactor.cpp
/// Adds the actions that change the whole text. Edits of large texts come with resolved_action().
void add_refactorings(const View& view, Span in, const nlohmann::json& context,
                      const ClientFeatures& client, nlohmann::json& actions);
/// Result of an action on a text.
struct Refactored {
  std::string text;
  std::string report{};  ///< for the user; may be empty
  std::string file{};  ///< URI of the file that gets the text; empty if it is that of the document
};
/// `data` is that of an action.
Result<Refactored> refactored(const View& view, const nlohmann::json& data);

// -- cost.cpp
/// Arithmetic and memory traffic of an op, in words; empty if unknown or not computed.
std::string cost_text(const View& view, SourcePos op_name);
/// The cost of each graph. Empty unless the text is portable and has no errors.
nlohmann::json code_lenses(const View& view, bool runs_graphs);

// -- run.cpp
/// The command of a client that runs `mllm-interp` with a list of arguments.
inline constexpr std::string_view kRunCommand = "mllm-ir.run";
/// The command of a client that runs `mllm-check` with a list of arguments.
inline constexpr std::string_view kCheckCommand = "mllm-ir.check";
/// Adds the actions that run the test that a file is, and accept its output, if the range has a
/// RUN line.
void add_test_actions(const View& view, Span in, const nlohmann::json& context,
                      nlohmann::json& actions);
/// Adds lenses that run and profile a graph, or the body of a module, on random inputs and weights;
/// extents that a symbol leaves open are 8. Only for files.
void add_run_lenses(const View& view, const Op& graph, nlohmann::json& lenses);

/// A workspace edit of one document.
nlohmann::json workspace_edit(const Document& document, nlohmann::json edits,
                              bool document_changes);
/// A workspace edit that creates or overwrites a file.
nlohmann::json file_edit(const std::string& uri, const std::string& text);

}  // namespace mir::lsp
