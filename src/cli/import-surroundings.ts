/** What the configuration says about a table that `import` writes. */

import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Surroundings } from '../access/openapi/acceptance.ts'
import { ConfigError } from '../config/faults.ts'
import { type LoadResult, loadConfigWithFaults } from '../config/load.ts'
import { methodsOf } from '../config/methods.ts'
import { builtInPaths } from '../runtime/built-in-endpoints.ts'
import { CONFIG } from './shared-options.ts'

type Loaded = Pick<LoadResult, 'config' | 'entries' | 'shadowEntries' | 'upstreams' | 'api' | 'files'>

/** Without a configuration, which a table may precede, the gateway's endpoints are at their usual places. */
const NOTHING: Loaded = {
  config: null,
  entries: [],
  shadowEntries: null,
  files: [],
  upstreams: new Map(),
  api: { hosts: null, prefix: '', authPrefix: '', console: false },
}

/**
 * @param file the configuration @param upstream that of the table @param out the table's file; undefined: standard output
 * @throws ConfigError where the configuration does not say where the gateway's endpoints are
 */
export async function surroundingsOf(
  file: string,
  upstream: string,
  out: string | undefined,
): Promise<Surroundings> {
  const { config, entries, shadowEntries, upstreams, api, files } = await loaded(file)
  const own = out === undefined ? null : resolve(out)
  // Entries of other tables count where this one is among them. A candidate table may repeat what they say.
  const isActive =
    own !== null && shadowEntries === null && files.some((each) => dirname(each) === dirname(own))
  const tenants = [...(config?.tenants.values() ?? [])]
  return {
    context: {
      upstreams: new Set([...upstreams.keys(), upstream]),
      tenants: new Set(tenants.map(({ id }) => id)),
      signIn: new Set(tenants.filter(({ oidc }) => oidc !== null).map(({ id }) => id)),
      maxBody: config?.limits.maxBody ?? 0,
      methods: methodsOf(config ?? { methods: [] }),
      rateLimits: config?.rateLimits ?? new Map(),
    },
    entries: isActive ? entries.filter(({ place }) => resolve(place.file) !== own) : [],
    upstreams,
    builtIn: builtInPaths(api),
    apiHosts: api.hosts,
  }
}

async function loaded(file: string): Promise<Loaded> {
  const exists = await stat(file).then(
    () => true,
    () => false,
  )
  if (!exists && file === CONFIG.default) return NOTHING
  const found = await loadConfigWithFaults(file, null)
  // The list of tables may name one that is made here; other faults are those of `check`.
  const isUnread = found.files.length <= 2 && found.config === null && found.upstreams.size === 0
  if (isUnread) throw new ConfigError(found.faults)
  return found
}
