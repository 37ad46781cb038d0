# 1. The package, as `npm pack` makes it, without the manual. This and the next step run on the builder's architecture, whatever the
# image is for: none of what they make has machine code. No install script runs, and the Node.js of this image compiles.
FROM --platform=$BUILDPLATFORM docker.io/library/node:24-slim AS package
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts && rm -f node_modules/.bin/node
COPY . .
ARG COMMIT=unknown
RUN SEATGATE_COMMIT=$COMMIT npm pack --pack-destination /

# 2. The package with its production dependencies, at the versions of the lock file. Tests, manuals, types and source maps of the
# dependencies are 7 MiB that nothing loads.
FROM --platform=$BUILDPLATFORM docker.io/library/node:24-slim AS installed
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && rm -r package-lock.json .npmrc \
  && rm -rf node_modules/*/test node_modules/*/docs node_modules/*/benchmarks \
  && find node_modules -type f \( -name '*.ts' -o -name '*.[cm]ts' -o -name '*.map' \) -delete
COPY --from=package /seatgate-*.tgz /
RUN tar -xzf /seatgate-*.tgz --strip-components=1 && mkdir /data

# 3. Node.js, the package and nothing else: no shell, no npm.
FROM gcr.io/distroless/nodejs24-debian13:nonroot
ENV NODE_ENV=production
COPY --from=installed /app /app
COPY --from=installed --chown=65532:65532 /data /data
USER 65532:65532
# Holds gateway.config.yaml and the route tables: mount yours. Nothing is written to it, so the root may be read-only.
WORKDIR /config
VOLUME /data
EXPOSE 8080 9090
# At the address of `ops` in /config/gateway.config.yaml.
HEALTHCHECK --interval=10s --timeout=10s --start-period=5s CMD ["/nodejs/bin/node", "/app/src/cli/seatgate.js", "health"]
ENTRYPOINT ["/nodejs/bin/node", "--disable-sigusr1", "/app/src/cli/seatgate.js"]
CMD ["start"]
