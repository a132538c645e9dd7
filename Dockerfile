# One image for every role: a static binary and the certificates of public authorities.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /sluice . && mkdir /data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /sluice /sluice
COPY --from=build --chown=nonroot:nonroot /data /data
ENV SLUICE_LISTEN=0.0.0.0:8080 SLUICE_DATA=/data SLUICE_LOG_FORMAT=json
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=6s --start-period=60s CMD ["/sluice", "ready"]
ENTRYPOINT ["/sluice"]
CMD ["serve"]
