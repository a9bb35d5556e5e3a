// Inputs and outputs by name or position, and the tensors a command line gives for them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/dim.hpp"
#include "mir/files.hpp"
#include "mir/result.hpp"
#include "mir/tensor.hpp"

namespace mir {

class IRContext;
class Session;
class TensorType;
struct TensorSpec;

/// An input or output of what runs.
struct Port {
  std::string name;                  ///< symbol or name in the text without `%`
  const TensorType* type = nullptr;  ///< null: none is stated
};

/// The port that `target` means: a name, `%` and an id, or a position. Nothing means the only port.
Result<std::size_t> find_port(std::span<const Port> ports, std::string_view target,
                              std::string_view what);

/// `S=16` as a symbol (with or without `$`) and its value.
Result<void> add_binding(DimBindings& bindings, IRContext& context, std::string_view text);

/// The inputs of the session's first entry from arguments `[NAME|%id|POS=]SPEC`, in order. Every
/// input needs one. Extents are those of the declared type under `dims`; random integers lie below
/// the extent that they index, or below 2. Files are looked for in `files`.
Result<std::vector<Tensor>> load_inputs(const Session& session,
                                        std::span<const std::string> arguments,
                                        const DimBindings& dims, const FileOpener& files = {});

/// The same for the ports of a program, whose types are those of one trace: tensors with extents
/// of their own may have others. Random integers lie below 2.
Result<std::vector<Tensor>> load_inputs(std::span<const Port> ports, IRContext& context,
                                        std::span<const std::string> arguments,
                                        const FileOpener& files = {});

/// What output `port` shall be.
struct Expectation {
  std::size_t port = 0;
  std::shared_ptr<const TensorSpec> spec;
};
/// Arguments `[NAME|%id|POS=]SPEC`, understood before anything runs.
Result<std::vector<Expectation>> parse_expectations(std::span<const Port> outputs,
                                                    std::span<const std::string> arguments,
                                                    const FileOpener& files = {});
/// The expected tensor. Files keep their element type; values stated otherwise take the type and
/// extents of the output at hand.
Result<Tensor> load_expected(std::span<const Port> outputs, const Expectation& expectation,
                             const Tensor& output);

/// A file for outputs.
struct OutputFile {
  std::string path;                 ///< ends in .npy or .npz
  std::optional<std::size_t> port;  ///< none: an archive of all of them
};
/// Arguments `[NAME|%id|POS=]PATH`, understood before anything runs.
Result<std::vector<OutputFile>> parse_output_files(std::span<const Port> outputs,
                                                   std::span<const std::string> arguments);
/// One tensor for each port.
Result<void> write_outputs(std::span<const Port> outputs, std::span<const OutputFile> files,
                           std::span<const Tensor> tensors);

}  // namespace mir
