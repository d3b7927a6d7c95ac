#!/bin/sh
# Installs Toolwire from this checkout into a virtual environment of its own, with the locked versions of everything it needs.
#
#   deploy/install.sh TARGET                 all of it, for example into /opt/toolwire
#   deploy/install.sh TARGET dependencies    only what it needs (they change less often: a layer of the image)
#   deploy/install.sh TARGET package         only Toolwire itself
#
# PYTHON names the interpreter, 3.11 or later (default: python3). The user that Toolwire runs as must be able to run it: one in a home
# folder, such as those of pyenv, is not for a service.
set -eu
cd "$(dirname "$0")/.."
target=${1:?the folder of the virtual environment is missing: deploy/install.sh TARGET}
part=${2:-all}

case $part in all | dependencies)
  "${PYTHON:-python3}" -m venv "$target"
  "$target/bin/pip" install --disable-pip-version-check --no-cache-dir --no-deps --require-hashes --requirement requirements-serve.lock
  ;;
esac
case $part in all | package)
  "$target/bin/pip" install --disable-pip-version-check --no-cache-dir --no-deps --no-build-isolation .
  ;;
esac
