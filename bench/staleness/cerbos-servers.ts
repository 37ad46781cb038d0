/** Two Cerbos servers that share a database of policies. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missing, packageFolder } from '../own-packages.ts'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import type { Ending } from '../harness.ts'

import type { ReadPlace } from '../../src/cli/verify/readers.ts'
import {
  type Caller,
  change,
  placeOf,
  type RunningStalenessPeer,
  type StalenessPeer,
} from './staleness-peer.ts'

const PACKAGE = '@cerbos/cerbos-linux-x64'
const INSTANCES = 2
/** The administrator of Cerbos' manual; the servers listen on loopback. */
const ADMINISTRATOR = `Basic ${Buffer.from('cerbos:cerbosAdmin').toString('base64')}`

interface Setting {
  readonly name: string
  readonly label: string
  /** What is published after the configuration that all have in common. */
  readonly differs: string
  /** An additional line of the configuration. */
  readonly line?: string
  /** Whether every instance is told to read the policies again before a write counts as answered. */
  readonly reloads?: boolean
}

function cerbos({ name, label, differs, line = '', reloads = false }: Setting): StalenessPeer {
  return {
    name,
    label,
    configuration: `two instances on one SQLite database, policies by the Admin API of one; ${differs}`,
    every: 3,
    unavailable: () => missing(PACKAGE),
    async start(ending, folder): Promise<RunningStalenessPeer> {
      const ports: number[] = []
      for (let at = 0; at < INSTANCES; at++) ports.push(await startServer(ending, folder, line))
      const ask = (port: number | undefined, path: string, options: RequestInit) =>
        change(`http://127.0.0.1:${port}${path}`, { ...options, headers: { authorization: ADMINISTRATOR } })
      return {
        places: ports.map((port) => cerbosAt(ending, port)),
        caller: { user: 'alice' },
        async write(allow) {
          const body = JSON.stringify({ policies: [policyOf(allow)] })
          await ask(ports[0], '/admin/policy', { method: 'POST', body })
          if (!reloads) return
          for (const port of ports) await ask(port, '/admin/store/reload?wait=true', { method: 'GET' })
        },
      }
    },
  }
}

async function startServer(ending: Ending, folder: string, line: string): Promise<number> {
  const [port, grpc] = [await reservePort(ending.t), await reservePort(ending.t)]
  const file = join(folder, `cerbos-${port}.yaml`)
  writeFileSync(file, `${configurationOf(folder, port, grpc)}${line}\n`)
  await Program.start(ending, {
    command: [join(packageFolder(PACKAGE), 'cerbos-linux-x64'), 'server', `--config=${file}`],
    port,
    folder,
    env: { CERBOS_NO_TELEMETRY: '1' },
  })
  return port
}

function configurationOf(folder: string, port: number, grpc: number): string {
  return `server:
  httpListenAddr: 127.0.0.1:${port}
  grpcListenAddr: 127.0.0.1:${grpc}
  adminAPI: { enabled: true }
telemetry: { disabled: true }
storage:
  driver: sqlite3
  sqlite3: { dsn: "file:${folder}/cerbos.sqlite?mode=rwc&_fk=true" }
`
}

/** What users may do to the canary. */
function policyOf(allow: boolean): object {
  const effect = allow ? 'EFFECT_ALLOW' : 'EFFECT_DENY'
  return {
    apiVersion: 'api.cerbos.dev/v1',
    resourcePolicy: {
      version: 'default',
      resource: 'canary',
      rules: [{ actions: ['read'], effect, roles: ['user'] }],
    },
  }
}

/** POST /api/check/resources. */
function cerbosAt(ending: Ending, port: number): ReadPlace<Caller> {
  return placeOf(ending, port, async (pool, { user = '' }) => {
    const question = {
      principal: { id: user, roles: ['user'] },
      resources: [{ actions: ['read'], resource: { kind: 'canary', id: 'one' } }],
    }
    const { statusCode: status, body } = await pool.request({
      path: '/api/check/resources',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(question),
    })
    const text = await body.text()
    if (status !== 200) return { answer: null, reason: `status ${status}` }
    return { answer: text.includes('EFFECT_ALLOW') ? 'allow' : 'permission_denied', requestId: '' }
  })
}

export const cerbosPeers: readonly StalenessPeer[] = [
  cerbos({ name: 'cerbos', label: 'Cerbos', differs: 'default settings' }),
  cerbos({
    name: 'cerbos-cache-1s',
    label: 'Cerbos, cache of 1 s',
    differs: 'compile.cacheDuration 1s',
    line: 'compile: { cacheDuration: 1s }',
  }),
  cerbos({
    name: 'cerbos-reload',
    label: 'Cerbos, each instance told to reload',
    differs: '/admin/store/reload?wait=true at both after each write, before it counts as answered',
    reloads: true,
  }),
]
