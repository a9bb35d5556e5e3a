// The question that the options of mllm-reduce pose about texts.
#pragma once

#include <memory>
#include <optional>

#include "reduce/interests.hpp"
#include "tools/reduce/command_test.hpp"
#include "tools/reduce/settings.hpp"

namespace mir::tools {

class Question {
 public:
  /// `interrupt`: a descriptor that can be read after an interrupt.
  Question(const ReduceSettings& settings, Pipeline pipeline, int interrupt);

  /// For --test.
  void set_command(CommandTest command) { command_.emplace(std::move(command)); }
  /// Returns null without --test.
  const CommandTest* command() const { return command_ ? &*command_ : nullptr; }

  const ReduceSettings& settings() const { return settings_; }
  const Pipeline& pipeline() const { return pipeline_; }
  reduce::Surroundings surroundings() const;
  reduce::Comparison comparison() const;
  /// May be called by several threads at once. The question outlives it.
  reduce::Interest interest() const;

 private:
  const ReduceSettings& settings_;
  Pipeline pipeline_;
  int interrupt_;
  std::optional<CommandTest> command_;
};

}  // namespace mir::tools
