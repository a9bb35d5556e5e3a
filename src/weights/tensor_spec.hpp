// Tensors named on a command line: `[NAME|%id|POS=]SPEC`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "weights/file_bytes.hpp"

namespace mir {

/// A parsed argument. SPEC is a path ending in `.npy`, `FILE.npz:MEMBER`, `FILE.raw` or `FILE.bin`
/// with or without a type (`FILE.raw:Float32[1, 16]`), `random:SEED`, `zeros`, `iota`, a number, or
/// a nested list such as `[[1, 2], [3, 4]]`. The target is the text before the first '=', unless
/// that text contains '/', '[' or ':' (write `./a=b.npy` for such a file).
struct TensorSpec {
  enum class Kind : std::uint8_t { kNpy, kNpzMember, kRaw, kInline, kRandom, kZeros, kIota };

  std::string target;  ///< as written: a name, `%` and an id, or a position; empty when absent
  Kind kind = Kind::kZeros;
  std::string path;    ///< of the file
  std::string member;  ///< of the NPZ file
  std::string values;  ///< the text of the number or list
  std::string type;    ///< of a raw file, as written; empty: the one that is declared
  std::uint64_t seed = 0;
  FileOpener files = {};  ///< where `path` is looked for

  bool names_file() const {
    return kind == Kind::kNpy || kind == Kind::kNpzMember || kind == Kind::kRaw;
  }
  /// True if it names a file that has a type of its own.
  bool has_type() const { return names_file() && (kind != Kind::kRaw || !type.empty()); }
};

Result<TensorSpec> parse_tensor_spec(std::string_view text, const FileOpener& files = {});

/// The tensor of the file that a spec names, which has a type of its own.
Result<Tensor> load_file(const TensorSpec& spec);

/// An extent of a declared type that is not known.
inline constexpr std::int64_t kUnknownExtent = -1;

/// Known facts about the tensor that a spec describes.
struct DeclaredTensor {
  std::string name;  ///< keys random values
  DType dtype = DType::kFloat32;
  std::optional<Shape> shape = {};         ///< none: unknown rank
  std::optional<std::int64_t> bound = {};  ///< random integers lie in [0, bound)
  std::string text = {};  ///< type and extents in messages; if empty, the known facts
};

/// The tensor whose codes a file has as unsigned integers of their size, because NPY lacks the
/// type: BFloat16, Float8 and integers of 4 bits. No value for other types, or if it has a number
/// that is not a code.
std::optional<Tensor> from_codes(const Tensor& tensor, DType dtype);

/// Files keep their own type, and a declared type or extent that differs is an error. NPY and NPZ
/// files of a declared type that NPY lacks have its codes (from_codes()), or numbers, floats for
/// floats and integers for integers, each of which the type must hold exactly. A raw file
/// without one has the declared type, of which one extent may be unknown. Values of a
/// list take the declared type; their number must be that of the declared shape, or the nesting of
/// the list must fit it where extents are unknown. `zeros`, `iota` (0, 1, 2, … in row-major order)
/// and `random` (reals uniform on [-1, 1)) need known extents.
Result<Tensor> load_tensor(const TensorSpec& spec, const DeclaredTensor& declared);

}  // namespace mir
