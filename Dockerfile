# The gateway alone: it fronts an engine that runs elsewhere, or serves a small model itself.
FROM python:3.12-slim AS build
WORKDIR /src
COPY requirements-serve.lock ./
COPY deploy/install.sh deploy/
RUN deploy/install.sh /opt/toolwire dependencies
COPY pyproject.toml README.md LICENSE ./
COPY gateway gateway
COPY parsers parsers
COPY chat_templates chat_templates
RUN deploy/install.sh /opt/toolwire package

FROM python:3.12-slim
# The embedded engine is compiled with OpenMP. Its version is the distribution's.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 toolwire \
 && install --directory --owner 10001 --group 10001 /home/toolwire/.cache /var/lib/toolwire
COPY --from=build /opt/toolwire /opt/toolwire
ENV PATH=/opt/toolwire/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 TOOLWIRE_SERVER__HOST=0.0.0.0
# The root file system may be read-only: tokenizers and models go to ~/.cache, keys and recordings to /var/lib/toolwire.
USER 10001:10001
WORKDIR /home/toolwire
# It asks for API keys (TOOLWIRE_AUTH__KEYS_FILE); without them it starts only with `toolwire serve --insecure`.
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=2)"]
CMD ["toolwire", "serve"]
