# Checks a folder that is mounted at /src:  docker run --rm -v "$PWD:/src:ro" inplace-lint
FROM python:3.12-slim
COPY . /tmp/inplace-lint
RUN pip install --no-cache-dir /tmp/inplace-lint && rm -rf /tmp/inplace-lint && useradd --create-home checker
USER checker
WORKDIR /src
ENTRYPOINT ["inplace-lint", "check", "--no-cache"]
CMD ["."]
