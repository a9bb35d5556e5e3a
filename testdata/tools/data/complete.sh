# complete TOOL WORD...: what bash offers for the last word of a command line, as its words are in
# COMP_WORDS, where each '=' is one of them.
compopt() { echo "compopt $*"; }
complete_last() {
  local tool=$1
  eval "$("$tool" --help-as=bash)"
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  "_${tool//-/_}"
  printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd' '
}
