# Sourced by scripts: installs Debian packages, but only those that are missing.

# Options of a build that compiles everything once: several sources as one take a third of the time. Work on a part is
# faster in a build without them, where an edit compiles one source.
whole_build=(-Dunity=on)

# What building needs; docs/dependencies.md gives the reason for each library.
build_packages=(
  bison doctest-dev g++ libboost-program-options-dev libfmt-dev libhwy-dev libpcre2-dev libutf8proc-dev libxxhash-dev
  meson ninja-build nlohmann-json3-dev pkg-config python3 re2c zlib1g-dev
)
# What scripts/package needs besides.
package_packages=(debhelper dpkg-dev)
# What testing needs besides: the second compiler, its sanitizers, a quick linker and the checks.
test_packages=(
  clang clang-format cmake elpa-eglot emacs-nox "${package_packages[@]}" fish git libclang-rt-dev libmpfr-dev lintian lld
  llvm neovim python3-jinja2 python3-numpy vim-nox
)

is_installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# install_npm_packages FOLDER: installs what the folder's package-lock.json names, if npm is there. The
# tests that need the packages are skipped without them and say so.
install_npm_packages() {
  command -v npm >/dev/null || return 0
  (cd "$1" && npm ls --silent >/dev/null 2>&1) && return 0
  echo "installing: npm packages of $1" >&2
  (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --silent) >&2 || return 0
}

# install_missing PACKAGE...: silent when nothing is missing. Uses sudo unless run as root. On a
# system without dpkg it does nothing: the build names what it misses.
install_missing() {
  command -v dpkg-query >/dev/null || return 0
  local package missing=() as_root=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || as_root=(sudo)
  echo "installing: ${missing[*]}" >&2
  "${as_root[@]}" apt-get update --quiet >&2 &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install --yes --quiet --no-install-recommends "${missing[@]}" >&2
}
