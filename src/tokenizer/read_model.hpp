// Reading the model of a tokenizer.json.
#pragma once

#include "tokenizer/json_reader.hpp"
#include "tokenizer/model.hpp"

namespace mir::tokenizer {

/// Reads the member `model` of a file. Returns null after reporting a problem to the reader.
ModelPtr read_model(JsonReader& reader, JsonValue value);

}  // namespace mir::tokenizer
