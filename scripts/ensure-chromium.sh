#!/bin/sh
# Makes sure that a Chromium is on this machine, for the browser tests of `make test`. Ends at once when there is one.
# Otherwise installs Debian's package if we are root, or may be without a password. Nobody else is held up: the tests
# are then skipped by name. In CI (CI=true) a missing browser is a failure.
set -eu

look() {
  if [ -n "${NOETL_TEST_CHROMIUM:-}" ]; then
    [ -x "$NOETL_TEST_CHROMIUM" ] && return 0
    echo "NOETL_TEST_CHROMIUM=$NOETL_TEST_CHROMIUM is not an executable file: correct it, or unset it." >&2
    exit 1
  fi
  for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && return 0
  done
  return 1
}

do_without() {
  [ "${CI:-}" != true ] || {
    echo 'No Chromium, and none could be installed: the browser tests must not be skipped in CI.' >&2
    exit 1
  }
  exit 0
}

look && exit 0

command -v apt-get >/dev/null 2>&1 || do_without
if [ "$(id -u)" -eq 0 ]; then
  as_root=''
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root='sudo -n'
else
  do_without
fi

echo 'Installing chromium from the Debian package ...' >&2
install_package() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    -o DPkg::Lock::Timeout=120 chromium >&2 </dev/null
}
# The package lists may be missing or too old; asking for new ones costs seconds, so only when needed.
install_package || {
  $as_root apt-get update -q -o DPkg::Lock::Timeout=120 >&2 </dev/null || do_without
  install_package || do_without
}
look || do_without
