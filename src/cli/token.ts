/** `seatgate token`: mints a bearer token for trials. */

import type { SeatReader } from '../../seats-admin/index.ts'
import { hashPermEntry } from '../../seats-admin/model/hash-perm.ts'
import { mintToken, type TokenSubject } from '../decision/authn/token.ts'
import { InvalidValue } from '../config/invalid-value.ts'
import type { TenantConfig } from '../config/config.ts'
import { duration } from '../config/units.ts'
import {
  type Command,
  CommandFailed,
  configOf,
  readArguments,
  required,
  tenantOf,
  UsageError,
} from './command.ts'
import { openExistingStore } from './existing-store.ts'

const options = {
  config: { type: 'string' },
  tenant: { type: 'string' },
  sub: { type: 'string' },
  email: { type: 'string' },
  seat: { type: 'string', multiple: true },
  lifetime: { type: 'string' },
} as const

export const token: Command = {
  usage: 'token --tenant T --sub U [--email E] --seat NAME… [--lifetime 1h] [--config FILE]',
  summary: 'Mints a bearer token that names the Seats in each of their spaces, as sign-in does.',
  async run(args, terminal) {
    const { values } = readArguments(args, options, { list: 'seat' })
    const tenantId = required(values.tenant, '--tenant')
    const sub = required(values.sub, '--sub')
    if (values.seat === undefined) throw new UsageError('--seat is required')
    const lifetime = values.lifetime === undefined ? undefined : durationOf(values.lifetime)
    const config = await configOf(values, terminal)
    const tenant = tenantOf(config, tenantId)
    const store = await openExistingStore(config)
    try {
      const subject = values.email === undefined ? { sub } : { sub, email: values.email }
      await terminal.print(await mintForSeats(store, tenant, subject, values.seat, { lifetime }))
    } finally {
      await store.close()
    }
  },
}

function durationOf(text: string): number {
  const lifetime = duration(text)
  if (lifetime instanceof InvalidValue) throw new UsageError(`--lifetime "${text}" ${lifetime.message}`)
  if (lifetime < 1000) throw new UsageError('--lifetime must be at least 1s')
  return lifetime
}

export interface MintOptions {
  /** ms; the tenant's token lifetime when left out. */
  readonly lifetime?: number | undefined
  /** Spaces in which the token names an unknown Seat. */
  readonly spacesOfUnknown?: (name: string, tenant: TenantConfig) => readonly string[]
}

/**
 * Mints the token of a sign-in whose provider names these Seats. `iat` is taken before the Seats are read, so that a
 * name given up since then does not count.
 *
 * @throws CommandFailed on an unknown name, unless `spacesOfUnknown` is given
 */
export async function mintForSeats(
  store: SeatReader,
  tenant: TenantConfig,
  subject: Omit<TokenSubject, 'hashPerm'>,
  seats: readonly string[],
  { lifetime, spacesOfUnknown = refuse }: MintOptions = {},
): Promise<string> {
  const now = Date.now()
  const hashPerm: string[] = []
  for (const name of new Set(seats)) {
    const { value } = await store.seatByName(tenant.id, name)
    const spaces = value.seat?.spaces ?? spacesOfUnknown(name, tenant)
    hashPerm.push(...spaces.map((space) => hashPermEntry(space, name)))
  }
  return mintToken(tenant, { ...subject, hashPerm }, now, lifetime)
}

function refuse(name: string, tenant: TenantConfig): never {
  throw new CommandFailed(`tenant ${tenant.id} has no Seat "${name}"`)
}
