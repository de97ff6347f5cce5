# Three images from one file: `web` (pages, API, migration; no torch), `worker` (CPU build of torch) and `worker-gpu`.
FROM python:3.12-slim AS base
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    FUSESCOPE_STATE=/var/lib/fusescope
WORKDIR /srv/fusescope
RUN pip install --no-cache-dir uv \
    && useradd --system --uid 10001 --home-dir /var/lib/fusescope --create-home fusescope
# The packages first: a change of the code alone installs nothing again.
COPY pyproject.toml README.md LICENSE ./
RUN mkdir app db profiles workers \
    && uv pip install --system --no-cache --editable .
COPY profiles profiles
COPY db db
COPY workers workers
COPY app app
COPY samples samples
# What runs say that they were measured by: --build-arg COMMIT=$(git rev-parse HEAD)
ARG COMMIT=
ENV FUSESCOPE_COMMIT=$COMMIT

FROM base AS web
USER fusescope
EXPOSE 8501
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/healthz', timeout=4)"]
CMD ["python", "-m", "app.server", "--host", "0.0.0.0", "--port", "8501"]

# Compiled variants need a C++ compiler on the CPU, and Triton needs a C compiler on the GPU.
FROM base AS compiler
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*

FROM compiler AS worker
RUN uv pip install --system --no-cache torch --torch-backend cpu \
    && uv pip install --system --no-cache --editable '.[measure]'
USER fusescope
CMD ["fusescope", "worker", "--device", "cpu"]

FROM compiler AS worker-gpu
RUN uv pip install --system --no-cache torch \
    && uv pip install --system --no-cache --editable '.[measure]'
USER fusescope
CMD ["fusescope", "worker", "--device", "cuda:0"]
