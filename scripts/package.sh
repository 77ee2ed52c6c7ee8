#!/bin/sh
# Packs the program as npm would publish it, installs the tarball in an empty folder, and runs an example from there.
set -eu
mkdir -p .make
tarball=$(pwd -P)/.make/$(npm pack --silent --pack-destination .make | tail -n 1)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cp .npmrc "$room/"
cd "$room"
printf '{"private": true}\n' >package.json
npm install --loglevel=error "$tarball"
program=$room/node_modules/.bin/noetl-cp
echo "version $("$program" --version)"
node --input-type=module -e "import { createClient } from 'noetl-cp/client'; createClient({ url: 'http://127.0.0.1' })"
NOETL_CP_DATA_DIR=$room/data "$program" run node_modules/noetl-cp/examples/hello.yaml --local --result
echo "$tarball"
