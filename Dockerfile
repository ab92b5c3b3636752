# The coachline binary on nothing but certificates: no shell, no root.
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/coachline .

# The health check of the starter needs an HTTP client; this one is static.
FROM busybox:1.37.0-musl AS probe

# The simulated phones and the scripted model, for the profile demo of
# docker-compose.yml. Production does not have it.
FROM build AS build-simulator
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/simulator ./dev/simulator

FROM scratch AS simulator
COPY --from=probe /bin/busybox /bin/wget
COPY --from=build-simulator /out/simulator /bin/simulator
USER 65532:65532
ENTRYPOINT ["/bin/simulator"]

FROM scratch AS coachline
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=probe /bin/busybox /bin/wget
COPY --from=build /out/coachline /bin/coachline
USER 65532:65532
ENTRYPOINT ["/bin/coachline"]
