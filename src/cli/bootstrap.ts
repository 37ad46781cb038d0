/** `seatgate bootstrap`: creates a tenant's first Seat and an API key that holds it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { bootstrapTenant, repairTenant, type Store } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { LEASE, MARGIN } from '../coherence/lease.ts'
import { loadConfig } from '../config/load.ts'
import { printable } from '../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT, TENANT, UsageError } from './arguments.ts'
import { adviceOn } from './bootstrap-advice.ts'
import { CommandFailed, defineCommand, messageOf, tenantOf, type Terminal } from './command.ts'
import { openConfiguredStore } from './existing-store.ts'
import { KEY_FILE, withKeyFile } from './key-file.ts'
import { names } from './remote/list-output.ts'

export const bootstrap = defineCommand({
  name: 'bootstrap',
  summary:
    'Creates Seat "admin" in the admin space and an API key that holds it. Prints the key, only this once.',
  details:
    'It also prints what the key may do, and the next commands for this configuration. If you run it again, it creates another key with its own name, and says so.',
  options: {
    tenant: TENANT,
    repair: {
      description:
        'for a tenant without an administrator: restores the rights of Seat "admin", or creates it, but creates no key',
    },
    out: KEY_FILE,
    config: CONFIG,
    json: JSON_OUTPUT,
  },
  exits: {
    0: 'the key was printed or written to the file; with --repair: the Seat has its rights',
    1: 'the configuration has faults, the tenant is unknown, or the key could not be created, printed or written',
  },
  example: 'seatgate bootstrap --tenant acme --out admin.key',
  run: async ({ values }, terminal) => {
    if (values.repair && values.out !== undefined) throw new UsageError('--repair creates no key for --out')
    const config = await loadConfig(values.config, terminal.env)
    const { id: tenant, adminSpace: space } = tenantOf(config, values.tenant)
    return withKeyFile(values.out, async (write) => {
      const store = await openConfiguredStore(config, terminal)
      try {
        const options = { tenant, adminSpace: space, now: Date.now() }
        if (values.repair) return await repair(store, options, values, terminal)
        const created = await bootstrapTenant(store, options)
        if (isRefusal(created)) throw new CommandFailed(created.detail)
        const { seat, apiKey, others, key } = created
        await write?.(key).catch((cause: unknown) => {
          throw notKept(apiKey.id, 'written', cause)
        })
        // A gateway may run on this store: after this time it has applied the change (coherence/lease.ts).
        await sleep(LEASE + MARGIN)
        const data = {
          tenant,
          space,
          seat: seat.name,
          seat_id: seat.id,
          api_key_id: apiKey.id,
          api_key_name: apiKey.name,
          others: others.map(({ id, name }) => ({ id, name })),
        }
        const [shownKey, file] = values.out === undefined ? [key, null] : [null, values.out]
        const text = values.json
          ? JSON.stringify({ ...data, ...(file === null ? { key } : { key_file: file }) })
          : adviceOn({ ...data, key: shownKey, file }, config, terminal.env)
        await terminal.print(text).catch((cause: unknown) => {
          throw write === null ? notKept(apiKey.id, 'printed', cause) : cause
        })
        return 0
      } finally {
        await store.close()
      }
    })
  },
})

/** The store has only the hash, so a key that was not printed is lost. */
function notKept(id: string, done: 'printed' | 'written', cause: unknown): CommandFailed {
  return new CommandFailed(
    `API key ${id} was created but could not be ${done}: revoke it and try again (${messageOf(cause)})`,
  )
}

type Repaired = Exclude<Awaited<ReturnType<typeof repairTenant>>, { refused: unknown }>

/** Restores the rights of Seat `admin`, and prints what changed. */
async function repair(
  store: Store,
  options: Parameters<typeof repairTenant>[1],
  { json = false }: { readonly json?: boolean | undefined },
  terminal: Terminal,
): Promise<number> {
  const repaired = await repairTenant(store, options)
  if (isRefusal(repaired)) throw new CommandFailed(repaired.detail)
  // A gateway may run on this store: after this time it has applied the change (coherence/lease.ts).
  if (repaired.committed !== null) await sleep(LEASE + MARGIN)
  const { tenant, adminSpace: space } = options
  const { seat, before, committed } = repaired
  const result = committed === null ? 'unchanged' : before === null ? 'created' : 'restored'
  const data = {
    tenant,
    space,
    seat: seat.name,
    seat_id: seat.id,
    result,
    before: grants(before),
    after: grants(seat),
  }
  await terminal.print(json ? JSON.stringify(data) : repairText(repaired, data))
  return 0
}

function grants(seat: Repaired['before']) {
  return seat === null ? null : { spaces: seat.spaces, permissions: seat.permissions }
}

function repairText(
  { seat, before, committed }: Repaired,
  { tenant, space }: { readonly tenant: string; readonly space: string },
): string {
  const name = `Seat "${seat.name}" of ${tenant}`
  const lines =
    committed === null
      ? [`${name} holds every permission in space ${space}: nothing was changed.`]
      : before === null
        ? [`${name} was created: it holds every permission in space ${space}.`]
        : [
            `${name} holds every permission in space ${space} again.`,
            `spaces: ${shown(before.spaces)}, now ${shown(seat.spaces)}`,
            `permissions: ${shown(before.permissions)}, now ${shown(seat.permissions)}`,
            'API keys that hold the Seat, and users whose tokens name it, have its rights again.',
          ]
  return [...lines, `An API key that holds it: seatgate bootstrap --tenant ${tenant}`].join('\n')
}

/** The most names of a list on one line. */
const MOST = 10

function shown(list: readonly string[]): string {
  return list.length === 0 ? 'none' : printable(names(list, MOST))
}
