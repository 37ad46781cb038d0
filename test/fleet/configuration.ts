/** The configuration files of one gateway of a fleet. Written by gateway.ts. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Configuration {
  /** The sections `store:` and `redis:`; null: no section. */
  readonly store: string
  readonly redis: string | null
  readonly workers: number
  /** URL of the upstream. */
  readonly upstream: string
  /** The section `oidc:` of tenant acme, on one line; left out: it has no identity provider. */
  readonly oidc?: string
  /** The rate limit `reads` of the table, on one line; left out: it has none. */
  readonly rateLimit?: string
}

const ROUTES = `routes:
  GET /v1/trainings: trainings:list
`

/** Writes the files into an empty folder. Returns the path of the main file. */
export function writeConfiguration(
  folder: string,
  { store, redis, workers, upstream, oidc, rateLimit }: Configuration,
  ports: { readonly front: number; readonly ops: number },
): string {
  mkdirSync(join(folder, 'routes'))
  writeFileSync(
    join(folder, 'routes', 'main.yaml'),
    `upstream: main\n${rateLimit === undefined ? '' : 'rate_limit: [reads]\n'}${ROUTES}`,
  )
  const file = join(folder, 'gateway.config.yaml')
  const text = `listen: 127.0.0.1:${ports.front}
ops: 127.0.0.1:${ports.ops}
store: ${JSON.stringify(store)}
${redis === null ? '' : `redis: ${JSON.stringify(redis)}\n`}workers: ${workers}
drain: 1s
tenants:
  acme: { token: { secrets: ["\${ACME_SECRET}"] }${oidc === undefined ? '' : `, oidc: ${oidc}`} }
  globex: { token: { secrets: ["\${GLOBEX_SECRET}"] } }
upstreams:
  main: { targets: ["${upstream}"] }
routes: [routes/*.yaml]
${rateLimit === undefined ? '' : `rate_limits: { reads: ${rateLimit} }\n`}`
  writeFileSync(file, text, { mode: 0o600 })
  return file
}
