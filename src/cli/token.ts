/** `seatgate token`: mints a bearer token for trials. */

import type { Store } from '../../seats-admin/index.ts'
import { hashPermEntry } from '../../seats-admin/model/hash-perm.ts'
import type { TenantConfig } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'
import { duration } from '../config/units.ts'
import { mintToken } from '../decision/authn/gateway-token.ts'
import type { TokenSubject } from '../model/principal.ts'
import { isIssuerUser } from '../model/issuer-user.ts'
import { CONFIG, parsedOption, TENANT, UsageError } from './arguments.ts'
import { defineCommand, tenantOf } from './command.ts'
import { withStore } from './existing-store.ts'
import { unknownSeat } from './near-names.ts'

export const token = defineCommand({
  name: 'token',
  summary: 'Mints a bearer token that names the Seats in each of their spaces, as sign-in does.',
  details: 'It is for trying things out.',
  options: {
    tenant: TENANT,
    sub: { value: 'U', description: 'the user: `sub` of the token', required: true },
    email: { value: 'E', description: "the user's email address" },
    seat: { value: 'NAME', description: 'names of Seats of the tenant', required: true, multiple: true },
    lifetime: {
      value: 'TIME',
      description: 'how long the token is valid, such as 30m; by default, `token.lifetime` of the tenant',
    },
    config: CONFIG,
  },
  exits: {
    0: 'the token was printed',
    1: 'the configuration has faults, there is no store yet, or the tenant or a Seat is unknown',
  },
  example: 'seatgate token --tenant acme --sub alice --seat Viewer --lifetime 30m',
  run: async ({ values }, terminal) => {
    const { sub, email } = values
    if (isIssuerUser(sub))
      throw new UsageError(
        `--sub "${sub}" is a user of an issuer, whom only a token of that issuer authenticates`,
      )
    const lifetime =
      values.lifetime === undefined ? undefined : parsedOption('lifetime', values.lifetime, duration)
    if (lifetime !== undefined && lifetime < 1000) throw new UsageError('--lifetime must be at least 1s')
    const config = await loadConfig(values.config, terminal.env)
    const tenant = tenantOf(config, values.tenant)
    const subject = email === undefined ? { sub } : { sub, email }
    const minted = await withStore(config, terminal, (store) =>
      mintForSeats(store, tenant, subject, values.seat, { lifetime }),
    )
    await terminal.print(minted)
  },
})

/**
 * Mints the token of a sign-in whose provider names these Seats. `iat` is taken before the Seats are read, so
 * that a name that is given up in the meantime does not count.
 *
 * @param options `lifetime` in ms, by default that of the tenant's tokens; `spacesOfUnknown`: the spaces in
 *   which the token names an unknown Seat
 * @throws CommandFailed for an unknown name, unless `spacesOfUnknown` is present
 */
export async function mintForSeats(
  store: Pick<Store, 'seatByName' | 'listSeats'>,
  tenant: TenantConfig,
  subject: Omit<TokenSubject, 'hashPerm'>,
  seats: readonly string[],
  { lifetime, spacesOfUnknown }: { lifetime?: number | undefined; spacesOfUnknown?: readonly string[] } = {},
): Promise<string> {
  const now = Date.now()
  const hashPerm: string[] = []
  for (const name of new Set(seats)) {
    const { value } = await store.seatByName(tenant.id, name)
    const spaces = value.seat?.spaces ?? spacesOfUnknown
    if (spaces === undefined) throw await unknownSeat(name, tenant.id, store)
    hashPerm.push(...spaces.map((space) => hashPermEntry(space, name)))
  }
  return mintToken(tenant, { ...subject, hashPerm }, now, lifetime)
}
