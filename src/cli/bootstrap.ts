/** `seatgate bootstrap`: creates a tenant's first Seat and an API key that holds it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { bootstrapTenant, openStore } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { LEASE, MARGIN } from '../coherence/lease.ts'
import { explainStore } from '../runtime/surroundings/store-fault.ts'
import { adviceOn } from './bootstrap-advice.ts'
import type { Config } from '../config/config.ts'
import { UsageError } from './arguments.ts'
import { CommandFailed, configOf, defineCommand, tenantOf, type Terminal } from './command.ts'
import { KEY_FILE, openKeyFile } from './key-file.ts'
import { repair } from './repair.ts'
import { CONFIG, JSON_OUTPUT, TENANT } from './shared-options.ts'

export const bootstrap = defineCommand(
  {
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
  },
  async ({ values }, terminal) => {
    if (values.repair && values.out !== undefined) throw new UsageError('--repair creates no key for --out')
    const config = await configOf(values, terminal)
    const { id, adminSpace } = tenantOf(config, values.tenant)
    const file = values.out === undefined ? null : await openKeyFile(values.out)
    try {
      const store = await explainStore(config, () => openStore(config.store))
      try {
        const options = { tenant: id, adminSpace, now: Date.now() }
        if (values.repair) return await repair(store, options, values, terminal)
        const created = await bootstrapTenant(store, options)
        if (isRefusal(created)) throw new CommandFailed(created.detail)
        await file?.write(created.key).catch((cause: unknown) => {
          throw notKept(created.apiKey.id, 'written', cause)
        })
        // A gateway may run on this store: after this time it has applied the change (coherence/lease.ts).
        await sleep(LEASE + MARGIN)
        const key = { key: created.key, file: values.out ?? null }
        await show({ ...created, ...key }, { config, id, adminSpace }, values, terminal)
        return 0
      } finally {
        await store.close()
      }
    } finally {
      await file?.close()
    }
  },
)

type Created = Exclude<Awaited<ReturnType<typeof bootstrapTenant>>, { refused: unknown }>

/** @param made `file` has the key; null: it is printed */
async function show(
  { seat, apiKey, others, key, file }: Created & { readonly file: string | null },
  { config, id, adminSpace }: { config: Config; id: string; adminSpace: string },
  { json = false }: { json?: boolean | undefined },
  terminal: Terminal,
): Promise<void> {
  const data = {
    tenant: id,
    space: adminSpace,
    seat: seat.name,
    seat_id: seat.id,
    api_key_id: apiKey.id,
    api_key_name: apiKey.name,
    others: others.map((other) => ({ id: other.id, name: other.name })),
    ...(file === null ? { key } : { key_file: file }),
  }
  const advised = { ...data, key: file === null ? key : null, file }
  try {
    await terminal.print(json ? JSON.stringify(data) : adviceOn(advised, config, terminal.env))
  } catch (cause) {
    if (file === null) throw notKept(apiKey.id, 'printed', cause)
    throw cause
  }
}

/** The store has only the hash: a key that was not printed is lost. */
function notKept(id: string, done: 'printed' | 'written', cause: unknown): CommandFailed {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new CommandFailed(
    `API key ${id} was created but could not be ${done}: revoke it and try again (${why})`,
  )
}
