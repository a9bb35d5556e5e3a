// Invariants that hold for any bytes read as the header of a saved session.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "generation/saved_session.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/runs.hpp"
#include "mir/context.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/session.hpp"
#include "plan/content_hash.hpp"

namespace mir::fuzz {

/// A session with one cache, which files are read into.
class SessionChecker {
 public:
  static constexpr std::string_view kModel = "0123456789abcdef0123456789abcdef";

  SessionChecker() {
    register_builtin_dialects(context_);
    const SourceFile* file = context_.sources().add("cache.mir", kModule);
    Diagnostics problems;
    const auto modules = read_modules(*file, context_, problems);
    require(modules.size() == 1 && !problems.has_errors(), "the module can be read");
    session_ = Session::create(*modules.front(), {}, problems);
    require(session_.has_value(), "the module can run");
  }

  /// Reads a file of this header, which has the right hash, with the bytes behind it as caches. It
  /// is read, or there is one error of saved sessions and the caches are empty. Ends the program if
  /// this does not hold. Returns true if it is read.
  bool check(std::string_view header, std::string_view caches) {
    fast::ThreadPool alone(1);
    const std::uint64_t length = header.size();
    const ContentHash hash = content_hash(std::as_bytes(std::span(header)), alone);
    std::string file = "MIRGEN1\n";
    file.append(reinterpret_cast<const char*>(&length), sizeof length);
    file.append(reinterpret_cast<const char*>(&hash), sizeof hash);
    file += header;
    file.resize((file.size() + 63) / 64 * 64);
    file += caches;
    const auto read = generation::read_saved_session(std::as_bytes(std::span(file)),
                                                     std::string(kModel), *session_);
    if (read) return true;
    const DiagCode code = read.error().code;
    require(code == diag::kSavedSessionMalformed || code == diag::kSavedSessionOfOther,
            "a refusal has a code of saved sessions");
    require(session_->cache_length("kv").value_or(0) == 0, "the caches are empty");
    return false;
  }

 private:
  static constexpr const char* kModule =
      "@main [mir_version:1] (%k:tensor<[1, 1, $S, 2], Float32, CPU>) -> "
      "(%K:tensor<[1, 1, $past+$S, 2], Float32, CPU>) {\n"
      "  linalg.CPU.KVCacheOp [cache:@kv, q_head:1, kv_head:1, head_dim:2, past:$past] (%k, %k) -> "
      "(%K:tensor<[1, 1, $past+$S, 2], Float32, CPU>, "
      "%V:tensor<[1, 1, $past+$S, 2], Float32, CPU>)\n"
      "  cf.ReturnOp (%K) -> ()\n}\n";

  static void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "property violated: %s\n", what);
    std::abort();
  }

  IRContext context_;
  std::optional<Session> session_;
};

}  // namespace mir::fuzz
