/** A configuration or route table of the manual, made whole: what a fragment leaves out is added. */

import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { root } from './pages.ts'

const SECRET = 'a-secret-of-more-than-thirty-two-bytes-for-tests'
const TARGET = { targets: ['http://127.0.0.1:9001'] }
const BASE = {
  tenants: { acme: { token: { secrets: [SECRET] } } },
  upstreams: { trainings: TARGET },
  routes: ['routes/*.yaml'],
}
const OIDC = {
  issuer: 'https://login.acme.example',
  client_id: 'seatgate',
  redirect_uri: 'https://gw.example/auth/oidc/callback',
}
/** A certificate or key that the manual names, and one that is there. */
const CERTIFICATES: readonly (readonly [string, string])[] = [
  ['/etc/ssl/db.pem', join(root, 'test/support/servers/tls/ca.pem')],
  ['tls/api.pem', join(root, 'test/support/servers/tls/server.pem')],
  ['keys/2026.pem', join(root, 'test/support/servers/tls/server-key.pem')],
  ['keys/acme-client.pem', join(root, 'test/support/servers/tls/server-key.pem')],
  ['keys/acme-id-tokens.pem', join(root, 'test/support/servers/tls/client-key.pem')],
  ['tls/api.key', join(root, 'test/support/servers/tls/server-key.pem')],
]

/** Files of a folder for `seatgate check`; the text itself stays as it is where it is whole. */
export function filesOf(text: string): Record<string, string> {
  const document: Record<string, unknown> = parse(text)
  if (typeof document.upstream === 'string') return filesOfTable(text, document.upstream)
  const whole = 'tenants' in document && 'upstreams' in document && 'routes' in document
  const upstream = Object.keys(document.upstreams ?? BASE.upstreams)[0] ?? 'trainings'
  return {
    'gateway.config.yaml': withCertificates(whole ? text : stringify({ ...BASE, ...document })),
    'routes/table.yaml': `upstream: ${upstream}\nroutes: { GET /a: public }\n`,
  }
}

function filesOfTable(text: string, upstream: string): Record<string, string> {
  const tenants = { acme: { ...BASE.tenants.acme, oidc: OIDC } }
  const rate_limits = { writes: { limit: '1000/h', burst: 50 }, visitors: { limit: '60/m' } }
  const configuration = { ...BASE, rate_limits, tenants, upstreams: { [upstream]: TARGET } }
  return { 'gateway.config.yaml': stringify(configuration), 'routes/table.yaml': text }
}

function withCertificates(text: string): string {
  return CERTIFICATES.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)
}

/** A value of its own for each `${NAME}` without a default. */
export function variablesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, `${SECRET}-${name}`]),
  )
}
