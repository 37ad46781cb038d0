/**
 * Builds tables of the store for a gateway that serves requests. To parse 10,000 routes takes 0.3 s: many are
 * built by a thread.
 */

import { Worker } from 'node:worker_threads'
import type { RouteEntry } from '../config/config.ts'
import { ConfigError, distinctFaults, sortFaults } from '../config/faults.ts'
import { pack } from '../config/worker-copy.ts'
import { builtInPaths } from '../composition.ts'
import { tableCompilation } from '../decision/router/table.ts'
import { BETWEEN_REQUESTS, inSlices } from '../lib/time-slices.ts'
import type { WithTables } from '../runtime/extensions.ts'
import type { Loaded } from './load-tables.ts'
import { buildTables, type TablesInput, type ThreadMessage, type UncheckedTables } from './build-tables.ts'

/** Characters of all files up to which they are built at once: some 100 routes, in 10 ms. */
const MAX_AT_ONCE = 8192

const THREAD = new URL('./build-tables-thread.js', import.meta.url)

/** The function that builds the configuration of a loaded main file with tables of the store. */
export function tablesWith({ config, tablesInput, withBuilt }: Loaded): WithTables {
  const { upstreams, api } = tablesInput
  const signIn = [...config.tenants.values()].some(({ oidc }) => oidc !== null)
  const builtIn = builtInPaths(api, { signIn, identity: config.identity !== null })
  return async (tables) => {
    const built = await buildHereOrThere(tablesInput, tables.files)
    const compilation = tableCompilation(built.entries, upstreams, builtIn, api.hosts)
    const { faults } = await inSlices(compilation, BETWEEN_REQUESTS)
    const all = sortFaults(distinctFaults([...built.faults, ...faults]))
    if (all.length > 0) throw new ConfigError(all)
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
): Promise<UncheckedTables> {
  const workerData = { input: pack(input), files }
  const worker = new Worker(THREAD, { workerData, name: 'tables', execArgv: [] })
  const { promise, resolve, reject } = Promise.withResolvers<UncheckedTables>()
  const entries: RouteEntry[] = []
  worker.on('message', (message: ThreadMessage) => {
    if ('entries' in message) {
      for (const entry of message.entries) entries.push(Object.freeze(entry))
      return worker.postMessage('more')
    }
    resolve({ entries, ...message.built })
  })
  worker.on('error', reject)
  worker.on('exit', () => reject(new Error('the thread that builds the tables has ended')))
  return promise.finally(() => void worker.terminate())
}
