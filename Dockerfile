# 1. The package, as `npm pack` makes it. The clone's own Node.js compiles it. This and the next step run on the builder's
# architecture, whatever the image is for: none of what they make has machine code.
FROM --platform=$BUILDPLATFORM node:24-slim AS package
ARG COMMIT=unknown
ENV SEATGATE_COMMIT=$COMMIT
WORKDIR /source
COPY . .
RUN npm ci && npm pack --pack-destination /

# 2. The package with its production dependencies, at the versions of the lock file. No install script runs.
FROM --platform=$BUILDPLATFORM node:24-slim AS installed
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && rm package-lock.json .npmrc
COPY --from=package /seatgate-*.tgz /
RUN tar -xzf /seatgate-*.tgz --strip-components=1 && mkdir /data

# 3. Node.js, the package and nothing else: no shell, no npm. The user is 65532.
FROM gcr.io/distroless/nodejs24-debian12:nonroot
ENV NODE_ENV=production
COPY --from=installed /app /app
COPY --from=installed --chown=65532:65532 /data /data
# Holds gateway.config.yaml and the route tables: mount yours. Nothing is written to it, so the root may be read-only.
WORKDIR /config
VOLUME /data
EXPOSE 8080 9090
# At the address of `ops` in /config/gateway.config.yaml.
HEALTHCHECK --interval=10s --timeout=10s --start-period=5s CMD ["/nodejs/bin/node", "/app/src/cli/seatgate.js", "health"]
ENTRYPOINT ["/nodejs/bin/node", "--disable-sigusr1", "/app/src/cli/seatgate.js"]
CMD ["start"]
