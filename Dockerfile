# The server in a container, from a clone of the repository:
#   docker build -t hermes-tools .
#   docker run -d --name hermes -p 127.0.0.1:9119:9119 -e HERMES_TOKEN="$(openssl rand -hex 32)" -v hermes:/data hermes-tools
#   docker exec hermes hermes open --no-browser
# Where a folder of yours is mounted (-v "$PWD:/work"), it runs as you: --user "$(id -u):$(id -g)"
# Behind a proxy that has a certificate of its own: --secret id=ca,src=company.pem
# BASE is any Debian with Node (>= 20.19) and npm.
ARG BASE=docker.io/library/node:22-bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=secret,id=ca,target=/run/ca.pem,mode=0444 \
    if [ -s /run/ca.pem ]; then export NODE_EXTRA_CA_CERTS=/run/ca.pem; fi; \
    npm ci --ignore-scripts --prefer-offline
COPY . .
RUN node scripts/build.mjs --no-types && npm prune --omit=dev --omit=peer --ignore-scripts --offline

FROM ${BASE}
# tini is process 1: it reaps what commands leave behind and passes signals on.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git tini \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/package.json /src/README.md /src/LICENSE /src/NOTICE /src/CHANGELOG.md /opt/hermes/
COPY --from=build /src/node_modules /opt/hermes/node_modules
COPY --from=build /src/docs /opt/hermes/docs
COPY --from=build /src/dist /opt/hermes/dist
# Whoever it runs as (--user) may write here, and nowhere else; what they make there is theirs alone.
RUN ln -s /opt/hermes/dist/cli/main.js /usr/local/bin/hermes && mkdir -m 1777 /data /work
ENV HOME=/data HERMES_HOME=/data/.hermes HERMES_HOST=0.0.0.0 NODE_ENV=production
WORKDIR /work
VOLUME ["/data", "/work"]
EXPOSE 9119
USER 1000:1000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["hermes", "status"]
ENTRYPOINT ["tini", "--", "hermes"]
CMD ["serve"]
