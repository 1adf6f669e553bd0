# The gate as a container: docs/how-to/serve.md says how to run it.
FROM python:3.12-slim

RUN useradd --create-home --uid 10001 skilldelta && install --directory --owner skilldelta --mode 0700 /data

COPY pyproject.toml constraints.txt README.md LICENSE /build/
COPY src /build/src
RUN pip install --no-cache-dir --constraint /build/constraints.txt "/build[serve,postgres,parquet,report]" && rm -r /build

USER skilldelta
WORKDIR /data
VOLUME /data
EXPOSE 7345
HEALTHCHECK --interval=30s --timeout=3s --start-period=20s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7345/v1/health', timeout=2)"]

ENTRYPOINT ["skilldelta"]
CMD ["serve", "--host", "0.0.0.0", "--bank", "/data/skilldelta.bank", "--tokens", "/data/tokens.json"]
