/** The files of the Helm chart, and the values of an installation. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { deploy } from './programs.ts'

export const chart = join(deploy, 'helm')

export function fileOf(name: string): string {
  return readFileSync(join(chart, name), 'utf8')
}

export const templates = globSync('templates/*', { cwd: chart }).sort()
export const defaults: Readonly<Record<string, unknown>> = parse(fileOf('values.yaml'))
export const schema: Readonly<Record<string, unknown>> & {
  readonly properties: Readonly<Record<string, unknown>>
} = JSON.parse(fileOf('values.schema.json'))

/** What has to be said of an installation; everything else has a default. */
export const VALUES = {
  image: { repository: 'registry.example/seatgate' },
  secretName: 'seatgate',
  tenants: { acme: { token: { secrets: ['${ACME_TOKEN_SECRET}'] } } },
  upstreams: { trainings: { targets: ['http://trainings.default.svc:9001'] } },
  routes: { trainings: { upstream: 'trainings', routes: { 'GET /v1/trainings': 'trainings:list' } } },
}

const KEYS = '/etc/seatgate-tls'

/** With every key that `listen` of the configuration has for TLS. */
export const FRONT_TLS = {
  certificates: [
    { cert: `${KEYS}/api/tls.crt`, key: `${KEYS}/api/tls.key` },
    { cert: `${KEYS}/internal/tls.crt`, key: `${KEYS}/internal/tls.key` },
  ],
  min_version: '1.2',
  ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  client_ca: `${KEYS}/api/ca.crt`,
  client_auth: 'require',
}

/** With members of all lists and maps that are empty by default. */
export const MUCH = {
  ...VALUES,
  nameOverride: 'edge',
  imagePullSecrets: [{ name: 'registry' }],
  service: { type: 'LoadBalancer', annotations: { 'example.com/a': 'b' } },
  podAnnotations: { 'example.com/c': 'd' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'gate', operator: 'Exists' }],
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
  networkPolicy: {
    from: [{ podSelector: {} }],
    metricsFrom: [{ podSelector: { matchLabels: { app: 'prometheus' } } }],
    egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
  },
  decision: {
    enabled: true,
    clients: ['10.0.0.0/8'],
    url: 'https://decisions.internal',
    from: [{ podSelector: { matchLabels: { app: 'nginx' } } }],
  },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  tlsSecrets: ['api', 'internal'],
  listen: [
    {
      name: 'https',
      port: 8443,
      servicePort: 443,
      nodePort: 30443,
      appProtocol: 'https',
      http2: true,
      tls: FRONT_TLS,
    },
    { name: 'http', port: 8080 },
    { name: 'internal', port: 9443, http2: false, tls: { certificates: FRONT_TLS.certificates } },
  ],
  config: {
    trusted_proxies: ['10.0.0.0/8'],
    proxy_protocol: true,
    limits: { connections: 20000, max_body: '1MiB' },
  },
}

/** As Helm does: maps are merged, null takes a key away, anything else is replaced. */
export function withDefaults(values: object, base: object = defaults): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base }
  for (const [key, value] of Object.entries(values)) {
    const before = merged[key]
    if (value === null) delete merged[key]
    else merged[key] = isMap(value) && isMap(before) ? withDefaults(value, before) : value
  }
  return merged
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
