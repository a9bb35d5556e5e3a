// NPY: one tensor in one file, as NumPy writes it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "support/platform/atomic_file.hpp"
#include "weights/file_bytes.hpp"

namespace mir {

/// Reads NPY 1.0 to 3.0: booleans, integers of 8 to 64 bits, f2, f4, f8, c8 and c16 in either byte
/// order, C or Fortran layout. Objects and structured types are refused, as is a file with less or
/// more data than its header states. The tensor borrows the mapped file where byte order, layout
/// and alignment allow it.
Result<Tensor> read_npy(const std::string& path, const FileOpener& files = {});
/// Like read_npy(), for bytes in memory, which `owner` keeps alive; `origin` names them in
/// messages.
Result<Tensor> parse_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                         const std::string& origin);

/// The magic string, version 1.0 and header of `tensor`, a multiple of 64 bytes; its bytes follow.
/// Quantised and opaque types are written as their storage type; a type NPY has no name for
/// (BFloat16, blocks) is refused.
Result<std::string> npy_header(const Tensor& tensor);
Result<void> write_npy(const std::string& path, const Tensor& tensor,
                       AtomicFile::Existing existing = AtomicFile::Existing::kUse);

}  // namespace mir
