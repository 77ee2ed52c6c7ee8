#!/bin/sh
# Copies the built program with the packages it needs to PREFIX/lib/noetl-cp, with a link in PREFIX/bin, or removes both.
# A copy, not a link into the checkout: a service that may not read home folders must find everything.
#   sh scripts/install.sh install|uninstall PREFIX
set -eu
action=$1
prefix=$2
home=$prefix/lib/noetl-cp
link=$prefix/bin/noetl-cp
target=../lib/noetl-cp/bin/noetl-cp.js

if [ "$action" = uninstall ]; then
  [ "$(readlink "$link" 2>/dev/null)" != "$target" ] || rm -f "$link"
  rm -rf "$home"
  echo "removed $home"
  exit 0
fi

mkdir -p "$prefix/lib" "$prefix/bin"
rm -rf "$home.new"
mkdir "$home.new"
cp -R bin dist sql python docs examples package.json README.md CHANGELOG.md LICENSE "$home.new/"
# What the program needs at run time; `npm ls` prints whole paths, the first is ours.
root=$(pwd -P)
npm ls --omit=dev --all --parseable 2>/dev/null | while read -r folder; do
  inner=${folder#"$root"/}
  case $inner in
    node_modules/*/node_modules/*) ;; # comes along with the package around it
    node_modules/*)
      mkdir -p "$home.new/$(dirname "$inner")"
      cp -R "$folder" "$home.new/$inner"
      ;;
  esac
done
rm -rf "$home"
mv "$home.new" "$home"
ln -sf "$target" "$link"
"$link" --version >/dev/null
echo "installed $home; start it with: $link"
