// Functions shared by the generators of hostile files.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "hostile.hpp"

namespace mir::fuzz {

using Files = std::vector<HostileFile>;

void append(Files& into, Files files);

/// Texts made from `text` by replacing the only text `from` with each of `values`, as files.
Files with_tokens(const std::string& text, std::string_view from,
                  std::initializer_list<std::string_view> values,
                  std::string (*wrap)(const std::string&));

/// The text as it is, for with_tokens().
std::string bare(const std::string& text);

/// The dictionary of a sound NPY file of six Float32, and the file with a dictionary.
inline constexpr std::string_view kDictionary =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
std::string npy_file(const std::string& dictionary);

std::string sound_npz();
Files hostile_npz();
std::string sound_pack();
Files hostile_packs();
std::string sound_index();
Files hostile_indices();
std::string sound_program();
Files hostile_programs();

}  // namespace mir::fuzz
