/** `seatgate bootstrap`: creates a tenant's first Seat and an API key that holds it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { bootstrapTenant, openStore } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { LEASE, MARGIN } from '../coherence/lease.ts'
import { explainStore } from '../runtime/surroundings/store.ts'
import { adviceOn } from './bootstrap-advice.ts'
import { CommandFailed, configOf, defineCommand, tenantOf } from './command.ts'
import { repair } from './repair.ts'
import { CONFIG, JSON_OUTPUT, TENANT } from './options.ts'

export const bootstrap = defineCommand(
  {
    name: 'bootstrap',
    summary:
      'Creates Seat "admin" in the admin space and an API key that holds it; prints the key, only this once.',
    details:
      'It also prints what the key may do, and the next commands for this configuration. Run again, it creates another key.',
    options: {
      tenant: { ...TENANT, required: true },
      repair: {
        type: 'boolean',
        description:
          'gives Seat "admin" back its rights, or creates it, where no administrator is left; no key',
      },
      config: CONFIG,
      json: JSON_OUTPUT,
    },
    exits: {
      0: 'the key is printed; with --repair: the Seat has its rights',
      1: 'the configuration has faults, the tenant is unknown, or the key could not be created or printed',
    },
    example: 'seatgate bootstrap --tenant acme --json > key.json',
  },
  async ({ values }, terminal) => {
    const config = await configOf(values, terminal)
    const { id, adminSpace } = tenantOf(config, values.tenant)
    const store = await explainStore(config, () => openStore(config.store))
    try {
      if (values.repair)
        return await repair(store, { tenant: id, adminSpace, now: Date.now() }, values, terminal)
      const created = await bootstrapTenant(store, { tenant: id, adminSpace, now: Date.now() })
      if (isRefusal(created)) throw new CommandFailed(created.detail)
      // A gateway may run on this store: after this time it has applied the change (coherence/lease.ts).
      await sleep(LEASE + MARGIN)
      const { seat, apiKey, key } = created
      const data = {
        tenant: id,
        space: adminSpace,
        seat: seat.name,
        seat_id: seat.id,
        api_key_id: apiKey.id,
        key,
      }
      try {
        await terminal.print(values.json ? JSON.stringify(data) : adviceOn(data, config, terminal.env))
      } catch (cause) {
        throw notPrinted(data.api_key_id, cause)
      }
      return 0
    } finally {
      await store.close()
    }
  },
)

/** The store has only the hash: a key that was not printed is lost. */
function notPrinted(id: string, cause: unknown): CommandFailed {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new CommandFailed(
    `API key ${id} was created but could not be printed: revoke it and try again (${why})`,
  )
}
