#!/bin/bash
# An environment for each peer under FOLDER: bench/peers/install.sh FOLDER [PEER...]; needs uv, Python 3.11 and 3.12.
set -e
export UV_LINK_MODE=copy # a package refuses to open files of its own that are linked elsewhere
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?a folder for the environments}
shift
mkdir -p "$folder"
for peer in ${*:-langchain llamaindex haystack paperqa txtai haiku}; do
  version=3.11
  [ "$peer" = haiku ] && version=3.12 # haiku.rag asks for it
  uv venv --python "$version" "$folder/$peer"
  uv pip install --python "$folder/$peer/bin/python" -r "$here/requirements/$peer.txt"
done
