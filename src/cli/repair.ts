/** `seatgate bootstrap --repair`: gives Seat `admin` back its rights, and says what it changed. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isRefusal, repairTenant, type Store } from '../../seats-admin/index.ts'
import { LEASE, MARGIN } from '../coherence/lease.ts'
import { printable } from '../telemetry/readable.ts'
import { CommandFailed, type Terminal } from './command.ts'

type Repaired = Exclude<Awaited<ReturnType<typeof repairTenant>>, { refused: unknown }>

export async function repair(
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
  await terminal.print(json ? JSON.stringify(data) : textOf(repaired, data))
  return 0
}

function grants(seat: Repaired['before']) {
  return seat === null ? null : { spaces: seat.spaces, permissions: seat.permissions }
}

function textOf(
  { seat, before }: Repaired,
  { tenant, space, result }: { tenant: string; space: string; result: string },
): string {
  const name = `Seat "${seat.name}" of ${tenant}`
  const keys = [`An API key that holds it: seatgate bootstrap --tenant ${tenant}`]
  if (result === 'unchanged')
    return [`${name} holds every permission in space ${space}: nothing was changed.`, ...keys].join('\n')
  if (before === null)
    return [`${name} was created: it holds every permission in space ${space}.`, ...keys].join('\n')
  return [
    `${name} holds every permission in space ${space} again.`,
    `spaces: ${shown(before.spaces)}, now ${shown(seat.spaces)}`,
    `permissions: ${shown(before.permissions)}, now ${shown(seat.permissions)}`,
    'API keys that hold the Seat, and users whose tokens name it, have its rights again.',
    ...keys,
  ].join('\n')
}

/** Names of a list in a line. */
const MOST = 10

function shown(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const more = names.length > MOST ? ` and ${names.length - MOST} more` : ''
  return printable(names.slice(0, MOST).join(', ')) + more
}
