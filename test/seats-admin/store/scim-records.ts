/** What tests of SCIM in the store share: the provider as author, users and groups. */

import {
  isScimRefusal,
  type ScimMode,
  type ScimUser,
  type ScimUserInput,
} from '../../../seats-admin/model/scim.ts'
import type { Store, Writer } from '../../../seats-admin/index.ts'
import type { ScimRefusal } from '../../../seats-admin/model/scim.ts'
import type { Change } from '../../../seats-admin/model/change.ts'
import { ADMIN, writer } from './conformance.ts'

/** The provider of a tenant. */
export function scim(more: Partial<Writer> = {}): Writer {
  return { ...writer(ADMIN), by: 'scim', actor: { kind: 'provider', name: null }, ...more }
}

export function userInput(userName: string, more: Partial<ScimUserInput> = {}): ScimUserInput {
  const texts = {
    userName,
    externalId: `x-${userName}`,
    email: `${userName}@acme.example`,
    displayName: null,
  }
  return { ...texts, active: true, resource: { title: 'Engineer' }, ...more }
}

/** The result; throws on a refusal. */
export function made<V>(result: V | ScimRefusal): V {
  if (isScimRefusal(result)) throw new Error(`${result.refused}: ${result.detail}`)
  return result
}

export function refusedAs(result: unknown): string {
  return isScimRefusal(result) ? result.refused : 'not refused'
}

export async function scimUser(
  store: Store,
  userName: string,
  more: Partial<ScimUserInput> = {},
  { mode = 'externalId' as ScimMode, as = scim() } = {},
): Promise<ScimUser> {
  return made(await store.createScimUser(as, mode, userInput(userName, more))).value
}

export async function scimGroup(
  store: Store,
  displayName: string,
  members: readonly string[] = [],
  as = scim(),
) {
  return made(await store.createScimGroup(as, { displayName, externalId: null }, members)).value
}

/** Changes a user as the provider does. */
export async function edited(
  store: Store,
  user: ScimUser,
  more: Partial<ScimUserInput>,
  { mode = 'externalId' as ScimMode, as = scim({ tenant: user.tenant }) } = {},
) {
  const now = await store.readScimUser(user.tenant, user.id)
  if (now === null) throw new Error('the user is gone')
  return made(await store.updateScimUser(as, mode, user.id, now.version, { ...inputOfUser(now), ...more }))
}

/** Answers the revocations of a write, as its caller does. */
export async function answered(
  store: Store,
  { revocations }: { readonly revocations: readonly { readonly id: string }[] },
  state: string,
  tenant = 'acme',
): Promise<void> {
  for (const { id } of revocations) await store.answerRevocation(tenant, id, JSON.stringify({ state }))
}

/** Deletes a user as the provider does. @returns the first write, which may be the last one, and the last one */
export async function deletedUser(store: Store, id: string, mode: ScimMode = 'externalId', as = scim()) {
  const off = made(await store.deleteScimUser(as, mode, id))
  if (off.value === null) return { off, gone: off }
  await answered(store, off, 'closed', as.tenant)
  const gone = made(await store.deleteScimUser({ ...as, ifMatch: '*' }, mode, id))
  if (gone.value !== null) throw new Error('the user is still there')
  return { off, gone }
}

export function inputOfUser({
  userName,
  externalId,
  active,
  email,
  displayName,
  resource,
}: ScimUser): ScimUserInput {
  return { userName, externalId, active, email, displayName, resource }
}

/** What decisions read of a user, by the `externalId`. */
export async function groupsOf(store: Store, key: string, mode: ScimMode = 'externalId', tenant = 'acme') {
  return (await store.membership(tenant, mode, key)).value.user
}

/** The membership changes that name these users. */
export function changesOfUsers(
  ...users: readonly Pick<ScimUser, 'tenant' | 'externalId' | 'userName'>[]
): Change[] {
  return users.map(({ tenant, externalId, userName }) => ({
    tenant,
    kind: 'membership',
    key: JSON.stringify([externalId, userName]),
  }))
}

export const everyUser: Change = { tenant: 'acme', kind: 'membership', key: 'null' }

/** The ids of all members, in pages. */
export async function memberIds(
  store: Store,
  group: string,
  limit = 1000,
  tenant = 'acme',
): Promise<string[]> {
  const ids: string[] = []
  for (let after: string | null = null; ;) {
    const { data, hasMore } = await store.listScimMembers(tenant, group, { limit, after })
    ids.push(...data.map(({ id }) => id))
    if (!hasMore) return ids
    after = ids.at(-1) ?? ''
  }
}

/**
 * A script that makes users and groups as the store would, with ids of {@link idAt}. The user `u7` has the id 7.
 *
 * @param groups the number of groups, named `g0` and so on, in each of which the user 0 is
 */
export function rowsOfScim(users: number, groups: number): string {
  const numbers = (count: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`
  const id = `'${ID}' || CAST(1000000 + i AS text)`
  const group = `'${GROUP}' || CAST(1000000 + i AS text)`
  const number = 'CAST(i AS text)'
  return `${numbers(users)}
    INSERT INTO scim_users (tenant, id, user_name, user_name_key, external_id, active, version, created_at, modified_at, resource)
      SELECT 'acme', ${id}, 'u' || ${number}, 'u' || ${number}, 'x-u' || ${number}, 1, 1, 1, 1, '{}' FROM n;
    ${numbers(Math.max(groups, 1))}
    INSERT INTO scim_groups (tenant, id, display_name, member_count, active_count, version, created_at, modified_at)
      SELECT 'acme', ${group}, 'g' || ${number}, 1, 1, 1, 1, 1 FROM n WHERE i < ${groups};
    ${numbers(Math.max(groups, 1))}
    INSERT INTO scim_members (tenant, group_id, user_id) SELECT 'acme', ${group}, '${idAt(0)}' FROM n WHERE i < ${groups}`
}

const [ID, GROUP] = ['0100000000000000000', '0200000000000000000']

/** The id of a user of {@link rowsOfScim}. */
export function idAt(at: number): string {
  return `${ID}${1_000_000 + at}`
}
