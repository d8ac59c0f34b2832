# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2016
#
# Set-up on Linux, for the scripts beside this file, which set `tool` and source it. Everything
# said here goes to standard error, so that `tools/run -- --json -` keeps its output clean.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cache=${XDG_CACHE_HOME:-${HOME:-$(cd ~ && pwd)}/.cache}/assay
default_torch=2.11.0
oldest_torch=2.6

say() { printf '%s: %s\n' "${tool:-assay}" "$*" >&2; }
set_up_failed() { say "$*"; exit 3; }
wrong_usage() { say "$*"; exit 2; }

# ---------------------------------------------------------------- compiler, tools and libraries

# package | what shows that it is there though the package manager does not know of it:
# a command, or a header.
build_packages='
g++|g++
cmake|cmake
ninja-build|ninja
git|git
python3|python3
ca-certificates|/etc/ssl/certs/ca-certificates.crt
libboost-dev|<boost/version.hpp>
libboost-program-options-dev|<boost/program_options.hpp>
libboost-filesystem-dev|<boost/filesystem.hpp>
libfmt-dev|<fmt/format.h>
nlohmann-json3-dev|<nlohmann/json.hpp>
libtomlplusplus-dev|<toml++/toml.h>
libsimdjson-dev|<simdjson.h>
libmuparser-dev|<muParser.h>
libsodium-dev|<sodium.h>
libsqlitecpp-dev|<SQLiteCpp/SQLiteCpp.h>
zlib1g-dev|<zlib.h>
'
torch_packages='
python3-pip|python module pip
'
test_packages='
libgtest-dev|<gtest/gtest.h>
libbenchmark-dev|<benchmark/benchmark.h>
clang|clang++
clang-format|clang-format
clang-tidy|clang-tidy
libc++-dev|package
libc++abi-dev|package
python3-jsonschema|python module jsonschema
python3-yaml|python module yaml
'
deb_packages='
dpkg-dev|dpkg-shlibdeps
file|file
'
faster_packages='
ccache|ccache
mold|mold
'

fuzz_packages='
libclang-rt-dev|package
'

is_there() {
  case $1 in
    package) return 1 ;;
    /*) [[ -e $1 ]] ;;
    '<'*)
      printf '#if !__has_include(%s)\n#error\n#endif\n' "$1" |
        "${CXX:-g++}" -E -x c++ - -o /dev/null 2>/dev/null
      ;;
    'python module '*) python3 -c "import ${1##* }" 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# missing TABLE: its packages that are not there, one a line.
missing() {
  local package proof installed=' '
  if command -v dpkg-query >/dev/null; then
    # The names are the table's first column. dpkg-query fails when it does not know one of them.
    installed=" $(cut -s -d'|' -f1 <<<"$1" |
      xargs dpkg-query -W -f '${db:Status-Abbrev}${binary:Package} ' 2>/dev/null |
      sed 's/:[a-z0-9]* / /g') " || true
  fi
  while IFS='|' read -r package proof; do
    if [[ -n $package && $installed != *" ii $package "* ]] && ! is_there "$proof"; then
      printf '%s\n' "$package"
    fi
  done <<<"$1"
}

apt_install() {
  local log=$root/build/set-up/apt.log
  mkdir -p "${log%/*}"
  (
    export DEBIAN_FRONTEND=noninteractive
    # A foreign source that does not answer must not stop the installation from the others.
    apt-get update -q || true
    apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
  ) </dev/null >"$log" 2>&1
}

# need TABLE: installs what is missing of it, or says how and ends with status 3.
need() {
  local -a packages
  mapfile -t packages < <(missing "$1")
  if ((${#packages[@]} == 0)); then
    return 0
  fi
  if ! command -v apt-get >/dev/null; then
    set_up_failed "needed and not found, by their Debian names: ${packages[*]}"
  fi
  if ((EUID != 0)); then
    mapfile -t -O "${#packages[@]}" packages < <(missing "$faster_packages")
    say "some packages are missing; run this, then start again:"
    printf 'sudo apt-get install -y --no-install-recommends %s\n' "${packages[*]}" >&2
    exit 3
  fi
  say "installing with apt-get: ${packages[*]}"
  if ! apt_install "${packages[@]}"; then
    tail -n 5 "$root/build/set-up/apt.log" >&2
    set_up_failed "apt-get failed (whole log: $root/build/set-up/apt.log)"
  fi
}

# want TABLE WHAT: what it names is taken where it can be had, and asked for once only.
want() {
  local table=$1 what=$2
  local stamp="$root/build/set-up/tried-${what// /-}"
  local -a packages
  if [[ -e $stamp ]] || ((EUID != 0)) || ! command -v apt-get >/dev/null; then
    return 0
  fi
  mapfile -t packages < <(missing "$table")
  if ((${#packages[@]} > 0)); then
    say "installing with apt-get, for $what: ${packages[*]}"
    apt_install "${packages[@]}" || say "could not install ${packages[*]}; going on without"
  fi
  mkdir -p "${stamp%/*}"
  : >"$stamp"
}

want_faster_builds() { want "$faster_packages" 'faster builds'; }

# ---------------------------------------------------------------- LibTorch

is_torch() { [[ -d $1/include/ATen && -e $1/lib/libtorch_cpu.so ]]; }

# torch_folder DIR: the torch folder that a user's word for it means, as assay itself takes it: the
# folder, its lib/, a site-packages folder or a virtual environment. Nothing when it is none.
torch_folder() {
  local dir
  for dir in "$1" "$1/.." "$1/torch" "$1"/lib/python3*/site-packages/torch; do
    if [[ -e $dir/lib/libtorch_cpu.so ]]; then
      (cd "$dir" && pwd)
      return
    fi
  done
}

# torch_version DIR: "2.11.0", or nothing.
torch_version() {
  local header number='[0-9]+\.[0-9]+\.[0-9]+'
  if [[ -r $1/version.py ]]; then
    sed -n -E "s/^__version__[ :].*['\"]($number).*/\1/p" "$1/version.py"
    return
  fi
  for header in "$1/include/torch/headeronly/version.h" \
    "$1/include/torch/csrc/api/include/torch/version.h"; do
    if [[ -r $header ]] && grep -q TORCH_VERSION_MAJOR "$header"; then
      sed -n -E 's/^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) +([0-9]+).*/\2/p' "$header" |
        paste -s -d.
      return
    fi
  done
  if [[ -r $1/build-version ]]; then
    sed -n -E "1s/^($number).*/\1/p" "$1/build-version"
  fi
}

# torch_minor DIR: "2.11"; ends with status 3 when DIR is no LibTorch that assay can use.
torch_minor() {
  local version
  version=$(torch_version "$1")
  if [[ -z $version || ! -e $1/lib/libtorch_cpu.so ]]; then
    set_up_failed "$1 is no LibTorch folder: it needs lib/libtorch_cpu.so and include/"
  fi
  if [[ $(printf '%s\n' "$oldest_torch" "$version" | sort -V | head -n 1) != "$oldest_torch" ]]
  then
    set_up_failed "LibTorch $version in $1 is too old: assay needs $oldest_torch or newer"
  fi
  printf '%s\n' "${version%.*}"
}

# environment_torch: the torch folder of the active Python environment, or nothing. Looks at files
# only: importing torch takes seconds, and fails where its GPU libraries do not load.
environment_torch() {
  local dir prefix
  for prefix in "${VIRTUAL_ENV:-}" "${CONDA_PREFIX:-}"; do
    for dir in "$prefix"/lib/python3*/site-packages/torch; do
      if [[ -n $prefix ]] && is_torch "$dir"; then
        printf '%s\n' "$dir"
        return
      fi
    done
  done
  # Without the empty entry, or a folder "torch" in the current directory would count.
  dir=$(python3 -c '
import importlib.util, os, sys
sys.path = [p for p in sys.path if p]
spec = importlib.util.find_spec("torch")
print(os.path.dirname(spec.origin) if spec and spec.origin else "")' 2>/dev/null) || true
  if [[ -n $dir ]] && is_torch "$dir"; then
    printf '%s\n' "$dir"
  fi
}

has_nvidia_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; }
has_amd_gpu() { [[ -e /dev/kfd ]]; }

# cuda_packages SITE: the two small packages that libtorch_cpu.so of PyTorch's own wheel needs even
# where there is no GPU, in the versions that the wheel's metadata asks for, one a line.
cuda_packages() {
  local metadata pinned
  metadata=$(cat "$1"/torch-*.dist-info/METADATA)
  if [[ $(uname -m) != x86_64 ]]; then
    return 0
  fi
  sed -n -E 's/^Requires-Dist: (nvidia-cuda-(runtime|cupti)-cu12) *\(?(==[0-9.]*).*/\1\3/p' \
    <<<"$metadata"
  pinned=$(sed -n 's/^Requires-Dist: cuda-toolkit\[.*\]==\([0-9]*\.[0-9]*\).*/\1/p' <<<"$metadata")
  if [[ -n $pinned ]]; then
    printf '%s==%s.*\n' nvidia-cuda-runtime "$pinned" nvidia-cuda-cupti "$pinned"
  fi
}

# The wheel's libraries do not depend on Python's version, so any version's wheel will do, whatever
# python3 is here.
pip_install() {
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check \
    --no-input --no-compile --only-binary=:all: --python-version 3.12 --upgrade "$@" </dev/null >&2
}

# install_torch VERSION SITE [cuda]: PyTorch's own wheel into the folder SITE; with `cuda`, all the
# GPU libraries that it asks for. An interrupted download leaves SITE.partial, which never counts.
install_torch() {
  local version=$1 site=$2 with_cuda=${3:-} needed=3 size='530 MB to fetch, 1.2 GB on disk'
  local folder=${2%/*} partial=$2.partial
  if [[ -n $with_cuda ]]; then
    needed=10
    size='with its CUDA libraries about 3 GB to fetch, 7 GB on disk'
  elif [[ $version != "$default_torch" ]]; then
    size='500 to 800 MB to fetch, up to 1.6 GB on disk'
  fi
  mkdir -p "$folder" || set_up_failed "cannot make $folder"
  # A subshell, so that its traps and its lock end with it. Its failures have said why.
  (
    if ! flock -n 9; then
      say "waiting for another download into $folder"
      flock 9
    fi
    if is_torch "$site/torch"; then
      exit 0
    fi
    free=$(df -Pk "$folder" | awk 'NR == 2 { print int($4 / 1048576) }')
    if ((free < needed)); then
      set_up_failed "LibTorch $version needs $needed GB in $folder, where $free GB are free"
    fi
    say "LibTorch $version: $size, $site"
    rm -rf "$partial"
    trap 'rm -rf "$partial"' EXIT
    trap 'exit 130' INT TERM HUP
    failure="LibTorch $version could not be installed into $site"
    if [[ -n $with_cuda ]]; then
      pip_install --target "$partial" "torch==$version" || set_up_failed "$failure"
    else
      pip_install --target "$partial" --no-deps "torch==$version" || set_up_failed "$failure"
      mapfile -t small < <(cuda_packages "$partial")
      if ((${#small[@]} > 0)); then
        pip_install --target "$partial" --no-deps "${small[@]}" || set_up_failed "$failure"
      fi
    fi
    is_torch "$partial/torch" || set_up_failed "$failure: it has no lib/ or no include/"
    rm -rf "$site"
    mv "$partial" "$site"
  ) 9>"$folder/lock" || exit
}

# need_and_find_torch TABLE: the packages of TABLE, and torch_dir set to the LibTorch to use: what
# it is already, else the active Python environment's, else the cached wheel, fetched when it is
# not there.
need_and_find_torch() {
  local table=$1 site=$cache/torch-$default_torch with_cuda=
  torch_dir=${torch_dir:-$(environment_torch)}
  if [[ -n $torch_dir ]]; then
    need "$table"
    return
  fi
  if has_nvidia_gpu; then
    site+=-cuda
    with_cuda=cuda
  elif has_amd_gpu; then
    say "there is an AMD GPU, but no ROCm build of PyTorch in the active Python environment:" \
      "PyTorch's CPU/CUDA wheel is used, which cannot use this GPU; the checks run on the CPU"
    say "for the GPU: install a ROCm wheel (https://pytorch.org/get-started/locally), activate" \
      "its environment and start again, or give --torch DIR"
  fi
  torch_dir=$site/torch
  if is_torch "$torch_dir"; then
    need "$table"
  else
    need "$table$torch_packages"
    install_torch "$default_torch" "$site" "$with_cuda"
  fi
}

# ---------------------------------------------------------------- building

# up_to_date DIR: whether its build has nothing left to do.
up_to_date() {
  [[ -e $1/build.ninja ]] || return 1
  # A dry run ends where it would look for new files (CMake's globs), as if there were some. So that
  # is done first, and the dry run reads a file that nothing makes.
  flock "$1/lock" ninja -C "$1" build.ninja >/dev/null 2>&1 || return 1
  cp "$1/build.ninja" "$1/looked_at.ninja"
  [[ $(ninja -n -C "$1" -f looked_at.ninja 2>/dev/null) == *'no work to do'* ]]
}

# build SOURCE DIR WHAT OPTION...: configures DIR where these CMake options are new to it, and
# builds it. Ends with status 3 when it fails.
build() {
  local source=$1 dir=$2 what=$3 log=$2/build.log
  shift 3
  # A build folder that came along with a moved or copied checkout is of no use.
  if [[ -e $dir/CMakeCache.txt ]] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$source" "$dir/CMakeCache.txt"; then
    rm -rf "$dir"
  fi
  if [[ "$*" == "$(cat "$dir/configured-with" 2>/dev/null)" ]] && up_to_date "$dir"; then
    return 0
  fi
  mkdir -p "$dir"
  (
    flock 9
    say "building $what; its output goes to $log"
    : >"$log"
    if [[ ! -e $dir/build.ninja ]] ||
      [[ "$*" != "$(cat "$dir/configured-with" 2>/dev/null)" ]]; then
      cmake -S "$source" -B "$dir" -G Ninja "$@" >>"$log" 2>&1 9>&- || exit 1
      printf '%s\n' "$*" >"$dir/configured-with"
    fi
    cmake --build "$dir" --parallel "$(nproc)" >>"$log" 2>&1 9>&-
  ) 9>"$dir/lock" || {
    grep -E -A4 'error|Error|FAILED' "$log" | head -n 25 >&2 || true
    set_up_failed "building $what failed (all of it: $log)"
  }
}

# build_engine TORCH_DIR TREE: the engine for this LibTorch, into libexec/ of a build tree or an
# installation.
build_engine() {
  local torch=$1 minor output engines=$2/engines
  minor=$(torch_minor "$torch") || exit
  output=$2/libexec/assay/torch-$minor
  is_torch "$torch" || set_up_failed "no engine can be built with $torch: it has no include/ATen"
  if [[ -e $2/bin/assay && ! -e $2/CMakeCache.txt ]]; then
    engines=$root/build/engines  # an installation is no place to compile in
  fi
  build "$root/host/engine" "$engines/torch-$minor" "the engine for LibTorch $minor ($output)" \
    -DCMAKE_BUILD_TYPE=Release "-DASSAY_TORCH_DIR=$torch" "-DASSAY_ENGINE_OUTPUT=$output"
}
