/** Revocations in the store of a running gateway, for the tests of what they void. */

import type { Test } from 'tap'
import type { RevocationInput } from '../../seats-admin/index.ts'
import { ADMIN, done, writer } from '../seats-admin/store/conformance.ts'
import { open } from '../seats-admin/store/sqlite/support.ts'
import { until } from '../support/until.ts'
import type { World } from '../support/world.ts'

export async function storeOf(t: Test, world: World) {
  const store = await open(t, { path: world.storeFile })
  let count = 0
  /** Resolves once the gateway decides by the revocation. @returns its time, in whole seconds since the epoch */
  const revoke = async (
    subject: RevocationInput['subject'],
    more: Partial<RevocationInput> = {},
  ): Promise<number> => {
    const input = { subject, what: 'existing', until: null, reason: null, apiKeys: false, ...more } as const
    const { value } = done(await store.revoke(writer(ADMIN, Date.now()), input))
    await isApplied()
    return Math.floor(value.at / 1000)
  }
  /** Resolves once the gateway has read the changes so far: a later block, in a tenant without revocations, is in force. */
  const isApplied = async () => {
    const [sub, tenant] = [`canary ${++count}`, 'globex']
    const headers = { authorization: `Bearer ${await world.token([], { sub, tenant })}` }
    done(await store.createBlock(writer(ADMIN, Date.now(), tenant), { user: sub, until: null, reason: null }))
    const isRefused = async () => (await world.client.send('GET', '/v1/me', headers)).status !== 200
    await until(isRefused, 'the block of a user')
  }
  return { store, revoke, isApplied }
}

/** Resolves in a later second than this one: a token of then is accepted. */
export function laterThan(second: number): Promise<void> {
  return until(() => Date.now() >= (second + 1) * 1000, 'the next second')
}
