# The operator's image, for builders with a container engine. The files are those of `make image`, which needs none.
ARG GO_VERSION=1.26
FROM --platform=$BUILDPLATFORM golang:${GO_VERSION} AS build
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
COPY dev/image/go.mod dev/image/go.sum dev/image/
RUN go mod download && go -C dev/image mod download
COPY . .
RUN go -C dev/image run . rootfs ../.. /rootfs ${TARGETARCH}

FROM scratch
COPY --from=build /rootfs /
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/nexus-operator"]
