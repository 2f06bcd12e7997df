# One image for the web application, the worker, the periodic sweep and the migrations.

# The full image has a compiler, for packages without a wheel for this machine's architecture.
FROM docker.io/library/python:3.13-bookworm@sha256:8b9a8b28d9cc221c6ab5d40e9cfcd99429959f6a8f5171612a99147975ab043f AS build
RUN python -m venv /opt/vocboard
ENV PATH=/opt/vocboard/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /source
COPY requirements.lock ./
RUN pip install --require-hashes --no-deps -r requirements.lock
COPY . .
RUN pip install --no-deps --no-build-isolation . ./server

FROM docker.io/library/python:3.13-slim-bookworm@sha256:67a1e1f215ccda113cfc024e8639049257e88f273898f595b61476d128d387e8
COPY --from=build /opt/vocboard /opt/vocboard
ENV PATH=/opt/vocboard/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# This image has no bytecode of the standard library: without it, each command and health check compiles what it imports.
RUN python -m compileall -q /usr/local/lib/python3.*
# A new volume takes over the owner and mode of the directory that it is mounted on.
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin vocboard \
    && install -d -o vocboard -g vocboard -m 0700 /var/lib/vocboard \
        /var/lib/vocboard/archives /var/lib/vocboard/truth-inbox /var/lib/vocboard/truth
USER 10001:10001
WORKDIR /tmp
EXPOSE 8000
CMD ["vocboard", "serve", "--host", "0.0.0.0", "--port", "8000"]
