// Writes a module as C, compiles it into a folder of shared objects, and runs it.
#include "tools/interp/c_kernels.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "emit_c/c_generic.hpp"
#include "interp/session_run.hpp"
#include "mir/codes/files.hpp"
#include "mir/codes/kernels.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/runs.hpp"
#include "mir/rewriter.hpp"
#include "support/file_io.hpp"
#include "support/platform/command.hpp"
#include "support/platform/plugin.hpp"
#include "support/platform/scratch_folder.hpp"
#include "support/unique_table.hpp"

namespace mir::tools {

namespace {

constexpr std::string_view kFlags =
    "-std=c11 -O2 -fPIC -shared -ffp-contract=off -DMIR_CALL module.c -o module.so -lm";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The command that compiles C.
std::string compiler() {
  const std::string stated = variable("CC");
  return stated.empty() ? "cc" : stated;
}

/// The folder of shared objects; empty if the user has none.
std::filesystem::path object_folder() {
  const std::string caches = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!caches.empty()) return std::filesystem::path(caches) / "mllm-ir";
  return home.empty() ? std::filesystem::path()
                      : std::filesystem::path(home) / ".cache" / "mllm-ir";
}

Error compiler_error(const CommandResult& done) {
  std::string text = done.err.substr(0, done.err.find('\n'));
  return {diag::kNotExecutable, fmt::format("the compiler of --kernels=c, '{}', {}{}{}", compiler(),
                                            done.end == CommandEnd::kExited
                                                ? fmt::format("ended with status {}", done.status)
                                                : "did not end",
                                            text.empty() ? "" : ": ", text)};
}

/// Compiles a text into `folder`.
Result<void> compile(const std::string& source, const std::string& folder) {
  if (auto written = write_file_atomically(folder + "/module.c", source); !written) return written;
  CommandSetting setting;
  setting.shell = CommandShell::kPosix;
  setting.folder = folder;
  setting.environment = own_environment();
  setting.time_limit = std::chrono::seconds(3600);
  const auto done = run_command(fmt::format("{} {}", compiler(), kFlags), setting);
  if (!done) return done.error();
  if (done->end != CommandEnd::kExited || done->status != 0) return compiler_error(*done);
  return {};
}

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;

/// Loads the function of a shared object, which may be removed then.
Result<LoadedFunction> load_object(const std::string& path) {
  constexpr const char* kName = "mir_call";
  auto loaded = load_function(path, kName);
  if (!loaded) {
    return Error{diag::kNotExecutable, fmt::format("what '{}' made of the module is not loaded: {}",
                                                   compiler(), loaded.error().message)};
  }
  if (loaded->address == nullptr) {
    return Error{diag::kNotExecutable, fmt::format("what '{}' made of the module has no function "
                                                   "'{}'",
                                                   compiler(), kName)};
  }
  return loaded;
}

/// A shared object that is kept, and the hash of its bytes. A damaged one would end the program.
struct KeptObject {
  std::filesystem::path object, sum;

  static std::string sum_of(std::string_view bytes) {
    return fmt::format("{:016x}\n", hash_text(bytes));
  }
  bool is_sound() const {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(object, failed)) return false;
    const auto bytes = read_file(object.string(), kMostBytes);
    const auto stated = read_file(sum.string(), kMostBytes);
    return bytes && stated && sum_of(*bytes) == *stated;
  }
  /// Without a place to keep the object, the run goes on.
  void keep(const std::string& made) const {
    std::error_code failed;
    std::filesystem::create_directories(object.parent_path(), failed);
    const auto bytes = read_file(made, kMostBytes);
    if (!bytes || !write_file_atomically(object.string(), *bytes) ||
        !write_file_atomically(sum.string(), sum_of(*bytes))) {
      std::filesystem::remove(object, failed);
    }
  }
};

/// Loads the function of a text, compiled before or now.
Result<LoadedFunction> load(const std::string& source) {
  const std::filesystem::path objects = object_folder();
  const std::string name =
      fmt::format("{:016x}", hash_text(fmt::format("{} {}\n{}", compiler(), kFlags, source)));
  const KeptObject kept{objects / (name + ".so"), objects / (name + ".sum")};
  if (!objects.empty() && kept.is_sound()) {
    if (auto loaded = load_object(kept.object.string())) return loaded;
  }
  auto folder = ScratchFolder::create("mllm-c-");
  if (!folder) return std::move(folder).error();
  if (auto done = compile(source, folder->path()); !done) return std::move(done).error();
  const std::string made = folder->path() + "/module.so";
  auto loaded = load_object(made);
  if (loaded && !objects.empty()) kept.keep(made);
  return loaded;
}

std::string numbers_text(const DimBindings& bindings, const IRContext& context) {
  std::string text;
  for (const auto& [symbol, value] : bindings.entries()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", context.text(symbol), value);
  }
  return text;
}

/// The reason why a function returned a number other than 0.
Error reason_of(int status) {
  constexpr std::string_view kHint = "; --kernels=ref finds the place";
  const auto error = [&](DiagCode code, std::string_view text) {
    return Error{code, fmt::format("the C of the module stops: {}{}", text, kHint)};
  };
  switch (status) {
    case c::kIndexOutside:
      return error(diag::kIndexOutOfRange, "data makes an index outside of a tensor");
    case c::kNotOneIteration:
      return error(diag::kKernelShape, "an element of a result has several iterations or none");
    case c::kOverNothing:
      return error(diag::kKernelShape, "an element is the largest or least of nothing");
    default:
      return error(diag::kCacheMismatch, "a cache holds another number of tokens");
  }
}

/// Memory of so many bytes at least, aligned as any element needs it.
std::vector<std::max_align_t> memory_of(std::int64_t bytes) {
  return std::vector<std::max_align_t>(static_cast<std::size_t>(bytes) / sizeof(std::max_align_t) +
                                       1);
}

/// The caches of a session as a struct of C.
class CacheStruct {
 public:
  CacheStruct(const CText& text, CacheStore& store)
      : text_(text), store_(store), bytes_(memory_of(text.caches_bytes)) {}

  void* data() { return bytes_.data(); }

  /// Copies what the caches of the session hold.
  Result<void> read() {
    for (const c::CCache& cache : text_.caches) {
      const std::int64_t tokens = store_.length(cache.symbol);
      std::memcpy(at(cache.offset), &tokens, sizeof tokens);
      if (tokens > cache.capacity) return reason_of(c::kOtherLength);
      for (std::size_t i = 0; tokens > 0 && i < 2; ++i) {
        const auto all = store_.contents(cache.symbol, i);
        if (!all) return all.error();
        const c::CCache::Part& part = cache.parts[i];
        const std::size_t row = row_bytes(part);
        const auto used = static_cast<std::size_t>(tokens) * row,
                   whole = static_cast<std::size_t>(cache.capacity) * row;
        if (all->bytes().size() != static_cast<std::size_t>(part.outer) * used) {
          return reason_of(c::kOtherLength);
        }
        for (std::int64_t o = 0; used > 0 && o < part.outer; ++o) {
          const auto outer = static_cast<std::size_t>(o);
          std::memcpy(at(part.offset) + outer * whole, all->bytes().data() + outer * used, used);
        }
      }
    }
    return {};
  }

  /// Appends what a run added.
  Result<void> write() {
    for (const c::CCache& cache : text_.caches) {
      std::int64_t tokens = 0;
      std::memcpy(&tokens, at(cache.offset), sizeof tokens);
      const std::int64_t held = store_.length(cache.symbol), added = tokens - held;
      if (added <= 0) continue;
      std::array<Shape, 2> extents = cache.extents;
      for (Shape& each : extents) each[cache.axis] = added;
      const auto room = store_.append({.cache = cache.symbol,
                                       .axis = cache.axis,
                                       .dtypes = {cache.parts[0].dtype, cache.parts[1].dtype},
                                       .extents = {extents[0], extents[1]},
                                       .limit = cache.limit});
      if (!room) return room.error();
      for (std::size_t i = 0; i < 2; ++i) {
        const c::CCache::Part& part = cache.parts[i];
        const std::size_t row = row_bytes(part), bytes = static_cast<std::size_t>(added) * row,
                          whole = static_cast<std::size_t>(cache.capacity) * row;
        for (std::int64_t o = 0; bytes > 0 && o < part.outer; ++o) {
          const auto outer = static_cast<std::size_t>(o);
          std::memcpy(room->parts[i].data + outer * room->outer_bytes(i) + room->held_bytes(i),
                      at(part.offset) + outer * whole + static_cast<std::size_t>(held) * row,
                      bytes);
        }
      }
    }
    store_.commit();
    return {};
  }

 private:
  std::byte* at(std::int64_t offset) {
    return reinterpret_cast<std::byte*>(bytes_.data()) + static_cast<std::size_t>(offset);
  }
  static std::size_t row_bytes(const c::CCache::Part& part) {
    return static_cast<std::size_t>(part.row) *
           static_cast<std::size_t>(info(part.dtype).unit_bytes);
  }

  const CText& text_;
  CacheStore& store_;
  std::vector<std::max_align_t> bytes_;
};

}  // namespace

std::optional<CText> CKernels::emit(const std::string& bindings, Diagnostics& diagnostics) const {
  SourceManager sources;
  Diagnostics found;
  const std::string line =
      fmt::format("{}{}{}decompose{{to=generic}}", bindings.empty() ? "" : "bind-symbols{",
                  bindings, bindings.empty() ? "" : "},");
  const SourceFile* text = sources.add("", line);
  const auto pipeline = registry_.read_pipeline(*text, found);
  const std::unique_ptr<Module> copy = clone(module_);
  if (!pipeline) return std::nullopt;
  const bool is_done = run_pipeline(
      *copy, *pipeline,
      {.verify = [](Module&, Diagnostics&) { return true; }, .verifies_each = false}, diagnostics);
  return is_done ? emit_c(*copy, diagnostics) : std::nullopt;
}

const CKernels::Compiled* CKernels::compiled(const DimBindings& bindings,
                                             Diagnostics& diagnostics) {
  const std::string numbers = numbers_text(bindings, module_.context());
  if (const auto found = compiled_.find(numbers); found != compiled_.end()) return &found->second;
  auto text = emit(numbers, diagnostics);
  if (!text) return nullptr;
  const auto loaded = load(text->source);
  if (!loaded) {
    diagnostics.error(loaded.error().code, module_.top()->span(), loaded.error().message);
    return nullptr;
  }
  Compiled made{.text = *std::move(text)};
  made.call = reinterpret_cast<decltype(made.call)>(loaded->address);
  return &compiled_.emplace(numbers, std::move(made)).first->second;
}

std::optional<std::vector<Tensor>> CKernels::run(Session& session, std::span<const Tensor> inputs,
                                                 const RunOptions& options,
                                                 Diagnostics& diagnostics) {
  SessionAccess::State& state = SessionAccess::state(session);
  const auto refuse = [&](const Error& error) {
    diagnostics.error(error.code, module_.top()->span(), error.message);
    return std::nullopt;
  };
  {
    // Binds symbols, and reports inputs that do not fit.
    SessionRun checked(state, options, diagnostics);
    if (!checked.begin(inputs, false)) return std::nullopt;
  }
  const Compiled* compiled =
      this->compiled(state.entries[options.entry].binder.bindings(), diagnostics);
  if (compiled == nullptr) return std::nullopt;
  const CText& text = compiled->text;
  std::vector<void*> arrays;
  const auto add = [&](const Tensor& tensor) {
    arrays.push_back(const_cast<std::byte*>(tensor.bytes().data()));
  };
  for (const Tensor& each : inputs) add(each);
  std::vector<Symbol> parameters;
  for (const c::CPort& each : text.weights) {
    parameters.push_back(module_.context().intern(each.stated));
  }
  if (auto acquired = state.weights.acquire(parameters); !acquired) return refuse(acquired.error());
  for (const Symbol each : parameters) add(state.weights.table().at(each));
  std::vector<Tensor> outputs;
  for (const c::CPort& each : text.outputs) {
    auto tensor = Tensor::allocate(each.array.dtype, each.array.extents);
    if (!tensor) return refuse(tensor.error());
    outputs.push_back(*std::move(tensor));
    add(outputs.back());
  }
  CacheStruct caches(text, state.caches);
  Result<void> done = caches.read();
  if (done) {
    auto workspace = memory_of(text.workspace_bytes);
    const int status = compiled->call(arrays.data(), caches.data(), workspace.data());
    done = status == 0 ? caches.write() : Result<void>(reason_of(status));
  }
  state.weights.release(parameters, options.is_last);
  if (!done) return refuse(done.error());
  return outputs;
}

}  // namespace mir::tools
