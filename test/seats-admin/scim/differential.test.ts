/**
 * Paths, filters and changes against independent implementations: scim2-parse-filter and scim-patch. Where
 * ours is stricter or follows what providers send, the cases say so.
 */

import { type ScimPatchOperation, type ScimResource, scimPatch } from 'scim-patch'
import { type Filter, filter as matcherOf, parse } from 'scim2-parse-filter'
import t from 'tap'
import { ScimFault } from '../../../seats-admin/scim/scim-fault.ts'
import { userFilter } from '../../../seats-admin/scim/scim-filter.ts'
import type { ScimUserFilter } from '../../../seats-admin/store/scim-store.ts'
import { readOperations } from '../../../seats-admin/scim/scim-operations.ts'
import { patchUser } from '../../../seats-admin/scim/scim-user-patch.ts'
import { readUser, type UserAttributes } from '../../../seats-admin/scim/scim-users.ts'
import { Random } from '../../support/random.ts'
import { amount } from '../../support/thorough.ts'
import { end } from './support.ts'

const SEED = 64
const FILTERS = amount({ usual: 2000, thorough: 50_000 })
const CHANGES = amount({ usual: 3000, thorough: 100_000 })

function pick<T>(random: Random, from: readonly [T, ...T[]]): T {
  return from[random.below(from.length)] ?? from[0]
}

/**
 * Without a backslash, which the other parser leaves escaped (RFC 7644, section 3.4.2.2, takes texts as in
 * JSON).
 */
const NAMES = ['alice', 'Bob', 'x y', 'a"b', 'ä€𝄞', '] and', 'eq'] as const
const TYPES = ['work', 'home', 'other'] as const

function randomUser(random: Random): UserAttributes {
  const emails = TYPES.filter(() => random.chance(0.6)).map((type) => ({ value: pick(random, NAMES), type }))
  const user = readUser({
    userName: pick(random, NAMES),
    active: random.chance(0.8),
    ...(random.chance(0.5) ? { externalId: pick(random, NAMES) } : {}),
    ...(random.chance(0.5) ? { displayName: pick(random, NAMES) } : {}),
    ...(random.chance(0.5)
      ? { name: { givenName: pick(random, NAMES), familyName: pick(random, NAMES) } }
      : {}),
    ...(emails.length > 0 ? { emails } : {}),
  })
  if (user instanceof ScimFault) throw new Error(user.detail)
  return user
}

function randomFilter(random: Random): string {
  const attribute = () =>
    pick(random, [
      'userName',
      'externalId',
      'displayName',
      'emails[type eq "work"].value',
      'emails.value',
      'id',
    ])
  const condition = () =>
    `${attribute()} ${pick(random, ['eq', 'eq', 'eq', 'eq', 'ne', 'sw'])} ${JSON.stringify(pick(random, NAMES))}`
  let text = condition()
  while (random.chance(0.3)) text += ` ${pick(random, ['and', 'and', 'or'])} ${condition()}`
  return random.chance(0.1) ? `not (${text})` : text
}

t.test('a filter that is accepted says what another parser reads', async (t) => {
  let accepted = 0
  for (let at = 0; at < FILTERS; at++) {
    const random = new Random(SEED, at)
    const text = randomFilter(random)
    const ours = userFilter(text)
    if (ours instanceof ScimFault) continue
    accepted++
    // It reads `emails[…].value eq x` as a condition on each address.
    const matches = matcherOf(parse(text.replace('emails[type eq "work"].value eq', 'workEmail eq')))
    for (let count = 0; count < 5; count++) {
      const user = randomUser(random)
      const expected = matches({ ...user, workEmail: workEmailOf(user) })
      if (satisfies(user, ours) !== expected) t.equal(satisfies(user, ours), expected, `${at}: ${text}`)
    }
  }
  t.ok(accepted > FILTERS / 4, `${accepted} accepted`)
})

function workEmailOf({ emails }: UserAttributes): unknown {
  const list = Array.isArray(emails) ? (emails as readonly Record<string, unknown>[]) : []
  return list.find(({ type }) => type === 'work')?.value
}

/** The filter of the store, with the comparison of the other parser, which takes case into account. */
function satisfies(user: UserAttributes, filter: ScimUserFilter): boolean {
  return Object.entries(filter).every(([name, value]) =>
    name === 'email' ? workEmailOf(user) === value : user[name] === value,
  )
}

t.test('the other parser reads every filter that ours reads', async (t) => {
  const texts = [
    'userName EQ "a"',
    '  userName   eq "a"',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "a"',
  ]
  for (const text of texts) {
    t.notOk(userFilter(text) instanceof ScimFault, text)
    t.match(parse(text.trim().toLowerCase()) satisfies Filter, { op: 'eq' }, text)
  }
})

function randomOperation(random: Random): ScimPatchOperation {
  const text = () => pick(random, NAMES)
  const work = { value: text(), type: pick(random, TYPES) }
  return pick<ScimPatchOperation>(random, [
    { op: 'replace', path: 'displayName', value: text() },
    { op: 'add', path: 'displayName', value: text() },
    { op: 'remove', path: 'displayName' },
    { op: 'replace', path: 'active', value: random.chance(0.5) },
    { op: 'replace', value: { active: random.chance(0.5), userName: text() } },
    { op: 'add', value: { externalId: text() } },
    { op: 'replace', path: 'name.givenName', value: text() },
    { op: 'add', path: 'name.familyName', value: text() },
    { op: 'remove', path: 'name.familyName' },
    { op: 'replace', value: { 'name.givenName': text(), displayName: text() } },
    { op: 'add', path: 'name', value: { middleName: text() } },
    { op: 'add', path: 'emails', value: [work] },
    { op: 'replace', path: 'emails', value: [work] },
    { op: 'remove', path: 'emails' },
    { op: 'remove', path: `emails[type eq "${pick(random, TYPES)}"]` },
    { op: 'replace', path: `emails[type eq "${pick(random, TYPES)}"].value`, value: text() },
    { op: 'add', path: `emails[type eq "${pick(random, TYPES)}"].value`, value: text() },
    { op: 'remove', path: `emails[value eq ${JSON.stringify(text())}]` },
  ])
}

/** What is unset is absent with ours, and may be empty there. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) {
    const texts = value.map((each) => JSON.stringify(pruned(each))).sort()
    return texts.length === 0 ? undefined : texts
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([name, each]) => {
    const kept = pruned(each)
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

t.test('changes have the result of another implementation', async (t) => {
  let [compared, refused] = [0, 0]
  for (let at = 0; at < CHANGES; at++) {
    const random = new Random(SEED, at)
    const before = randomUser(random)
    const operations = Array.from({ length: 1 + random.below(4) }, () => randomOperation(random))
    const read = end(readOperations({ Operations: operations }))
    const ours = read instanceof ScimFault ? read : end(patchUser(before, read))
    let theirs: ScimResource
    try {
      theirs = scimPatch(structuredClone(before) as unknown as ScimResource, structuredClone(operations), {
        mutateDocument: false,
        treatMissingAsAdd: true,
      })
    } catch {
      // It refuses to remove or to filter what is not there. With ours, that changes nothing.
      refused++
      continue
    }
    compared++
    const [one, other] = [pruned(ours), pruned(theirs)]
    if (JSON.stringify(one) !== JSON.stringify(other))
      t.strictSame(one, other, `${at}: ${JSON.stringify({ before, operations })}`)
  }
  t.ok(compared > refused, `${compared} compared, ${refused} refused`)
})
