#!/bin/sh
# Makes sure a nats-server binary is on this machine, for `make run` and `make test`.
# Ends at once when there is one. Otherwise installs Debian's package if we are root, or may be without
# a password; else unpacks it into the data folder, which needs no right at all. An installed package brings a system service: it must never be left running or enabled, because
# noetl-cp starts a server of its own.
set -eu

tools=${NOETL_CP_DATA_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/noetl-cp}/tools

found() {
  [ -n "$1" ] && [ -f "$1" ] && [ -x "$1" ]
}

# An ordinary user's PATH on Debian lacks the sbin folders, where packages may put servers.
look() {
  if [ -n "${NOETL_CP_NATS_SERVER:-}" ]; then
    found "$NOETL_CP_NATS_SERVER" && return 0
    echo "NOETL_CP_NATS_SERVER=$NOETL_CP_NATS_SERVER is not an executable file: correct it, or unset it." >&2
    exit 1
  fi
  found "$(command -v nats-server 2>/dev/null || true)" && return 0
  for folder in /usr/local/bin /usr/local/sbin /usr/bin /usr/sbin /opt/homebrew/bin "$tools"; do
    found "$folder/nats-server" && return 0
  done
  return 1
}

give_up() {
  cat >&2 <<'TEXT'
nats-server is missing and could not be installed from here. Run the one command for your system, then try again:
  Debian, Ubuntu:  sudo apt-get install -y nats-server && sudo systemctl disable --now nats-server
  macOS:           brew install nats-server
  others:          download a release from https://github.com/nats-io/nats-server/releases, then put the
                   binary on PATH or name it with NOETL_CP_NATS_SERVER=/path/to/nats-server
TEXT
  exit 1
}

# Debian's package without its service, taken apart by hand.
unpack() {
  command -v dpkg >/dev/null 2>&1 || return 1
  echo "Unpacking nats-server of the Debian package into $tools ..." >&2
  room=$(mktemp -d) || return 1
  (cd "$room" && apt-get download -q nats-server >&2 </dev/null && dpkg -x nats-server_*.deb .) || {
    rm -rf "$room"
    return 1
  }
  program=$(find "$room/usr" -type f -name nats-server -perm -u+x | head -n 1)
  [ -n "$program" ] && mkdir -p -m 700 "$tools" && cp "$program" "$tools/nats-server.new" &&
    mv "$tools/nats-server.new" "$tools/nats-server"
  rm -rf "$room"
  found "$tools/nats-server"
}

look && exit 0

command -v apt-get >/dev/null 2>&1 || give_up
if [ "$(id -u)" -eq 0 ]; then
  as_root=''
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root='sudo -n'
else
  unpack || give_up
  exit 0
fi

echo 'Installing nats-server from the Debian package (its system service stays off) ...' >&2

# A policy-rc.d that answers 101 tells the package scripts to start nothing. One that is already there
# belongs to the machine: we leave it, and switch the service off afterwards all the same.
policy=/usr/sbin/policy-rc.d
made_policy=''
cleanup() {
  [ -z "$made_policy" ] || $as_root rm -f "$policy"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [ ! -e "$policy" ]; then
  made_policy=yes
  printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
  $as_root chmod 755 "$policy"
fi

install_package() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    -o DPkg::Lock::Timeout=120 nats-server >&2 </dev/null
}
# The package lists may be missing or too old; asking for new ones costs seconds, so only when needed.
install_package || {
  $as_root apt-get update -q -o DPkg::Lock::Timeout=120 >&2 </dev/null || give_up
  install_package || give_up
}

if command -v systemctl >/dev/null 2>&1; then
  $as_root systemctl disable nats-server.service >/dev/null 2>&1 || true
  [ ! -d /run/systemd/system ] || $as_root systemctl stop nats-server.service >/dev/null 2>&1 || true
elif [ -x /etc/init.d/nats-server ]; then
  $as_root update-rc.d nats-server disable >/dev/null 2>&1 || true
  $as_root /etc/init.d/nats-server stop >/dev/null 2>&1 || true
fi

look || give_up
