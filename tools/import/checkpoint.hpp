// The tensors of a checkpoint and the parameters of a module.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mir/module.hpp"
#include "tools/import/family.hpp"
#include "weights/tensor_file.hpp"

namespace mir::tools {

/// A Hugging Face folder or a GGUF file.
struct ModelFiles {
  std::string config;   ///< config.json; empty for a GGUF file
  std::string weights;  ///< the file to open, which may be an index; empty: there are no weights
};
/// Finds the files of a model. An error if there are none.
Result<ModelFiles> find_model_files(const std::string& path);

struct BindOptions {
  bool is_gguf = false;
  /// Heads of queries and of keys whose halves are stored in turn; 0: they are not.
  std::int64_t interleaved_heads = 0, interleaved_kv_heads = 0;
  /// Parameters that are stored in blocks get the type of the blocks.
  bool keeps_blocks = true;
};

struct BindCounts {
  std::size_t parameters = 0;
  std::size_t in_blocks = 0;  ///< parameters whose type is that of their blocks
  std::size_t decoded = 0;    ///< parameters that are stored in blocks and used as Float32
  std::size_t unused = 0;     ///< tensors of the decoder that are no parameters
  std::size_t elsewhere = 0;  ///< tensors of other parts of the model, such as a vision tower
  bool is_good = true;
};

/// Finds the tensor of each parameter and states it at the register where it is not a whole tensor
/// of the parameter's name. Reports parameters without a tensor or with other extents, and warns of
/// tensors that nothing uses.
BindCounts bind_parameters(Module& module, const Family& family, const TensorFile& file,
                           const std::string& path, const BindOptions& options,
                           Diagnostics& diagnostics);

}  // namespace mir::tools
