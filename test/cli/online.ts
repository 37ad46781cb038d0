/** `seatgate check --online` on a configuration of which a test gives the parts that it is about. */

import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { folderWith, ROUTES, SECRET, seatgate } from './command-line.ts'
import { listen } from '../support/listen.ts'
import { seatgateHere } from './in-process.ts'

/** In every credential of a test: no output may contain it. */
export const PASSWORD = 'hush-hush-secret'

export interface Parts {
  /** The value of `STORE`, which is `store` in line 3. */
  readonly store?: string
  /** The value of `REDIS`, which is `redis` in line 4. */
  readonly redis?: string
  /** `oidc` of the tenant, in line 6. */
  readonly oidc?: string
  /** Settings of the upstream, in line 8. */
  readonly upstream?: string
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Further arguments. */
  readonly args?: readonly string[]
}

/** Listens, so that what a test is not about is well. */
const port = await listen(t, createServer())

export function configuration(parts: Parts): string {
  const { upstream = `targets: ["http://127.0.0.1:${port}"]` } = parts
  const oidc =
    parts.oidc === undefined
      ? ''
      : `\n    oidc: { ${parts.oidc}, client_id: gate, client_secret: "\${ACME_SECRET}", redirect_uri: "https://gw.example/auth/oidc/callback" }`
  return `listen: 127.0.0.1:0
ops: 127.0.0.1:0
store: \${STORE:-sqlite:./seatgate.db}
${parts.redis === undefined ? '' : 'redis: ${REDIS}'}
tenants: { acme: { token: { secrets: ["\${ACME_SECRET}"] }, ${oidc} } }
upstreams: { trainings: { ${upstream} } }
routes: [routes.yaml]
`
}

/** @returns in `found`, `level code message` of all that was asked, in order; `DIR` stands for the folder */
export async function online(t: Test, parts: Parts, cwd?: string) {
  const text = configuration(parts)
  const folder = cwd ?? folderWith(t, { 'gateway.config.yaml': text, 'routes.yaml': ROUTES, ...parts.files })
  const env = { STORE: parts.store ?? '', REDIS: parts.redis ?? '', ...parts.env }
  // Node.js reads it when a process starts.
  const run = 'NODE_EXTRA_CA_CERTS' in env ? seatgate : seatgateHere
  const { code, out, err } = await run(
    folder,
    ['check', '--online', '--format', 'json', ...(parts.args ?? [])],
    env,
  )
  t.equal(err, '')
  for (const secret of [PASSWORD, SECRET]) t.notMatch(out, secret, 'no secret')
  const { online: observed } = JSON.parse(out)
  const found: string[] = observed.map((each: { level: string; code?: string; message: string }) =>
    [each.level, each.code ?? '-', each.message.replaceAll(folder, 'DIR')].join(' '),
  )
  return { folder, code, found, out }
}
