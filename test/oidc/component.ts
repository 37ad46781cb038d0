/** `Oidc` by itself on a store, for what no configuration and no fault brings about in a whole gateway. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { OidcConfig, TenantConfig } from '../../src/config/config.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { Oidc } from '../../src/oidc/oidc.ts'
import type { OidcPorts } from '../../src/oidc/ports.ts'
import { ProcessEphemeral } from '../../src/oidc/sign-in/completed-sign-ins.ts'
import type { Store } from '../../seats-admin/index.ts'
import { open, temporaryFolder } from '../seats-admin/store/sqlite/support.ts'

export function openStore(t: Test): Promise<Store> {
  return open(t, { path: join(temporaryFolder(t), 'seatgate.db') })
}

/** The secret of all tenants. */
const SECRET = randomBytes(32)

export function tenantOf<T extends OidcConfig | null>(id: string, oidc: T): TenantConfig & { oidc: T } {
  const token = { secrets: [SECRET], algorithm: 'HS256', lifetime: 3_600_000, leeway: 0 } as const
  return { id, adminSpace: 'admin', token, oidc }
}

/** @param ports in place of those of a process by itself, without Seats and blocks */
export function openOidc(
  t: Test,
  store: Store,
  configs: Readonly<Record<string, OidcConfig>>,
  ports: Partial<OidcPorts> = {},
): Oidc {
  const tenants = Object.entries(configs).map(([id, oidc]) => tenantOf(id, oidc))
  const [mainly] = tenants
  const none = () => {}
  const oidc = new Oidc(
    {
      ephemeral: new ProcessEphemeral(),
      sessions: store.sessions,
      seats: {
        groupsOf: async () => null,
        recordScimMember: async () => null,
        seatsByName: async () => [],
        recordSignIn: (...given) => store.recordSignIn(...given),
      },
      signals: {
        usersByEmail: (...given) => store.usersByEmail(...given),
        isKnownUser: (...given) => store.isKnownUser(...given),
        usersOfScimId: (...given) => store.usersOfScimId(...given),
        revokeForProvider: (...given) => store.revokeForProvider(...given),
        liftBlock: (...given) => store.liftBlock(...given),
        answer: async ({ value: { id } }) => ({ id, state: 'closed' }),
      },
      isBlocked: () => false,
      mint: (_tenant, ...given) => mintToken(mainly as TenantConfig, ...given),
      announce: async () => {},
      log: { info: none, warn: none, error: none },
      now: Date.now,
      ...ports,
    },
    tenants,
    { connect: 30_000, total: 30_000, cookieBytes: 4096, prefix: '' },
  )
  t.teardown(() => oidc.close())
  return oidc
}
