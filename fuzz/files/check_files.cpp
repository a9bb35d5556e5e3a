// Opens arbitrary bytes with each file reader and checks invariants of the result.
#include "check_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "mir/codes/files.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "program/program_json.hpp"
#include "weights/blocks.hpp"
#include "weights/formats/gguf.hpp"
#include "weights/formats/mllm.hpp"
#include "weights/formats/npy.hpp"
#include "weights/formats/npz.hpp"
#include "weights/formats/safetensors.hpp"
#include "weights/pack.hpp"
#include "weights/tensor_file.hpp"

namespace mir::fuzz {
namespace {

constexpr const char* kOrigin = "input";

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

void check_tensor(const Tensor& tensor) {
  const auto elements = element_count(tensor.shape());
  require(elements.ok() && *elements == tensor.elements(),
          "a tensor has the elements of its extents");
  const auto bytes = storage_bytes(tensor.dtype(), static_cast<std::uint64_t>(*elements));
  require(bytes && *bytes == tensor.bytes().size(), "a tensor has the bytes of its elements");
  // Read every byte, so that the sanitizer sees a range that leaves the file.
  unsigned sum = 0;
  for (const std::byte byte : tensor.bytes()) sum += std::to_integer<unsigned>(byte);
  static volatile unsigned kept = 0;
  kept = kept + sum;
  if (is_decodable_block(tensor.dtype())) require(dequantise(tensor).ok(), "blocks have values");
}

template <class File>
Result<void> check_opened(const Result<File>& file) {
  if (!file) return file.error();
  auto names = file->names();
  for (const auto& name : names) {
    const auto tensor = file->find(name);
    if (!tensor) return tensor.error();
    require(tensor->has_value(), "a name of the file has a tensor");
    check_tensor(**tensor);
  }
  std::ranges::sort(names);
  require(std::ranges::adjacent_find(names) == names.end(), "names are unique");
  require(!file->find("no such name \n")->has_value(), "other names have none");
  return {};
}

template <class File>
Result<void> check_mapped(const Result<File>& file) {
  if (!file) return file.error();
  return check_opened(Result<MappedTensors>(file->tensors()));
}

Result<void> check_gguf(FileBytes bytes) {
  const auto file = GgufFile::parse(std::move(bytes));
  if (file) {
    for (const GgufMetadata& pair : file->metadata())
      require(!pair.text().empty(), "values have a text");
  }
  return check_mapped(file);
}

Result<void> check_pack(FileBytes bytes) {
  const auto* const begin = bytes.bytes.data();
  const auto pack = Pack::parse(std::move(bytes));
  if (!pack) return pack.error();
  require(pack->member(pack->module()) != nullptr, "the module is a member");
  for (const auto& member : pack->members()) {
    require(member.name.find_first_of(std::string_view("/\\:\0", 4)) == std::string::npos &&
                !member.name.starts_with('.') && !member.name.empty(),
            "a member is named like a file in one folder");
    require((member.bytes.data() - begin) % 64 == 0, "data are aligned");
    if (auto checked = pack->check(member); !checked) return checked;
  }
  return {};
}

/// A file of one tensor of two bytes.
std::string shard(std::string_view name) {
  const auto header =
      fmt::format(R"({{"{}":{{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}}})", name);
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  return bytes + header + "12";
}

Result<void> check_index(FileBytes bytes) {
  const auto files = [&](const std::string& name) -> Result<FileBytes> {
    if (name == kOrigin) return bytes;
    require(name.find_first_of("/\\:") == std::string::npos && !name.starts_with('.'),
            "an index names files of one folder");
    if (name != "x.safetensors" && name != "y.safetensors")
      return Error{diag::kFileNotReadable, fmt::format("{}:{}", kOrigin, name)};
    const auto text = std::make_shared<const std::string>(shard(name[0] == 'x' ? "a" : "b"));
    return FileBytes{std::as_bytes(std::span(*text)), text, fmt::format("{}:{}", kOrigin, name)};
  };
  return check_opened(TensorFile::open(kOrigin, files));
}

Result<void> check_program(FileBytes bytes) {
  const std::string_view json(reinterpret_cast<const char*>(bytes.bytes.data()),
                              bytes.bytes.size());
  auto text = program_text(json);
  if (!text) return Error{text.error().code, fmt::format("{}: {}", kOrigin, text.error().message)};
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics;
  const SourceFile* file = context.sources().add(kOrigin, *std::move(text));
  const auto modules = read_modules(*file, context, diagnostics);
  require(modules.size() == 1 && !diagnostics.has_errors(), "a program is read as one module");
  return {};
}

struct Format {
  std::string_view name;
  Result<void> (*check)(FileBytes bytes);
};

constexpr Format kFormats[] = {
    {"safetensors",
     [](FileBytes bytes) { return check_mapped(SafetensorsFile::parse(std::move(bytes))); }},
    {"npz",
     [](FileBytes bytes) {
       constexpr NpzLimits kLimits{.member_bytes = 1 << 22, .total_bytes = 1 << 24};
       return check_opened(NpzFile::parse(bytes.bytes, bytes.owner, bytes.origin, kLimits));
     }},
    {"npy",
     [](FileBytes bytes) {
       const auto tensor = parse_npy(bytes.bytes, bytes.owner, bytes.origin);
       if (!tensor) return Result<void>(tensor.error());
       check_tensor(*tensor);
       return Result<void>();
     }},
    {"mllm", [](FileBytes bytes) { return check_mapped(MllmFile::parse(std::move(bytes))); }},
    {"gguf", check_gguf},
    {"pack", check_pack},
    {"index", check_index},
    {"program", check_program},
};

}  // namespace

std::vector<std::string_view> file_formats() {
  std::vector<std::string_view> names;
  for (const Format& format : kFormats) names.push_back(format.name);
  return names;
}

Result<void> check_file(std::string_view format, std::span<const std::byte> bytes) {
  const auto* row = std::ranges::find(kFormats, format, &Format::name);
  require(row != std::end(kFormats), "the format is known");
  // A copy of exactly this size, so that the sanitizer sees a read past its end.
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  auto checked = row->check({*copy, copy, kOrigin});
  if (!checked) {
    require(!diagnostic_info(checked.error().code).name.empty(), "a refusal has a code");
    require(checked.error().message.find(kOrigin) != std::string::npos, "a refusal names the file");
  }
  return checked;
}

}  // namespace mir::fuzz
