// The config of a model: keys, values and their places.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// A key of a config with its value.
struct ConfigEntry {
  std::string path;      ///< the keys from the outermost to the innermost: `rope_scaling.factor`
  nlohmann::json value;  ///< an object only if it is empty: others have an entry for each member
  Span at;               ///< of the value; unknown if the config has no text
  std::string spelling;  ///< the key as the file has it, if it is not `path`
  bool is_read = false;  ///< true once something has used or accepted the value

  std::string_view name() const { return spelling.empty() ? path : spelling; }
};

class ModelConfig {
 public:
  /// Reads config.json. No value after reporting.
  static std::optional<ModelConfig> read(const SourceFile& file, Diagnostics& diagnostics);

  /// Adds an entry, unless the path is taken.
  void add(ConfigEntry entry);
  /// The entry of this path; null if it is missing. A value of `null` is there.
  ConfigEntry* find(std::string_view path);
  /// An entry inside the object of this path; null if there is none.
  ConfigEntry* find_member(std::string_view path);
  /// The text of an entry that is a string; empty otherwise.
  std::string_view text(std::string_view path);
  /// The first string of `architectures`; empty if there is none.
  std::string_view architecture(std::string_view path = "architectures");
  std::deque<ConfigEntry>& entries() { return entries_; }
  /// Names the file of a config without a text in messages about its values.
  void set_file(std::string path) { path_ = std::move(path); }
  /// The message, with the name of the file if the config has no text to point at.
  std::string about(std::string_view message) const;
  /// Returns the entries, and has none of them any more.
  std::deque<ConfigEntry> take_entries();
  /// The place of the config; unknown if it has no text.
  Span place() const { return place_; }

 private:
  std::deque<ConfigEntry> entries_;                          // in the order of the text
  std::map<std::string, std::size_t, std::less<>> numbers_;  // of entries, by path
  Span place_;
  std::string path_;  // the binary file with the keys; empty if a text has them
};

/// The part of a model that the entry of a path belongs to, `vision_config.`; empty if the path
/// names none.
std::string_view part_of(std::string_view path);

/// Gives the keys of a decoder their names of today: keys of `text_config` are those of the model,
/// `rope_parameters` are `rope_theta` and `rope_scaling`, `type` of a scaling is its `rope_type`.
/// Entries of other parts of a model, such as `vision_config`, count as read.
void normalise(ModelConfig& config);

/// Reports keys that nothing has read: an error if the key is known to change what the model
/// computes, otherwise a warning. Keys without an effect on the outputs are accepted.
void report_unread(ModelConfig& config, std::string_view family, Diagnostics& diagnostics);

}  // namespace mir::tools
