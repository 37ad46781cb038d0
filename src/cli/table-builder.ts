/**
 * Builds tables of the store for a gateway that serves requests. To parse 10,000 routes takes 0.3 s: many are
 * built by a thread.
 */

import { Worker } from 'node:worker_threads'
import type { RouteEntry } from '../config/config.ts'
import { ConfigError } from '../config/faults.ts'
import type { BuiltTables } from '../config/tables-of-store.ts'
import { pack } from '../config/worker-copy.ts'
import type { WithTables } from '../runtime/extensions.ts'
import type { Loaded } from './load-tables.ts'
import {
  buildTables,
  type FaultyTables,
  plainContext,
  type TablesInput,
  type ThreadMessage,
} from './table-build.ts'

/** Characters of all files up to which they are built at once: some 100 routes, in 10 ms. */
const MAX_AT_ONCE = 8192

/** Compiled in the package, and TypeScript in a clone. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './table-build-thread.ts' : './table-build-thread.js',
  import.meta.url,
)

/** The function that builds the configuration of a loaded main file with tables of the store. */
export function tablesWith({ config, tablesInput, withBuilt }: Loaded): WithTables {
  const signIn = [...config.tenants.values()].some(({ oidc }) => oidc !== null)
  const input = { ...tablesInput, routes: { signIn, identity: config.identity !== null } }
  return async (tables) => {
    const built = await buildHereOrThere(input, tables.files)
    if ('faults' in built) throw new ConfigError(built.faults)
    return withBuilt(built, tables)
  }
}

function buildHereOrThere(input: TablesInput, files: Readonly<Record<string, string>>) {
  const size = Object.values(files).reduce((sum, text) => sum + text.length, 0)
  return size > MAX_AT_ONCE ? buildInThread(input, files) : buildTables(input, files)
}

function buildInThread(
  input: TablesInput,
  files: Readonly<Record<string, string>>,
): Promise<BuiltTables | FaultyTables> {
  const plain = pack({ ...input, context: plainContext(input.context) })
  const worker = new Worker(THREAD, { workerData: { input: plain, files }, name: 'tables', execArgv: [] })
  const { promise, resolve, reject } = Promise.withResolvers<BuiltTables | FaultyTables>()
  const entries: RouteEntry[] = []
  worker.on('message', (message: ThreadMessage) => {
    if ('entries' in message) {
      for (const entry of message.entries) entries.push(Object.freeze(entry))
      return worker.postMessage('more')
    }
    resolve('faults' in message ? message : { entries, ...message.built })
  })
  worker.on('error', reject)
  worker.on('exit', () => reject(new Error('the thread that builds the tables has ended')))
  return promise.finally(() => void worker.terminate())
}
