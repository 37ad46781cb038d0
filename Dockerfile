# Build: dependencies only; TypeScript runs as it is, by type stripping.
FROM node:26-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image brings Node.js 26 itself: the npm package "node" is for machines that don't, and is left out.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/node node_modules/.bin/node

FROM node:26-slim
WORKDIR /app
ENV NODE_ENV=production NODE_COMPILE_CACHE=/tmp/node-compile-cache
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE gateway.config.yaml ./
COPY routes ./routes
COPY src ./src
COPY seats-admin ./seats-admin
RUN mkdir data && chown node:node data
USER node
VOLUME /app/data
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=2s --start-period=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9090/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/cli/seatgate.js"]
CMD ["start"]
